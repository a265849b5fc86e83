"""Cholesky factors of sparse positive definite matrices whose pattern never changes.

The elimination order and the pattern of the factor are found once, in Python; values are factored by kernels that only
follow lists. Lower triangle by columns, the diagonal entry first in each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import part

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class CholeskyPattern(NamedTuple):
    """Positions of the entries of a sparse Cholesky factor."""

    start: Indices  # columns + 1: first entry of each column
    row: Indices  # entries: its row
    target: Indices  # for each product of two entries of a column, in order: the entry that it is subtracted from


def minimum_degree(neighbours: list[set[int]], weights: list[int]) -> list[int]:
    """Elimination order of a graph's nodes by the greedy minimum-degree rule; a node's weight is its number of rows."""
    graph = {node: set(others) - {node} for node, others in enumerate(neighbours)}
    order = []
    while graph:
        node = min(graph, key=lambda item: (sum(weights[other] for other in graph[item]), item))
        others = graph.pop(node)
        for other in others:
            graph[other] = (graph[other] | others) - {node, other}
        order.append(node)
    return order


def cholesky_pattern(columns: list[set[int]]) -> CholeskyPattern:
    """Pattern of the factor of a matrix whose entries below the diagonal are in the given rows, column by column."""
    filled = [{row for row in rows if row > column} for column, rows in enumerate(columns)]
    for rows in filled:
        if rows:
            filled[min(rows)] |= rows - {min(rows)}  # a column passes its fill on to the first one it updates
    lists = [[column, *sorted(rows)] for column, rows in enumerate(filled)]
    start = np.cumsum([0] + [len(rows) for rows in lists]).astype(np.int64)
    entries = {(row, column): start[column] + k for column, rows in enumerate(lists) for k, row in enumerate(rows)}
    target = [entries[row, column] for rows in lists for n, column in enumerate(rows[1:], 1) for row in rows[n:]]
    return CholeskyPattern(
        start, np.array([row for rows in lists for row in rows], dtype=np.int64), np.array(target, dtype=np.int64)
    )


def entry(pattern: CholeskyPattern, row: int, column: int) -> int:
    """Index of the entry at a row and column of the lower triangle."""
    start, end = pattern.start[column], pattern.start[column + 1]
    return int(start + np.searchsorted(pattern.row[start:end], row))


@part
def factor(pattern: CholeskyPattern, values: Array) -> None:
    """Replace the matrix by its factor L, L L^T, in place; the diagonal is left inverted."""
    product = 0
    for column in range(len(pattern.start) - 1):
        start, end = pattern.start[column], pattern.start[column + 1]
        inverse = 1.0 / math.sqrt(values[start])
        values[start] = inverse
        for k in range(start + 1, end):
            values[k] *= inverse
        for i in range(start + 1, end):
            multiplier = values[i]
            for k in range(i, end):
                values[pattern.target[product]] -= multiplier * values[k]
                product += 1


@part
def forward(pattern: CholeskyPattern, values: Array, right: Array) -> None:
    """L^-1 of several right sides (rows x any) in place."""
    for column in range(len(pattern.start) - 1):
        start, end = pattern.start[column], pattern.start[column + 1]
        own = right[column]
        for n in range(right.shape[1]):
            own[n] *= values[start]
        for k in range(start + 1, end):
            other, multiplier = right[pattern.row[k]], values[k]
            for n in range(right.shape[1]):
                other[n] -= multiplier * own[n]


@part
def backward(pattern: CholeskyPattern, values: Array, right: Array) -> None:
    """L^-T of one right side in place."""
    for column in range(len(pattern.start) - 2, -1, -1):
        start, end = pattern.start[column], pattern.start[column + 1]
        value = right[column]
        for k in range(start + 1, end):
            value -= values[k] * right[pattern.row[k]]
        right[column] = value * values[start]
