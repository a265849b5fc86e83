"""The RViz configuration: plugins of rviz2, our topics, our frames."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from proving_ground.settings.share import share_file


@pytest.fixture(scope="module")
def manager() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(share_file("config/rviz/vehicle.rviz").read_text())
    found: dict[str, Any] = content["Visualization Manager"]
    return found


def by_class(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["Class"].removeprefix("rviz_default_plugins/"): item for item in items}


def test_displays_show_vehicle_frames_path_and_ground(manager: dict[str, Any]) -> None:
    displays = by_class(manager["Displays"])

    assert set(displays) == {"Grid", "RobotModel", "TF", "Odometry"}
    assert displays["RobotModel"]["Description Topic"]["Value"] == "/robot_description"
    assert displays["Odometry"]["Topic"]["Value"] == "/ground_truth/odom"
    assert all(display["Enabled"] and display["Value"] for display in displays.values())


def test_description_published_before_rviz_started_is_received(manager: dict[str, Any]) -> None:
    topic = by_class(manager["Displays"])["RobotModel"]["Description Topic"]

    assert (topic["Durability Policy"], topic["Reliability Policy"]) == ("Transient Local", "Reliable")


def test_tools_send_goal_and_initial_pose(manager: dict[str, Any]) -> None:
    tools = by_class(manager["Tools"])

    assert tools["SetGoal"]["Topic"]["Value"] == "/goal_pose"
    assert tools["SetInitialPose"]["Topic"]["Value"] == "/initialpose"


def test_view_follows_the_vehicle_in_the_map(manager: dict[str, Any]) -> None:
    assert manager["Global Options"]["Fixed Frame"] == "map"
    assert manager["Views"]["Current"]["Target Frame"] == "base_link"
    assert manager["Views"]["Current"]["Class"] == "rviz_default_plugins/Orbit"
