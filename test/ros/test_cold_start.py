"""Once the nodes are ready, no kernel is used for the first time: none is compiled, and none is loaded from disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry

from proving_ground.interfaces.diagnostics_codec import HARDWARE_ID
from proving_ground.ros_support.node import LATE

pytestmark = pytest.mark.slow

SCENARIO = """
version: 1
description: a drive by LIDAR with the observer's pose, in the town
world: {named: {name: urban}}
start: {x_m: 10.0, y_m: -2.0}
driver: {to_goal: {sensing: lidar, pose: observer}}
duration_s: 200.0
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
  - lidar: {preset: spinning_16}
observer: {kind: vehicle}
"""
NODES = {"vehicle", "terrain", "imu", "gps", "encoders", "lidar", "observer", "planner", "recorder", "referee"}
LONGEST_S = 600.0  # on a busy machine


def test_no_kernel_is_new_after_the_nodes_are_ready(graph: Any, tmp_path: Path) -> None:
    (tmp_path / "cold.yaml").write_text(SCENARIO)
    reports = graph.collect(DiagnosticArray, "/diagnostics")
    odometry = graph.collect(Odometry, "/ground_truth/odom")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "proving_ground", "launch", "./cold.yaml", "out:=run"]
    launch = graph.start_command(command, cwd=tmp_path, env=environment)

    graph.wait_until(lambda: odometry and odometry[-1].pose.pose.position.x > 15.0, "the vehicle drives", LONGEST_S)

    late = {}
    for report in reports:
        for status in report.status:
            if status.hardware_id == HARDWARE_ID:
                late[status.name.strip("/")] = {item.key: item.value for item in status.values}[LATE]
    assert late == dict.fromkeys(NODES, "0"), launch.output
