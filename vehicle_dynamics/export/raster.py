"""A small renderer for pictures in the documentation: coloured triangles into pixels by a depth buffer, with numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.export.shapes import COLOURS, Box, Cylinder, Shape, colour

Array = NDArray[np.float64]

SUN = np.array([0.35, 0.45, 0.82]) / np.linalg.norm([0.35, 0.45, 0.82])  # towards it
FACETS = 36  # around a cylinder
SHADOW, OUTLINE, FAINT = 0.72, 0.55, 0.75  # remaining brightness there
GROUND = 0  # index of the object on which shadows fall
NOTHING = -1


@dataclass(frozen=True)
class Triangles:
    """A set of triangles: corners [m], colour and index of the object they belong to."""

    corners: Array  # count x 3 x 3, counter-clockwise from outside
    colours: Array  # count x 4
    objects: NDArray[np.int64]  # count

    @staticmethod
    def joined(parts: list[Triangles]) -> Triangles:
        """Several sets of triangles as one."""
        return Triangles(
            np.concatenate([part.corners for part in parts]),
            np.concatenate([part.colours for part in parts]),
            np.concatenate([part.objects for part in parts]),
        )


@dataclass(frozen=True)
class Camera:
    """Eye point, target and field of view [rad]; the picture's size in pixels."""

    eye: Vector3
    target: Vector3
    width_angle: float
    size: tuple[int, int]  # width, height

    def project(self, points: Array) -> Array:
        """Pixel column, pixel row and inverse distance of points (... x 3)."""
        ahead = np.subtract(self.target, self.eye)
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        seen = (points - np.array(self.eye)) @ np.column_stack([right, np.cross(ahead, right), ahead])
        inverse = 1.0 / np.maximum(seen[..., 2:], 1e-3)
        scale = 0.5 * self.size[0] / np.tan(0.5 * self.width_angle)
        return np.concatenate([seen[..., :2] * inverse * scale + 0.5 * np.array(self.size), inverse], axis=-1)


def shape_triangles(shape: Shape, rotated: Array, shifted: Array, number: int) -> Triangles:
    """The surface of a shape, rotated (3 x 3) and shifted [m] with its body; number: of the object, for outlines."""
    quads = _box_quads(shape) if isinstance(shape, Box) else _cylinder_quads(shape)
    corners = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]) @ rotated.T + shifted
    rgba = np.array(COLOURS[colour(shape)].split(), dtype=float)
    return Triangles(corners, np.tile(rgba, (len(corners), 1)), np.full(len(corners), number))


