"""A bag as samples and truth, in the order they arrived. What is no sample is counted by reason and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from statistics import median
from typing import Any, NamedTuple

from proving_ground.recording.reading import Bag
from proving_ground.recording.to_messages import WHEELS
from proving_ground.recording.topics import WANTED
from proving_ground.recording.types import from_bytes
from proving_ground.settings.units import NS_PER_S
from sensors.from_messages import (
    PEDALS,
    Actuation,
    TruthPose,
    Velocity,
    Wheels,
    actuation_sample,
    encoder_sample,
    gps_sample,
    imu_sample,
    stamp_ns,
    truth_pose,
    velocity_sample,
    wheels_sample,
)
from sensors.joining import Joiner
from sensors.samples import EncoderSample, GpsSample, ImuSample

Item = EncoderSample | ImuSample | GpsSample | TruthPose

_ORDER: dict[type, int] = {EncoderSample: 0, ImuSample: 1, GpsSample: 2, TruthPose: 3}  # as KINDS of the observers
SAME_FIX_NS = 50_000_000  # velocities that are farther from a fix are not of it
SAME_DRIVE_NS = 100_000_000
MOST_NAMES = 8  # in a line
PEEKED = 100  # messages that tell how stamps and times of arrival lie to each other
STRANGE_NS = 5 * NS_PER_S  # a stamp that is so far off is absurd
STRANGE_MANY = 20  # one after the other: time has jumped
ONE_CLOCK_NS = NS_PER_S  # stamps that are nearer to the times of arrival are of the same clock


class Arrival(NamedTuple):
    """Something that came."""

    log_ns: int
    item: Item


class JointNames(NamedTuple):
    """As the bag has them."""

    wheels: tuple[str, ...] = WHEELS  # front left to rear right
    pedals: tuple[str, ...] = PEDALS  # steering, throttle, brake, engine


class _Fix(NamedTuple):
    time_ns: int
    message: Any


class Stream:
    """Iterate once for everything; `refused` then tells what was left out and why."""

    def __init__(self, bag: Bag, topics: Mapping[str, str], names: JointNames | None = None) -> None:
        """topics: by role, as choose_topics gives them."""
        self._bag, self._topics, self._names = bag, topics, names or JointNames()
        self._roles = {topic: role for role, topic in topics.items()}
        self.refused: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()  # messages by role
        self.is_one_clock = self._offset() is not None and abs(self._offset() or 0) < ONE_CLOCK_NS

    def __iter__(self) -> Iterator[Arrival]:
        """What arrived at one time comes in the observers' order, which saves them from putting it in order."""
        for _, together in groupby(self._arrivals(), key=lambda arrival: arrival.log_ns):
            yield from sorted(together, key=lambda arrival: (arrival.item.time_ns, _ORDER[type(arrival.item)]))

    def _arrivals(self) -> Iterator[Arrival]:
        self.refused.clear()
        self.counts.clear()
        guard = _Guard(self._offset())
        gps: Joiner[_Fix, Velocity] = Joiner(SAME_FIX_NS, has_second="velocity" in self._topics)
        drive: Joiner[Wheels, Actuation] = Joiner(SAME_DRIVE_NS, has_second="actuation" in self._topics)
        log_ns = 0
        for topic, log_ns, data in self._bag.messages(list(self._roles)):
            role = self._roles[topic]
            self.counts[role] += 1
            try:
                found = self._read(role, data)
                guard.check(found.time_ns, log_ns)
            except ValueError as error:
                self.refused[f"{topic}: {error}"] += 1
                continue
            if role in ("fix", "velocity"):
                pairs = gps.first(log_ns, found) if role == "fix" else gps.second(log_ns, found)
                yield from (Arrival(log_ns, gps_sample(fix.message, moves)) for fix, moves in pairs)
            elif role in ("wheels", "actuation"):
                joined = drive.first(log_ns, found) if role == "wheels" else drive.second(log_ns, found)
                yield from self._encoders(log_ns, joined)
            else:
                yield Arrival(log_ns, found)
        yield from (Arrival(log_ns, gps_sample(fix.message, moves)) for fix, moves in gps.complete())
        yield from self._encoders(log_ns, drive.complete())

    def _encoders(self, log_ns: int, joined: Sequence[tuple[Wheels, Actuation | None]]) -> Iterator[Arrival]:
        """Where actuation comes at all, wheels without are no sample: a steering of 0 would be a lie."""
        for wheels, actuation in joined:
            if actuation is None and "actuation" in self._topics:
                self.refused[f"{self._topics['wheels']}: no actuation near its time"] += 1
            else:
                yield Arrival(log_ns, encoder_sample(wheels, actuation))

    def _read(self, role: str, data: bytes) -> Any:
        message = from_bytes(data, WANTED[role].message_type)
        if role == "fix":
            return _Fix(stamp_ns(message), message)
        if role == "wheels":
            return wheels_sample(message, self._names.wheels)
        if role == "actuation":
            return actuation_sample(message, self._names.pedals)
        return _READERS[role](message)

    def _offset(self) -> int | None:
        """Usual time from stamp to arrival [ns], of the first messages; None: there are none."""
        found = []
        for topic, log_ns, data in islice(self._bag.messages(list(self._roles)), PEEKED):
            try:
                found.append(log_ns - stamp_ns(from_bytes(data, WANTED[self._roles[topic]].message_type)))
            except ValueError:
                continue
        return int(median(found)) if found else None


_READERS: dict[str, Callable[[Any], Any]] = {"imu": imu_sample, "velocity": velocity_sample, "truth": truth_pose}


class _Guard:
    """Single stamps that are hours off are absurd; when all are, time has jumped, as with a simulation's reset."""

    def __init__(self, offset_ns: int | None) -> None:
        self._offset_ns = offset_ns
        self._strange = 0

    def check(self, time_ns: int, log_ns: int) -> None:
        """Raises ValueError for an absurd stamp."""
        offset = log_ns - time_ns
        if self._offset_ns is not None and abs(offset - self._offset_ns) > STRANGE_NS:
            self._strange += 1
            if self._strange < STRANGE_MANY:
                raise ValueError("absurd stamp")
        self._strange, self._offset_ns = 0, offset


def first_fix(bag: Bag, topic: str) -> Any:
    """The first message with a fix that is finite, or None."""
    for _, _, data in bag.messages([topic]):
        try:
            message = from_bytes(data, WANTED["fix"].message_type)
        except ValueError:
            continue
        place = (message.latitude, message.longitude, message.altitude)
        if message.status.status >= 0 and all(abs(value) < 1e6 for value in place):
            return message
    return None


def missing_joints(bag: Bag, topic: str, names: Sequence[str]) -> str:
    """What the first messages of a topic have against names of joints; empty when one has them all."""
    words = ""
    for _, _, data in islice(bag.messages([topic]), PEEKED):
        try:
            message = from_bytes(data, WANTED["wheels"].message_type)
        except ValueError:
            continue
        missing = [name for name in names if name not in message.name]
        if not missing:
            return ""
        words = words or f"{topic} has no joint {missing[0]}, but {', '.join(message.name[:MOST_NAMES])}"
    return words
