"""Unscented Kalman filter in independent coordinates, forward Euler or trapezoidal rule ([Sanjurjo] Section 3.4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.kalman import (
    add_gained,
    leave_out_absent,
    product,
    product_transposed,
    subtract,
    symmetrise,
)
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.setup import NO_MOTION, NOT_POSITIVE, SOUND, Array, Memory, Options, Setup
from state_observer.linkages.sensors import measure
from state_observer.multibody.matrix_r import euler_step, settle, trapezoidal_step
from state_observer.multibody.solve import add_matrix, cholesky, put, put_matrix, solved, transposed


@part
def spread(options: Options, size: int) -> float:
    """l + lambda. The text under Eq. 3.89 lost the "- l" of lambda = alpha^2 (l + kappa) - l [63]."""
    return options.alpha**2 * (size + options.kappa)


@part
def _predict(setup: Setup, memory: Memory, is_trapezoidal: bool) -> int:
    """Sigma points (Eqs. 3.87 to 3.89), each one step on (Eq. 3.90); mean and covariance (Eqs. 3.91, 3.92)."""
    linkage, state, size = setup.linkage, memory.state, memory.state.size
    cranks = linkage.cranks.size
    root = np.empty((size, size))
    if not cholesky(memory.covariance, root):
        return NOT_POSITIVE
    zeta = np.sqrt(spread(setup.options, size))
    for p in range(2 * size + 1):
        for i in range(size):
            offset = 0.0
            if p > 0:
                offset = zeta * root[i, p - 1] if p <= size else -zeta * root[i, p - 1 - size]
            memory.points_before[p, i] = state[i] + offset
    for p in range(2 * size + 1):
        point, q, qd = memory.points_before[p], memory.points_q[p], memory.points_qd[p]
        put(q, memory.q)  # the guess of the position problem
        if not settle(linkage, memory.force, point[:cranks], point[cranks:], q, qd, memory.qdd):
            return NO_MOTION
        if is_trapezoidal:
            is_done = trapezoidal_step(linkage, memory.force, setup.step, q, qd, memory.qdd)
        else:
            is_done = euler_step(linkage, memory.force, setup.step, q, qd, memory.qdd)
        if not is_done:
            return NO_MOTION
        for c in range(cranks):
            memory.points[p, c] = q[q.size - cranks + c]
            memory.points[p, cranks + c] = qd[q.size - cranks + c]
    put(memory.q, memory.points_q[0])
    _mean(setup.options, memory.points, state)
    deviations = _deviations(memory.points, state)
    put_matrix(memory.covariance, _covariance(setup.options, deviations, deviations))
    add_matrix(memory.covariance, setup.plant_noise, 1.0)
    symmetrise(memory.covariance)
    return SOUND


@part
def ukf_euler_predict(setup: Setup, memory: Memory) -> int:
    """One step of each point by forward Euler."""
    return _predict(setup, memory, False)


@part
def ukf_trapezoidal_predict(setup: Setup, memory: Memory) -> int:
    """One step of each point by the trapezoidal rule."""
    return _predict(setup, memory, True)


@part
def ukf_correct(setup: Setup, memory: Memory, readings: Array) -> int:
    """Eqs. 3.93 to 3.99, with the points of the prediction, as the text says."""
    count = memory.points.shape[0]
    measured = np.empty((count, readings.size))
    for p in range(count):
        measure(setup.linkage, setup.sensors, memory.points_q[p], memory.points_qd[p], measured[p])
    expected = np.empty(readings.size)
    _mean(setup.options, measured, expected)
    subtract(readings, expected, memory.innovation)  # Eqs. 3.93, 3.94
    # Eqs. 3.95, 3.96 as printed square the Y themselves, which holds their mean, and add Sigma^S to both. Deviations
    # from the mean are meant; sensor noise is part of P_y and has nothing in common with the state.
    deviations, spreads = _deviations(memory.points, memory.state), transposed(_deviations(measured, expected))
    noise = setup.sensor_covariance.copy()
    leave_out_absent(readings, memory.innovation, spreads, noise)
    spreads = transposed(spreads)
    put_matrix(memory.innovation_covariance, _covariance(setup.options, spreads, spreads))
    add_matrix(memory.innovation_covariance, noise, 1.0)
    symmetrise(memory.innovation_covariance)
    across = _covariance(setup.options, spreads, deviations)
    gains = transposed(solved(memory.innovation_covariance, across))  # Eq. 3.97
    add_gained(memory.state, gains, memory.innovation)
    # Eq. 3.99 prints h_x for K.
    gained = product_transposed(product(gains, memory.innovation_covariance), gains)
    add_matrix(memory.covariance, gained, -1.0)
    symmetrise(memory.covariance)
    return SOUND


@part
def _mean(options: Options, points: Any, out: Any) -> None:
    """Weighted mean; sums run over all 2l + 1 points (print: 0 to 2l + 1, one too many).

    Taken from the middle point, because its weight 1 - 1/alpha^2 is -1e6 and would cost six digits.
    """
    count, width = points.shape
    weight = 0.5 / spread(options, (count - 1) // 2)
    for i in range(width):
        total = 0.0
        for p in range(1, count):
            total += points[p, i] - points[0, i]
        out[i] = points[0, i] + weight * total


@part
def _deviations(points: Any, mean: Any) -> Any:
    result = np.empty_like(points)
    for p in range(points.shape[0]):
        subtract(points[p], mean, result[p])
    return result


@part
def _covariance(options: Options, left: Any, right: Any) -> Any:
    """Weighted sum of products of deviations."""
    count = left.shape[0]
    size = (count - 1) // 2
    total = spread(options, size)
    first = (total - size) / total + 1.0 - options.alpha**2 + options.beta  # W_0^c
    result = np.empty((left.shape[1], right.shape[1]))
    for i in range(left.shape[1]):
        for j in range(right.shape[1]):
            value = 0.0
            for p in range(1, count):
                value += left[p, i] * right[p, j]
            result[i, j] = first * left[0, i] * right[0, j] + 0.5 / total * value
    return result


class UkfEuler(LinkageFilter):
    """Unscented Kalman filter, forward Euler."""

    predict = staticmethod(ukf_euler_predict)
    correct = staticmethod(ukf_correct)
    has_points = True


class UkfTrapezoidal(LinkageFilter):
    """Unscented Kalman filter, trapezoidal rule."""

    predict = staticmethod(ukf_trapezoidal_predict)
    correct = staticmethod(ukf_correct)
    has_points = True
