"""A recorded /joy stream drives the teleop node: what the joystick node published for a ride on a virtual Xbox pad.

recordings/joy_xbox.jsonl holds one [seconds, axes, buttons] per message, taken on a Debian 12 kernel with uinput: hold
button, full forward, left, right, turbo, rest, reverse, release. To record again, subscribe to /joy while driving.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import TwistStamped
from sensor_msgs.msg import Joy

from planner.teleop import Teleop, TeleopSettings
from proving_ground.ros_support import qos

RECORDING = [
    json.loads(line)
    for line in Path(__file__).with_name("recordings").joinpath("joy_xbox.jsonl").read_text().splitlines()
]


def test_recorded_ride_gives_the_expected_commands() -> None:
    teleop = Teleop(TeleopSettings(max_curvature_1pm=0.13))
    ride = []
    for seconds, axes, buttons in RECORDING:
        assert teleop.receive(seconds, axes, buttons) == ""
        ride.append(teleop.command(seconds))

    speeds = [command.speed for command in ride]
    yaw_rates = [command.yaw_rate for command in ride]
    # Turbo is held for one second of rise at 3 m/s^2 from 3 m/s; reverse for 0.6 s after a ramp of 0.3 s.
    assert max(speeds) == pytest.approx(6.0, abs=0.3)
    assert -3.0 <= min(speeds) < -1.5
    assert max(yaw_rates) > 0.1
    assert min(yaw_rates) < -0.1
    assert ride[0].is_stop
    assert ride[-1].stop_reason == "hold button released"


def test_recorded_ride_replayed_over_dds(graph: Any) -> None:
    graph.start("teleop")
    commands = graph.collect(TwistStamped, "/cmd_vel")
    publisher = graph.node.create_publisher(Joy, "/joy", qos.RELIABLE)
    graph.wait_until(publisher.get_subscription_count, "teleop to listen")
    messages = iter([Joy(axes=axes, buttons=buttons) for _, axes, buttons in RECORDING])
    is_over: list[bool] = []

    def play() -> None:
        message = next(messages, None)
        if message is None:
            is_over.append(True)
        else:
            publisher.publish(message)

    graph.node.create_timer(0.01, play)
    graph.wait_until(lambda: is_over and commands[-1].twist.linear.x == 0.0, "the end of the ride")

    speeds = [command.twist.linear.x for command in commands]
    assert max(speeds) > 2.0
    assert min(speeds) < -0.5