def chequered_ground(half: int) -> Triangles:
    """Squares of 1 m at z = 0, from -half to half [m] in x and y, as object GROUND."""
    x, y = (axis.ravel().astype(float) for axis in np.mgrid[-half:half, -half:half])
    zero = np.zeros_like(x)
    a, b, c, d = (np.stack([x + i, y + j, zero], axis=-1) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    corners = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    grey = np.tile(np.where((x + y) % 2 == 0, 0.93, 0.87), 2)[:, None]
    return Triangles(corners, np.hstack([grey, grey, grey, np.ones_like(grey)]), np.full(len(corners), GROUND))


def render(scene: Triangles, camera: Camera) -> Array:
    """Image (rows x columns x 3), antialiased: opaque objects, shadows on the ground, outlines, translucent objects."""
    fine = Camera(camera.eye, camera.target, camera.width_angle, (2 * camera.size[0], 2 * camera.size[1]))
    image = np.ones((fine.size[1], fine.size[0], 3))
    depth, seen = np.zeros(image.shape[:2]), np.full(image.shape[:2], NOTHING)
    shaded = scene.colours.copy()
    shaded[:, :3] *= _brightness(scene)[:, None]
    pixels = fine.project(scene.corners)
    solid = scene.colours[:, 3] == 1.0
    for k in np.flatnonzero(solid):
        area, inside, inverse = _cover(pixels[k], depth)
        inside &= inverse > depth[area]
        image[area][inside], depth[area][inside], seen[area][inside] = shaded[k, :3], inverse[inside], scene.objects[k]
    image[_shadow(scene, fine, depth) & (seen == GROUND)] *= SHADOW
    image[_edges(seen)] *= OUTLINE
    clear, faces = np.flatnonzero(~solid), np.full(depth.shape, NOTHING)
    sides = _sides(scene)
    nearness = pixels[:, :, 2].mean(axis=1)
    nearness = np.bincount(sides, nearness)[sides] / np.bincount(sides)[sides]  # both halves of a box's side together
    for k in clear[np.argsort(nearness[clear])]:  # farthest first
        area, inside, inverse = _cover(pixels[k], depth)
        inside &= inverse > depth[area]
        share = shaded[k, 3]
        image[area][inside] = (1.0 - share) * image[area][inside] + share * shaded[k, :3]
        faces[area][inside] = sides[k]
    image[_edges(faces)] *= FAINT
    rows, columns = image.shape[0] // 2, image.shape[1] // 2
    return np.asarray(image.reshape(rows, 2, columns, 2, 3).mean(axis=(1, 3)))


def _edges(seen: NDArray[np.int64]) -> NDArray[np.bool_]:
    edges = np.zeros(seen.shape, dtype=bool)
    edges[1:, 1:] = (seen[1:, 1:] != seen[:-1, 1:]) | (seen[1:, 1:] != seen[1:, :-1])
    return edges


def _sides(scene: Triangles) -> NDArray[np.int64]:
    """Index for each object and main direction of its surface: six sides of a box."""
    normals = _normals(scene)
    main = np.argmax(np.abs(normals), axis=1)
    return np.asarray(6 * scene.objects + 2 * main + (normals[np.arange(len(main)), main] > 0.0))


def _shadow(scene: Triangles, camera: Camera, depth: Array) -> NDArray[np.bool_]:
    mask = np.zeros(depth.shape, dtype=bool)
    corners = scene.corners[scene.objects != GROUND]
    fallen = corners - corners[..., 2:] / SUN[2] * SUN
    for triangle in camera.project(fallen):
        area, inside, _ = _cover(triangle, depth)
        mask[area] |= inside
    return mask


def _cover(triangle: Array, depth: Array) -> tuple[tuple[slice, slice], NDArray[np.bool_], Array]:
    """The pixels around a triangle, which of them it covers, and its inverse distance there."""
    low = np.maximum(np.floor(triangle[:, :2].min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(triangle[:, :2].max(axis=0)).astype(int) + 1, depth.shape[::-1])
    high = np.maximum(high, low)
    area = slice(low[1], high[1]), slice(low[0], high[0])
    y, x = np.ogrid[area]
    (x0, y0, z0), (x1, y1, z1), (x2, y2, z2) = triangle
    whole = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if abs(whole) < 1e-9:
        nothing = np.zeros((high[1] - low[1], high[0] - low[0]))
        return area, nothing > 0.0, nothing
    one = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) / whole
    two = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / whole
    inside = (one >= 0.0) & (two >= 0.0) & (one + two <= 1.0)
    return area, inside, z0 + one * (z1 - z0) + two * (z2 - z0)


def _brightness(scene: Triangles) -> Array:
    normals = _normals(scene)
    light = 0.6 + 0.25 * np.maximum(normals @ SUN, 0.0) + 0.15 * normals[:, 2]
    return np.where(scene.objects == GROUND, 1.0, np.clip(light, 0.0, 1.0))


def _normals(scene: Triangles) -> Array:
    sides = scene.corners[:, 1:] - scene.corners[:, :1]
    normals = np.cross(sides[:, 0], sides[:, 1])
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12))


def _box_quads(box: Box) -> Array:
    x, y, z = np.array(box.size) / 2.0
    top = np.array([[-x, -y, z], [x, -y, z], [x, y, z], [-x, y, z]])
    bottom = top[::-1] * [1.0, 1.0, -1.0]
    sides = [np.array([top[k] * [1, 1, -1], top[(k + 1) % 4] * [1, 1, -1], top[(k + 1) % 4], top[k]]) for k in range(4)]
    return np.asarray(np.array([top, bottom, *sides]) + box.centre)


def _cylinder_quads(cylinder: Cylinder) -> Array:
    start, end = np.array(cylinder.start), np.array(cylinder.end)
    along = (end - start) / np.linalg.norm(end - start)
    one = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    one /= np.linalg.norm(one)
    angle = np.linspace(0.0, 2.0 * np.pi, FACETS + 1)[:, None]
    ring = cylinder.radius * (np.cos(angle) * one + np.sin(angle) * np.cross(along, one))
    near, far = start + ring, end + ring
    side = np.stack([near[:-1], near[1:], far[1:], far[:-1]], axis=1)
    caps = [
        np.stack([np.broadcast_to(centre, (FACETS, 3)), a, b, b], axis=1)
        for centre, a, b in ((end, far[:-1], far[1:]), (start, near[1:], near[:-1]))
    ]
    return np.concatenate([side, *caps])
