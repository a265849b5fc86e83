"""Spawned obstacles on their way to other nodes, and in the ground of a vehicle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from proving_ground.interfaces import topics
from proving_ground.interfaces.map_codec import fill_shapes
from proving_ground.recording.types import empty
from terrain.ground import FlatGround
from terrain.map_messages import obstacle_shapes
from terrain.obstacles import Box, Cylinder, Obstacles
from terrain.spawned import ReplaceableGround, obstacles_of, read_obstacles, upright_yaw
from terrain.world_ground import WorldGround
from terrain.worlds import load_world

SPAWNED = obstacles_of(
    [
        Box(x=3.0, y=-4.0, base=0.5, length=2.0, width=1.0, height=1.5, yaw=-2.5),
        Cylinder(x=1.0, y=7.0, base=-0.25, radius=0.3, height=1.75),
    ]
)


def quaternion(x: float, y: float, z: float, w: float) -> Any:
    found = empty(topics.GOAL_POSE.type).pose.orientation
    found.x, found.y, found.z, found.w = x, y, z, w
    return found


def message_of(obstacles: Obstacles) -> Any:
    message, header = empty(topics.SPAWNED.type), empty(topics.GOAL_POSE.type).header
    fill_shapes(message, header, obstacle_shapes(obstacles), empty)
    return message


def test_obstacles_arrive_as_they_were_sent() -> None:
    received = read_obstacles(message_of(SPAWNED))

    for sent, found in zip(SPAWNED.to_arrays(), received.to_arrays(), strict=True):
        np.testing.assert_allclose(found, sent, atol=1e-12)


def test_obstacles_that_are_not_finite_or_not_upright_are_rejected() -> None:
    message = message_of(SPAWNED)
    message.markers[1].scale.x = math.nan
    with pytest.raises(ValueError, match="not finite"):
        read_obstacles(message)

    message = message_of(SPAWNED)
    message.markers[1].pose.orientation = quaternion(math.sin(0.2), 0.0, 0.0, math.cos(0.2))
    with pytest.raises(ValueError, match="upright"):
        read_obstacles(message)


@pytest.mark.parametrize("yaw", [-3.0, -0.5, 0.0, 1.5, math.pi])
def test_yaw_is_read_from_an_upright_attitude(yaw: float) -> None:
    found = upright_yaw(quaternion(0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)))

    assert math.isclose(math.cos(found - yaw), 1.0)


def test_obstacles_come_and_go_on_any_ground_and_ruts_stay() -> None:
    town = load_world("urban")
    ground = ReplaceableGround(FlatGround(friction=0.5))
    ground.set_spawned(SPAWNED)
    assert [len(rows) for rows in ground.kernel().obstacles] == [1, 1]
    assert ground.kernel().soils is ground.ground.kernel().soils

    ground.replace(WorldGround.of(town))
    own = town.obstacles.to_arrays()
    assert [len(rows) for rows in ground.kernel().obstacles] == [len(rows) + 1 for rows in own]
    assert ground.kernel().ruts is ground.ground.kernel().ruts

    ground.set_spawned(Obstacles())
    np.testing.assert_array_equal(ground.kernel().obstacles.boxes, own.boxes)
