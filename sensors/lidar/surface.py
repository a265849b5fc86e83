"""Triangles for Embree, built piece by piece to avoid long pauses.

Embree works in float32. It only finds the triangle; the distance is computed in float64 from the triangle's plane.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore import EmbreeDevice
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from sensors.lidar.shapes import planes_of

Array = NDArray[np.float64]
Faces = NDArray[np.int32]
Owners = NDArray[np.int32]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]

# Vertices in the world, triangles, and the obstacle that each belongs to; None: the ground.
Piece = tuple[Array, Faces, Owners | None]
CACHE_LINE = 64  # bytes


class Triangles(NamedTuple):
    """Triangles for kernels; a triangle's row is starts[geometry] + index. The ground's rows come first."""

    starts: NDArray[np.int64]  # first row of each geometry
    planes: Array  # n x 4: unit normal and its product with a vertex, world
    ground: int  # number of rows of the ground
    owners: Owners  # obstacle of each later row


class Surface:
    """The triangles of the ground within a rectangle, for ray casting."""

    def __init__(self, scene: EmbreeScene, triangles: Triangles, origin: Array, bounds: Array) -> None:
        self._scene = scene
        self.triangles = triangles
        self.origin = origin  # of Embree's coordinates in the world [m]
        self.bounds = bounds  # valid within: least x, y, largest x, y [m]

    def __len__(self) -> int:
        return len(self.triangles.planes)

    def hits(self, origins: Floats, directions: Floats, far: Floats) -> tuple[Floats, Numbers, Numbers]:
        """Distance, triangle and geometry (-1: no hit) of rays; float32, origins relative to self.origin.

        far [m] is overwritten.
        """
        found = self._scene.run(origins, directions, dists=far, output=1)
        return found["tfar"], found["primID"], found["geomID"]


def built(
    device: EmbreeDevice, pieces: Iterable[Piece], origin: Array, bounds: Array
) -> Generator[None, None, Surface | None]:
    """Build a surface from pieces, the ground's first, yielding after each; returns None without triangles."""
    scene = EmbreeScene(device)
    starts, planes, owners = [0], [np.zeros((0, 4))], [np.zeros(0, np.int32)]
    for vertices, faces, whose in pieces:
        TriangleMesh(scene, (vertices - origin).astype(np.float32), faces)
        starts.append(starts[-1] + len(faces))
        planes.append(planes_of(vertices, faces))
        if whose is not None:
            owners.append(whose)
        yield
    if starts[-1] == 0:
        return None
    nowhere = np.zeros((1, 3), np.float32)
    scene.run(nowhere, np.array([[0.0, 0.0, 1.0]], np.float32), dists=np.zeros(1, np.float32))  # builds Embree's tree
    yield
    whose = np.concatenate(owners)
    rows = _in_lines(np.concatenate(planes))
    triangles = Triangles(np.array(starts[:-1], np.int64), rows, len(rows) - len(whose), whose)
    return Surface(scene, triangles, origin, bounds)


def finished(building: Generator[None, None, Surface | None]) -> Surface | None:
    """Run a generator of `built` to its end and return the surface."""
    while True:
        try:
            next(building)
        except StopIteration as end:
            surface: Surface | None = end.value
            return surface


def _in_lines(rows: Array) -> Array:
    """A copy of rows of four aligned to cache lines, for random access."""
    room = np.empty(rows.size + CACHE_LINE // rows.itemsize)
    skip = -room.ctypes.data % CACHE_LINE // rows.itemsize
    copy = room[skip : skip + rows.size].reshape(rows.shape)
    copy[:] = rows
    return copy
