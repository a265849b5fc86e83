"""Validation of odometry: frames and plausible values."""

from __future__ import annotations

import math

import pytest
from nav_msgs.msg import Odometry

from proving_ground.interfaces.motion_codec import read_odometry

FRAMES = ("map", "base_link")


def odometry(frame: str = "map", child: str = "base_link") -> Odometry:
    message = Odometry(child_frame_id=child)
    message.header.frame_id = frame
    message.pose.pose.position.x = 3.0
    message.pose.pose.orientation.w = 1.0
    return message


def test_odometry_in_the_right_frames_is_accepted() -> None:
    _, position, *_ = read_odometry(odometry(), FRAMES)

    assert position == (3.0, 0.0, 0.0)


@pytest.mark.parametrize(("frame", "child"), [("odom", "base_link"), ("map", "lidar_link"), ("", ""), ("/map", "x")])
def test_odometry_in_other_frames_is_rejected_by_name(frame: str, child: str) -> None:
    with pytest.raises(ValueError, match="must be of 'base_link' in 'map'"):
        read_odometry(odometry(frame, child), FRAMES)


def test_without_expected_frames_any_are_accepted() -> None:
    assert read_odometry(odometry("", ""))


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e9])
def test_invalid_position_is_rejected(bad: float) -> None:
    message = odometry()
    message.pose.pose.position.y = bad

    with pytest.raises(ValueError, match=r"finite|within"):
        read_odometry(message, FRAMES)
