"""Objects on the ground: boxes, cylinders and meshes. World axes, metres, radians."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from terrain.elevation_map import Array
from terrain.limits import LARGEST_COORDINATE
from terrain.mesh import Mesh, joined
from terrain.mesh_columns import columns_of

CYLINDER_SIDES = 16


class ObstacleArrays(NamedTuple):
    """Obstacles in the form that kernels use."""

    boxes: Array  # n x 8: centre x, y, base, length (along its own x), width, height, cos yaw, sin yaw
    cylinders: Array  # m x 5: x, y, base, radius, height


@dataclass(frozen=True, kw_only=True)
class Box:
    """An upright box, rotated about z."""

    x: float  # of its centre [m]
    y: float
    base: float = 0.0  # z of its underside [m]
    length: float  # along its own x [m]
    width: float  # along its own y [m]
    height: float  # [m]
    yaw: float = 0.0  # [rad]

    def __post_init__(self) -> None:
        _check(self, ("length", "width", "height"))

    def row(self) -> tuple[float, ...]:
        """The box as a row of ObstacleArrays.boxes."""
        size = (self.length, self.width, self.height)
        return (self.x, self.y, self.base, *size, math.cos(self.yaw), math.sin(self.yaw))

    def corners(self) -> Array:
        """Corners of the footprint, counter-clockwise: 4 x 2 [m]."""
        along = np.array([math.cos(self.yaw), math.sin(self.yaw)]) * 0.5 * self.length
        across = np.array([-math.sin(self.yaw), math.cos(self.yaw)]) * 0.5 * self.width
        centre = np.array([self.x, self.y])
        ring = (-along - across, along - across, along + across, across - along)
        return np.stack([centre + corner for corner in ring])

    def mesh(self) -> Mesh:
        """The box as twelve triangles."""
        return _prism(self.corners(), self.base, self.base + self.height)


@dataclass(frozen=True, kw_only=True)
class Cylinder:
    """An upright cylinder: a post, a bollard, a tree's trunk."""

    x: float  # of its axis [m]
    y: float
    base: float = 0.0  # z of its underside [m]
    radius: float  # [m]
    height: float  # [m]

    def __post_init__(self) -> None:
        _check(self, ("radius", "height"))

    def row(self) -> tuple[float, ...]:
        """The cylinder as a row of ObstacleArrays.cylinders."""
        return (self.x, self.y, self.base, self.radius, self.height)

    def mesh(self) -> Mesh:
        """The cylinder as a prism of sixteen sides."""
        angle = 2.0 * math.pi * np.arange(CYLINDER_SIDES) / CYLINDER_SIDES
        ring = np.column_stack((np.cos(angle), np.sin(angle))) * self.radius + [self.x, self.y]
        return _prism(ring, self.base, self.base + self.height)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeshObstacle:
    """A mesh at a position. It collides as columns of boxes; distances are those of its rotated bounding box."""

    name: str
    shape: Mesh  # in its own axes, z up
    x: float
    y: float
    base: float = 0.0  # z of its own origin [m]
    yaw: float = 0.0

    def __post_init__(self) -> None:
        _check_numbers({"x": self.x, "y": self.y, "base": self.base, "yaw": self.yaw})
        if not len(self.shape.faces) or not (np.ptp(self.shape.vertices, axis=0) > 0.0).all():
            raise ValueError(f"mesh {self.name}: has no volume")

    def box(self) -> Box:
        """Bounding box of the mesh, in the world."""
        low, high = self.shape.vertices.min(axis=0), self.shape.vertices.max(axis=0)
        (x, y, z), size = 0.5 * (low + high), high - low
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return Box(
            x=self.x + cos * float(x) - sin * float(y),
            y=self.y + sin * float(x) + cos * float(y),
            base=self.base + float(z - 0.5 * size[2]),
            length=float(size[0]),
            width=float(size[1]),
            height=float(size[2]),
            yaw=self.yaw,
        )

    def columns(self) -> Array:
        """The mesh as boxes side by side, rows as in ObstacleArrays.boxes, in the world."""
        found = columns_of(self.shape)
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        x, y = found[:, 0].copy(), found[:, 1].copy()
        found[:, 0], found[:, 1] = self.x + cos * x - sin * y, self.y + sin * x + cos * y
        found[:, 2] += self.base
        found[:, 6], found[:, 7] = cos, sin
        return found

    def mesh(self) -> Mesh:
        """The mesh in world axes."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        rotated = self.shape.vertices @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        return Mesh(rotated + np.array([self.x, self.y, self.base]), self.shape.faces)


@dataclass(frozen=True, eq=False, kw_only=True)
class Obstacles:
    """All obstacles of a world."""

    boxes: tuple[Box, ...] = ()
    cylinders: tuple[Cylinder, ...] = ()
    meshes: tuple[MeshObstacle, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.boxes) + len(self.cylinders) + len(self.meshes)

    def __add__(self, other: Obstacles) -> Obstacles:
        return Obstacles(
            boxes=self.boxes + other.boxes,
            cylinders=self.cylinders + other.cylinders,
            meshes=self.meshes + other.meshes,
        )

    def __iter__(self) -> Iterator[Box | Cylinder | MeshObstacle]:
        yield from self.boxes
        yield from self.cylinders
        yield from self.meshes

    def to_arrays(self) -> ObstacleArrays:
        """Arrays for views and planners: boxes first, then the bounding boxes of meshes; built once."""
        return self._arrays

    @cached_property
    def _arrays(self) -> ObstacleArrays:
        boxes = [box.row() for box in (*self.boxes, *(item.box() for item in self.meshes))]
        cylinders = [item.row() for item in self.cylinders]
        return ObstacleArrays(np.array(boxes, float).reshape(-1, 8), np.array(cylinders, float).reshape(-1, 5))

    def solid_arrays(self) -> ObstacleArrays:
        """Arrays for contact: as to_arrays, but meshes as columns."""
        boxes = [np.array([item.row() for item in self.boxes], float).reshape(-1, 8)]
        return ObstacleArrays(
            np.concatenate(boxes + [item.columns() for item in self.meshes]), self.to_arrays().cylinders
        )

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Distance [m] of points [m] from the nearest footprint; negative inside, infinite without obstacles."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        nearest = np.full(x.shape, np.inf)
        for row in self._arrays.boxes:
            nearest = np.minimum(nearest, _box_distance(row, x, y))
        for centre_x, centre_y, _, radius, _ in self._arrays.cylinders:
            nearest = np.minimum(nearest, np.hypot(x - centre_x, y - centre_y) - radius)
        return nearest

    def top_at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """z [m] of the highest obstacle over points [m]; minus infinity where there is none."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        top = np.full(x.shape, -np.inf)
        for row in self._arrays.boxes:
            top = np.where(_box_distance(row, x, y) <= 0.0, np.maximum(top, row[2] + row[5]), top)
        for centre_x, centre_y, base, radius, height in self._arrays.cylinders:
            over = np.hypot(x - centre_x, y - centre_y) <= radius
            top = np.where(over, np.maximum(top, base + height), top)
        return top

    def mesh(self) -> Mesh:
        """All obstacles as triangles."""
        return joined(item.mesh() for item in self)


