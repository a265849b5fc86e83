"""Observers of the vehicle: samples in, estimates out, whatever comes in which order. No ROS, no clock of its own.

observer = VehicleObserver(load_observer())
for sample in samples:
    observer.take(sample)
observer.estimate()["position"]
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.doors import Reading, Refusal, Sample, encoder_reading, gps_reading, imu_reading
from state_observer.vehicle.error_ekf import ErrorEkf
from state_observer.vehicle.filter_base import FROZEN, NS_PER_S, FilterBase
from state_observer.vehicle.forces import Forces, tyre_forces
from state_observer.vehicle.health import Health, assess
from state_observer.vehicle.history import History
from state_observer.vehicle.ins import InsFilter
from state_observer.vehicle.layout import KINDS, Record
from state_observer.vehicle.local_frame import Frame
from state_observer.vehicle.settings import InsSettings, ObserverSettings, VehicleObserverSettings
from terrain.ground import GroundModel
from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]

_SAMPLES = (EncoderSample, ImuSample, GpsSample)  # in the order of KINDS


class Verdict(NamedTuple):
    """What became of a sample."""

    is_taken: bool
    reason: str  # empty when it was taken


class Observer(Protocol):
    """What nodes, runners and drivers of recordings use."""

    settings: Any

    def take(self, sample: Sample, arrival_ns: int | None = None) -> Verdict: ...

    def advance_to(self, time_ns: int) -> None: ...

    def estimate(self, time_ns: int | None = None) -> Record: ...

    def health(self) -> Health: ...

    def reset(self) -> None: ...

    @property
    def filter(self) -> FilterBase: ...


class BasicObserver:
    """Doors, history and health around a filter."""

    _clock: int  # newest time that is known of [ns]

    def __init__(self, filter_: FilterBase, settings: ObserverSettings) -> None:
        self.settings: Any = settings
        self._filter = filter_
        self._history = History(filter_, settings.timing.buffer_s)
        self._frame = Frame(settings.datum)
        self._begin()

    @property
    def filter(self) -> FilterBase:
        """The filter itself, for studies."""
        return self._filter

    @property
    def is_running(self) -> bool:
        """Whether there is an estimate."""
        return self._filter.is_running

    def reset(self) -> None:
        """As new, counts too. A datum that was found stays."""
        self._filter.clear()
        self._history.clear()
        self._begin()

    def take(self, sample: Sample, arrival_ns: int | None = None) -> Verdict:
        """A sample; arrival_ns is when it came, if that is known. Without, it is taken to come at its own time."""
        timing = self.settings.timing
        own = not isinstance(sample.time_ns, int) or sample.time_ns <= 0
        if own:
            return self._refuse("time: must be above 0")
        self._watch_clock(sample, arrival_ns)
        reading = self._reading(sample)
        if isinstance(reading, Refusal):
            return self._refuse(reading.reason)
        if reading.time_ns > self._clock + timing.future_s * NS_PER_S:
            self._waiting.append((self._clock, reading))
            return self._refuse("time: in the future, held")
        return self._take(reading)

    def set_pose(
        self, x: float, y: float, heading: float, *, position_variance: float = 0.25, heading_variance: float = 0.07
    ) -> Verdict:
        """Somebody says where base_link is [m, rad]: start there, standing or at the speed of the wheels."""
        values = (x, y, heading, position_variance, heading_variance)
        if not all(map(math.isfinite, values)) or min(position_variance, heading_variance) < 0.0:
            return self._refuse("pose: must be finite numbers, variances not negative")
        if not self._filter.time_ns:
            return self._refuse("pose: no sample has come yet")
        self._filter.start_at(x, y, heading, position_variance, heading_variance)
        self._history.forget_past()
        return Verdict(True, "")

    def advance_to(self, time_ns: int) -> None:
        """Predict up to a time without samples, and release samples whose time has come."""
        self._clock = max(self._clock, time_ns)
        self._release()
        self._history.advance_to(time_ns)

    def estimate(self, time_ns: int | None = None) -> Record:
        """A record of ESTIMATE at the newest sample, or predicted to a later time, which disturbs nothing."""
        if time_ns is None or time_ns <= self._filter.time_ns or not self.is_running:
            return self._filter.estimate()
        memory, watch = self._filter.memory.copy(), self._filter.on_tick
        self._filter.on_tick = None
        self._filter.advance_to(time_ns)
        told = self._filter.estimate()
        self._filter.memory[:] = memory
        self._filter.on_tick = watch
        return told

    def health(self) -> Health:
        """Status, warnings and counts."""
        newest = {kind: self._newest[sample] for kind, sample in zip(KINDS, _SAMPLES, strict=True)}
        return assess(self._filter, self._clock, newest, self._refused, self._history.replays)

    def _begin(self) -> None:
        self._refused: Counter[str] = Counter()
        self._waiting: list[tuple[int, Reading]] = []
        self._clock = 0
        self._newest: dict[type, int] = dict.fromkeys(_SAMPLES, 0)

    def _watch_clock(self, sample: Sample, arrival_ns: int | None) -> None:
        """Time that goes back by a second or more begins anew: a bag's loop, a simulation's reset."""
        newest, kind = self._newest, type(sample)
        now = sample.time_ns if arrival_ns is None else arrival_ns
        before = self._clock if arrival_ns is not None else newest[kind]
        if now <= before - NS_PER_S and (arrival_ns is not None or kind is not GpsSample):
            self.reset()
            self._refused["time: went back, began anew"] += 1
        self._newest[kind] = max(self._newest[kind], sample.time_ns)
        if arrival_ns is not None or sample.time_ns <= self._clock + NS_PER_S or kind is not GpsSample:
            self._clock = max(self._clock, now)
        self._release()

    def _reading(self, sample: Sample) -> Reading | Refusal:
        if isinstance(sample, EncoderSample):
            return encoder_reading(sample)
        if isinstance(sample, ImuSample):
            return imu_reading(sample, self.settings.sensors)
        return gps_reading(sample, self.settings.sensors, self._frame)

    def _take(self, reading: Reading) -> Verdict:
        reason = self._history.verdict(reading)
        if reason:
            return self._refuse(f"{KINDS[reading.kind]}: {reason}")
        newest = self._history.newest_ns
        if newest and reading.time_ns - newest > self.settings.timing.gap_s * NS_PER_S:
            self._after_gap()
        self._history.take(reading)
        if self._filter.is_running and reading.kind == 2 and self._filter.is_lost():
            self._filter.restart()
        if self._filter.memory["same"][0][reading.kind] >= FROZEN[reading.kind]:
            return self._refuse(f"{KINDS[reading.kind]}: frozen")
        return Verdict(True, "")

    def _after_gap(self) -> None:
        """Nothing was heard for long: what happened is not known, so that it starts anew."""
        memory = self._filter.memory
        kept = {name: memory[name].copy() for name in ("resets", "restarts")}
        self._filter.clear()
        for name, value in kept.items():
            memory[name] = value
        memory["restarts"] += 1
        self._history.clear()

    def _release(self) -> None:
        """Samples of the future whose time has come, or that waited too long."""
        if not self._waiting:
            return
        timing, still = self.settings.timing, []
        for since, reading in sorted(self._waiting, key=lambda item: item[1].time_ns):
            if reading.time_ns <= self._clock + timing.future_s * NS_PER_S:
                self._take(reading)
            elif self._clock - since > timing.hold_s * NS_PER_S:
                self._refuse(f"{KINDS[reading.kind]}: in the future for too long")
            else:
                still.append((since, reading))
        self._waiting = still

    def _refuse(self, reason: str) -> Verdict:
        self._refused[reason] += 1
        return Verdict(False, reason)


class VehicleObserver(BasicObserver):
    """errorEKF around a multibody model (seed 001 chapter 5)."""

    def __init__(
        self,
        settings: VehicleObserverSettings,
        *,
        parameters: VehicleParameters | None = None,
        ground: GroundModel | None = None,
        folder: Path | None = None,
    ) -> None:
        """parameters: of the model, in place of the file that the settings name; ground: where it drives (level)."""
        self._ekf = ErrorEkf(settings, parameters=parameters, ground=ground, folder=folder)
        super().__init__(self._ekf, settings)

    @property
    def ekf(self) -> ErrorEkf:
        """The filter with its model."""
        return self._ekf

    def forces(self) -> Forces:
        """Tyre forces, loads and friction use, which nothing measures; raises ValueError before the start."""
        if not self.is_running:
            raise ValueError("forces: the observer has not started")
        return tyre_forces(self._ekf, self.settings.force_error)


class InsObserver(BasicObserver):
    """The yardstick: loosely coupled strapdown INS."""

    def __init__(self, settings: InsSettings) -> None:
        super().__init__(InsFilter(settings), settings)
