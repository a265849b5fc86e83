"""The last step of both multiplier models: the acceleration of a free root, from a symmetric 6x6 system.

The constraints are eliminated before the root. Each constraint row then has eight columns beside it: E, the remainder
of the root's six columns, s, that of the right side, and one of padding for the compiler.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import part

Array = NDArray[np.float64]

FREE = 6  # column of s
BESIDE_COLUMNS = 8


@part
def solve_root(matrix: Array, push: Array, beside: Array, root: Array) -> None:
    """Root acceleration from (matrix + E^T E) root = push - E^T s, by Cholesky.

    matrix (6 x 6, lower triangle) is the root's inertia without the constraints, and is overwritten; push (6) the force
    on it.
    """
    for k in range(6):
        root[k] = push[k]
    for row in range(len(beside)):
        side = beside[row]
        for i in range(6):
            for j in range(i + 1):
                matrix[i, j] += side[i] * side[j]
            root[i] -= side[i] * side[FREE]
    for j in range(6):
        inverse = 1.0 / math.sqrt(matrix[j, j])
        matrix[j, j] = inverse
        root[j] *= inverse
        for i in range(j + 1, 6):
            matrix[i, j] *= inverse
            root[i] -= matrix[i, j] * root[j]
        for i in range(j + 1, 6):
            for k in range(j + 1, i + 1):
                matrix[i, k] -= matrix[i, j] * matrix[k, j]
    for j in range(5, -1, -1):
        for i in range(j + 1, 6):
            root[j] -= matrix[i, j] * root[i]
        root[j] *= matrix[j, j]
