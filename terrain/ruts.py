"""Ruts: how deep the soil has been pressed, cell by cell, in a table of bounded size.

A point's cell is looked up by a hash. When two cells collide in one slot of the table the newer one stays: memory is
bounded, and only an old rut is lost. The table depends only on what was written, to the bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined

EMPTY = np.iinfo(np.int64).min


class Ruts(NamedTuple):
    """Rut table in the form that kernels use."""

    keys: NDArray[np.int64]  # of the cells; EMPTY where there is none. With a size of 1 nothing is stored
    depth: NDArray[np.float32]  # deepest sinkage yet [m]
    inverse: float  # one over the size of a cell [1/m]


@inlined
def _key(column: int, row: int) -> int:
    return column * 4_294_967_296 + row  # both fit into 31 bits: 200,000 km at 0.1 m


@inlined
def _slot(ruts: Ruts, key: int) -> int:
    mixed = key * 0x27D4EB2F165667C5
    return ((mixed >> 29) ^ mixed) & (len(ruts.keys) - 1)


@inlined
def _depth(ruts: Ruts, column: int, row: int) -> float:
    key = _key(column, row)
    slot = _slot(ruts, key)
    return float(ruts.depth[slot]) if ruts.keys[slot] == key else 0.0


@inlined
def rut_depth(ruts: Ruts, x: float, y: float) -> float:
    """Depth to which the soil was pressed at a point [m], interpolated between cell centres."""
    if len(ruts.keys) == 1:
        return 0.0
    u, v = x * ruts.inverse - 0.5, y * ruts.inverse - 0.5
    column, row = int(np.floor(u)), int(np.floor(v))
    right, up = u - column, v - row
    near = _depth(ruts, column, row) * (1.0 - right) + _depth(ruts, column + 1, row) * right
    far = _depth(ruts, column, row + 1) * (1.0 - right) + _depth(ruts, column + 1, row + 1) * right
    return near * (1.0 - up) + far * up


@inlined
def press(ruts: Ruts, x: float, y: float, depth: float) -> None:
    """Record that the soil at a point was pressed to a depth [m]."""
    if len(ruts.keys) == 1:
        return
    key = _key(int(np.floor(x * ruts.inverse)), int(np.floor(y * ruts.inverse)))
    slot = _slot(ruts, key)
    if ruts.keys[slot] != key:
        ruts.keys[slot], ruts.depth[slot] = key, depth
    elif depth > ruts.depth[slot]:
        ruts.depth[slot] = depth


def no_ruts() -> Ruts:
    """An empty table that stores nothing."""
    return Ruts(np.full(1, EMPTY), np.zeros(1, np.float32), 1.0)


def fresh_ruts(cells: int, size: float) -> Ruts:
    """A table for this many cells (a power of two) of a size [m]."""
    if cells < 2 or cells & (cells - 1) or not size > 0.0:
        raise ValueError(f"ruts: cells must be a power of two and size above 0, got {cells} and {size}")
    return Ruts(np.full(cells, EMPTY), np.zeros(cells, np.float32), 1.0 / size)


def clear_ruts(ruts: Ruts) -> None:
    """Clear all ruts."""
    ruts.keys.fill(EMPTY)
    ruts.depth.fill(0.0)
