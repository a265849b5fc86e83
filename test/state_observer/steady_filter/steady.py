"""A filter unknown to the suite: prediction by the model, corrections with constant gains."""

from __future__ import annotations

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.dekf import dekf_predict
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.setup import NO_MOTION, SOUND, Array, FilterState, Setup
from state_observer.linkages.sensors import measure
from state_observer.multibody.kinematics import position_problem, projection, velocity_problem
from state_observer.multibody.solve import put

OF_ANGLE, OF_RATE = 0.1, 1.0  # per reading of an encoder on each crank; [1/s]


@part
def steady_correct(setup: Setup, filter_state: FilterState, readings: Array) -> int:
    """Move angles and rates towards the encoder readings."""
    cranks = setup.linkage.cranks.size
    put(filter_state.q[filter_state.q.size - cranks :], filter_state.state)
    if not position_problem(setup.linkage, filter_state.q):
        return NO_MOTION
    velocity_problem(projection(setup.linkage, filter_state.q), filter_state.state[cranks:], filter_state.qd)
    measure(setup.linkage, setup.sensors, filter_state.q, filter_state.qd, filter_state.innovation)
    for c in range(cranks):
        filter_state.innovation[c] = 0.0 if np.isnan(readings[c]) else readings[c] - filter_state.innovation[c]
        filter_state.state[c] += OF_ANGLE * filter_state.innovation[c]
        filter_state.state[cranks + c] += OF_RATE * filter_state.innovation[c]
    return SOUND


class Steady(LinkageFilter):
    """Constant-gain filter, named steady:Steady."""

    predict = staticmethod(dekf_predict)
    correct = staticmethod(steady_correct)
