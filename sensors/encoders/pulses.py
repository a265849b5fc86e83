"""Pulse counting of Hall sensors and incremental encoders.

Edges lie at whole pulses. Edge times within an update assume constant speed between two updates, as fine as the capture
timer of an engine controller.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel
from proving_ground.saving.stateful import Stateful

Array = NDArray[np.float64]

SHAFT = np.dtype(
    [
        ("position", "f8"),  # angle in pulses
        ("at", "f8"),  # current pulse
        ("count", "f8"),  # pulses so far
        ("edge_age", "f8"),  # time since the last edge; infinite before the first [s]
        ("read_count", "f8"),  # count at the last reading
        ("read_edge_age", "f8"),  # time since the edge that was the last one then [s]
        ("read_shift", "f8"),  # position error of that edge, in pulses
        ("rate", "f8"),  # last reading [rad/s]
    ]
)


class PulseCounter(Stateful):
    """Pulse counts and rates of several shafts."""

    STATE = ("_time_ns", "_shafts")

    def __init__(
        self, pulses: int, phase: Array, *, knows_direction: bool, hysteresis: float, stopped_after_s: float
    ) -> None:
        """pulses: edges per revolution; phase: position of each shaft's first edge, as a share of a pulse.

        hysteresis: share of a pulse that a shaft must rotate back before an edge counts as backward; without it a shaft
        that vibrates at an edge would count forever.
        """
        self.step = 2.0 * math.pi / pulses  # [rad]
        self._phase, self._knows_direction = phase, knows_direction
        self._hysteresis, self._stopped_after_s = hysteresis, stopped_after_s
        self.reset()

    def reset(self) -> None:
        """Return to the initial state: the next angle has count 0."""
        self._time_ns: int | None = None
        self._shafts = np.zeros(len(self._phase), SHAFT)
        self._shafts["edge_age"] = self._shafts["read_edge_age"] = np.inf

    @property
    def angle(self) -> Array:
        """Angle of each shaft since the start, by counted pulses [rad]."""
        return np.asarray(self._shafts["count"] * self.step)

    def rotate_to(self, time_ns: int, angle: Array) -> None:
        """Advance the shafts to angles [rad], at constant speed since the last call."""
        position = angle / self.step + self._phase
        if self._time_ns is None:
            self._shafts["position"], self._shafts["at"] = position, np.floor(position)
        else:
            passed = (time_ns - self._time_ns) * 1e-9
            _pass_edges(self._shafts, position, passed, self._hysteresis, self._knows_direction)
        self._time_ns = time_ns

    def read_rate(self, shift: Array) -> Array:
        """Rates [rad/s] by pulse timing: pulses since the last reading over the time from its last edge to the newest.
        Without a new pulse, at most one pulse per time since the last edge, and 0 after a while.

        shift: position error of the last edges, in pulses (drilled holes are not exactly in place).
        """
        _read(self._shafts, shift, self.step, self._stopped_after_s)
        return np.array(self._shafts["rate"])


@kernel
def _pass_edges(
    shafts: NDArray[np.void], positions: Array, passed: float, hysteresis: float, knows_direction: bool
) -> None:
    for shaft, position in zip(shafts, positions):  # noqa: B905, numba has no strict
        at = math.floor(position)
        if at <= shaft.at:
            at = min(math.floor(position + hysteresis), shaft.at)
        moved = at - shaft.at
        shaft.read_edge_age += passed
        shaft.edge_age += passed
        if moved != 0.0:
            edge = at if moved > 0.0 else at + 1.0 - hysteresis  # the last edge passed
            shaft.edge_age = min(max((position - edge) / (position - shaft.position), 0.0), 1.0) * passed
        shaft.count += moved if knows_direction else abs(moved)
        shaft.at, shaft.position = at, position


@kernel
def _read(shafts: NDArray[np.void], shifts: Array, step: float, stopped_after: float) -> None:
    for shaft, shift in zip(shafts, shifts):  # noqa: B905, numba has no strict
        if shaft.edge_age < shaft.read_edge_age:  # there was an edge since the last reading
            pulses = shaft.count - shaft.read_count
            between = shaft.read_edge_age - shaft.edge_age  # infinite at the first edge: a rate of 0
            if pulses > 0.0:
                pulses += shift - shaft.read_shift
            elif pulses < 0.0:
                pulses -= shift - shaft.read_shift
            shaft.rate = pulses * step / between
            shaft.read_edge_age, shaft.read_shift = shaft.edge_age, shift
        elif shaft.edge_age > stopped_after:
            shaft.rate = 0.0
        else:
            most = step / max(shaft.edge_age, 1e-9)
            shaft.rate = min(max(shaft.rate, -most), most)
        shaft.read_count = shaft.count
