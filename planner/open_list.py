"""A priority queue of grid cells for search kernels: a binary heap that knows where each cell is in it.

Keys are pairs of whole numbers, so that equal means equal: D* Lite's proofs depend on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.kernels.jit import part

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

NOT_IN = -1


class OpenList(NamedTuple):
    """Cells by their flat number."""

    heap: Ints  # cells, the one with the least key first
    place: Ints  # of each cell in the heap, or NOT_IN
    first: Longs  # keys of each cell
    second: Longs
    size: Longs  # one number


def open_list(cells: int) -> OpenList:
    """An empty one for so many cells."""
    return OpenList(
        np.zeros(cells, np.int32),
        np.full(cells, NOT_IN, np.int32),
        np.zeros(cells, np.int64),
        np.zeros(cells, np.int64),
        np.zeros(1, np.int64),
    )


@part
def put(queue: OpenList, cell: int, first: int, second: int) -> None:
    """Insert a cell, or give it another key."""
    if queue.place[cell] == NOT_IN:
        queue.place[cell] = queue.size[0]
        queue.heap[queue.size[0]] = cell
        queue.size[0] += 1
    queue.first[cell], queue.second[cell] = first, second
    _down(queue, _up(queue, queue.place[cell]))


@part
def take_out(queue: OpenList, cell: int) -> None:
    """Remove a cell, if it is there."""
    hole = queue.place[cell]
    if hole == NOT_IN:
        return
    queue.place[cell] = NOT_IN
    queue.size[0] -= 1
    last = queue.heap[queue.size[0]]
    if last != cell:
        queue.heap[hole], queue.place[last] = last, hole
        _down(queue, _up(queue, hole))


@part
def _is_before(queue: OpenList, a: int, b: int) -> bool:
    return bool(
        queue.first[a] < queue.first[b] or (queue.first[a] == queue.first[b] and queue.second[a] < queue.second[b])
    )


@part
def _up(queue: OpenList, place: int) -> int:
    cell = queue.heap[place]
    while place > 0:
        parent = (place - 1) // 2
        other = queue.heap[parent]
        if not _is_before(queue, cell, other):
            break
        queue.heap[place], queue.place[other] = other, place
        place = parent
    queue.heap[place], queue.place[cell] = cell, place
    return place


@part
def _down(queue: OpenList, place: int) -> None:
    cell, count = queue.heap[place], queue.size[0]
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and _is_before(queue, queue.heap[child + 1], queue.heap[child]):
            child += 1
        other = queue.heap[child]
        if not _is_before(queue, other, cell):
            break
        queue.heap[place], queue.place[other] = other, place
        place = child
    queue.heap[place], queue.place[cell] = cell, place
