"""The observer and the planner on the replayed recording of a drive, over real DDS."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from nav_msgs.msg import Path as PathMessage

from proving_ground.cli.main import main
from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.fields import read_stamp
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import from_bytes
from proving_ground.ros_support import qos
from record_commands import command

START_WAIT_S = 150.0  # includes compilation with a cold cache
SENSORS = ["/imu/data_raw", "/gps/fix", "/gps/vel", "/wheels/joint_states", "/vehicle/actuation"]


def drive(graph: Any, folder: Path, metres: float) -> dict[int, Any]:
    """Record a live drive of the vehicle with sensors; returns true positions by time [ns]."""
    arguments = ["world:=urban", "lidar:=none", "gps:=low_cost", "encoders:=quadrature"]
    launch = graph.start_command([sys.executable, "-m", "proving_ground", "launch", "sensors", *arguments])
    truth = graph.collect(Odometry, "/ground_truth/odom")
    recorder = graph.start_command(command("record", "--use-sim-time", "--out", str(folder)))
    commands = graph.node.create_publisher(Twist, "/cmd_vel", qos.RELIABLE)
    for topic in [*SENSORS, "/ground_truth/odom"]:
        graph.wait_until(
            lambda topic=topic: (
                "recorder" in {item.node_name for item in graph.node.get_subscriptions_info_by_topic(topic)}
            ),
            f"the recorder on {topic}",
            START_WAIT_S,
        )
    order = Twist()
    order.linear.x = 4.0
    timer = graph.node.create_timer(0.05, lambda: commands.publish(order))
    graph.wait_until(lambda: truth and truth[-1].pose.pose.position.x > 10.0 + metres, "the drive", 60.0)
    timer.cancel()
    recorder.popen.send_signal(signal.SIGINT)
    assert recorder.wait() == 0
    launch.popen.send_signal(signal.SIGINT)
    assert launch.wait() == 0
    assert "dropped" not in recorder.output
    bag = open_bag(folder)
    assert bag.remarks == []
    odometry = [from_bytes(data, types.ODOMETRY) for _, _, data in bag.messages({"/ground_truth/odom"})]
    return {read_stamp(message.header.stamp): message.pose.pose.position for message in odometry}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {"folder": tmp_path_factory.mktemp("recorded") / "drive"}


def test_observer_follows_a_recording_of_the_sensors_alone(graph: Any, recorded: dict[str, Any]) -> None:
    recorded["truth"] = drive(graph, recorded["folder"], 15.0)
    estimates = graph.collect(Odometry, "/odometry/filtered")
    observer = graph.start(
        "observer", "--ros-args", "-p", "world:=urban", "-p", "knows_start:=true", "-p", "use_sim_time:=true",
        "-p", "encoders.wheel_pulses:=400", "-p", "encoders.knows_direction:=true",
    )  # fmt: skip
    graph.wait_until(lambda: graph.node.count_publishers("/odometry/filtered"), "the observer", START_WAIT_S)
    replayer = graph.start_command(command("replay", str(recorded["folder"]), "--topics", *SENSORS))
    graph.wait_until(lambda: not replayer.is_running(), "the end of the replay", 60.0)
    assert replayer.wait() == 0
    assert observer.is_running()

    true = recorded["truth"]
    pairs = [(m.pose.pose.position, true[t]) for m in estimates if (t := read_stamp(m.header.stamp)) in true]
    assert len(pairs) > 100
    off = np.array([(a.x - b.x, a.y - b.y) for a, b in pairs])
    replayed = float(np.sqrt((off**2).sum(axis=1).mean()))
    assert replayed < 1.0  # the GPS alone: 1.8 m
    assert pairs[-1][0].x > 20.0  # it drove

    # The same recording offline: the same filter, which here must find its heading by itself.
    seen = Path(f"{recorded['folder']}_seen")
    assert main(["observe", str(recorded["folder"]), "--observer", "vehicle", "--out", str(seen), "--no-pictures"]) == 0
    offline = json.loads((seen / "metrics.json").read_text())["rmse"]["position_xy_m"]
    print(f"position from the replay {replayed:.2f} m, offline {offline:.2f} m (RMSE)")
    assert offline < 2.0


def test_planner_plans_from_a_recording(graph: Any, recorded: dict[str, Any]) -> None:
    if "truth" not in recorded:
        recorded["truth"] = drive(graph, recorded["folder"], 15.0)
    plans, commands = graph.collect(PathMessage, "/plan"), graph.collect(TwistStamped, "/planned")
    graph.start(
        "planner", "--ros-args", "-p", "world:=urban", "-p", "goal.source:=world", "-p", "use_sim_time:=true",
        "-r", "cmd_vel:=planned",
    )  # fmt: skip
    graph.wait_until(
        lambda: (
            "planner" in {item.node_name for item in graph.node.get_subscriptions_info_by_topic("/ground_truth/odom")}
        ),
        "the planner",
        START_WAIT_S,
    )
    replayer = graph.start_command(
        command("replay", str(recorded["folder"]), "--loop", "--exclude", "^/cmd_vel$|^/diagnostics$")
    )
    graph.wait_until(
        lambda: len(plans) >= 3 and any(order.twist.linear.x > 0.3 for order in commands), "plans and orders", 60.0
    )
    replayer.popen.send_signal(signal.SIGINT)
    assert replayer.wait() == 0

    stamps = [read_stamp(plan.header.stamp) for plan in plans]
    true = recorded["truth"]
    assert all(min(true) <= stamp <= max(true) for stamp in stamps)  # the time of the recording, not of the machine
