"""The observer and the planner on the replayed recording of a drive, over real DDS."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from nav_msgs.msg import Path as PathMessage

from proving_ground.cli.main import main
from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.fields import read_stamp
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import from_bytes
from record_commands import command, resume_when_subscribed

START_WAIT_S = 150.0  # includes compilation with a cold cache
SENSORS = ["/imu/data_raw", "/gps/fix", "/gps/vel", "/wheels/joint_states", "/vehicle/actuation"]
DRIVE = """\
version: 1
description: Some metres along a road of the town, for replays
world:
  named: {name: urban}
start: {x_m: 10.0, y_m: -2.0}
driver:
  to_goal: {goal: {x_m: 30.0, y_m: -2.0}}
duration_s: 10.0
seed: 1
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
criteria:
  - {channel: x_m, statistic: end, at_least: 25.0}
"""


def drive(folder: Path) -> dict[int, Any]:
    """Record a drive in lock-step, the same in each run of the test; returns true positions by time [ns]."""
    scenario = folder.parent / "drive.yaml"
    scenario.write_text(DRIVE)
    results = str(folder.parent / "results")
    assert main(["run", str(scenario), "--out", results, "--no-pictures", "--bag", str(folder)]) == 0
    odometry = [from_bytes(data, types.ODOMETRY) for _, _, data in open_bag(folder).messages({"/ground_truth/odom"})]
    return {read_stamp(message.header.stamp): message.pose.pose.position for message in odometry}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("recorded") / "drive"
    return {"folder": folder, "truth": drive(folder)}


def test_observer_follows_a_recording_of_the_sensors_alone(graph: Any, recorded: dict[str, Any]) -> None:
    estimates = graph.collect(Odometry, "/odometry/filtered")
    observer = graph.start(
        "observer", "--ros-args", "-p", "world:=urban", "-p", "knows_start:=true", "-p", "use_sim_time:=true",
        "-p", "encoders.wheel_pulses:=400", "-p", "encoders.knows_direction:=true",
    )  # fmt: skip
    graph.wait_until(lambda: graph.node.count_publishers("/odometry/filtered"), "the observer", START_WAIT_S)
    replayer = graph.start_command(command("replay", str(recorded["folder"]), "--pause", "--topics", *SENSORS))
    resume_when_subscribed(graph, len(SENSORS))
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
