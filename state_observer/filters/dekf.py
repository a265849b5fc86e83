"""Discrete-time extended Kalman filter in independent coordinates (DEKF, [Sanjurjo] Section 3.4.2)."""

from __future__ import annotations

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.kalman import fuse_readings, propagate
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.setup import NO_MOTION, SOUND, Array, FilterState, Setup
from state_observer.linkages.sensors import independent_jacobian, measure
from state_observer.multibody.kinematics import position_problem, projection, velocity_problem
from state_observer.multibody.matrix_r import settle
from state_observer.multibody.solve import put


@part
def dekf_predict(setup: Setup, filter_state: FilterState) -> int:
    """Forward Euler ([Sanjurjo] Eq. 3.80) with the accelerations of the last state (Eq. 3.63), and Eq. 3.79."""
    linkage, state = setup.linkage, filter_state.state
    cranks = linkage.cranks.size
    points = filter_state.q.size - cranks
    if not settle(
        linkage, filter_state.force, state[:cranks], state[cranks:], filter_state.q, filter_state.qd, filter_state.qdd
    ):
        return NO_MOTION
    for c in range(cranks):
        state[c] += setup.step * state[cranks + c]
        state[cranks + c] += setup.step * filter_state.qdd[points + c]
    propagate(setup.transition, setup.plant_noise, filter_state.covariance)
    return SOUND


@part
def dekf_correct(setup: Setup, filter_state: FilterState, readings: Array) -> int:
    """[Sanjurjo] Eqs. 3.82 to 3.86, sensors at the predicted state, with all coordinates by the kinematic problems."""
    linkage, state, options = setup.linkage, filter_state.state, setup.options
    cranks = linkage.cranks.size
    put(filter_state.q[filter_state.q.size - cranks :], state)
    if not position_problem(linkage, filter_state.q):
        return NO_MOTION
    at = projection(linkage, filter_state.q)
    velocity_problem(at, state[cranks:], filter_state.qd)
    expected = np.empty(readings.size)
    measure(linkage, setup.sensors, filter_state.q, filter_state.qd, expected)
    jacobian = independent_jacobian(linkage, setup.sensors, at, filter_state.q, filter_state.qd, options.as_released)
    fuse_readings(setup, filter_state, readings, expected, jacobian)
    return SOUND


class Dekf(LinkageFilter):
    """Discrete-time extended Kalman filter."""

    predict = staticmethod(dekf_predict)
    correct = staticmethod(dekf_correct)
