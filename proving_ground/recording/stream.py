"""A bag as samples and truth, in order of arrival. Invalid messages are counted by reason and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from statistics import median
from typing import Any, NamedTuple

from proving_ground.interfaces import joints
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.motion_codec import read_odometry
from proving_ground.interfaces.sample_synchroniser import SampleSynchroniser
from proving_ground.interfaces.samples import EncoderSample, GpsSample, ImuSample, Motion
from proving_ground.recording.reading import Bag
from proving_ground.recording.topics import TRUTH, WANTED
from proving_ground.recording.types import from_bytes
from proving_ground.settings.units import NS_PER_S

Item = EncoderSample | ImuSample | GpsSample | Motion

_ORDER: dict[type, int] = {EncoderSample: 0, ImuSample: 1, GpsSample: 2, Motion: 3}  # as KINDS of the observers
MOST_NAMES = 8  # in a line
PEEKED = 100  # messages that give the offset between stamps and log times
STRANGE_NS = 5 * NS_PER_S  # a stamp this far off is absurd
STRANGE_MANY = 20  # in a row: time has jumped
ONE_CLOCK_NS = NS_PER_S  # stamps this near to the times of arrival are of the same clock


class Arrival(NamedTuple):
    """A sample or truth with its time of arrival."""

    log_ns: int
    item: Item


class JointNames(NamedTuple):
    """Names of the joints of wheels and pedals in the bag."""

    wheels: tuple[str, ...] = joints.WHEELS  # front left to rear right
    pedals: tuple[str, ...] = joints.DRIVE  # steering, throttle, brake, engine


class Stream:
    """Samples and truth of a bag. Iterate once; `rejected` then has what was left out and why."""

    def __init__(self, bag: Bag, topics: Mapping[str, str], names: JointNames | None = None) -> None:
        """topics: by role, as choose_topics gives them."""
        self._bag, self._topics, self._names = bag, topics, names or JointNames()
        self._roles = {topic: role for role, topic in topics.items()}
        self.rejected: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()  # messages by role
        self.is_one_clock = self._offset() is not None and abs(self._offset() or 0) < ONE_CLOCK_NS

    def __iter__(self) -> Iterator[Arrival]:
        """Arrivals of one time come in the observers' order, which saves them from sorting."""
        for _, together in groupby(self._arrivals(), key=lambda arrival: arrival.log_ns):
            yield from sorted(together, key=lambda arrival: (arrival.item.time_ns, _ORDER[type(arrival.item)]))

    def _arrivals(self) -> Iterator[Arrival]:
        self.rejected.clear()
        self.counts.clear()
        guard = _Guard(self._offset())
        samples = SampleSynchroniser(self._topics, holds_imu=False, wheels=self._names.wheels, drive=self._names.pedals)
        samples.rejected = self.rejected
        log_ns = 0
        for topic, log_ns, data in self._bag.messages(list(self._roles)):
            role = self._roles[topic]
            self.counts[role] += 1
            try:
                message = from_bytes(data, WANTED[role].message_type)
                part = read_odometry(message) if role == TRUTH else samples.read(role, message)
                guard.check(part.time_ns, log_ns)
            except ValueError as error:
                self.rejected[f"{topic}: {error}"] += 1
                continue
            complete = [part] if role == TRUTH else samples.add(role, part, log_ns)
            yield from (Arrival(log_ns, sample) for sample in complete)
        yield from (Arrival(log_ns, sample) for sample in samples.flush())

    def _offset(self) -> int | None:
        """Typical time from stamp to arrival [ns], of the first messages; None if there are none."""
        found = []
        for topic, log_ns, data in islice(self._bag.messages(list(self._roles)), PEEKED):
            try:
                found.append(
                    log_ns - read_stamp(from_bytes(data, WANTED[self._roles[topic]].message_type).header.stamp)
                )
            except ValueError:
                continue
        return int(median(found)) if found else None


class _Guard:
    """A single stamp that is far off is absurd; when all are, time has jumped, as with a simulation's reset."""

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
    """The first message with a finite fix, or None."""
    for _, _, data in bag.messages([topic]):
        try:
            message = from_bytes(data, WANTED["fix"].message_type)
        except ValueError:
            continue
        position = (message.latitude, message.longitude, message.altitude)
        if message.status.status >= 0 and all(abs(value) < 1e6 for value in position):
            return message
    return None


def missing_joints(bag: Bag, topic: str, names: Sequence[str]) -> str:
    """Joints missing in the first messages of a topic, as text; empty when one message has them all."""
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
