"""Algebra shared by all filters ([Sanjurjo] Section 3.1.1); covariances are symmetric by construction."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import kernel, part
from state_observer.multibody.solve import add_matrix, cholesky, put_matrix, solved, transposed


@part
def product(a: Any, b: Any) -> Any:
    """a b of small matrices: a BLAS call costs more than the product."""
    rows, inner = a.shape
    columns = b.shape[1]
    result = np.zeros((rows, columns))
    for i in range(rows):
        for k in range(inner):
            factor = a[i, k]
            if factor != 0.0:  # half of the elements are zero
                for j in range(columns):
                    result[i, j] += factor * b[k, j]
    return result


@part
def product_transposed(a: Any, b: Any) -> Any:
    """Product a b' of a matrix and the transpose of another."""
    rows, inner = a.shape
    columns = b.shape[0]
    result = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            value = 0.0
            for k in range(inner):
                value += a[i, k] * b[j, k]
            result[i, j] = value
    return result


@part
def propagate(transition: Any, noise: Any, covariance: Any) -> None:
    """Covariance after a prediction, in place: P- = F P F' + Sigma^P ([Sanjurjo] Eq. 3.6)."""
    put_matrix(covariance, product_transposed(product(transition, covariance), transition))
    add_matrix(covariance, noise, 1.0)
    symmetrise(covariance)


@part
def gain(covariance: Any, jacobian: Any, noise: Any, innovation_covariance: Any) -> Any:
    """Kalman gain K ([Sanjurjo] Eq. 3.9); the last argument receives the innovation's covariance (Eq. 3.8)."""
    across = product(jacobian, covariance)  # H P
    put_matrix(innovation_covariance, product_transposed(across, jacobian))
    add_matrix(innovation_covariance, noise, 1.0)
    symmetrise(innovation_covariance)
    return transposed(solved(innovation_covariance, across))


@kernel
def update_covariance(covariance: Any, jacobian: Any, noise: Any, gains: Any) -> None:
    """P+ in Joseph's form, in place: [Sanjurjo] Eq. 3.11 for the optimal gain, and rounding leaves it positive."""
    kept = product(gains, jacobian)
    for i in range(kept.shape[0]):
        for j in range(kept.shape[0]):
            kept[i, j] = (1.0 if i == j else 0.0) - kept[i, j]
    put_matrix(covariance, product_transposed(product(kept, covariance), kept))
    add_matrix(covariance, product_transposed(product(gains, noise), gains), 1.0)
    symmetrise(covariance)


@part
def fuse_readings(setup: Any, filter_state: Any, readings: Any, expected: Any, jacobian: Any) -> None:
    """Correct state and covariance by the difference of readings and expectation; jacobian: h_x at that state."""
    noise = setup.sensor_covariance.copy()
    subtract(readings, expected, filter_state.innovation)
    leave_out_absent(readings, filter_state.innovation, jacobian, noise)
    gains = gain(filter_state.covariance, jacobian, noise, filter_state.innovation_covariance)
    add_gained(filter_state.state, gains, filter_state.innovation)
    update_covariance(filter_state.covariance, jacobian, noise, gains)
    put_matrix(filter_state.sensitivity, jacobian)


@part
def symmetrise(matrix: Any) -> None:
    """Mean of the matrix and its transpose, in place."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            mean = 0.5 * (matrix[i, j] + matrix[j, i])
            matrix[i, j] = mean
            matrix[j, i] = mean


@part
def leave_out_absent(readings: Any, innovation: Any, jacobian: Any, noise: Any) -> None:
    """Zero the Jacobian of sensors without a reading (NaN): they change neither state nor covariance."""
    for s in range(readings.size):
        if np.isnan(readings[s]):
            innovation[s] = 0.0
            for i in range(jacobian.shape[1]):
                jacobian[s, i] = 0.0
            for i in range(noise.shape[0]):
                noise[s, i] = noise[i, s] = 0.0
            noise[s, s] = 1.0


@part
def nothing_read(readings: Any) -> bool:
    """Whether all readings are absent."""
    count = 0
    for value in readings:
        if np.isnan(value):
            count += 1
    return bool(count == readings.size)


@part
def subtract(left: Any, right: Any, out: Any) -> None:
    """out = left - right."""
    for i in range(out.size):
        out[i] = left[i] - right[i]


@part
def add_gained(state: Any, gains: Any, innovation: Any) -> None:
    """Correct a state in place: x+ = x- + K y, with gains K and innovation y ([Sanjurjo] Eq. 3.10)."""
    for i in range(state.size):
        for s in range(innovation.size):
            state[i] += gains[i, s] * innovation[s]


@part
def is_positive(matrix: Any) -> bool:
    """Whether a symmetric matrix is positive definite (NaN is not)."""
    return cholesky(matrix, np.empty_like(matrix))
