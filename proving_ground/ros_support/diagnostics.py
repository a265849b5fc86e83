"""Publishes a node's Health on /diagnostics."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Header

from proving_ground.ros_support.health import Health, Level

HARDWARE_ID = "proving_ground"  # marks the statuses of this suite


def health_to_msg(health: Health, node_name: str, stamp: Time) -> DiagnosticArray:
    """One status for the node: the worst finding as message, every check and counter as a key and value."""
    values = [
        KeyValue(key=name, value=f"{check.level.name}: {check.message}") for name, check in list(health.checks.items())
    ]
    values += [KeyValue(key=name, value=str(count)) for name, count in health.counters.items()]
    status = DiagnosticStatus(
        level=bytes([health.worst()]),
        name=node_name,
        message=health.summary(),
        hardware_id=HARDWARE_ID,
        values=values,
    )
    return DiagnosticArray(header=Header(stamp=stamp), status=[status])


def level_from_msg(status: DiagnosticStatus) -> Level:
    """Level of a received status (a single byte in the message)."""
    return Level(min(status.level[0], Level.STALE))
