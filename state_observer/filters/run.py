"""The steps of a filter in one kernel, fast enough for a node and for a study.

Each filter has a copy of that kernel with its own stages inlined: calls through function pointers would take a tenth
more time, and one kernel for all filters would make each wait for the compilation of all.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, NamedTuple

from proving_ground.kernels.jit import inlined_part, kernel, part
from state_observer.filters.kalman import is_positive, nothing_read
from state_observer.filters.setup import NO_MOTION, NOT_POSITIVE, SOUND, Array, FilterState, Setup
from state_observer.multibody.solve import put, put_matrix

FARTHEST = 1e6  # largest state element; beyond it the filter has diverged


class Recording(NamedTuple):
    """Record of every step of a run."""

    states: Array  # z, zd and states that the filter adds
    covariances: Array  # of z, zd
    innovations: Array  # NaN without a reading
    innovation_covariances: Array
    gaps: Array  # largest violated constraint after a correction


@part
def nothing_to_do(setup: Setup, filter_state: FilterState) -> int:
    """Empty stage, for a filter that does everything in its other stage."""
    return SOUND


# The stages of a filter, in its copy of the kernel.
predict: Any = nothing_to_do
correct: Any = nothing_to_do


class Steps(NamedTuple):
    """Stages and options of each step."""

    predicts: bool
    corrects: bool
    is_fused: bool  # corrects in every step, with or without a reading
    skipped: int  # coordinates before z in each half of the state


def _run(
    steps: Steps, setup: Setup, filter_state: FilterState, readings: Array, recording: Recording
) -> tuple[int, int]:
    """One step per row of readings (NaN: no reading); returns the ending and the number of sound steps."""
    cranks = setup.linkage.cranks.size
    for k in range(readings.shape[0]):
        row = readings[k]
        status = SOUND
        if steps.predicts:
            status = predict(setup, filter_state)
        has_reading = not nothing_read(row)
        if steps.corrects and status == SOUND and (has_reading or steps.is_fused):
            status = correct(setup, filter_state, row)
        if is_lost(filter_state.state):
            status = NO_MOTION
        if status == SOUND and not is_positive(filter_state.covariance):
            status = NOT_POSITIVE
        if status != SOUND:
            return status, k
        _record(filter_state, cranks, steps.skipped, has_reading, recording, k)
    return SOUND, readings.shape[0]


@functools.cache
def run_of(module: str, predict: Any, correct: Any) -> Any:
    """The kernel that runs both stages of a filter over readings; its compiled code is cached with the module."""
    scope = {**globals(), "predict": predict, "correct": correct}
    name = f"run_{predict.__name__}_{correct.__name__}"
    copy: Any = FunctionType(_run.__code__, scope, name)
    copy.__qualname__, copy.__module__ = name, module
    return kernel(copy)


@inlined_part
def is_lost(state: Array) -> bool:
    """Whether any element of a state exceeds FARTHEST or is NaN."""
    found = False
    for value in state:
        found = found or not abs(value) < FARTHEST
    return found


@inlined_part
def _record(
    filter_state: FilterState, cranks: int, skipped: int, has_reading: bool, recording: Recording, k: int
) -> None:
    """Record step k; in a state of all coordinates, z and zd are at the end of each half."""
    for i in range(recording.states.shape[1]):
        recording.states[k, i] = filter_state.state[i + skipped * (1 + i // cranks)]
    for i in range(2 * cranks):
        for j in range(2 * cranks):
            covariance = filter_state.covariance[i + skipped * (1 + i // cranks), j + skipped * (1 + j // cranks)]
            recording.covariances[k, i, j] = covariance
    if has_reading:
        put(recording.innovations[k], filter_state.innovation)
        put_matrix(recording.innovation_covariances[k], filter_state.innovation_covariance)
        recording.gaps[k] = filter_state.gap[0]
