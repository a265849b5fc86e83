"""A priority queue of grid cells for search kernels: a heap that knows the index of each cell.

Keys are pairs of integers, so that equality is exact: D* Lite's proofs depend on it. They are stored in the heap, next
to the keys they are compared with, and each node has four children: both save most of the cache misses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import part

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

NOT_IN = -1
CHILDREN = 4


class OpenList(NamedTuple):
    """Priority queue of cells, which are given by their flat index in the grid."""

    heap: Ints  # cells, least key first
    keys: Longs  # of the cells in the heap, slot by slot: first, second
    slot: Ints  # of each cell in the heap, or NOT_IN
    size: Longs  # one element


def open_list(cells: int) -> OpenList:
    """An empty queue for a grid of this many cells."""
    return OpenList(
        np.zeros(cells, np.int32),
        np.zeros((cells, 2), np.int64),
        np.full(cells, NOT_IN, np.int32),
        np.zeros(1, np.int64),
    )


@part
def put(queue: OpenList, cell: int, first: int, second: int) -> None:
    """Insert a cell with the key (first, second), or change its key."""
    slot = np.int64(queue.slot[cell])
    if slot == NOT_IN:
        slot = queue.size[0]
        queue.size[0] += 1
        _up(queue, slot, cell, first, second)
    elif _is_less(first, second, queue.keys[slot, 0], queue.keys[slot, 1]):
        _up(queue, slot, cell, first, second)
    else:
        _down(queue, slot, cell, first, second)


@part
def take_out(queue: OpenList, cell: int) -> None:
    """Remove a cell, if present."""
    slot = np.int64(queue.slot[cell])
    if slot == NOT_IN:
        return
    queue.slot[cell] = NOT_IN
    queue.size[0] -= 1
    end = queue.size[0]
    if slot != end:  # the last one moves into the slot
        last, first, second = queue.heap[end], queue.keys[end, 0], queue.keys[end, 1]
        if _is_less(first, second, queue.keys[slot, 0], queue.keys[slot, 1]):
            _up(queue, slot, last, first, second)
        else:
            _down(queue, slot, last, first, second)


@part
def _is_less(first: int, second: int, other_first: int, other_second: int) -> bool:
    return first < other_first or (first == other_first and second < other_second)


@part
def _lay(queue: OpenList, slot: int, cell: int, first: int, second: int) -> None:
    queue.heap[slot], queue.slot[cell] = cell, slot
    queue.keys[slot, 0], queue.keys[slot, 1] = first, second


@part
def _up(queue: OpenList, slot: int, cell: int, first: int, second: int) -> None:
    """Sift a cell up from a free slot."""
    while slot > 0:
        parent = (slot - 1) // CHILDREN
        parent_first, parent_second = queue.keys[parent, 0], queue.keys[parent, 1]
        if not _is_less(first, second, parent_first, parent_second):
            break
        _lay(queue, slot, queue.heap[parent], parent_first, parent_second)
        slot = parent
    _lay(queue, slot, cell, first, second)


@part
def _down(queue: OpenList, slot: int, cell: int, first: int, second: int) -> None:
    """Sift a cell down from a free slot."""
    count = queue.size[0]
    while CHILDREN * slot + 1 < count:
        least = CHILDREN * slot + 1
        least_first, least_second = queue.keys[least, 0], queue.keys[least, 1]
        for child in range(least + 1, min(least + CHILDREN, count)):
            if _is_less(queue.keys[child, 0], queue.keys[child, 1], least_first, least_second):
                least, least_first, least_second = child, queue.keys[child, 0], queue.keys[child, 1]
        if not _is_less(least_first, least_second, first, second):
            break
        _lay(queue, slot, queue.heap[least], least_first, least_second)
        slot = least
    _lay(queue, slot, cell, first, second)
