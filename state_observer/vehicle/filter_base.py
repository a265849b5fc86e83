"""Common to both filters: time steps on a grid, initialisation, disagreeing GPS, frozen sensors."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful
from proving_ground.settings import SettingsError
from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.layout import ESTIMATE, FilterState
from state_observer.vehicle.settings import ObserverSettings
from state_observer.vehicle.start import ENOUGH_STILL, InitialState, begin_wait, wait_fix, wait_imu, wait_wheels
from state_observer.vehicle.validation import Reading, leaps

Array = NDArray[np.float64]

FROZEN = (200, 20, 3)  # repeated readings of encoders, IMU and GPS before a sensor counts as frozen
RETRY_NS = 5 * NS_PER_S  # after a failed start
MOST_SIGMA = 37.0  # the tail probability of more standard deviations underflows
RESTART_VARIANCE = 1e4  # [m^2]: a position with this variance is lost


def gate(sigma: float, degrees_of_freedom: int) -> float:
    """Largest accepted NIS, as rare as `sigma` standard deviations of a normal distribution."""
    if sigma > MOST_SIGMA:
        return math.inf
    rare = math.log(math.erfc(sigma / math.sqrt(2.0)))  # both tails
    if degrees_of_freedom == 1:
        return sigma * sigma
    if degrees_of_freedom == 2:
        return -2.0 * rare
    if degrees_of_freedom != 3:
        raise ValueError(f"freedom: must be 1, 2 or 3, got {degrees_of_freedom}")
    low, high = sigma * sigma, -2.0 * rare + 10.0 * (1.0 + sigma)
    while high - low > 1e-12 * high:  # for three degrees of freedom the tail of chi-square has no closed inverse
        middle = 0.5 * (low + high)
        root = math.sqrt(0.5 * middle)
        tail = math.erfc(root) + 2.0 / math.sqrt(math.pi) * root * math.exp(-0.5 * middle)
        low, high = (middle, high) if math.log(max(tail, sys.float_info.min)) > rare else (low, middle)
    return 0.5 * (low + high)


class Checkpoint(NamedTuple):
    """State of a filter at an instant, to go back to."""

    record: NDArray[np.uint8]  # bytes of the filter's state
    ruts: int  # changes of its model's ruts up to then


class FilterBase(ABC, Stateful):
    """A filter whose whole state is one record. Steps end at multiples of the step and at samples."""

    STATE = ("filter_state", "start_trouble", "_retry_ns")

    def __init__(self, settings: ObserverSettings, state_type: np.dtype[Any], step_s: float) -> None:
        self.settings = settings
        self.filter_state: FilterState = np.zeros(1, state_type)
        self.step_ns = round(step_s * NS_PER_S)
        self.on_tick: Callable[[], None] | None = None  # called before time leaves a multiple of the step
        self.start_trouble = ""  # why the latest start failed
        self._time, self._running = self.filter_state["time_ns"], self.filter_state["running"]  # views
        self._bytes = self.filter_state.view(np.uint8)  # copied at once; records are copied field by field
        self._has_counters = "counted" in (state_type.names or ())
        self._held, self._same = self.filter_state["held"][0], self.filter_state["same"][0]
        self.clear()

    def clear(self) -> None:
        """Back to the initial state: no time, waiting for a start."""
        self.filter_state[:] = np.zeros(1, self.filter_state.dtype)
        self.filter_state["recent"] = 1.0
        self.start_trouble = ""
        self._retry_ns = 0

    # Implemented by each filter.
    @abstractmethod
    def _step(self, seconds: float) -> bool: ...

    @abstractmethod
    def _start(self, initial: InitialState) -> None: ...

    @abstractmethod
    def _correct_with_encoders(self, reading: Reading, passed: float) -> None: ...

    @abstractmethod
    def _correct_with_imu(self, reading: Reading, passed: float) -> None: ...

    @abstractmethod
    def _correct_with_gps(self, reading: Reading) -> int: ...

    @abstractmethod
    def _move_to(self, reading: Reading) -> None: ...

    @abstractmethod
    def write_estimate(self, out: Any, index: int) -> None:
        """Fill record `index` of out (ESTIMATE) with the present estimate."""

    @abstractmethod
    def base_angular_velocity(self, angular_velocity: Array) -> Array:
        """Convert an angular velocity from IMU axes to base_link axes."""

    @abstractmethod
    def wheel_speed(self, rates: Array) -> float:
        """Forward speed of the vehicle [m/s] from the rates of its wheels [rad/s]."""

    @property
    def sideslip_point(self) -> Array:
        """Point in base_link whose sideslip is estimated [m]; by default its origin."""
        return np.zeros(3)

    # Of filters whose model leaves ruts.
    def _rut_changes(self) -> int:
        """Changes of ruts so far."""
        return 0

    def _rewind_ruts(self, changes: int) -> None:
        """Take back all changes of ruts but the first ones."""

    # Shared.
    def checkpoint(self) -> Checkpoint:
        """The present state, for `rewind`."""
        return Checkpoint(self._bytes.copy(), self._rut_changes())

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """Restore as Stateful does; the record is filled in place, because there are views of it."""
        own, saved = self.filter_state, state["filter_state"]
        if saved.dtype != own.dtype:
            raise SettingsError("checkpoint: does not fit: the state of the observer's filter has other fields")
        super().restore_state(state, keep_random=keep_random)
        self.filter_state = own
        own.view(np.uint8)[:] = saved.view(np.uint8)

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Go back to an earlier state, ruts included."""
        self._bytes[:] = checkpoint.record
        self._rewind_ruts(checkpoint.ruts)

    @property
    def time_ns(self) -> int:
        """Time of the estimate; 0 before the first sample."""
        return int(self._time[0])

    @property
    def is_running(self) -> bool:
        """Whether there is an estimate."""
        return bool(self._running[0])

    def estimate(self) -> Any:
        """The current estimate as a new record of ESTIMATE."""
        estimate = np.zeros(1, ESTIMATE)
        self.write_estimate(estimate, 0)
        return estimate[0]

    def advance_to(self, time_ns: int) -> None:
        """Predict up to a time, in steps that end at multiples of the time step."""
        now = self.time_ns
        while now < time_ns:
            if self.on_tick is not None and now % self.step_ns == 0:
                self.on_tick()
            next_ns = min((now // self.step_ns + 1) * self.step_ns, time_ns)
            if self.is_running and not self._step((next_ns - now) * 1e-9):
                self.restart()
            now = next_ns
            self._time[0] = now

    def start_at(
        self,
        x: float,
        y: float,
        heading: float,
        position_variance: float,
        heading_variance: float,
        speed: float | None = None,
    ) -> bool:
        """Start with base_link at a pose [m, rad] with variances; height and, unless given, speed [m/s] as known.

        False if the model cannot start there.
        """
        now = self.filter_state
        height = float(self.estimate()["position"][2]) if self.is_running else float(now["anchor"][0][2])
        arm = self.settings.mounts.gps_xyz_m
        cosine, sine = math.cos(heading), math.sin(heading)
        antenna = np.array([x + cosine * arm[0] - sine * arm[1], y + sine * arm[0] + cosine * arm[1], height + arm[2]])
        if speed is None:
            speed = float(self.estimate()["velocity"][0]) if self.is_running else float(now["speed"][0])
        up = self.settings.sensors.gps_up_std_m**2
        return self._try_start(
            InitialState(antenna, heading, speed, position_variance, up, heading_variance, 0.25), self.time_ns
        )

    def _try_start(self, initial: InitialState, time_ns: int) -> bool:
        """Start there; if the model cannot, restore the state and set `start_trouble`."""
        now, before = self.filter_state, self.filter_state.copy()
        try:
            self._start(initial)
        except ValueError as error:
            now[:] = before
            self.start_trouble = (str(error).splitlines() or ["not possible"])[0].removeprefix("start: ")
            return False
        self.start_trouble = ""
        now["running"], now["disagreed_ns"] = 1, 0
        now["started_ns"] = now["fixed_ns"] = time_ns
        return True

    def restart(self) -> None:
        """Wait for a new start after divergence; counts and time go on."""
        self.filter_state["restarts"] += 1
        self.filter_state["running"] = 0
        begin_wait(self.filter_state)

    def apply(self, reading: Reading) -> None:
        """Correct with a reading of the current time."""
        now = self.filter_state
        kind = reading.kind
        if self._is_frozen(reading):
            return
        if kind == 2:
            self._gps(reading)
            return
        name = "imu_ns" if kind == 1 else "encoders_ns"
        before = int(now[name][0])
        passed = (reading.time_ns - before) * 1e-9 if before else 0.0
        now[name] = reading.time_ns
        if kind == 0:
            if not self.is_running and passed > 0.0:
                speed = self.wheel_speed(reading.values[4:8])
                enough = now["still"][0] >= ENOUGH_STILL
                bias = float(self.base_angular_velocity(now["still_angular_velocity"][0])[2]) if enough else 0.0
                wait_wheels(now, speed, passed, bias)
            if before and self._has_new_counters(reading, reading.time_ns - before):
                passed = 0.0  # wheel rotation since then is unknown: as with the first reading
            self._correct_with_encoders(reading, passed)
        else:
            if not self.is_running:
                wait_imu(now, reading.values[:3], self.base_angular_velocity(reading.values[:3]))
            self._correct_with_imu(reading, passed)

    def _has_new_counters(self, reading: Reading, passed_ns: int) -> bool:
        """Whether the counters were reset: wheels moved farther than possible. Only for filters that use counters."""
        return self._has_counters and leaps(self.filter_state["counted"][0], reading.values, passed_ns)

    def _gps(self, reading: Reading) -> None:
        now, settings = self.filter_state, self.settings
        if not self.is_running:
            initial = wait_fix(now, reading.values, reading.variance, settings.start, settings.gates)
            # A failed start is expensive: finding out that there is no equilibrium takes long.
            if (
                initial is not None
                and reading.time_ns >= self._retry_ns
                and not self._try_start(initial, reading.time_ns)
            ):
                self._retry_ns = reading.time_ns + RETRY_NS
            return
        if self._correct_with_gps(reading) != 0:
            now["fixed_ns"], now["disagreed_ns"] = reading.time_ns, 0
            return
        if not now["disagreed_ns"][0]:
            now["disagreed_ns"] = reading.time_ns
        if reading.time_ns - int(now["disagreed_ns"][0]) >= settings.gates.reset_after_s * NS_PER_S:
            before = self.estimate()["position"].copy()
            self._move_to(reading)
            now["jump"] = self.estimate()["position"] - before
            now["resets"] += 1
            now["fixed_ns"], now["disagreed_ns"] = reading.time_ns, 0

    def _is_frozen(self, reading: Reading) -> bool:
        """Whether a reading repeats too often; wheels at rest may repeat."""
        kind, same = reading.kind, self._same
        if kind == 0 and not any(reading.values[4:8].tolist()):
            same[0] = 0
            return False
        seen = crc32(reading.values.tobytes())
        same[kind] = same[kind] + 1 if seen == self._held[kind] else 0
        self._held[kind] = seen
        return bool(same[kind] >= FROZEN[kind])

    def is_lost(self) -> bool:
        """Whether the position's covariance is too large or not finite."""
        covariance = self.filter_state["covariance"][0]
        return not (math.isfinite(covariance[0, 0]) and max(covariance[0, 0], covariance[1, 1]) < RESTART_VARIANCE)
