"""The teleop node in a separate process, over real DDS."""

from __future__ import annotations

import itertools
import math
import signal
import statistics
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped
from sensor_msgs.msg import JointState, Joy

from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos

CENTRED = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]
FORWARD = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
HOLD, NOTHING = [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]


class Pad:
    """Replaces the joystick node: publishes /joy at 50 Hz."""

    def __init__(self, graph: Any) -> None:
        self._publisher = graph.node.create_publisher(Joy, "/joy", qos.RELIABLE)
        self._graph = graph
        self.message = Joy(axes=CENTRED, buttons=NOTHING)
        self._timer = graph.node.create_timer(0.02, lambda: self._publisher.publish(self.message))
        graph.wait_until(self._publisher.get_subscription_count, "teleop to listen to /joy")

    def hold(self, axes: list[float], buttons: list[int]) -> None:
        self.message = Joy(axes=axes, buttons=buttons)

    def fall_silent(self) -> None:
        self._timer.cancel()


def test_drives_while_held_and_stops_on_release(graph: Any) -> None:
    graph.start("teleop")
    commands = graph.collect(TwistStamped, "/cmd_vel")
    pad = Pad(graph)

    pad.hold(FORWARD, HOLD)
    graph.wait_until(lambda: commands and commands[-1].twist.linear.x == pytest.approx(3.0), "full speed")
    pad.hold(FORWARD, NOTHING)
    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "stop")

    speeds = [command.twist.linear.x for command in commands]
    assert all(after - before <= 3.0 * 0.1 + 1e-9 for before, after in itertools.pairwise(speeds))
    assert commands[-1].header.frame_id == "base_link"


@pytest.mark.parametrize("fault", ["silence", "nan", "out of range", "too short", "odd button"])
def test_stops_on_a_faulty_joy_and_says_so(graph: Any, fault: str) -> None:
    graph.start("teleop")
    commands = graph.collect(TwistStamped, "/cmd_vel")
    findings = graph.collect(DiagnosticArray, "/diagnostics")
    pad = Pad(graph)
    pad.hold(FORWARD, HOLD)
    graph.wait_until(lambda: commands and commands[-1].twist.linear.x > 1.0, "driving")

    if fault == "silence":
        pad.fall_silent()
    else:
        buttons = [0, 0, 0, 0, -1, 0] if fault == "odd button" else HOLD
        bad = {
            "odd button": FORWARD,
            "nan": [0.0, math.nan, *FORWARD[2:]],
            "out of range": [0.0, 50.0, *FORWARD[2:]],
            "too short": [1.0],
        }
        pad.hold(bad[fault], buttons)

    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "stop", seconds=2.0)
    words = {
        "odd button": "button 4 is -1",
        "silence": "silent",
        "nan": "axis 1 is nan",
        "out of range": "axis 1 is 50.0",
        "too short": "1 axes",
    }
    graph.wait_until(lambda: words[fault] in str(findings[-1:]), "a diagnostic that names the fault")


def test_command_rate_without_a_pad_is_the_configured_one(graph: Any) -> None:
    graph.start("teleop", "--ros-args", "-p", "publish_rate_hz:=50")
    commands = graph.collect(TwistStamped, "/cmd_vel")

    graph.wait_until(lambda: len(commands) > 60, "60 commands")

    stamps = [read_stamp(command.header.stamp) for command in commands[10:]]
    periods = [after - before for before, after in itertools.pairwise(stamps)]
    assert 0.8 / 50 < statistics.median(periods) * 1e-9 < 2 / 50  # not the default 1 / 20; a busy machine is late
    assert {command.twist.linear.x for command in commands} == {0.0}


def test_plain_twist_by_parameter(graph: Any) -> None:
    graph.start("teleop", "--ros-args", "-p", "stamped:=false")
    commands = graph.collect(Twist, "/cmd_vel")

    graph.wait_until(lambda: commands, "a Twist")


def test_pedals_by_parameter(graph: Any) -> None:
    graph.start("teleop", "--ros-args", "-p", "output:=pedals")
    pedals = graph.collect(JointState, "/vehicle/pedals")
    pad = Pad(graph)

    pad.hold([0.0, 0.0, 1.0, 1.0, 0.0, -1.0], HOLD)

    graph.wait_until(lambda: pedals and list(pedals[-1].position) == pytest.approx([1.0, 1.0, 0.0]), "full throttle")
    assert pedals[-1].name == ["steering", "throttle", "brake"]


