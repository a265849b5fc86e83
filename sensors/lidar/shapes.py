"""Obstacles of a world as triangles for ray casting, with the owner of each triangle."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain.mesh import Mesh
from terrain.obstacles import Box, Cylinder, MeshObstacle, Obstacles

Array = NDArray[np.float64]
Faces = NDArray[np.int32]

SOIL, BUILDING, TREE, TARGET = range(4)  # materials
LARGE_FACES = 4000  # of a mesh
SIDES = 32  # of a cylinder's prism; ranges are corrected to the cylinder, the outline is at most 0.5 % too thin


class ShapeTable(NamedTuple):
    """Material of obstacles, and the shape of cylinders among them, one row each, for kernels."""

    material: NDArray[np.uint8]
    round: Array  # x, y, radius and top of cylinders [m]; radius 0: not a cylinder


class Shapes:
    """The obstacles of a world, for selection by position. Large meshes are not part of moving squares."""

    def __init__(self, obstacles: Obstacles) -> None:
        meshes = [_round_mesh(item) if isinstance(item, Cylinder) else item.mesh() for item in obstacles]
        self._vertices = [mesh.vertices for mesh in meshes]
        self._faces = [mesh.faces for mesh in meshes]
        self._is_large = np.array([len(faces) > LARGE_FACES for faces in self._faces], bool)
        lows = [vertices.min(axis=0) for vertices in self._vertices]
        highs = [vertices.max(axis=0) for vertices in self._vertices]
        self._low, self._high = np.array(lows).reshape(-1, 3), np.array(highs).reshape(-1, 3)
        self.table = ShapeTable(
            np.array([_material(item) for item in obstacles], np.uint8).reshape(-1),
            np.array([_round(item) for item in obstacles], float).reshape(-1, 4),
        )

    def middle(self) -> Array:
        """Middle of all obstacles [m]."""
        return 0.5 * (self._low.min(axis=0) + self._high.max(axis=0)) if len(self._low) else np.zeros(3)

    def within(self, bounds: Array) -> NDArray[np.intp]:
        """Indices of small obstacles that reach into a rectangle [m]: least x, least y, largest x, largest y."""
        left, low, right, high = bounds
        beside = (self._high[:, 0] < left) | (self._low[:, 0] > right)
        beside |= (self._high[:, 1] < low) | (self._low[:, 1] > high)
        return np.flatnonzero(~beside & ~self._is_large)

    def large(self) -> NDArray[np.intp]:
        """Indices of obstacles with many triangles."""
        return np.flatnonzero(self._is_large)

    def all(self) -> NDArray[np.intp]:
        """Indices of all shapes."""
        return np.arange(len(self._faces))

    def pieces(self, numbers: NDArray[np.intp], most_faces: int) -> list[NDArray[np.intp]]:
        """The obstacles of these indices in groups of about most_faces triangles."""
        if not len(numbers):
            return []
        counts = np.cumsum([len(self._faces[number]) for number in numbers])
        cuts = np.flatnonzero(np.diff(counts // most_faces)) + 1
        return np.split(numbers, cuts)

    def mesh(self, numbers: NDArray[np.intp]) -> tuple[Array, Faces, NDArray[np.int32]]:
        """Vertices, triangles, and the index of the obstacle that each triangle belongs to."""
        counts = [len(self._vertices[number]) for number in numbers]
        starts = np.cumsum([0, *counts[:-1]])
        faces = [self._faces[number] + np.int32(start) for number, start in zip(numbers, starts, strict=True)]
        owners = np.repeat(numbers.astype(np.int32), [len(part) for part in faces])
        return np.concatenate([self._vertices[number] for number in numbers]), np.concatenate(faces), owners


def planes_of(vertices: Array, faces: Faces) -> Array:
    """Plane of each triangle (n x 4): unit normal and its product with a vertex; zeros for one without area."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
    return np.column_stack((normal, np.einsum("ij,ij->i", normal, a)))


def _material(item: Box | Cylinder | MeshObstacle) -> int:
    return TREE if isinstance(item, Cylinder) else BUILDING


def _round(item: Box | Cylinder | MeshObstacle) -> tuple[float, float, float, float]:
    return (item.x, item.y, item.radius, item.base + item.height) if isinstance(item, Cylinder) else (0.0,) * 4


def _round_mesh(post: Cylinder) -> Mesh:
    """A prism inscribed in the cylinder: a ray that hits it hits the cylinder, and a kernel computes where."""
    angle = 2.0 * math.pi * np.arange(SIDES) / SIDES
    ring = np.column_stack((np.cos(angle), np.sin(angle))) * post.radius + [post.x, post.y]
    here = np.arange(SIDES)
    there = (here + 1) % SIDES
    fan = np.arange(1, SIDES - 1)
    zero = np.zeros_like(fan)
    faces = (
        (here, there, there + SIDES),
        (here, there + SIDES, here + SIDES),
        (zero, fan + 1, fan),
        (zero + SIDES, fan + SIDES, fan + 1 + SIDES),
    )
    vertices = np.column_stack((np.tile(ring, (2, 1)), np.repeat([post.base, post.base + post.height], SIDES)))
    return Mesh(vertices, np.concatenate([np.stack(part, axis=-1) for part in faces]).astype(np.int32))
