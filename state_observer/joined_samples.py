"""Messages of the sensors' topics as samples: a fix with its velocity, wheels with what drives them, IMU after wheels.

No ROS here: any object with the fields of the messages will do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from proving_ground.interfaces import topics
from sensors.from_messages import (
    PEDALS,
    Actuation,
    Velocity,
    Wheels,
    actuation_sample,
    encoder_sample,
    gps_sample,
    imu_sample,
    stamp_ns,
    velocity_sample,
    wheels_sample,
)
from sensors.joining import Joiner
from sensors.samples import EncoderSample, ImuSample
from state_observer.vehicle.doors import Sample
from vehicle_dynamics.vehicle_mechanism import CORNERS

IMU, FIX, VELOCITY = topics.IMU_RAW.name, topics.FIX.name, topics.GPS_VELOCITY.name
WHEELS, ACTUATION = topics.WHEELS.name, topics.ACTUATION.name
WHEEL_NAMES = tuple(f"{corner}_wheel" for corner in CORNERS)
SAME_FIX_NS = 50_000_000  # velocities that are farther from a fix are not of it
SAME_DRIVE_NS = 100_000_000
MOST_HELD = 3  # IMU samples that wait for wheels


class _Fix(NamedTuple):
    """A fix that waits for its velocity."""

    time_ns: int
    message: Any


class JoinedSamples:
    """Hand each message to `take`; it gives the samples that are whole now, in an order that filters like."""

    def __init__(self, *, needs_actuation: bool) -> None:
        """needs_actuation: wheels without are no sample, because a steering of 0 would be a lie; else they are."""
        self._needs_actuation = needs_actuation
        self.refused: Counter[str] = Counter()  # by reason
        self.clear()
        self._takers: dict[str, Callable[[Any, int], list[Sample]]] = {
            IMU: self._imu,
            FIX: self._fix,
            VELOCITY: self._velocity,
            WHEELS: self._wheels,
            ACTUATION: self._actuation,
        }

    def clear(self) -> None:
        """Nothing waits any more: time went back."""
        self._gps: Joiner[_Fix, Velocity] = Joiner(SAME_FIX_NS, has_second=True)
        self._encoders: Joiner[Wheels, Actuation] = Joiner(SAME_DRIVE_NS, has_second=self._needs_actuation)
        self._held: list[ImuSample] = []

    def take(self, topic: str, message: Any, arrival_ns: int) -> list[Sample]:
        """arrival_ns: by a steady clock. A message that is no sample is counted and left out."""
        try:
            return self._takers[topic](message, arrival_ns)
        except ValueError as error:
            self.refused[f"{topic}: {error}"] += 1
            return []

    def _imu(self, message: Any, arrival_ns: int) -> list[Sample]:
        self._held.append(imu_sample(message))
        # What waits for a partner that does not come goes on alone.
        wheels = self._whole(self._encoders.complete(arrival_ns))
        return [*wheels, *self._released(wheels), *self._fixes(self._gps.complete(arrival_ns))]

    def _fix(self, message: Any, arrival_ns: int) -> list[Sample]:
        return self._fixes(self._gps.first(arrival_ns, _Fix(stamp_ns(message), message)))

    def _velocity(self, message: Any, arrival_ns: int) -> list[Sample]:
        return self._fixes(self._gps.second(arrival_ns, velocity_sample(message)))

    def _wheels(self, message: Any, arrival_ns: int) -> list[Sample]:
        whole = self._whole(self._encoders.first(arrival_ns, wheels_sample(message, WHEEL_NAMES)))
        return [*whole, *self._released(whole)]

    def _actuation(self, message: Any, arrival_ns: int) -> list[Sample]:
        whole = self._whole(self._encoders.second(arrival_ns, actuation_sample(message, PEDALS)))
        return [*whole, *self._released(whole)]

    def _fixes(self, pairs: Iterable[tuple[_Fix, Velocity | None]]) -> list[Sample]:
        return [gps_sample(fix.message, moves) for fix, moves in pairs]

    def _whole(self, pairs: Iterable[tuple[Wheels, Actuation | None]]) -> list[EncoderSample]:
        found = []
        for wheels, actuation in pairs:
            if actuation is None and self._needs_actuation:
                self.refused[f"{WHEELS}: no actuation near its time"] += 1
            else:
                found.append(encoder_sample(wheels, actuation))
        return found

    def _released(self, wheels: list[EncoderSample]) -> list[ImuSample]:
        """IMU samples wait for the wheels of their time, which come first: a filter need not go back then."""
        newest = max((sample.time_ns for sample in wheels), default=0)
        later = [sample for sample in self._held if sample.time_ns > newest]
        free = [sample for sample in self._held if sample.time_ns <= newest]
        self._held = later[-MOST_HELD:]
        return free + later[:-MOST_HELD]
