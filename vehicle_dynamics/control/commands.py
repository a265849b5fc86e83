"""Interpretation of command messages: each message is read as a whole, or rejected by one rule."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from proving_ground.interfaces import joints
from vehicle_dynamics.control.drive_by_wire import Answer, DriveByWire, DriveByWireSettings, Verdict
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.pedals import DRIVE, KEEP, Pedals

SLIGHT = 1e-3  # [m/s, rad/s]: a smaller command along an axis that the vehicle cannot follow is rounding


def receive_twist(drive: DriveByWire, now: float, linear: Sequence[float], angular: Sequence[float]) -> Answer:
    """Speed and yaw rate of a twist in base_link; motion in other directions is reported."""
    bad = _not_finite({"linear": linear, "angular": angular})
    if bad:
        return drive.reject(now, bad)
    answer = drive.receive_motion(now, linear[0], angular[2])
    others = max(abs(value) for value in (linear[1], linear[2], angular[0], angular[1]))
    if others > SLIGHT and answer.verdict != Verdict.REJECTED:
        words = "can only move ahead and turn about z"
        return Answer(Verdict.LIMITED, f"{answer.reason}; {words}" if answer.reason else words)
    return answer


def receive_ackermann(drive: DriveByWire, now: float, fields: Mapping[str, float]) -> Answer:
    """Speed and steering angle of an AckermannDrive; their rates are left to the vehicle."""
    bad = _not_finite({name: (value,) for name, value in fields.items()})
    if bad:
        return drive.reject(now, bad)
    return drive.receive_steering(now, fields["speed"], fields["steering_angle"])


def receive_named_pedals(drive: DriveByWire, now: float, names: Sequence[str], positions: Sequence[float]) -> Answer:
    """Pedals by name, in any order: steering, throttle, brake, and a gear of -1, 0 or 1 if other than drive.

    transfer_range, locks and parking_brake, where they are not named, stay as they are.
    """
    rule = _names_rule(names, len(positions))
    if rule:
        return drive.reject(now, rule)
    given = dict(zip(names, positions, strict=True))
    gear = given.get(joints.GEAR, DRIVE)
    levers = (given.get(name, KEEP) for name in joints.LEVERS)
    # An invalid gear or range is rejected there.
    steering, throttle, brake = (given[name] for name in joints.PEDALS)
    return drive.receive_pedals(now, Pedals(steering, throttle, brake, gear, *levers))  # type: ignore[arg-type]


def _names_rule(names: Sequence[str], positions: int) -> str:
    """The rule that pedals break, or an empty string."""
    known = (*joints.PEDALS_AND_GEAR, *joints.LEVERS)
    unknown = [name for name in names if name not in known]
    missing = [name for name in joints.PEDALS if name not in names]
    if unknown:
        return f"pedal {unknown[0][:30]!r} is unknown; known are {', '.join(known)}"
    if missing:
        return f"pedal {missing[0]!r} is missing"
    if len(set(names)) < len(names):
        return "a pedal is named twice"
    if positions != len(names):
        return f"{len(names)} pedals are named, but {positions} positions given"
    return ""


def _not_finite(fields: Mapping[str, Sequence[float]]) -> str:
    for name, values in fields.items():
        for axis, value in zip("xyz", values, strict=False):
            if not math.isfinite(value):
                return f"{name}{'.' + axis if len(values) > 1 else ''} is {value}"
    return ""


class SharedDrive:
    """Drive-by-wire shared between the thread that receives commands and the one that drives."""

    def __init__(self, drive: DriveByWire) -> None:
        self._drive = drive
        self._lock = threading.Lock()

    @property
    def status(self) -> str:
        """Present status of drive-by-wire, in words."""
        return self._drive.status

    def receive(self, judge: Callable[[DriveByWire], Answer]) -> Answer:
        """Pass a command to drive-by-wire and return its verdict."""
        with self._lock:
            return judge(self._drive)

    def set_limits(self, settings: DriveByWireSettings) -> None:
        """Apply changed settings of drive-by-wire."""
        with self._lock:
            self._drive.change_settings(settings)

    def set_pace(self, pace: float) -> None:
        """Set simulated time over real time, at least 1."""
        with self._lock:
            self._drive.pace = pace

    def pedals(self, now: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for the next control period, as DriveByWire.pedals."""
        with self._lock:
            return self._drive.pedals(now, seen)

    def reset(self) -> None:
        """Restart without a command, as DriveByWire.reset."""
        with self._lock:
            self._drive.reset()


class RateLimiter:
    """Decides how long to rest after a command, so that a flood of them does not slow the simulation.

    Commands that arrive meanwhile are dropped by the queue, oldest first: the newest one still counts.
    """

    BURST = 20.0
    PER_SECOND = 500.0

    def __init__(self) -> None:
        self._left, self._before = self.BURST, 0.0

    def rest_s(self, now: float) -> float:
        """Rest [s] after a command that arrived now, in seconds of a steady clock."""
        self._left = min(self._left + (now - self._before) * self.PER_SECOND, self.BURST) - 1.0
        self._before = now
        return max(-self._left / self.PER_SECOND, 0.0)


@dataclass
class _Tally:
    received: int = 0
    limited: int = 0
    rejected: int = 0
    reason: str = ""  # of the last rejected one, else of the last limited one


class CommandAudit:
    """Counts verdicts on commands, by topic, and words the news."""

    def __init__(self) -> None:
        self.limited = 0
        self.rejected = 0
        self._recent: dict[str, _Tally] = {}

    def record(self, topic: str, answer: Answer) -> None:
        """Record one command and its verdict."""
        tally = self._recent.setdefault(topic, _Tally())
        tally.received += 1
        if answer.verdict == Verdict.LIMITED:
            self.limited += 1
            tally.limited += 1
            tally.reason = tally.reason if tally.rejected else answer.reason
        elif answer.verdict == Verdict.REJECTED:
            self.rejected += 1
            tally.rejected += 1
            tally.reason = answer.reason

    def take_news(self) -> tuple[list[str], list[str]]:
        """Messages about commands that were not simply accepted, and the topics received, since the last call."""
        recent, self._recent = self._recent, {}
        words = []
        for topic, tally in recent.items():
            if tally.rejected:
                words.append(f"{topic}: {tally.rejected} of {tally.received} rejected: {tally.reason}")
            elif tally.limited:
                words.append(f"{topic}: {tally.limited} of {tally.received} limited: {tally.reason}")
        return words, sorted(recent)
