"""Data from /diagnostics of a bag: changes in the health of nodes, and the observer's NIS."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from proving_ground.interfaces import topics
from proving_ground.report.run_record import Event, Innovations
from state_observer.vehicle.layout import SENSORS

DIAGNOSTICS = topics.DIAGNOSTICS.absolute
MOST_EVENTS = 2000
LONGEST_WORDS = 300
LEVELS = ("", "warning: ", "error: ", "stale: ")
OBSERVER, PLANNER = "observer", "planner"


class Diagnostics:
    """Collects the diagnostics of a bag, in order of arrival."""

    def __init__(self) -> None:
        self.nodes: set[str] = set()  # that reported
        self._said: dict[str, str] = {}
        self._changes: list[tuple[int, str, str]] = []  # log time, kind, words
        self._nis: dict[str, list[tuple[int, float]]] = {name: [] for name in SENSORS}

    def add(self, log_ns: int, message: Any) -> None:
        """Add a diagnostic_msgs/DiagnosticArray."""
        for status in message.status:
            name = str(status.name)[:LONGEST_WORDS]
            node = name.rsplit("/", 1)[-1]
            self.nodes.add(node)
            values = {str(item.key): str(item.value) for item in status.values}
            if node == OBSERVER:
                self._record_nis(log_ns, values)
            words = values.get("status", str(status.message)) if node == OBSERVER else str(status.message)
            level = LEVELS[min(_level(status.level), len(LEVELS) - 1)]
            is_state = node in (OBSERVER, PLANNER)
            said = (words if is_state else f"{name}: {level}{words}")[:LONGEST_WORDS]
            if self._said.get(name) != said and len(self._changes) < MOST_EVENTS:
                self._said[name] = said
                self._changes.append((log_ns, node if is_state else "diagnostics", said))

    def _record_nis(self, log_ns: int, values: dict[str, str]) -> None:
        for name, rows in self._nis.items():
            try:
                value = float(values[f"nis {name}"])
            except (KeyError, ValueError):
                continue
            if math.isfinite(value):
                rows.append((log_ns, value))

    def collected(self, when: Callable[[int], float]) -> tuple[tuple[Event, ...], dict[str, Innovations]]:
        """Events and NIS; when: seconds of the run at a log time."""
        events = tuple(Event(when(log_ns), kind, words) for log_ns, kind, words in self._changes)
        innovations = {
            name: Innovations(np.array([when(row[0]) for row in rows]), np.array([row[1] for row in rows]))
            for name, rows in self._nis.items()
            if rows
        }
        return events, innovations


def _level(value: Any) -> int:
    """Level as a number; a byte in rclpy, an integer in the bag's library."""
    return int(value[0] if isinstance(value, bytes | bytearray) else value)
