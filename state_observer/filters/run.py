"""Steps of any filter in one kernel: what makes them fast enough for a node and for a study."""

from __future__ import annotations

from typing import Any, NamedTuple

from proving_ground.kernels.jit import kernel, part
from state_observer.filters.cekf import cekf_step
from state_observer.filters.constrained import constrained_predict, diekf_correct, sckf_correct
from state_observer.filters.dekf import dekf_correct, dekf_predict
from state_observer.filters.error_ekf import error_ekf_correct, error_ekf_predict
from state_observer.filters.kalman import is_positive, nothing_read
from state_observer.filters.setup import (
    CEKF,
    DEKF,
    DIEKF_PM,
    ERROR_EKF,
    FORCE_EKF,
    NO_MOTION,
    NOT_POSITIVE,
    SCKF,
    SOUND,
    Array,
    Memory,
    Setup,
)
from state_observer.filters.ukf import ukf_correct, ukf_predict
from state_observer.multibody.solve import put, put_matrix

FARTHEST = 1e6  # of any number in a state; beyond, the filter has lost the linkage


class Recording(NamedTuple):
    """What is kept of every step of a run."""

    states: Array  # z, zd and what the filter adds
    covariances: Array  # of z, zd
    innovations: Array  # NaN where nothing was read
    innovation_covariances: Array
    gaps: Array  # largest violated constraint after a correction


@kernel
def run(
    method: int, setup: Setup, memory: Memory, readings: Any, predicts: bool, corrects: bool, recording: Recording
) -> tuple[int, int]:
    """One step per row of readings (NaN where a sensor did not read): how it ended, and how many steps were sound.

    All stages of all filters are called from here alone: every caller of a kernel compiles it again.
    """
    for k in range(readings.shape[0]):
        row = readings[k]
        status = SOUND
        if method == CEKF:
            status = cekf_step(setup, memory, row)
        elif predicts:
            status = _predict(method, setup, memory)
        if corrects and status == SOUND and method != CEKF:
            status = _correct(method, setup, memory, row)
        status = _judged(status, memory)
        if status != SOUND:
            return status, k
        _record(method, setup, memory, row, k, recording)
    return SOUND, readings.shape[0]


@part
def _predict(method: int, setup: Setup, memory: Memory) -> int:
    if method == DEKF:
        return dekf_predict(setup, memory)
    if method in (ERROR_EKF, FORCE_EKF):
        return error_ekf_predict(setup, memory)
    if method in (SCKF, DIEKF_PM):
        return constrained_predict(setup, memory)
    return ukf_predict(method, setup, memory)


@part
def _correct(method: int, setup: Setup, memory: Memory, row: Array) -> int:
    if method == SCKF:  # these two impose the constraints whether or not there is a reading
        return sckf_correct(setup, memory, row)
    if method == DIEKF_PM:
        return diekf_correct(setup, memory, row)
    if nothing_read(row):
        return SOUND
    if method == DEKF:
        return dekf_correct(setup, memory, row)
    if method in (ERROR_EKF, FORCE_EKF):
        return error_ekf_correct(setup, memory, row)
    return ukf_correct(setup, memory, row)


@part
def _judged(status: int, memory: Memory) -> int:
    """How a step ended, after a look at state and covariance."""
    for value in memory.state:
        if not abs(value) < FARTHEST:  # NaN too
            return NO_MOTION
    if status == SOUND and not is_positive(memory.covariance):
        return NOT_POSITIVE
    return status


@part
def _record(method: int, setup: Setup, memory: Memory, row: Array, k: int, recording: Recording) -> None:
    cranks = setup.linkage.cranks.size
    # Where z and zd stand in the state: each at the end of its half in dependent coordinates.
    skipped = memory.q.size - cranks if method in (SCKF, DIEKF_PM) else 0
    for i in range(recording.states.shape[1]):
        recording.states[k, i] = memory.state[i + skipped * (1 + i // cranks)]
    for i in range(2 * cranks):
        for j in range(2 * cranks):
            covariance = memory.covariance[i + skipped * (1 + i // cranks), j + skipped * (1 + j // cranks)]
            recording.covariances[k, i, j] = covariance
    if not nothing_read(row):
        put(recording.innovations[k], memory.innovation)
        put_matrix(recording.innovation_covariances[k], memory.innovation_covariance)
        recording.gaps[k] = memory.gap[0]
