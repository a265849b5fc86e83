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
from state_observer.filters.setup import NO_MOTION, NOT_POSITIVE, SOUND, Array, FilterState, Options, Setup
from state_observer.linkages.sensors import measure
from state_observer.multibody.matrix_r import euler_step, settle, trapezoidal_step
from state_observer.multibody.solve import add_matrix, cholesky, put, put_matrix, solved, transposed


@part
def scaling(options: Options, size: int) -> float:
    """l + lambda. The text under [Sanjurjo] Eq. 3.89 lost the "- l" of lambda = alpha^2 (l + kappa) - l [63]."""
    return options.alpha**2 * (size + options.kappa)


@part
def _predict(setup: Setup, filter_state: FilterState, is_trapezoidal: bool) -> int:
    """Sigma points (Eqs. 3.87 to 3.89), advanced one step (Eq. 3.90); mean and covariance (Eqs. 3.91, 3.92)."""
    linkage, state, size = setup.linkage, filter_state.state, filter_state.state.size
    cranks = linkage.cranks.size
    root = np.empty((size, size))
    if not cholesky(filter_state.covariance, root):
        return NOT_POSITIVE
    zeta = np.sqrt(scaling(setup.options, size))
    for p in range(2 * size + 1):
        for i in range(size):
            offset = 0.0
            if p > 0:
                offset = zeta * root[i, p - 1] if p <= size else -zeta * root[i, p - 1 - size]
            filter_state.points_before[p, i] = state[i] + offset
    for p in range(2 * size + 1):
        point, q, qd = filter_state.points_before[p], filter_state.points_q[p], filter_state.points_qd[p]
        put(q, filter_state.q)  # initial guess of the position problem
        if not settle(linkage, filter_state.force, point[:cranks], point[cranks:], q, qd, filter_state.qdd):
            return NO_MOTION
        if is_trapezoidal:
            is_done = trapezoidal_step(linkage, filter_state.force, setup.step, q, qd, filter_state.qdd)
        else:
            is_done = euler_step(linkage, filter_state.force, setup.step, q, qd, filter_state.qdd)
        if not is_done:
            return NO_MOTION
        for c in range(cranks):
            filter_state.points[p, c] = q[q.size - cranks + c]
            filter_state.points[p, cranks + c] = qd[q.size - cranks + c]
    put(filter_state.q, filter_state.points_q[0])
    _mean(setup.options, filter_state.points, state)
    deviations = _deviations(filter_state.points, state)
    put_matrix(filter_state.covariance, _covariance(setup.options, deviations, deviations))
    add_matrix(filter_state.covariance, setup.plant_noise, 1.0)
    symmetrise(filter_state.covariance)
    return SOUND


@part
def ukf_euler_predict(setup: Setup, filter_state: FilterState) -> int:
    """One step of each point by forward Euler."""
    return _predict(setup, filter_state, False)


@part
def ukf_trapezoidal_predict(setup: Setup, filter_state: FilterState) -> int:
    """One step of each point by the trapezoidal rule."""
    return _predict(setup, filter_state, True)


@part
def ukf_correct(setup: Setup, filter_state: FilterState, readings: Array) -> int:
    """[Sanjurjo] Eqs. 3.93 to 3.99, with the sigma points of the prediction, as in the text."""
    count = filter_state.points.shape[0]
    measured = np.empty((count, readings.size))
    for p in range(count):
        measure(setup.linkage, setup.sensors, filter_state.points_q[p], filter_state.points_qd[p], measured[p])
    expected = np.empty(readings.size)
    _mean(setup.options, measured, expected)
    subtract(readings, expected, filter_state.innovation)  # Eqs. 3.93, 3.94
    # Eqs. 3.95, 3.96 as printed square Y itself, which includes its mean, and add Sigma^S to both. Deviations from the
    # mean are meant; sensor noise belongs to P_y and is uncorrelated with the state.
    deviations, scalings = (
        _deviations(filter_state.points, filter_state.state),
        transposed(_deviations(measured, expected)),
    )
    noise = setup.sensor_covariance.copy()
    leave_out_absent(readings, filter_state.innovation, scalings, noise)
    scalings = transposed(scalings)
    put_matrix(filter_state.innovation_covariance, _covariance(setup.options, scalings, scalings))
    add_matrix(filter_state.innovation_covariance, noise, 1.0)
    symmetrise(filter_state.innovation_covariance)
    across = _covariance(setup.options, scalings, deviations)
    gains = transposed(solved(filter_state.innovation_covariance, across))  # Eq. 3.97
    add_gained(filter_state.state, gains, filter_state.innovation)
    # Eq. 3.99 prints h_x for K.
    gained = product_transposed(product(gains, filter_state.innovation_covariance), gains)
    add_matrix(filter_state.covariance, gained, -1.0)
    symmetrise(filter_state.covariance)
    return SOUND


@part
def _mean(options: Options, points: Any, out: Any) -> None:
    """Weighted mean; sums run over all 2l + 1 points (print: 0 to 2l + 1, one too many).

    Relative to the centre point, whose weight 1 - 1/alpha^2 is -1e6 and would cost six digits.
    """
    count, width = points.shape
    weight = 0.5 / scaling(options, (count - 1) // 2)
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
    total = scaling(options, size)
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
