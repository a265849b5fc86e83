"""Messages of the sensors' topics as samples: a fix with its velocity, wheels with actuation, IMU after wheels.

Used by the observer's node and by bags; any object with the fields of the messages works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.samples import (
    Actuation,
    EncoderSample,
    GpsSample,
    ImuSample,
    Velocity,
    Wheels,
)
from proving_ground.interfaces.sensor_codec import (
    encoder_sample,
    read_actuation,
    read_gps,
    read_gps_velocity,
    read_imu,
    read_wheels,
)
from proving_ground.interfaces.synchronisers import PairSynchroniser

Sample = EncoderSample | ImuSample | GpsSample

ROLES: Final = {  # purpose of a topic
    "imu": topics.IMU_RAW,
    "fix": topics.FIX,
    "velocity": topics.GPS_VELOCITY,
    "wheels": topics.WHEELS,
    "actuation": topics.ACTUATION,
}
SAME_FIX_NS: Final = 50_000_000  # a velocity further from a fix does not belong to it
SAME_DRIVE_NS: Final = 100_000_000
MOST_HELD: Final = 3  # IMU samples waiting for wheels


class _Fix(NamedTuple):
    """A fix that waits for its velocity."""

    time_ns: int
    message: Any


class SampleSynchroniser:
    """Pass each message to `process`, which returns the samples that are now complete."""

    def __init__(
        self,
        topics: Mapping[str, str],
        *,
        holds_imu: bool,
        wheels: Sequence[str] = joints.WHEELS,
        drive: Sequence[str] = joints.DRIVE,
    ) -> None:
        """topics: names by role. If there is an actuation topic, wheels without it are rejected: steering is unknown.

        holds_imu: IMU samples wait for the wheels of their time, which saves a filter from rewinding.
        wheels, drive: names of joints.
        """
        self._topics, self._holds_imu = topics, holds_imu
        self.rejected: Counter[str] = Counter()  # by reason
        self._readers: dict[str, Callable[[Any], Any]] = {
            "imu": read_imu,
            "fix": lambda message: _Fix(read_stamp(message.header.stamp), message),
            "velocity": read_gps_velocity,
            "wheels": lambda message: read_wheels(message, wheels),
            "actuation": lambda message: read_actuation(message, drive),
        }
        self.clear()

    def clear(self) -> None:
        """Drop all waiting samples: time went back."""
        self._gps: PairSynchroniser[_Fix, Velocity] = PairSynchroniser(
            SAME_FIX_NS, has_second="velocity" in self._topics
        )
        self._encoders: PairSynchroniser[Wheels, Actuation] = PairSynchroniser(
            SAME_DRIVE_NS, has_second="actuation" in self._topics
        )
        self._held: list[ImuSample] = []
        self._adders: dict[str, Callable[[int, Any], list[Sample]]] = {
            "imu": self._imu,
            "fix": lambda now, part: self._fixes(self._gps.first(now, part)),
            "velocity": lambda now, part: self._fixes(self._gps.second(now, part)),
            "wheels": lambda now, part: self._drives(self._encoders.first(now, part)),
            "actuation": lambda now, part: self._drives(self._encoders.second(now, part)),
        }

    def process(self, role: str, message: Any, arrival_ns: int) -> list[Sample]:
        """Samples that a message completes; role: that of its topic; arrival_ns: by a steady clock.

        An invalid message is counted and ignored.
        """
        try:
            return self.add(role, self.read(role, message), arrival_ns)
        except ValueError as error:
            self.rejected[f"{self._topics[role]}: {error}"] += 1
            return []

    def read(self, role: str, message: Any) -> Any:
        """The part of a sample in a message, with its `time_ns`; raises ValueError for an invalid message."""
        return self._readers[role](message)

    def add(self, role: str, part: Any, arrival_ns: int) -> list[Sample]:
        """Samples that a part of a role, as `read` gives it, completes; arrival_ns: by a steady clock."""
        return self._adders[role](arrival_ns, part)

    def flush(self) -> list[Sample]:
        """All waiting samples, at the end of a recording."""
        return [*self._fixes(self._gps.complete()), *self._drives(self._encoders.complete())]

    def _imu(self, arrival_ns: int, sample: ImuSample) -> list[Sample]:
        if not self._holds_imu:
            return [sample]
        self._held.append(sample)
        # A part whose partner does not come is passed on alone.
        return [
            *self._drives(self._encoders.complete(arrival_ns)),
            *self._fixes(self._gps.complete(arrival_ns)),
        ]

    def _fixes(self, pairs: Iterable[tuple[_Fix, Velocity | None]]) -> list[Sample]:
        return [read_gps(fix.message, moves) for fix, moves in pairs]

    def _drives(self, pairs: Iterable[tuple[Wheels, Actuation | None]]) -> list[Sample]:
        """Encoder samples, and IMU samples that waited for them."""
        found = []
        for wheels, actuation in pairs:
            if actuation is None and "actuation" in self._topics:
                self.rejected[f"{self._topics['wheels']}: no actuation near its time"] += 1
            else:
                found.append(encoder_sample(wheels, actuation))
        return [*found, *self._released(found)] if self._holds_imu else list(found)

    def _released(self, wheels: list[EncoderSample]) -> list[ImuSample]:
        newest = max((sample.time_ns for sample in wheels), default=0)
        later = [sample for sample in self._held if sample.time_ns > newest]
        free = [sample for sample in self._held if sample.time_ns <= newest]
        self._held = later[-MOST_HELD:]
        return free + later[:-MOST_HELD]
