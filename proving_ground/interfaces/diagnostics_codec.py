"""Health of a node as diagnostic_msgs/DiagnosticArray, with rclpy's and rosbags' classes alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from proving_ground.interfaces.fields import Maker, is_of_bag, set_stamp

HARDWARE_ID: Final = "proving_ground"  # marks the statuses of this suite
STATUS, VALUE = "diagnostic_msgs/msg/DiagnosticStatus", "diagnostic_msgs/msg/KeyValue"


def fill_health(message: Any, health: Any, node_name: str, time_ns: int, make: Maker) -> None:
    """One status for the node: the worst finding as message, every check and counter as a key and value.

    health: findings and counters of ros_support.health.Health; node_name: with its namespace.
    """
    set_stamp(message.header.stamp, time_ns)
    status = make(STATUS)
    worst = int(health.worst())
    status.level = worst if is_of_bag(status) else bytes([worst])
    status.name, status.message, status.hardware_id = node_name, health.summary(), HARDWARE_ID
    message.status = [status]
    found = {name: f"{check.level.name}: {check.message}" for name, check in list(health.checks.items())}
    status.values = [_value(make, name, words) for name, words in found.items()]
    status.values += [_value(make, name, str(count)) for name, count in health.counters.items()]


def add_figures(message: Any, figures: Mapping[str, str], make: Maker) -> None:
    """Add keys and values to the status."""
    message.status[0].values += [_value(make, key, value) for key, value in figures.items()]


def _value(make: Maker, key: str, value: str) -> Any:
    item = make(VALUE)
    item.key, item.value = key, value
    return item
