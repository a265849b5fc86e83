"""A filter that the suite does not know: the model's prediction, and corrections with gains that stay the same."""

from __future__ import annotations

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.filters.dekf import dekf_predict
from state_observer.filters.linkage_filter import LinkageFilter
from state_observer.filters.setup import NO_MOTION, SOUND, Array, Memory, Setup
from state_observer.linkages.sensors import measure
from state_observer.multibody.kinematics import position_problem, projection, velocity_problem
from state_observer.multibody.solve import put

OF_ANGLE, OF_RATE = 0.1, 1.0  # per reading of an encoder on each crank; [1/s]


@part
def steady_correct(setup: Setup, memory: Memory, readings: Array) -> int:
    """Angles and rates towards what the encoders read."""
    cranks = setup.linkage.cranks.size
    put(memory.q[memory.q.size - cranks :], memory.state)
    if not position_problem(setup.linkage, memory.q):
        return NO_MOTION
    velocity_problem(projection(setup.linkage, memory.q), memory.state[cranks:], memory.qd)
    measure(setup.linkage, setup.sensors, memory.q, memory.qd, memory.innovation)
    for c in range(cranks):
        memory.innovation[c] = 0.0 if np.isnan(readings[c]) else readings[c] - memory.innovation[c]
        memory.state[c] += OF_ANGLE * memory.innovation[c]
        memory.state[cranks + c] += OF_RATE * memory.innovation[c]
    return SOUND


class Steady(LinkageFilter):
    """Known as steady:Steady."""

    predict = staticmethod(dekf_predict)
    correct = staticmethod(steady_correct)