def test_idle_teleop_leaves_the_topic_to_another_driver(graph: Any) -> None:
    graph.start("teleop")
    commands = graph.collect(TwistStamped, "/cmd_vel")
    graph.wait_until(lambda: commands, "idle stop commands")

    graph.node.create_publisher(TwistStamped, "/cmd_vel", qos.RELIABLE)

    def is_quiet() -> bool:
        before = len(commands)
        graph.spin_for(10 / 20)  # ten periods of the idle rate
        return len(commands) == before

    graph.wait_until(is_quiet, "silence of teleop")


def test_namespace_and_remapping_are_obeyed(graph: Any) -> None:
    graph.start("teleop", "--ros-args", "-r", "__ns:=/truck", "-r", "cmd_vel:=drive")
    commands = graph.collect(TwistStamped, "/truck/drive")

    graph.wait_until(lambda: commands, "a command on /truck/drive")


def test_reliability_can_be_overridden_per_topic(graph: Any, tmp_path: Path) -> None:
    overrides = tmp_path / "qos.yaml"
    overrides.write_text(
        "/**:\n  ros__parameters:\n    qos_overrides:\n      /cmd_vel:\n        publisher:\n"
        "          reliability: best_effort\n"
    )
    graph.start("teleop", "--ros-args", "--params-file", str(overrides))

    def offered() -> list[str]:
        return [info.qos_profile.reliability.name for info in graph.node.get_publishers_info_by_topic("/cmd_vel")]

    graph.wait_until(lambda: offered() == ["BEST_EFFORT"], "a best-effort publisher")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_last_command_of_a_driver_is_a_stop(graph: Any, number: int) -> None:
    process = graph.start("teleop")
    commands = graph.collect(TwistStamped, "/cmd_vel")
    pad = Pad(graph)
    pad.hold(FORWARD, HOLD)
    graph.wait_until(lambda: commands and commands[-1].twist.linear.x > 1.0, "driving")

    process.popen.send_signal(number)

    graph.wait_until(lambda: not process.is_running(), "the node to end")
    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "a stop as the last command")


def test_silence_stops_whatever_the_publish_rate(graph: Any) -> None:
    graph.start("teleop", "--ros-args", "-p", "publish_rate_hz:=1")
    commands = graph.collect(TwistStamped, "/cmd_vel")
    pad = Pad(graph)
    pad.hold(FORWARD, HOLD)
    graph.wait_until(lambda: commands and commands[-1].twist.linear.x > 1.0, "driving")

    pad.fall_silent()
    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "stop")

    # Without the watchdog the stop would wait for a tick of the 1 Hz timer, and for a second one after a fresh command.
    last_driving = max(read_stamp(item.header.stamp) for item in commands if item.twist.linear.x > 0.0)
    stop = next(read_stamp(item.header.stamp) for item in commands if read_stamp(item.header.stamp) > last_driving)
    assert stop - last_driving < 800_000_000


def test_listener_of_the_other_twist_type_is_named(graph: Any) -> None:
    graph.start("teleop")
    findings = graph.collect(DiagnosticArray, "/diagnostics")
    graph.collect(Twist, "/cmd_vel")

    graph.wait_until(lambda: "tester cannot receive cmd_vel" in str(findings[-1:]), "a warning about the type")


def test_second_node_of_the_same_name_is_reported(graph: Any) -> None:
    for _ in range(2):
        graph.start("teleop")
    findings = graph.collect(DiagnosticArray, "/diagnostics")

    graph.wait_until(lambda: "a second node of this name" in str(findings[-1:]), "the finding")
    graph.wait_until(lambda: "cmd_vel is left to others" in str(findings[-1:]), "a report of the publishers")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_clean_on_a_signal_and_on_two(graph: Any, number: int) -> None:
    for repeats in (1, 2):
        process = graph.start("teleop")
        commands = graph.collect(TwistStamped, "/cmd_vel")
        graph.wait_until(lambda commands=commands: commands, "teleop to run")

        for _ in range(repeats):
            process.popen.send_signal(number)

        assert process.wait() == 0
        assert "Traceback" not in process.output
