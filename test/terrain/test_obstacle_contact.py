"""The HMMWV against posts and walls: stopped, reported, and not thrown about."""

from __future__ import annotations

import numpy as np
import pytest

from terrain.elevation_map import ElevationMap
from terrain.obstacle_contact import Obstacles
from terrain.world_ground import WorldGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals

PAD = ElevationMap(heights=np.zeros((3, 3), np.float32), resolution=100.0, origin_x=-100.0, origin_y=-100.0)
POST = (10.0, 0.0, 0.0, 0.2, 3.0)  # x, y, base, radius, height
COASTING = Pedals(selected=NEUTRAL)


@pytest.fixture(scope="module")
def car(vehicle_parameters: VehicleParameters) -> Hmmwv:
    return Hmmwv(vehicle_parameters)


def with_obstacles(
    *, boxes: list[tuple[float, ...]] | None = None, cylinders: list[tuple[float, ...]] | None = None
) -> WorldGround:
    made = Obstacles(np.array(boxes or []).reshape(-1, 8), np.array(cylinders or []).reshape(-1, 5))
    return WorldGround(PAD, made)


def driven(
    car: Hmmwv, ground: WorldGround, speed: float, seconds: float, **position: float
) -> tuple[list[float], np.ndarray]:
    state = car.start(ground, speed=speed, **position)
    pushes = []
    for _ in range(round(100 * seconds)):
        assert car.advance(state, COASTING, ground, 10) == 10
        pushes.append(float(car.snapshot(state, COASTING, ground)["collision"]))
    return pushes, state


@pytest.mark.parametrize("speed", [2.0, 10.0, 20.0])
def test_post_stops_the_vehicle(car: Hmmwv, speed: float) -> None:
    pushes, state = driven(car, with_obstacles(cylinders=[POST]), speed, 12.0)

    assert max(pushes) > 1e4  # reported
    assert pushes[0] == 0.0
    nose = state[0] + 2.25
    assert nose < 10.0 - 0.2 + 0.6  # not through it
    assert state[15] < 0.5  # stopped, or rolling back a little
    assert np.abs(state[2] - 0.587) < 0.05  # on its wheels


def test_passing_close_by_is_not_a_collision(car: Hmmwv) -> None:
    beside = (20.0, 1.07 + 0.2 + 0.02, 0.0, 0.2, 3.0)  # half the width over the tyres, the post's radius, 2 cm

    pushes, state = driven(car, with_obstacles(cylinders=[beside]), 10.0, 4.0)

    assert max(pushes) == 0.0
    assert state[0] > 30.0


@pytest.mark.parametrize("yaw", [0.0, 0.5])
def test_wall_stops_the_vehicle_and_one_below_the_body_does_not(car: Hmmwv, yaw: float) -> None:
    wall = (22.0, 0.0, 0.0, 2.0, 20.0, 3.0, np.cos(yaw), np.sin(yaw))
    low = (22.0, 0.0, 0.0, 2.0, 20.0, 0.2, 1.0, 0.0)  # under the body

    pushes, state = driven(car, with_obstacles(boxes=[wall]), 8.0, 8.0)
    over, _ = driven(car, with_obstacles(boxes=[low]), 8.0, 4.0)

    assert max(pushes) > 1e4
    assert state[0] + 2.25 < 23.0
    assert max(over) == 0.0


def test_crash_never_adds_energy(car: Hmmwv) -> None:
    ground = with_obstacles(cylinders=[POST])
    state = car.start(ground, speed=8.0)
    speeds = []
    for _ in range(600):
        car.advance(state, COASTING, ground, 10)
        speeds.append(float(np.linalg.norm(state[15:18])))

    assert max(speeds) <= 8.0 + 1e-6
    assert max(speeds[-200:]) < 0.5 * 8.0