def _box_distance(row: Array, x: Array, y: Array) -> Array:
    centre_x, centre_y, _, length, width, _, cos, sin = row
    beyond_x = np.abs(cos * (x - centre_x) + sin * (y - centre_y)) - 0.5 * length
    beyond_y = np.abs(cos * (y - centre_y) - sin * (x - centre_x)) - 0.5 * width
    outside = np.hypot(np.maximum(beyond_x, 0.0), np.maximum(beyond_y, 0.0))
    return np.asarray(outside + np.minimum(np.maximum(beyond_x, beyond_y), 0.0))


def _prism(ring: Array, low: float, high: float) -> Mesh:
    """Prism between two heights over a convex ring, counter-clockwise from above."""
    count = len(ring)
    vertices = np.column_stack((np.tile(ring, (2, 1)), np.repeat([low, high], count)))
    here, there = np.arange(count), (np.arange(count) + 1) % count
    walls = [(here, there, there + count), (here, there + count, here + count)]
    fan = np.arange(1, count - 1)
    zero = np.zeros_like(fan)
    lids = [(zero, fan + 1, fan), (zero + count, fan + count, fan + 1 + count)]
    return Mesh(vertices, np.concatenate([np.stack(part, axis=-1) for part in (*walls, *lids)]).astype(np.int32))


def _check(item: Box | Cylinder, sizes: tuple[str, ...]) -> None:
    _check_numbers({entry.name: getattr(item, entry.name) for entry in fields(item)})
    for name in sizes:
        if not getattr(item, name) > 0.0:
            raise ValueError(f"{name}: must be above 0, got {getattr(item, name):g}")


def _check_numbers(numbers: dict[str, float]) -> None:
    for name, value in numbers.items():
        if not abs(value) <= LARGEST_COORDINATE:
            raise ValueError(f"{name}: must be within {LARGEST_COORDINATE:g} of 0, got {value:g}")
