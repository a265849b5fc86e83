"""Two LIDARs on one vehicle over ROS: separate nodes, frames and topics."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from sensor_msgs.msg import PointCloud2

from proving_ground.ros_support import qos

SCENARIO = """version: 1
description: two LIDARs
world: {named: {name: kerb}}
start: {at_world: true}
driver: {straight: {speed_mps: 2.0}}
duration_s: 60.0
sensors:
  - lidar: {columns: 90, elevations_deg: [-20.0, -10.0]}
  - {name: rear, lidar: {columns: 90, elevations_deg: [-20.0, -10.0], mount: {xyz_m: [-0.5, 0.0, 2.0]}}}
"""


def test_two_lidars_have_topics_and_frames_of_their_own(graph: Any, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(SCENARIO)
    clouds = {name: graph.collect(PointCloud2, f"/{name}/points", qos.SENSOR) for name in ("lidar", "rear")}
    command = [sys.executable, "-m", "proving_ground", "launch", "./two.yaml", "record:=false"]
    graph.start_command(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    graph.wait_until(lambda: all(clouds.values()), "clouds of both", 180.0)

    assert {name: found[0].header.frame_id for name, found in clouds.items()} == {
        "lidar": "lidar_link", "rear": "rear_link",
    }  # fmt: skip
