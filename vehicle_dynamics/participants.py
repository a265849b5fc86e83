"""Participants that must finish an instant before time goes on, and the commands of that instant. No ROS here.

Nodes of the suite report what they have finished (interfaces.synchrony). A driver from outside takes part by the
stamps of its commands, or by sending one command for each message of a topic. All times in nanoseconds.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.synchrony import Arrival, Report, Timetable
from proving_ground.settings import setting
from proving_ground.settings.units import NS_PER_S

WITHOUT_COMMAND = ("wait", "run")
COMMANDS = {topic.name: topic for topic in (topics.CMD_VEL, topics.ACKERMANN_CMD, topics.PEDALS)}


@dataclass(frozen=True, kw_only=True)
class SyncSettings:
    """Nodes and topic that time waits for; with neither, time runs free."""

    nodes: tuple[str, ...] = setting(
        (), "Nodes of the suite that must finish an instant before time goes on", read_only=True
    )
    inner: tuple[str, ...] = setting(
        (),
        "Nodes that need not be waited for, because another node of the list waits for them; they are only named",
        read_only=True,
    )
    wait_for: str = setting(
        "",
        "Topic of a driver from outside that time waits for: cmd_vel, ackermann_cmd, vehicle/pedals; empty: none",
        choices=("", *COMMANDS),
        read_only=True,
    )
    max_age_s: float = setting(
        0.0,
        "Largest age of the newest command from outside; a command acts this long after its stamp",
        unit="s",
        minimum=0.0,
        maximum=10.0,
        read_only=True,
    )
    per_message_of: str = setting(
        "",
        "Topic that the driver from outside answers message by message, for commands without stamps; empty: by stamp",
        read_only=True,
    )

    without_command: str = setting(
        WITHOUT_COMMAND[0],
        "Behaviour of time before the first command from outside: wait for it, or run until it comes",
        choices=WITHOUT_COMMAND,
        read_only=True,
    )

    def __post_init__(self) -> None:
        if self.per_message_of and not self.wait_for:
            raise ValueError("per_message_of: needs wait_for, the topic of the commands")
        if self.per_message_of and self.without_command != "wait":
            raise ValueError("without_command: must be wait if per_message_of is set, as each message has its answer")

    @property
    def is_on(self) -> bool:
        """Whether time waits for anybody."""
        return bool(self.nodes or self.wait_for)

    @property
    def is_driver_needed(self) -> bool:
        """Whether time cannot begin without the driver from outside."""
        return bool(self.wait_for) and self.without_command == "wait"

    @property
    def outer(self) -> tuple[str, ...]:
        """Nodes whose reports let time go on; all, if a driver answers messages that might be those of an inner one."""
        return tuple(name for name in self.nodes if self.per_message_of or name not in self.inner)

    def own_commands(self) -> frozenset[str]:
        """Topics of commands of the nodes of the suite."""
        return frozenset(topic for node in self.nodes for topic in self.topics_of(node)) - {self.wait_for}

    def topics_of(self, node: str) -> tuple[str, ...]:
        """Topics on which a node of the suite sends commands."""
        return tuple(name for name, topic in COMMANDS.items() if node in topic.publishers)


class _StampedDriver:
    """Commands from outside, by their stamps."""

    def __init__(self, topic: str, age_ns: int) -> None:
        self._topic, self._age_ns = topic, age_ns
        self._newest_ns = -1
        self._waiting: list[tuple[int, int, Any]] = []
        self._count = 0

    def on_command(self, stamp_ns: int, message: Any) -> None:
        """Add a command; one that is older than the newest is dropped."""
        if stamp_ns >= self._newest_ns:
            self._newest_ns = stamp_ns
            self._count += 1
            self._waiting.append((stamp_ns + self._age_ns, self._count, message))

    def is_awaited(self, instant_ns: int, count: int) -> bool:
        """Whether the instant needs a newer command."""
        return self._newest_ns < instant_ns - self._age_ns

    def take(self, instant_ns: int, count: int) -> list[Arrival]:
        """Commands that act from this instant on."""
        due = sorted(item for item in self._waiting if item[0] <= instant_ns)
        self._waiting = [item for item in self._waiting if item[0] > instant_ns]
        return [Arrival(time_ns, self._topic, message) for time_ns, _, message in due]

    def restart(self, instant_ns: int) -> None:
        """Drop commands of before a reset; where time has gone back, newer stamps do not count any more."""
        self._waiting.clear()
        if self._newest_ns > instant_ns:
            self._newest_ns = -1

    def complaint(self, stamp_ns: int, now_ns: int) -> str:
        """Why a command cannot take part; empty: it can."""
        if not stamp_ns:
            return "has no stamps to wait for: stamp it, or set sync.per_message_of"
        if stamp_ns > now_ns:
            ahead_s = (stamp_ns - now_ns) / NS_PER_S
            return f"is stamped {ahead_s:.3g} s after the present instant: stamp it with the time of what it answers"
        return ""


class _CountedDriver:
    """Commands from outside, one for each message of a topic."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._received = 0
        self._waiting: deque[tuple[int, Any]] = deque()

    def on_command(self, stamp_ns: int, message: Any) -> None:
        """Add a command; its stamp does not matter."""
        self._received += 1
        self._waiting.append((self._received, message))

    def is_awaited(self, instant_ns: int, count: int) -> bool:
        """Whether fewer commands than messages have come."""
        return self._received < count

    def take(self, instant_ns: int, count: int) -> list[Arrival]:
        """Commands that answer the messages so far."""
        found = []
        while self._waiting and self._waiting[0][0] <= count:
            found.append(Arrival(instant_ns, self._topic, self._waiting.popleft()[1]))
        return found

    def restart(self, instant_ns: int) -> None:
        """Drop commands of before a reset; they answer messages all the same."""
        self._waiting.clear()

    def complaint(self, stamp_ns: int, now_ns: int) -> str:
        """Why a command cannot take part: never."""
        return ""


