"""Linear systems of a few unknowns, solved in place: at these sizes calling LAPACK costs more than its work.

All work on complex numbers too, so that tests can differentiate by complex steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import kernel, part


@part
def put(target: Any, source: Any) -> None:
    """Copy a vector. Plain loops compile and run faster than slices, which check shapes and prepare error texts."""
    for i in range(target.size):
        target[i] = source[i]


@part
def put_matrix(target: Any, source: Any) -> None:
    """Copy a matrix."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] = source[i, j]


@part
def add_matrix(target: Any, source: Any, scale: float) -> None:
    """target + scale source, in place."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] += scale * source[i, j]


@part
def transposed(matrix: Any) -> Any:
    """A copy with rows as columns."""
    result = np.empty((matrix.shape[1], matrix.shape[0]), matrix.dtype)
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            result[j, i] = matrix[i, j]
    return result


@part
def factor(matrix: Any, order: Any) -> bool:
    """Replace a square matrix by its LU factors, with the row order in `order`; False if it is singular."""
    size = matrix.shape[0]
    for i in range(size):
        order[i] = i
    for k in range(size):
        best, largest = k, abs(matrix[k, k])
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > largest:
                best, largest = i, abs(matrix[i, k])
        if not largest > 0.0:  # NaN too
            return False
        if best != k:
            order[k], order[best] = order[best], order[k]
            for j in range(size):
                matrix[k, j], matrix[best, j] = matrix[best, j], matrix[k, j]
        for i in range(k + 1, size):
            ratio = matrix[i, k] / matrix[k, k]
            matrix[i, k] = ratio
            if ratio != 0.0:
                for j in range(k + 1, size):
                    matrix[i, j] -= ratio * matrix[k, j]
    return True


@part
def back_substitute(factors: Any, order: Any, right: Any, solution: Any) -> None:
    """The solution for one right side; right and solution must be different arrays."""
    size = factors.shape[0]
    for i in range(size):
        value = right[order[i]]
        for j in range(i):
            value -= factors[i, j] * solution[j]
        solution[i] = value
    for i in range(size - 1, -1, -1):
        value = solution[i]
        for j in range(i + 1, size):
            value -= factors[i, j] * solution[j]
        solution[i] = value / factors[i, i]


@kernel
def solved(matrix: Any, right: Any) -> Any:
    """matrix^-1 right for a matrix right side; NaN in its first row if the matrix is singular."""
    size = matrix.shape[0]
    result = np.empty_like(right)
    if size == 1:
        for j in range(right.shape[1]):
            result[0, j] = right[0, j] / matrix[0, 0]
        return result
    factors = np.empty_like(matrix)
    put_matrix(factors, matrix)
    order = np.empty(size, np.int64)
    is_regular = factor(factors, order)
    for j in range(right.shape[1]):
        back_substitute(factors, order, right[:, j], result[:, j])
        if not is_regular:
            result[0, j] = np.nan
    return result


@kernel
def cholesky(matrix: Any, lower: Any) -> bool:
    """Cholesky factor of a symmetric matrix, read from its lower half; `lower` may be the matrix itself.

    False, with `lower` undefined, if it is not positive definite.
    """
    size = matrix.shape[0]
    for j in range(size):
        for i in range(j):
            lower[i, j] = 0.0
        for i in range(j, size):
            value = matrix[i, j]
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            if i > j:
                lower[i, j] = value / lower[j, j]
            elif value > 0.0:
                lower[i, j] = np.sqrt(value)
            else:
                return False
    return True


@part
def cholesky_solve(lower: Any, right: Any, solution: Any) -> None:
    """The solution for one right side, which may be the solution itself, from the Cholesky factor."""
    size = lower.shape[0]
    for i in range(size):
        value = right[i]
        for j in range(i):
            value -= lower[i, j] * solution[j]
        solution[i] = value / lower[i, i]
    for i in range(size - 1, -1, -1):
        value = solution[i]
        for j in range(i + 1, size):
            value -= lower[j, i] * solution[j]
        solution[i] = value / lower[i, i]
