"""Observers of the vehicle: samples in, in any order, estimates out. No ROS, no own clock.

observer = VehicleObserver(VEHICLE.load())
for sample in samples:
    observer.process(sample)
observer.estimate()["position"]
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.clock import JUMP_NS, Line, SampleClock
from state_observer.vehicle.error_ekf import ErrorEkf
from state_observer.vehicle.filter_base import FROZEN, FilterBase
from state_observer.vehicle.forces import Forces, tyre_forces
from state_observer.vehicle.health import Health, assess
from state_observer.vehicle.history import History
from state_observer.vehicle.ins import InsFilter
from state_observer.vehicle.layout import KINDS, Record
from state_observer.vehicle.local_frame import Frame
from state_observer.vehicle.settings import InsSettings, ObserverSettings, VehicleObserverSettings
from state_observer.vehicle.validation import (
    Reading,
    Rejection,
    Sample,
    WheelGate,
    encoder_reading,
    given_pose,
    gps_reading,
    imu_reading,
)
from terrain.georeference import Datum
from terrain.ground import GroundModel
from terrain.ruts import clear_ruts
from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]

FASTEST_START = 60.0  # [m/s]
_SAMPLES = (EncoderSample, ImuSample, GpsSample)  # in the order of KINDS
HELD = "held: in the future"
MOST_WAITING = 200  # held samples with future stamps
MOST_STRAYS = 20  # samples far behind: perhaps the first ones after a jump
LATEST_NS = 7_258_118_400 * NS_PER_S  # the year 2200: keeps sums of nanoseconds from overflowing


class Verdict(NamedTuple):
    """Whether a sample was accepted."""

    is_accepted: bool
    reason: str  # empty if it was used at once; HELD if it waits for its time


class BasicObserver(Stateful):
    """Validation, clock, history and health around a filter."""

    STATE = (
        "times_back",
        "_filter",
        "_history",
        "_frame",
        "_clock",
        "_rejected",
        "_held",
        "_waiting",
        "_strays",
        "_wheels",
    )

    def __init__(self, filter_: FilterBase, settings: ObserverSettings) -> None:
        self.settings: Any = settings
        self.times_back = 0  # restarts because time went back, since the last reset
        self._filter = filter_
        self._history = History(filter_, settings.timing.buffer_s)
        self._frame = Frame(settings.datum)
        self._clock = SampleClock(settings.timing.future_s)
        self._begin()

    @property
    def filter(self) -> FilterBase:
        """The filter itself, for studies."""
        return self._filter

    @property
    def is_running(self) -> bool:
        """Whether there is an estimate."""
        return self._filter.is_running

    def warm_up(self) -> None:
        """Compile all kernels, so that the first samples need not wait; resets the observer."""
        frame, self._frame = self._frame, Frame(Datum(latitude_deg=0.0, longitude_deg=0.0))
        none, force = np.zeros(4), np.array([0.0, 0.0, 9.81])
        for step in range(1, 4):
            time_ns = step * NS_PER_S // 100
            self.process(EncoderSample(time_ns, none, none, none, 0.0, 0.0, 0.0, 80.0, np.zeros(2)))
            self.process(ImuSample(time_ns, np.full(3, 1e-4 * step), force, 1e-6, 1e-4, None, 0.0, 0.0, False))
            if step == 1:
                self.set_pose(0.0, 0.0, 0.0)
        variance, motion = np.ones(3), np.zeros(3)
        self.process(GpsSample(time_ns, 1, 0.0, 0.0, 2.0, variance, motion, variance, 0.0, None, 9, 1.0))
        self.estimate(time_ns + NS_PER_S // 100)
        self._frame = frame
        self.reset()

    def reset(self) -> None:
        """Return to the initial state, counts included; keep a datum found from fixes."""
        self._filter.clear()
        self._history.clear()
        self._clock.clear()
        self.times_back = 0
        self._begin()

    def process(self, sample: Sample, arrival_ns: int | None = None) -> Verdict:
        """Process a sample; arrival_ns: when it arrived, by default its own time."""
        if not isinstance(sample.time_ns, int) or not 0 < sample.time_ns < LATEST_NS:
            return self._reject("time: must be above 0 and before 2200")
        reading = self._reading(sample)
        if isinstance(reading, Rejection):
            self._clock.on_arrival(_SAMPLES.index(type(sample)), arrival_ns)
            self._release()
            return self._reject(reading.reason)
        line = self._clock.judge(reading.kind, reading.time_ns, arrival_ns)
        if line is Line.WENT_BACK:
            return self._restart(reading, arrival_ns)
        if line is Line.BEHIND:
            self._strays.append((reading, arrival_ns))
            return self._reject(f"{KINDS[reading.kind]}: too late")
        self._strays.clear()
        self._release()
        if line is Line.AHEAD:
            return self._hold(reading)
        return self._process(reading)

    def set_pose(
        self,
        x: float,
        y: float,
        heading: float,
        *,
        position_variance: float = 0.25,
        heading_variance: float = 0.07,
        speed: float | None = None,
    ) -> Verdict:
        """Initialise with base_link at a given pose [m, rad], at the current speed.

        speed: forward speed [m/s] if known; wheel pulses give it only a moment later.
        """
        pose = given_pose(x, y, heading, position_variance, heading_variance)
        if isinstance(pose, Rejection):
            return self._reject(pose.reason)
        if not self._filter.time_ns:
            return self._reject("pose: no sample has come yet")
        if speed is not None and not abs(speed) <= FASTEST_START:
            return self._reject(f"pose: its speed must be within {FASTEST_START:g} m/s")
        if not self._filter.start_at(*pose, speed=speed):
            return self._reject(f"pose: {self._filter.start_trouble}")
        self._history.forget_past()
        return Verdict(True, "")

    def advance_to(self, time_ns: int) -> None:
        """Predict up to a time without samples, and release samples whose time has come."""
        self._clock.advance_to(time_ns)
        self._release()
        self._history.advance_to(time_ns)

    def estimate(self, time_ns: int | None = None) -> Record:
        """A record of ESTIMATE at the newest sample, or predicted to a later time without changing the filter."""
        if time_ns is None or time_ns <= self._filter.time_ns or not self.is_running:
            return self._filter.estimate()
        checkpoint, watch = self._filter.checkpoint(), self._filter.on_tick
        self._filter.on_tick = None
        self._filter.advance_to(time_ns)
        estimate = self._filter.estimate()
        self._filter.rewind(checkpoint)
        self._filter.on_tick = watch
        return estimate

    def health(self, silent_s: float = 0.0) -> Health:
        """Status, warnings and counts; silent_s: time since the newest sample by the caller's clock."""
        now_ns = self._clock.now_ns + round(silent_s * NS_PER_S)
        silences = {kind: self._clock.silence(index, now_ns) for index, kind in enumerate(KINDS)}
        return assess(self._filter, now_ns, silences, self._rejected, self._held, self._history.replays)

    def _begin(self) -> None:
        self._rejected: Counter[str] = Counter()
        self._held = 0
        self._waiting: deque[tuple[int, Reading]] = deque()
        self._strays: deque[tuple[Reading, int | None]] = deque(maxlen=MOST_STRAYS)
        self._wheels = WheelGate()

    def _restart(self, reading: Reading, arrival_ns: int | None) -> Verdict:
        """Restart after two samples show that time went back: a looping bag, a simulation reset."""
        strays, times_back = list(self._strays), self.times_back + 1
        self.reset()
        self.times_back = self._rejected["time: went back, restarted"] = times_back
        for stray, came_ns in strays:
            if abs(stray.time_ns - reading.time_ns) <= JUMP_NS:
                self._clock.judge(stray.kind, stray.time_ns, came_ns)
                self._process(stray)
        self._clock.judge(reading.kind, reading.time_ns, arrival_ns)
        return self._process(reading)

    def _reading(self, sample: Sample) -> Reading | Rejection:
        if isinstance(sample, EncoderSample):
            return encoder_reading(sample)
        if isinstance(sample, ImuSample):
            return imu_reading(sample, self.settings.sensors)
        return gps_reading(sample, self.settings.sensors, self._frame)

    def _process(self, reading: Reading) -> Verdict:
        reason = self._history.verdict(reading)
        if not reason and reading.kind == 0:
            reason = self._wheels.rejection(reading)
        if reason:
            return self._reject(f"{KINDS[reading.kind]}: {reason}")
        newest = self._history.newest_ns
        if newest and reading.time_ns - newest > self.settings.timing.gap_s * NS_PER_S:
            self._after_gap()
        self._history.process(reading)
        if self._filter.is_running and reading.kind == 2 and self._filter.is_lost():
            self._filter.restart()
        if self._filter.filter_state["same"][0][reading.kind] >= FROZEN[reading.kind]:
            return self._reject(f"{KINDS[reading.kind]}: frozen")
        return Verdict(True, "")

    def _after_gap(self) -> None:
        """Restart after a long gap without samples."""
        filter_state = self._filter.filter_state
        kept = {name: filter_state[name].copy() for name in ("resets", "restarts")}
        self._filter.clear()
        for name, value in kept.items():
            filter_state[name] = value
        filter_state["restarts"] += 1
        self._history.clear()

    def _hold(self, reading: Reading) -> Verdict:
        """Hold a sample with a future stamp until its time."""
        self._held += 1
        self._waiting.append((self._clock.now_ns, reading))
        if len(self._waiting) > MOST_WAITING:
            self._reject_future(self._waiting.popleft()[1])
        return Verdict(True, HELD)

    def _release(self) -> None:
        """Process held samples whose time has come; reject those held too long."""
        if not self._waiting:
            return
        timing, now_ns = self.settings.timing, self._clock.now_ns
        still: deque[tuple[int, Reading]] = deque()
        for since, reading in sorted(self._waiting, key=lambda item: item[1].time_ns):
            if reading.time_ns <= now_ns + timing.future_s * NS_PER_S:
                self._process(reading)
            elif now_ns - since > timing.hold_s * NS_PER_S:
                self._reject_future(reading)
            else:
                still.append((since, reading))
        self._waiting = still

    def _reject_future(self, reading: Reading) -> None:
        self._reject(f"{KINDS[reading.kind]}: in the future for too long")

    def _reject(self, reason: str) -> Verdict:
        self._rejected[reason] += 1
        return Verdict(False, reason)


class VehicleObserver(BasicObserver):
    """errorEKF around a multibody model ([Sanjurjo] chapter 5)."""

    def __init__(
        self,
        settings: VehicleObserverSettings,
        *,
        parameters: VehicleParameters | None = None,
        ground: GroundModel | None = None,
    ) -> None:
        """parameters: of the model, instead of the settings' vehicle file; ground: default level."""
        self._ekf = ErrorEkf(settings, parameters=parameters, ground=ground)
        super().__init__(self._ekf, settings)

    @property
    def ekf(self) -> ErrorEkf:
        """The filter with its model."""
        return self._ekf

    def reset(self) -> None:
        """Return to the initial state, with fresh ground: no ruts."""
        super().reset()
        clear_ruts(self._ekf.ground.kernel().ruts)

    def forces(self) -> Forces:
        """Tyre forces, loads and friction use; raises ValueError before the start."""
        if not self.is_running:
            raise ValueError("forces: the observer has not started")
        return tyre_forces(self._ekf, self.settings.force_error)


class InsObserver(BasicObserver):
    """The baseline: a loosely coupled strapdown INS."""

    def __init__(self, settings: InsSettings) -> None:
        super().__init__(InsFilter(settings), settings)
