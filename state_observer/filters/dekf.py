"""Discrete-time extended Kalman filter in independent coordinates (DEKF, [Sanjurjo] Section 3.4.2)."""

from __future__ import annotations

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.kalman import fuse_readings, propagate
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.setup import NO_MOTION, SOUND, Array, Memory, Setup
from state_observer.linkages.sensors import independent_slopes, measure
from state_observer.multibody.kinematics import position_problem, projection, velocity_problem
from state_observer.multibody.matrix_r import settle
from state_observer.multibody.solve import put


@part
def dekf_predict(setup: Setup, memory: Memory) -> int:
    """Forward Euler (Eq. 3.80) with the accelerations of the last state (Eq. 3.63), and Eq. 3.79."""
    linkage, state = setup.linkage, memory.state
    cranks = linkage.cranks.size
    points = memory.q.size - cranks
    if not settle(linkage, memory.force, state[:cranks], state[cranks:], memory.q, memory.qd, memory.qdd):
        return NO_MOTION
    for c in range(cranks):
        state[c] += setup.step * state[cranks + c]
        state[cranks + c] += setup.step * memory.qdd[points + c]
    propagate(setup.transition, setup.plant_noise, memory.covariance)
    return SOUND


@part
def dekf_correct(setup: Setup, memory: Memory, readings: Array) -> int:
    """Eqs. 3.82 to 3.86, sensors at the predicted state, with all coordinates by the kinematic problems."""
    linkage, state, options = setup.linkage, memory.state, setup.options
    cranks = linkage.cranks.size
    put(memory.q[memory.q.size - cranks :], state)
    if not position_problem(linkage, memory.q):
        return NO_MOTION
    at = projection(linkage, memory.q)
    velocity_problem(at, state[cranks:], memory.qd)
    expected = np.empty(readings.size)
    measure(linkage, setup.sensors, memory.q, memory.qd, expected)
    slopes = independent_slopes(linkage, setup.sensors, at, memory.q, memory.qd, options.as_released)
    fuse_readings(setup, memory, readings, expected, slopes)
    return SOUND


class Dekf(LinkageFilter):
    """Discrete-time extended Kalman filter."""

    predict = staticmethod(dekf_predict)
    correct = staticmethod(dekf_correct)
