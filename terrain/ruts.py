"""Ruts: how deep the soil has been pressed, cell by cell, in a table of bounded size.

A point's cell is looked up by a hash. When two cells collide in one slot of the table the newer one stays: memory is
bounded, and only an old rut is lost. The table depends only on what was written, to the bit.

A table may keep a journal of its latest changes, for an observer that goes back in time: `rewind` takes them back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.samples import RUT_CELL
from proving_ground.kernels.jit import inlined, kernel

EMPTY = np.iinfo(np.int64).min
CHANGE = np.dtype([("slot", "i8"), ("key", "i8"), ("depth", "f4")])  # a slot, and what was in it before


class Ruts(NamedTuple):
    """Rut table in the form that kernels use."""

    keys: NDArray[np.int64]  # of the cells; EMPTY where there is none. With a size of 1 nothing is stored
    depth: NDArray[np.float32]  # deepest sinkage yet [m]
    inverse: float  # one over the size of a cell [1/m]
    journal: NDArray[np.void]  # latest records of CHANGE, as a ring; of length 0 where nothing is taken back
    changes: NDArray[np.int64]  # one element: how many there were in all


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
    if ruts.keys[slot] == key and not depth > ruts.depth[slot]:
        return
    if len(ruts.journal) > 0:
        change = ruts.journal[ruts.changes[0] % len(ruts.journal)]
        change.slot, change.key, change.depth = slot, ruts.keys[slot], ruts.depth[slot]
        ruts.changes[0] += 1
    ruts.keys[slot], ruts.depth[slot] = key, depth


@kernel
def _changed(ruts: Ruts, keys: NDArray[np.int64], depth: NDArray[np.float32], slots: NDArray[np.int64]) -> int:
    """Slots that differ from a copy, which is brought up to date; returns their number."""
    count = 0
    for slot in range(len(ruts.keys)):
        if ruts.keys[slot] != keys[slot] or ruts.depth[slot] != depth[slot]:
            keys[slot], depth[slot] = ruts.keys[slot], ruts.depth[slot]
            slots[count] = slot
            count += 1
    return count


@kernel
def write_cells(ruts: Ruts, columns: NDArray[np.int32], rows: NDArray[np.int32], depth: NDArray[np.float32]) -> None:
    """Set the depths [m] of cells, given by column and row, to those of another table."""
    for index in range(len(columns)):
        key = _key(columns[index], rows[index])
        slot = _slot(ruts, key)
        ruts.keys[slot], ruts.depth[slot] = key, depth[index]


class RutChanges:
    """Cells that the wheels have pressed since the last look, for a table in another process."""

    def __init__(self, ruts: Ruts) -> None:
        self._ruts = ruts
        self._slots = np.empty(len(ruts.keys), np.int64)
        self.forget()
        self.take()  # compiles
        self.forget()

    def forget(self) -> None:
        """Treat all cells as changed, so that the next `take` returns every rut."""
        self._keys, self._depth = np.full(len(self._ruts.keys), EMPTY), np.zeros(len(self._ruts.keys), np.float32)

    def take(self) -> NDArray[np.void]:
        """Cells that have changed since the last call, as records of RUT_CELL."""
        count = _changed(self._ruts, self._keys, self._depth, self._slots)
        slots = self._slots[:count]
        keys = self._ruts.keys[slots]
        cells = np.empty(count, RUT_CELL)
        cells["column"] = (keys + 2_147_483_648) // 4_294_967_296  # inverse of _key, whose row may be negative
        cells["row"] = keys - cells["column"].astype(np.int64) * 4_294_967_296
        cells["depth"] = self._ruts.depth[slots]
        return cells


def no_ruts() -> Ruts:
    """An empty table that stores nothing."""
    return _empty(1, 1.0, 0)


def fresh_ruts(cells: int, size: float, journal: int = 0) -> Ruts:
    """A table for this many cells (a power of two) of a size [m]; journal: number of changes that can be undone."""
    if cells < 2 or cells & (cells - 1) or not size > 0.0:
        raise ValueError(f"ruts: cells must be a power of two and size above 0, got {cells} and {size}")
    return _empty(cells, size, journal)


def clear_ruts(ruts: Ruts) -> None:
    """Clear all ruts. Changes from before cannot be undone."""
    ruts.keys.fill(EMPTY)
    ruts.depth.fill(0.0)


def rewind(ruts: Ruts, changes: int) -> None:
    """Undo all but the first `changes` changes, as far back as the journal reaches."""
    _rewind(ruts, changes)


@kernel
def _rewind(ruts: Ruts, changes: int) -> None:
    for index in range(ruts.changes[0] - 1, max(changes, ruts.changes[0] - len(ruts.journal)) - 1, -1):
        change = ruts.journal[index % len(ruts.journal)]
        ruts.keys[change.slot], ruts.depth[change.slot] = change.key, change.depth
    ruts.changes[0] = min(changes, ruts.changes[0])


def save_ruts(ruts: Ruts) -> dict[str, Any]:
    """All ruts and the journal, for `restore_ruts`."""
    used = np.flatnonzero(ruts.keys != EMPTY)
    # A journal that has not gone round yet holds nothing behind its changes.
    journal = ruts.journal[: ruts.changes[0]]
    return {
        "slots": used,
        "keys": ruts.keys[used],
        "depth": ruts.depth[used],
        "journal": journal,
        "changes": ruts.changes,
    }


def restore_ruts(ruts: Ruts, saved: dict[str, Any]) -> None:
    """Restore saved ruts in place; raises ValueError if they are of another table."""
    slots, journal = saved["slots"], saved["journal"]
    if len(slots) and not (slots.min() >= 0 and slots.max() < len(ruts.keys)):
        raise ValueError(f"ruts: must have {len(ruts.keys)} cells, got one at {slots.max()}")
    if len(journal) > len(ruts.journal):
        raise ValueError(f"ruts: must have a journal of {len(ruts.journal)} changes, got {len(journal)}")
    clear_ruts(ruts)
    ruts.keys[slots], ruts.depth[slots] = saved["keys"], saved["depth"]
    ruts.journal[: len(journal)], ruts.changes[:] = journal, saved["changes"]


def _empty(cells: int, size: float, journal: int) -> Ruts:
    depth, changes = np.zeros(cells, np.float32), np.zeros(1, np.int64)
    return Ruts(np.full(cells, EMPTY), depth, 1.0 / size, np.zeros(journal, CHANGE), changes)
