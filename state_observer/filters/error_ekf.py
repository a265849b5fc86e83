"""Error-state extended Kalman filter around a multibody simulation (errorEKF, [Sanjurjo] Section 3.4.6), and forceEKF.

forceEKF continues where [Sanjurjo] Section 6.2 stops: it also estimates the error of the accelerations, converts it to
forces on the cranks by inverse dynamics, and adds these to the model. With a finite correlation time the force decays:
coloured plant noise through a first-order shaping filter.
"""

from __future__ import annotations

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.kalman import add_gained, gain, leave_out_absent, propagate, subtract, update_covariance
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.noise import shaped_acceleration
from state_observer.filters.setup import NO_MOTION, SOUND, Array, FilterState, Setup
from state_observer.filters.tuning import Tuning
from state_observer.linkages.sensors import independent_jacobian, measure
from state_observer.multibody.index3 import index3_step
from state_observer.multibody.kinematics import constraint_gap, position_problem, projection, velocity_problem
from state_observer.multibody.matrix_r import reduced_mass
from state_observer.multibody.solve import put_matrix


@part
def error_ekf_predict(setup: Setup, filter_state: FilterState) -> int:
    """One step of the simulation; its expected error stays zero (Eq. 3.112), its covariance grows (Eq. 3.113)."""
    options, cranks = setup.options, setup.linkage.cranks.size
    points = filter_state.q.size - cranks
    for i in range(2 * cranks, filter_state.state.size):  # forceEKF: apply the force, and let it decay
        filter_state.force[points + i - 2 * cranks] = (
            setup.linkage.force[points + i - 2 * cranks] + filter_state.state[i]
        )
        filter_state.state[i] *= setup.transition[i, i]
    iterations = index3_step(
        setup.linkage, filter_state.force, setup.step, options.penalty,
        filter_state.q, filter_state.qd, filter_state.qdd, filter_state.multipliers,
    )  # fmt: skip
    if iterations < 0:
        return NO_MOTION
    for c in range(cranks):
        filter_state.state[c] = filter_state.q[points + c]
        filter_state.state[cranks + c] = filter_state.qd[points + c]
    propagate(setup.transition, setup.plant_noise, filter_state.covariance)
    return SOUND


@part
def error_ekf_correct(setup: Setup, filter_state: FilterState, readings: Array) -> int:
    """Estimate the error of the simulation ([Sanjurjo] Eqs. 3.114 to 3.118) and remove it (Eq. 3.119)."""
    linkage, options, cranks = setup.linkage, setup.options, setup.linkage.cranks.size
    points = filter_state.q.size - cranks
    at = projection(linkage, filter_state.q)
    expected = np.empty(readings.size)
    measure(linkage, setup.sensors, filter_state.q, filter_state.qd, expected)
    jacobian = np.zeros((readings.size, filter_state.covariance.shape[0]))
    of_motion = independent_jacobian(linkage, setup.sensors, at, filter_state.q, filter_state.qd, options.as_released)
    put_matrix(jacobian[:, : 2 * cranks], of_motion)
    noise = setup.sensor_covariance.copy()
    subtract(readings, expected, filter_state.innovation)
    leave_out_absent(readings, filter_state.innovation, jacobian, noise)
    gains = gain(filter_state.covariance, jacobian, noise, filter_state.innovation_covariance)
    error = np.zeros(filter_state.covariance.shape[0])
    add_gained(error, gains, filter_state.innovation)
    update_covariance(filter_state.covariance, jacobian, noise, gains)
    put_matrix(filter_state.sensitivity, jacobian)
    # The position error is mapped by the velocity problem: constraints hold to second order in the correction.
    for i in range(filter_state.q.size):
        for c in range(cranks):
            filter_state.q[i] += at.matrix_r[i, c] * error[c]
    if options.solves_position and not position_problem(linkage, filter_state.q):
        return NO_MOTION
    filter_state.gap[0] = constraint_gap(linkage, filter_state.q)
    rates = np.empty(cranks)
    for c in range(cranks):
        rates[c] = filter_state.qd[points + c] + error[cranks + c]
    corrected = projection(linkage, filter_state.q)
    velocity_problem(corrected, rates, filter_state.qd)
    for c in range(cranks):
        filter_state.state[c] = filter_state.q[points + c]
        filter_state.state[cranks + c] = rates[c]
    if error.size > 2 * cranks:
        mass = reduced_mass(linkage, corrected)
        for c in range(cranks):
            for d in range(cranks):
                filter_state.state[2 * cranks + c] += mass[c, d] * error[2 * cranks + d]
    return SOUND


class ErrorEkf(LinkageFilter):
    """Error-state extended Kalman filter."""

    predict = staticmethod(error_ekf_predict)
    correct = staticmethod(error_ekf_correct)

    def start_accelerations(self, accelerations: Array, as_released: bool) -> Array:
        """Zero as in the authors' code if as_released, else as given."""
        return np.zeros_like(accelerations) if as_released else accelerations


class ForceEkf(LinkageFilter):
    """errorEKF that also estimates forces missing from the model."""

    predict = staticmethod(error_ekf_predict)
    correct = staticmethod(error_ekf_correct)
    has_forces = True

    def dynamics(self, size: int, psd: float, tuning: Tuning) -> tuple[Array, Array]:
        """State transition and process noise, as LinkageFilter.dynamics asks."""
        return shaped_acceleration(size, psd, tuning.force.correlation_time_s)

    def start_variances(self, size: int, angle: float, rate: float, tuning: Tuning) -> list[float]:
        """Initial variances, as LinkageFilter.start_variances asks."""
        return super().start_variances(size, angle, rate, tuning) + [tuning.force.initial_std**2] * size