class Participants:
    """Shared by the thread that receives and the one that moves the vehicle."""

    def __init__(self, settings: SyncSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._table = Timetable({name: settings.topics_of(name) for name in settings.nodes})
        self._driver: _StampedDriver | _CountedDriver | None = None
        if settings.per_message_of:
            self._driver = _CountedDriver(settings.wait_for)
        elif settings.wait_for:
            self._driver = _StampedDriver(settings.wait_for, round(settings.max_age_s * NS_PER_S))
        self._has_commands = False  # from outside
        self._own: Mapping[str, int] = {}
        self._sent: dict[str, int] = {}

    @property
    def commanded(self) -> Collection[str]:
        """Topics whose commands belong to instants."""
        own = {topic for name in self._settings.nodes for topic in self._settings.topics_of(name)}
        return own | ({self._settings.wait_for} - {""})

    def on_report(self, node: str, report: Report) -> None:
        """Process the report of a node."""
        with self._lock:
            self._table.on_report(node, report)
            self._sent |= report.sent

    def on_command(self, topic: str, stamp_ns: int, message: Any) -> None:
        """Process a command on one of `commanded`."""
        with self._lock:
            if self._driver is not None and topic == self._settings.wait_for:
                self._has_commands = True
                self._driver.on_command(stamp_ns, message)
            else:
                self._table.on_message(topic, message)

    def complaint(self, topic: str, stamp_ns: int, now_ns: int) -> str:
        """Why a command cannot take part in the run; empty: it can."""
        is_from_outside = self._driver is not None and topic == self._settings.wait_for
        return self._driver.complaint(stamp_ns, now_ns) if is_from_outside and self._driver is not None else ""

    @property
    def has_commands(self) -> bool:
        """Whether the driver from outside, if one is waited for, has sent a command yet."""
        return self._driver is None or self._has_commands

    def on_published(self, counts: Mapping[str, int]) -> None:
        """Record how many messages the vehicle itself has published, by topic."""
        self._own = counts

    def is_finished(self, instant_ns: int) -> bool:
        """Whether time may go on. Nodes that others wait for have then finished, too."""
        with self._lock:
            if self._table.awaited(instant_ns, self._settings.outer):
                return False
            return not self._is_driver_awaited(instant_ns)

    def awaited(self, instant_ns: int) -> list[str]:
        """Names of those that have not finished an instant, by the reports that have been read."""
        with self._lock:
            names = self._table.awaited(instant_ns)
            if not names and self._is_driver_awaited(instant_ns):
                names.append(self._settings.wait_for)
            return names

    def starting(self) -> list[str]:
        """Nodes that need the present instant once more."""
        with self._lock:
            return self._table.starting()

    def is_over(self) -> bool:
        """Whether the driver of the suite has ended its drive."""
        with self._lock:
            return self._table.is_over()

    def commands(self, instant_ns: int) -> list[Arrival]:
        """Commands up to an instant that everybody has finished, each once."""
        with self._lock:
            found = self._table.take(instant_ns + 1)
            return found + (self._driver.take(instant_ns, self._asked()) if self._driver is not None else [])

    def restart(self, instant_ns: int) -> None:
        """The simulation was reset, once more: wait until everybody has followed; instant_ns: the first after it."""
        with self._lock:
            self._table.restart(self._table.resets + 1)
            if self._driver is not None:
                self._driver.restart(instant_ns)

    def _is_driver_awaited(self, instant_ns: int) -> bool:
        if self._driver is None or not (self._has_commands or self._settings.is_driver_needed):
            return False
        return self._driver.is_awaited(instant_ns, self._asked())

    def _asked(self) -> int:
        """Messages of the topic that the driver from outside answers."""
        topic = self._settings.per_message_of
        return self._own.get(topic, self._sent.get(topic, 0))
