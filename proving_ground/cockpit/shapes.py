"""Coloured triangles for the page: boxes, cylinders, prisms and combinations. Metres, z up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Faces = NDArray[np.int32]
Colour = tuple[int, int, int]

ROUND = 24  # sides of a cylinder


@dataclass(frozen=True, eq=False)
class Solid:
    """Corners [m] and triangles, counter-clockwise from outside."""

    vertices: Array  # n x 3
    faces: Faces  # m x 3

    def moved(self, shift: ArrayLike) -> Solid:
        """A copy of the solid shifted by a vector [m]."""
        return Solid(self.vertices + np.asarray(shift, float), self.faces)


@dataclass(frozen=True, eq=False)
class Painted:
    """A solid of one colour."""

    name: str
    solid: Solid
    colour: Colour  # red, green, blue: 0 to 255
    opacity: float | None = None  # None: opaque


def joined(solids: Iterable[Solid]) -> Solid:
    """Several solids as one mesh."""
    parts = list(solids)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])[:-1]
    return Solid(
        np.concatenate([np.zeros((0, 3)), *(part.vertices for part in parts)]),
        np.concatenate(
            [np.zeros((0, 3), np.int32), *(part.faces + np.int32(s) for part, s in zip(parts, starts, strict=True))]
        ),
    )


def prism(profile: Sequence[tuple[float, float]], half_widths: float | Sequence[float]) -> Solid:
    """A convex outline in x and z, counter-clockwise as seen from the right (from -y), extruded along y.

    half_widths: of all corners, or of each.
    """
    outline = np.array(profile, float)
    half = np.broadcast_to(np.asarray(half_widths, float), len(outline))
    right = np.column_stack((outline[:, 0], -half, outline[:, 1]))
    left = right * [1.0, -1.0, 1.0]
    return _skin(right, left)


def box(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> Solid:
    """Box between two positions along each axis [m]."""
    near = np.array([(x[0], y[0], z[0]), (x[1], y[0], z[0]), (x[1], y[0], z[1]), (x[0], y[0], z[1])])
    return _skin(near, near + np.array([0.0, y[1] - y[0], 0.0]))


def cylinder(start: ArrayLike, end: ArrayLike, radius: float, end_radius: float | None = None) -> Solid:
    """Cylinder from start to end [m]; a cone where the radii differ."""
    begin, finish = np.asarray(start, float), np.asarray(end, float)
    along = finish - begin
    along /= np.linalg.norm(along)
    one = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    one /= np.linalg.norm(one)
    angle = 2.0 * math.pi * np.arange(ROUND)[:, None] / ROUND
    ring = np.cos(angle) * one + np.sin(angle) * np.cross(along, one)
    # Counter-clockwise as seen against the normal of the first lid.
    return _skin(begin + radius * ring[::-1], finish + (radius if end_radius is None else end_radius) * ring[::-1])


def ball(centre: ArrayLike, radii: ArrayLike, rings: int = 5, sides: int = 8) -> Solid:
    """A coarse ellipsoid: centre and half axes [m]; rings, sides: numbers of its facets."""
    tilt = np.pi * np.arange(1, rings) / rings
    angle = 2.0 * np.pi * np.arange(sides) / sides
    unit = np.array([[math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)] for a in tilt for b in angle])
    vertices = np.vstack((unit, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])) * np.asarray(radii, float) + np.asarray(centre)
    top, low = len(unit), len(unit) + 1
    here, there = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = [np.stack((np.full(sides, top), here, there), axis=-1)]
    for ring in range(rings - 2):
        a, b = ring * sides, (ring + 1) * sides
        faces.append(np.stack((here + a, here + b, there + b), axis=-1))
        faces.append(np.stack((here + a, there + b, there + a), axis=-1))
    last = (rings - 2) * sides
    faces.append(np.stack((here + last, np.full(sides, low), there + last), axis=-1))
    return Solid(vertices, np.concatenate(faces).astype(np.int32))


def flat_shaded(solid: Solid) -> Solid:
    """Separate corners for each triangle, so that edges stay sharp."""
    return Solid(
        solid.vertices[solid.faces].reshape(-1, 3), np.arange(3 * len(solid.faces), dtype=np.int32).reshape(-1, 3)
    )


def _skin(near: Array, far: Array) -> Solid:
    """Faces between two rings of equal size; the near one is counter-clockwise as seen from its own side."""
    count = len(near)
    here, there = np.arange(count), (np.arange(count) + 1) % count
    fan = np.arange(1, count - 1)
    zero = np.zeros_like(fan)
    faces = [
        (here, here + count, there + count), (here, there + count, there),
        (zero, fan, fan + 1), (zero + count, fan + 1 + count, fan + count),
    ]  # fmt: skip
    return Solid(np.vstack((near, far)), np.concatenate([np.stack(part, axis=-1) for part in faces]).astype(np.int32))
