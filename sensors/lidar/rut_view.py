"""Ruts in ray casting: a ray that hits the ground over a rut continues until it hits the rut.

No mesh is rebuilt. The depth of a rut is looked up where a ray arrives, in the table that the wheels write. A small
hash map of rutted blocks keeps that cheap.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, kernel
from sensors.lidar.casting import Found
from terrain.ground import Ground, height_at
from terrain.ruts import EMPTY, Ruts, rut_depth

Array = NDArray[np.float64]
Marks = NDArray[np.uint8]

MARKS = 2**16  # of blocks; a collision costs one lookup
BLOCK = 8  # cells on each side
SHALLOW = 1e-4  # [m]: shallower is no rut
STRIDE = 0.02  # [m] along a ray
MOST_STRIDES = 500
REACH = 0.02  # [m] baseline of a rut's slope


@inlined
def _mark(column: int, row: int) -> int:
    return ((column // BLOCK) * 0x9E3779B1 + (row // BLOCK) * 0x85EBCA6B) & (MARKS - 1)


@kernel
def mark_ruts(ruts: Ruts, marks: Marks) -> int:
    """Mark the blocks with ruts in or beside them; returns the number of rutted cells."""
    marks[:] = 0
    count = 0
    for key in ruts.keys:
        if key == EMPTY:
            continue
        count += 1
        # Inverse of terrain.ruts._key, whose row may be negative.
        column = (key + 2_147_483_648) // 4_294_967_296
        row = key - column * 4_294_967_296
        # Depths are interpolated between cell centres: a rut extends into neighbouring cells.
        for beside in (-1, 1):
            marks[_mark(column + beside, row - 1)] = 1
            marks[_mark(column + beside, row + 1)] = 1
    return count


@kernel
def sink_into_ruts(ground: Ground, marks: Marks, origins: Array, directions: Array, far: float, out: Found) -> None:
    """Move the hits of out on rutted ground to where the ray meets the rut: ray marching, then one secant step."""
    ruts = ground.ruts
    shared = len(directions) // len(origins)
    for ray in range(len(directions)):
        begin = out.ranges[ray]
        if out.materials[ray] != 0 or not begin <= far:
            continue
        ox, oy, oz = origins[ray // shared]
        dx, dy, dz = directions[ray, 0], directions[ray, 1], directions[ray, 2]
        x, y = ox + begin * dx, oy + begin * dy
        if not marks[_mark(math.floor(x * ruts.inverse), math.floor(y * ruts.inverse))]:
            continue
        clear = rut_depth(ruts, x, y)
        if clear < SHALLOW:
            continue
        # Keep the difference between triangles and map as it is at the first hit.
        differs = oz + begin * dz - height_at(ground, x, y)
        at = begin
        for _ in range(MOST_STRIDES):
            at += STRIDE
            x, y = ox + at * dx, oy + at * dy
            depth = rut_depth(ruts, x, y)
            before, clear = clear, oz + at * dz - height_at(ground, x, y) - differs + depth
            if clear <= 0.0:
                at -= STRIDE * clear / (clear - before)
                break
            if depth == 0.0:  # left the rut at its other end
                break
        if at > far:
            out.ranges[ray] = math.inf
            continue
        x, y = ox + at * dx, oy + at * dy
        along = (_height(ground, x + REACH, y) - _height(ground, x - REACH, y)) / (2.0 * REACH)
        across = (_height(ground, x, y + REACH) - _height(ground, x, y - REACH)) / (2.0 * REACH)
        facing = abs(along * dx + across * dy - dz) / math.sqrt(1.0 + along * along + across * across)
        out.ranges[ray], out.cosines[ray] = at, min(facing, 1.0)


@inlined
def _height(ground: Ground, x: float, y: float) -> float:
    return height_at(ground, x, y) - rut_depth(ground.ruts, x, y)
