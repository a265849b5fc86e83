"""Continuous-time extended Kalman filter on matrix R, trapezoidal rule (CEKF, [Sanjurjo] Section 3.4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.kalman import is_positive, product, product_transposed, symmetrise
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.run import nothing_to_do
from state_observer.filters.setup import NO_MOTION, NOT_POSITIVE, SOUND, Array, FilterState, Setup
from state_observer.linkages.sensors import independent_jacobian, measure
from state_observer.multibody.kinematics import Projection, projection, velocity_by_position
from state_observer.multibody.matrix_r import reduced_mass, settle
from state_observer.multibody.solve import add_matrix, put, put_matrix, solved, transposed

SETTLED = 1e-11  # [rad, rad/s] Newton step at which the iteration ends
MOST_ITERATIONS = 100


@part
def cekf_step(setup: Setup, filter_state: FilterState, readings: Array) -> int:
    """Integrate motion, correction and covariance over one step together; NaN readings are ignored."""
    linkage, state, step = setup.linkage, filter_state.state, setup.step
    cranks = linkage.cranks.size
    points = filter_state.q.size - cranks
    if not settle(
        linkage, filter_state.force, state[:cranks], state[cranks:], filter_state.q, filter_state.qd, filter_state.qdd
    ):
        return NO_MOTION
    at = projection(linkage, filter_state.q)
    _covariance_step(setup, filter_state, at, readings)
    if not is_positive(filter_state.covariance):
        return NOT_POSITIVE
    before, accelerations = state.copy(), np.empty(cranks)
    put(accelerations, filter_state.qdd[points:])
    for c in range(cranks):  # first guess: forward Euler
        state[c] += step * before[cranks + c]
        state[cranks + c] += step * accelerations[c]
    if not settle(
        linkage, filter_state.force, state[:cranks], state[cranks:], filter_state.q, filter_state.qd, filter_state.qdd
    ):
        return NO_MOTION
    at = projection(linkage, filter_state.q)
    jacobian, per_noise = _jacobian(setup, filter_state, at, readings)
    gains = product_transposed(filter_state.covariance, jacobian)
    for s in range(readings.size):  # K = P h_x' (Sigma^S)^-1
        for i in range(state.size):
            gains[i, s] /= per_noise[s]
    put_matrix(filter_state.sensitivity, jacobian)
    _mismatch(setup, filter_state, readings, filter_state.innovation)
    for _ in range(MOST_ITERATIONS):
        change = _newton_step(setup, filter_state, readings, at, before, accelerations, jacobian, gains)
        if not change < 1e6:  # NaN too
            return NO_MOTION
        if not settle(
            linkage,
            filter_state.force,
            state[:cranks],
            state[cranks:],
            filter_state.q,
            filter_state.qd,
            filter_state.qdd,
        ):
            return NO_MOTION
        if change < SETTLED:
            return SOUND
        at = projection(linkage, filter_state.q)
    return NO_MOTION


class Cekf(LinkageFilter):
    """Continuous-time extended Kalman filter."""

    predict = staticmethod(nothing_to_do)
    correct = staticmethod(cekf_step)
    is_fused = True


@part
def _jacobian(setup: Setup, filter_state: FilterState, at: Projection, readings: Array) -> Any:
    """h_x, zero for absent readings, and the PSD of each sensor.

    Eqs. 3.71, 3.72 print Sigma^S where its inverse belongs. In continuous time it is a power spectral density: the
    variance of a sample times its duration, taken as the step whatever the sensor's rate (as the authors' code does).
    """
    jacobian = independent_jacobian(
        setup.linkage, setup.sensors, at, filter_state.q, filter_state.qd, setup.options.as_released
    )
    per_noise = np.empty(readings.size)
    for s in range(readings.size):
        per_noise[s] = setup.sensor_covariance[s, s] * setup.step
        for i in range(jacobian.shape[1]):
            if np.isnan(readings[s]):
                jacobian[s, i] = 0.0
    return jacobian, per_noise


@part
def _mismatch(setup: Setup, filter_state: FilterState, readings: Array, out: Array) -> None:
    """o - h(x), zero for absent readings."""
    measure(setup.linkage, setup.sensors, filter_state.q, filter_state.qd, out)
    for s in range(readings.size):
        out[s] = 0.0 if np.isnan(readings[s]) else readings[s] - out[s]


@part
def _covariance_step(setup: Setup, filter_state: FilterState, at: Projection, readings: Array) -> None:
    """Explicit Euler on Eqs. 3.72, 3.73: the step that turns indefinite where h P h' exceeds a sample's variance."""
    covariance = filter_state.covariance
    dynamics = _dynamics(setup, filter_state, at)
    jacobian, per_noise = _jacobian(setup, filter_state, at, readings)
    across = product(jacobian, covariance)
    put_matrix(filter_state.innovation_covariance, product_transposed(across, jacobian))
    for s in range(readings.size):
        filter_state.innovation_covariance[s, s] += setup.sensor_covariance[s, s]
        for i in range(across.shape[1]):
            across[s, i] /= np.sqrt(per_noise[s])
    drift = product(dynamics, covariance)
    add_matrix(covariance, drift, setup.step)
    add_matrix(covariance, drift.T, setup.step)
    add_matrix(covariance, product(transposed(across), across), -setup.step)
    add_matrix(covariance, setup.plant_psd, setup.step)
    symmetrise(covariance)


@part
def _dynamics(setup: Setup, filter_state: FilterState, at: Projection) -> Any:
    """The approximate Jacobian of the motion, [Sanjurjo] Eqs. 3.66 to 3.68.

    Eq. 3.67 lost its mass matrix: 2 M R_q R zdd. That term is the derivative of R along zdd, i.e. Rdot with zdd in
    place of zd. Weight is constant and bars have no springs or dampers, so K and C are zero.
    """
    linkage, size = setup.linkage, filter_state.q.size
    cranks = linkage.cranks.size
    accelerations = filter_state.qdd[size - cranks :]
    along = np.zeros(size)
    for i in range(size):
        for c in range(cranks):
            along[i] += at.matrix_r[i, c] * accelerations[c]
    by_position = velocity_by_position(linkage, at, filter_state.q, along)
    if setup.options.as_released and cranks > 1:  # the authors keep each angle's own product only
        for c in range(cranks):
            for i in range(size):
                along[i] = at.matrix_r[i, c] * accelerations[c]
            put(by_position[:, c], velocity_by_position(linkage, at, filter_state.q, along)[:, c])
    rates = velocity_by_position(linkage, at, filter_state.q, filter_state.qd)
    mass = reduced_mass(linkage, at)
    by_angle = solved(mass, product(transposed(at.matrix_r), product(linkage.mass, by_position)))
    by_rate = solved(mass, product(transposed(at.matrix_r), product(linkage.mass, rates)))
    result = np.zeros((2 * cranks, 2 * cranks))
    for a in range(cranks):
        result[a, cranks + a] = 1.0
        for b in range(cranks):
            result[cranks + a, b] = -2.0 * by_angle[a, b]
            result[cranks + a, cranks + b] = -by_rate[a, b]
    return result


@part
def _newton_step(
    setup: Setup, filter_state: FilterState, readings: Array, at: Projection,
    before: Array, accelerations: Array, jacobian: Any, gains: Any,
) -> float:  # fmt: skip
    """One Newton step on [Sanjurjo] Eqs. 3.69, 3.70 with the trapezoidal rule; returns its largest change.

    Eq. 3.69: the first term is d(z)/dt, the second the estimated rate. Eqs. 3.74, 3.75 mean z and zd on their right
    sides, with the model's own rate and acceleration (no gain) at the beginning of the step, as in the authors' code.
    """
    linkage, state, cranks = setup.linkage, filter_state.state, setup.linkage.cranks.size
    per_step, points = 2.0 / setup.step, filter_state.q.size - setup.linkage.cranks.size
    mismatch = np.empty(readings.size)
    _mismatch(setup, filter_state, readings, mismatch)
    mass = reduced_mass(linkage, at)
    rates = velocity_by_position(linkage, at, filter_state.q, filter_state.qd)
    mass_rate = product(transposed(at.matrix_r), product(linkage.mass, rates))
    # g2 is divided by the mass: Mbar^-1 Qbar is the model's acceleration, which settle() has left in qdd.
    residual = np.zeros((2 * cranks, 1))
    tangent = np.zeros((2 * cranks, 2 * cranks))
    mass_rate = solved(mass, mass_rate)
    for c in range(cranks):
        residual[c, 0] = per_step * (state[c] - before[c]) - before[cranks + c] - state[cranks + c]
        residual[cranks + c, 0] = (
            per_step * (state[cranks + c] - before[cranks + c]) - accelerations[c] - filter_state.qdd[points + c]
        )
        tangent[c, c] = tangent[cranks + c, cranks + c] = per_step
        tangent[c, cranks + c] = -1.0
        for d in range(cranks):
            tangent[cranks + c, cranks + d] += mass_rate[c, d]
    for i in range(2 * cranks):
        for s in range(readings.size):
            residual[i, 0] -= gains[i, s] * mismatch[s]
    # Eq. 3.77 prints K^z in its last row; the velocities' gain K^zd belongs there.
    add_matrix(tangent, product(gains, jacobian), 1.0)
    change = solved(tangent, residual)
    largest = 0.0
    for i in range(2 * cranks):
        state[i] -= change[i, 0]
        largest = max(largest, abs(change[i, 0]))
    return largest
