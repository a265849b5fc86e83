"""Publishes a node's Health on /diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from proving_ground.interfaces.diagnostics_codec import add_figures, fill_health
from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support.health import Health, Level
from proving_ground.ros_support.messages import new_message


def health_to_msg(
    health: Health, node_name: str, stamp: Time, figures: Mapping[str, str] | None = None
) -> DiagnosticArray:
    """One status for the node; figures: keys and values beside its findings."""
    message = DiagnosticArray()
    fill_health(message, health, node_name, read_stamp(stamp), new_message)
    add_figures(message, figures or {}, new_message)
    return message


def level_from_msg(status: DiagnosticStatus) -> Level:
    """Level of a received status (a single byte in the message)."""
    return Level(min(status.level[0], Level.STALE))
