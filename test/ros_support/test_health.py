"""Health: the worst finding is the status of the node."""

from __future__ import annotations

from builtin_interfaces.msg import Time

from proving_ground.ros_support.diagnostics import health_to_msg, level_from_msg
from proving_ground.ros_support.health import Health, Level, LogLimit


def test_change_of_a_finding_is_reported_once() -> None:
    health = Health()

    assert health.report("lidar", Level.OK, "10 Hz")
    assert not health.report("lidar", Level.OK, "10 Hz")
    assert health.report("lidar", Level.WARN, "silent")


def test_worst_findings_make_the_summary() -> None:
    health = Health()
    assert (health.worst(), health.summary()) == (Level.OK, "running")
    health.report("drive", Level.OK, "driving")
    health.report("gps", Level.WARN, "no fix")
    health.report("imu", Level.WARN, "clipping")

    assert (health.worst(), health.summary()) == (Level.WARN, "no fix; clipping")


def test_message_carries_level_checks_and_counters() -> None:
    health = Health()
    health.report("gps", Level.ERROR, "frozen")
    health.count("rejected fixes")
    health.count("rejected fixes")

    (status,) = health_to_msg(health, "/gps", Time(sec=7)).status

    assert (level_from_msg(status), status.name, status.message) == (Level.ERROR, "/gps", "frozen")
    assert {item.key: item.value for item in status.values} == {"gps": "ERROR: frozen", "rejected fixes": "2"}


def test_flood_of_log_lines_becomes_one_a_second() -> None:
    limit = LogLimit()

    allowed = [limit.allows("joy", 0.001 * tick) for tick in range(10_000)]  # 10 s

    assert LogLimit.BURST + 8 <= sum(allowed) <= LogLimit.BURST + 10
    assert limit.allows("another matter", 0.0)
