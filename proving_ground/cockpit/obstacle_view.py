"""Obstacles of a world for the page: houses with windows, trees with crowns, posts, meshes.

Crowns and windows are decoration: neither LIDAR nor wheels meet them.
"""

from __future__ import annotations

import math

import numpy as np

from proving_ground.cockpit.shapes import Colour, Painted, Solid, ball, cylinder, flat_shaded, joined
from terrain.obstacles import Box, Cylinder
from terrain.world import World

FACADES: tuple[Colour, ...] = (
    (201, 180, 150),
    (178, 112, 86),
    (214, 206, 192),
    (160, 150, 140),
    (190, 158, 116),
    (134, 146, 158),
)
ROOF, WINDOW, TRUNK, POST, MESH = (96, 92, 90), (58, 70, 84), (104, 78, 56), (214, 84, 30), (150, 140, 128)
CROWNS: tuple[Colour, ...] = ((74, 108, 56), (92, 122, 62), (62, 94, 52))
TREES_FROM_M = 2.0  # taller cylinders are trees
FLOOR_M, WINDOW_M, FIRST_WINDOW_M = 3.2, 1.5, 1.1
PROUD_M = 0.03
MESHES = "meshes"  # from users: their triangles may face either way


def obstacle_parts(world: World) -> list[Painted]:
    """All obstacles, one mesh for each colour."""
    heaps: dict[tuple[str, Colour], list[Solid]] = {}

    def add(name: str, colour: Colour, *solids: Solid) -> None:
        heaps.setdefault((name, colour), []).extend(solids)

    for number, house in enumerate(world.obstacles.boxes):
        add(f"facade_{number % len(FACADES)}", FACADES[number % len(FACADES)], _wall(house, 0.0, house.height))
        if house.height > 2.0 * FLOOR_M:
            add("roofs", ROOF, _wall(house, house.height, 0.25, -0.2))
            for floor in range(int((house.height - 1.0) / FLOOR_M)):
                add("windows", WINDOW, *_windows(house, floor * FLOOR_M + FIRST_WINDOW_M))
    for number, item in enumerate(world.obstacles.cylinders):
        if item.height > TREES_FROM_M:
            add("trunks", TRUNK, _upright(item, 0.75))
            add(f"crowns_{number % len(CROWNS)}", CROWNS[number % len(CROWNS)], *_crown(item, number))
        else:
            add("posts", POST, _upright(item, 1.0))
    for mesh in world.obstacles.meshes:
        shape = mesh.mesh()
        add(MESHES, MESH, Solid(shape.vertices, shape.faces))
    return [Painted(name, flat_shaded(joined(solids)), colour) for (name, colour), solids in heaps.items()]


def _wall(house: Box, above: float, height: float, wider: float = 0.0) -> Solid:
    mesh = Box(
        x=house.x, y=house.y, base=house.base + above, length=house.length + 2.0 * wider,
        width=house.width + 2.0 * wider, height=height, yaw=house.yaw,
    ).mesh()  # fmt: skip
    return Solid(mesh.vertices, mesh.faces)


def _windows(house: Box, above: float) -> list[Solid]:
    """Windows of one floor, along all four sides."""
    cos, sin = math.cos(house.yaw), math.sin(house.yaw)
    panes = []
    for along, across, angle in (
        (house.length, house.width, 0.0), (house.width, house.length, 0.5 * math.pi),
        (house.length, house.width, math.pi), (house.width, house.length, 1.5 * math.pi),
    ):  # fmt: skip
        count = max(int(along / 2.6), 1)
        out = 0.5 * across + PROUD_M
        c, s = math.cos(angle), math.sin(angle)
        for number in range(count):
            middle = (number + 0.5) * along / count - 0.5 * along
            corners = [
                (middle - 0.65, -out, 0.0),
                (middle + 0.65, -out, 0.0),
                (middle + 0.65, -out, WINDOW_M),
                (middle - 0.65, -out, WINDOW_M),
            ]
            flat = np.array([(c * x - s * y, s * x + c * y, z) for x, y, z in corners])
            placed = np.column_stack(
                (cos * flat[:, 0] - sin * flat[:, 1], sin * flat[:, 0] + cos * flat[:, 1], flat[:, 2])
            )
            panes.append(
                Solid(
                    placed + np.array([house.x, house.y, house.base + above]),
                    np.array([[0, 1, 2], [0, 2, 3]], np.int32),
                )
            )
    return panes


def _upright(item: Cylinder, share: float) -> Solid:
    foot = np.array([item.x, item.y, item.base])
    return cylinder(foot, foot + np.array([0.0, 0.0, share * item.height]), item.radius)


def _crown(item: Cylinder, number: int) -> list[Solid]:
    """Three ellipsoids, rotated by the tree's number so that no two neighbours look alike."""
    size = 0.24 * item.height + 0.5
    angle = 2.4 * number  # near the golden angle
    top = item.base + item.height
    lobes = ((0.0, 0.0, 1.0), (0.45, 0.25, 0.75), (-0.4, -0.3, 0.7))
    return [
        ball(
            (
                item.x + size * (math.cos(angle) * dx - math.sin(angle) * dy),
                item.y + size * (math.sin(angle) * dx + math.cos(angle) * dy),
                top - size * (1.1 - 0.35 * (1.0 - share)),
            ),
            (share * size, share * size, 1.1 * share * size),
        )
        for dx, dy, share in lobes
    ]
