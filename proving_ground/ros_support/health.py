"""Health of a node: named checks and counters. No ROS here; diagnostics.py publishes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class Level(IntEnum):
    """Severity, numbered as in diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True)
class Check:
    """The present finding of one check."""

    level: Level
    message: str


@dataclass
class Health:
    """Findings by check name, and counters of what was rejected; cheap enough to update on every message."""

    checks: dict[str, Check] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)

    def report(self, check: str, level: Level, message: str) -> bool:
        """Set a finding; True when it differs from the last one and deserves a log line."""
        finding = Check(level, message)
        changed = self.checks.get(check) != finding
        self.checks[check] = finding
        return changed

    def count(self, name: str) -> int:
        """Count an event of this name and return the total."""
        self.counters[name] = self.counters.get(name, 0) + 1
        return self.counters[name]

    def worst(self) -> Level:
        """The highest level of all checks."""
        return max((check.level for check in self.checks.values()), default=Level.OK)

    def summary(self) -> str:
        """The messages of the worst checks in one line; while all is well, that of the first."""
        worst = self.worst()
        messages = [check.message for check in self.checks.values() if check.level == worst] or ["running"]
        return messages[0] if worst == Level.OK else "; ".join(messages)


class LogLimit:
    """Rate limiter: lets a burst of lines about one matter through, then one per second."""

    BURST = 5
    PER_SECOND = 1.0

    def __init__(self) -> None:
        self._allowance: dict[str, tuple[float, float]] = {}  # lines left, and when that was

    def allows(self, matter: str, now: float) -> bool:
        """Whether one more line may be written; now is seconds of a steady clock."""
        left, before = self._allowance.get(matter, (self.BURST, now))
        left = min(left + (now - before) * self.PER_SECOND, self.BURST)
        is_allowed = left >= 1.0
        self._allowance[matter] = (left - 1.0 if is_allowed else left, now)
        return is_allowed
