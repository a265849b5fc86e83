"""Small dense linear systems in kernels: LU with partial pivoting, in place, without allocation.

For loops with some ten unknowns, where a call of LAPACK costs more than the work; zeros below the pivot are skipped,
because each loop of a mechanism moves with a few coordinates only. Many systems are stacked: number n has
rows, pivots and right sides start[n] to start[n + 1], its columns from 0. Rows are not extracted as arrays:
counting references to these would cost more than the arithmetic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import part

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@part
def lu_factor(start: Indices, matrix: Array, pivot: Indices) -> bool:
    """Replace each block by its LU factors, diagonals inverted; False when one is singular or not finite.

    Block n has the rows start[n] to start[n + 1] of the matrix, its columns from 0; pivot is written to.
    """
    is_regular = True
    for number in range(len(start) - 1):
        begin, end = start[number], start[number + 1]
        size = end - begin
        for j in range(size):
            top = begin + j
            chosen = top
            for i in range(top + 1, end):
                if abs(matrix[i, j]) > abs(matrix[chosen, j]):
                    chosen = i
            is_regular = is_regular and abs(matrix[chosen, j]) > 0.0
            pivot[top] = chosen
            if chosen != top:
                for k in range(size):
                    value = matrix[top, k]
                    matrix[top, k] = matrix[chosen, k]
                    matrix[chosen, k] = value
            inverse = 1.0 / matrix[top, j]
            matrix[top, j] = inverse
            for i in range(top + 1, end):
                if matrix[i, j] != 0.0:
                    factor = matrix[i, j] * inverse
                    matrix[i, j] = factor
                    for k in range(j + 1, size):
                        matrix[i, k] -= factor * matrix[top, k]
    return is_regular


@part
def lu_solve(start: Indices, matrix: Array, pivot: Indices, right: Array, first: int, end: int) -> None:
    """Solve the systems of all blocks in place; start, matrix, pivot: as lu_factor left them.

    Each of the rows first to end - 1 of `right` is a right side of all systems.
    """
    for number in range(len(start) - 1):
        top, bottom = start[number], start[number + 1]
        for row in range(first, end):
            for j in range(top, bottom):
                value = right[row, j]
                right[row, j] = right[row, pivot[j]]
                right[row, pivot[j]] = value
            for i in range(top, bottom):
                value = right[row, i]
                for k in range(top, i):
                    value -= matrix[i, k - top] * right[row, k]
                right[row, i] = value
            for i in range(bottom - 1, top - 1, -1):
                value = right[row, i]
                for k in range(i + 1, bottom):
                    value -= matrix[i, k - top] * right[row, k]
                right[row, i] = value * matrix[i, i - top]
