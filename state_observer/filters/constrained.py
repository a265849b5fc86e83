"""Filters in dependent coordinates, x = [q, qd]: SCKF and DIEKFpm ([Sanjurjo] Sections 3.4.4 and 3.4.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.kalman import (
    add_gained,
    fuse_readings,
    gain,
    leave_out_absent,
    product,
    product_transposed,
    propagate,
    subtract,
    update_covariance,
)
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.setup import NO_MOTION, SOUND, Array, FilterState, Setup
from state_observer.filters.tuning import SmoothTuning, Tuning
from state_observer.linkages.sensors import measure, measurement_jacobian
from state_observer.multibody.constraints import constraint_jacobian, constraints, jacobian_rate
from state_observer.multibody.kinematics import constraint_gap, projection
from state_observer.multibody.matrix_r import accelerate
from state_observer.multibody.solve import add_matrix, put, put_matrix

FARTHEST = 1e6  # [m, m/s]: the iteration does not recover from larger violations of the constraints
LEAST_VARIANCE = 1e-10  # of perfect measurements; with less, rounding makes the covariance indefinite


@part
def constrained_predict(setup: Setup, filter_state: FilterState) -> int:
    """Forward Euler on all coordinates ([Sanjurjo] Eq. 3.100) and Eq. 3.102.

    Accelerations obey Eq. 3.41a and the second derivative of Eq. 3.41b; for a state that leaves the constraints a
    little, matrix R gives the same ones as Lagrange multipliers.
    """
    state, size = filter_state.state, filter_state.q.size
    put(filter_state.q, state)
    put(filter_state.qd, state[size:])
    at = projection(setup.linkage, filter_state.q)
    if not at.is_regular:
        return NO_MOTION
    accelerate(setup.linkage, at, filter_state.force, filter_state.q, filter_state.qd, filter_state.qdd)
    for i in range(size):
        state[i] += setup.step * filter_state.qd[i]
        state[size + i] += setup.step * filter_state.qdd[i]
    propagate(setup.transition, setup.plant_noise, filter_state.covariance)
    return SOUND


@part
def sckf_correct(setup: Setup, filter_state: FilterState, readings: Array) -> int:
    """Readings first ([Sanjurjo] Eqs. 3.103 to 3.105), then the constraints as ever less noisy measurements."""
    options, state, size = setup.options, filter_state.state, filter_state.q.size
    expected, jacobian = _sensors(setup, state, readings.size)
    fuse_readings(setup, filter_state, readings, expected, jacobian)
    residual, rows = _constraints(setup, state)
    weakening = product_transposed(product(rows, filter_state.covariance), rows)
    add_matrix(weakening, weakening, options.weakening - 1.0)  # Eq. 3.106
    unused = np.empty_like(weakening)
    for _ in range(options.most_iterations):
        # Eq. 3.107 prints "+" for the transpose of the constraints' Jacobian; iteration indices of 3.107 to 3.109 are
        # those of one pass: gain, state and covariance with the same weakening, which then shrinks (Eq. 3.110).
        gains = gain(filter_state.covariance, rows, weakening, unused)
        for r in range(residual.size):
            residual[r] = -residual[r]
        add_gained(state, gains, residual)
        update_covariance(filter_state.covariance, rows, weakening, gains)
        add_matrix(weakening, weakening, np.exp(-options.decay) - 1.0)
        residual, rows = _constraints(setup, state)
        if not options.gap <= _length(residual) < FARTHEST:
            break
    if not _length(residual) < FARTHEST:  # NaN too
        return NO_MOTION
    filter_state.gap[0] = constraint_gap(setup.linkage, state[:size])
    return SOUND


@part
def diekf_correct(setup: Setup, filter_state: FilterState, readings: Array) -> int:
    """Readings and constraints together, relinearised in each iteration ([Sanjurjo] Section 3.4.5).

    The text uses "some small noise" on the perfect measurements. It must shrink with the iterations, as it does in the
    authors' code, or the iterates settle where the constraints do not hold.
    """
    options, state, size = setup.options, filter_state.state, filter_state.q.size
    count = readings.size
    prior = state.copy()
    residual, rows = _constraints(setup, state)
    innovation = np.empty(count + residual.size)
    jacobian = np.zeros((count + residual.size, state.size))
    noise = np.zeros((count + residual.size, count + residual.size))
    innovation_covariance = np.empty_like(noise)
    gains = np.zeros((state.size, count + residual.size))
    variance = options.perfect_variance
    for iteration in range(options.most_iterations):
        expected, by_state = _sensors(setup, state, count)
        put_matrix(noise[:count, :count], setup.sensor_covariance)
        subtract(readings, expected, innovation[:count])
        put_matrix(jacobian[:count], by_state)
        put_matrix(jacobian[count:], rows)
        for r in range(residual.size):
            innovation[count + r] = -residual[r]  # Eq. 3.111
            noise[count + r, count + r] = variance
        leave_out_absent(readings, innovation, jacobian, noise)
        if iteration == 0:
            put(filter_state.innovation, innovation)
            put_matrix(filter_state.sensitivity, jacobian)
        gains = gain(filter_state.covariance, jacobian, noise, innovation_covariance)
        if iteration == 0:
            put_matrix(filter_state.innovation_covariance, innovation_covariance)
        for r in range(innovation.size):
            for i in range(state.size):
                innovation[r] -= jacobian[r, i] * (prior[i] - state[i])
        put(state, prior)
        add_gained(state, gains, innovation)
        residual, rows = _constraints(setup, state)
        if not options.gap <= _length(residual) < FARTHEST:
            break
        variance = max(variance * np.exp(-options.shrink), LEAST_VARIANCE)
    if not _length(residual) < FARTHEST:  # NaN too
        return NO_MOTION
    update_covariance(filter_state.covariance, jacobian, noise, gains)
    filter_state.gap[0] = constraint_gap(setup.linkage, state[:size])
    return SOUND


@part
def _sensors(setup: Setup, state: Any, count: int) -> Any:
    """h and h_x = [h_q, h_qd] ([Sanjurjo] Eq. 4.17)."""
    size = state.size // 2
    expected, jacobian = np.empty(count), np.empty((count, 2 * size))
    measure(setup.linkage, setup.sensors, state[:size], state[size:], expected)
    measurement_jacobian(
        setup.linkage, setup.sensors, state[:size], state[size:], jacobian[:, :size], jacobian[:, size:]
    )
    return expected, jacobian


@part
def _constraints(setup: Setup, state: Any) -> Any:
    """Phi and Phidot = Phi_q qd, and their derivatives by q and qd."""
    size = state.size // 2
    count = size - setup.linkage.cranks.size
    residual, rows = np.empty(2 * count), np.zeros((2 * count, 2 * size))
    block = np.empty((count, size))
    constraints(setup.linkage, state[:size], residual)
    constraint_jacobian(setup.linkage, state[:size], block)
    put_matrix(rows[:count, :size], block)
    put_matrix(rows[count:, size:], block)
    for r in range(count):
        residual[count + r] = 0.0
        for i in range(size):
            residual[count + r] += block[r, i] * state[size + i]
    is_swapped = setup.options.as_released and setup.linkage.cranks.size > 1
    jacobian_rate(setup.linkage, state[:size], state[size:], is_swapped, block)
    put_matrix(rows[count:, :size], block)
    return residual, rows


@part
def _length(vector: Any) -> float:
    total = 0.0
    for value in vector:
        total += value * value
    return float(np.sqrt(total))


class Sckf(LinkageFilter):
    """Smoothly constrained Kalman filter."""

    predict = staticmethod(constrained_predict)
    correct = staticmethod(sckf_correct)
    is_fused = True  # imposes the constraints whether or not there is a reading
    in_all_coordinates = True

    def iteration(self, tuning: Tuning) -> SmoothTuning:
        """Settings of the iteration, as LinkageFilter.iteration asks."""
        return tuning.smooth


class DiekfPm(LinkageFilter):
    """Discrete iterated extended Kalman filter with perfect measurements."""

    predict = staticmethod(constrained_predict)
    correct = staticmethod(diekf_correct)
    is_fused = True  # imposes the constraints whether or not there is a reading
    in_all_coordinates = True
