"""The planner in a run: silence, late odometry, clouds ahead of their poses, motions that are not finite."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.drive_to_goal import Reason, Status
from planner.navigator import STOP, Navigator
from planner.node_settings import PlannerNodeSettings, SeenLidar
from proving_ground.settings.share import share_file
from sensors.mounting import Mount
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.hmmwv import Hmmwv

NONE = (0.0, 0.0, 0.0)
LEVEL = (0.0, 0.0, 0.0, 1.0)
PERIOD_NS = 10_000_000
GOAL = (60.0, -2.0)
POINT = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4"), ("ring", "u2"), ("time", "f4")])


@pytest.fixture(scope="module")
def hmmwv() -> Hmmwv:
    return Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


def navigator(hmmwv: Hmmwv, problems: list[str] | None = None, **settings: object) -> Navigator:
    made = PlannerNodeSettings(world="flat", **settings)  # type: ignore[arg-type]
    found = Navigator(
        made, hmmwv, hmmwv.parameters, load_world("flat"), (problems if problems is not None else []).append
    )
    assert found.drive_to([GOAL]) is Reason.NONE
    return found


def motion(x: float = 0.0, speed: float = 0.0) -> BaseMotion:
    return BaseMotion((x, 0.0, 0.0), LEVEL, (speed, 0.0, 0.0), NONE, NONE, NONE)


def run(driver: Navigator, first: int, last: int) -> None:
    for tick in range(first, last):
        driver.move(tick * PERIOD_NS, motion(0.01 * tick, 1.0))


@pytest.mark.parametrize("source", ["truth", "observer"])
def test_vehicle_stops_in_silence_and_drives_on_to_its_goal_when_odometry_is_back_even_late(
    hmmwv: Hmmwv, source: str
) -> None:
    driver = navigator(hmmwv, pose_source=source)
    run(driver, 0, 200)
    assert driver.progress.status is Status.DRIVING

    assert driver.wait(0.1) is None
    assert driver.wait(1.0) == STOP
    assert driver.progress.reason is Reason.OLD_POSE

    run(driver, 201, 240)  # late by the clock of that time
    assert driver.goals == [GOAL]
    assert driver.progress.status is Status.DRIVING


def test_command_after_silence_begins_at_a_standstill(hmmwv: Hmmwv) -> None:
    driver = navigator(hmmwv)
    run(driver, 0, 300)
    driver.wait(2.0)

    command = driver.move(500 * PERIOD_NS, motion(3.0))

    assert command is not None
    assert 0.0 <= command.speed < 0.2  # one planning period at 1 m/s^2


@pytest.mark.parametrize("source", ["truth", "observer"])
def test_motion_that_is_not_finite_stops_the_vehicle_once(hmmwv: Hmmwv, source: str) -> None:
    driver = navigator(hmmwv, pose_source=source)
    run(driver, 0, 100)

    command = driver.move(100 * PERIOD_NS, motion(1.0, math.nan))
    assert command == STOP
    assert driver.progress.reason is Reason.BAD_POSE

    run(driver, 101, 120)
    assert driver.progress.status is Status.DRIVING


@pytest.mark.parametrize("lag_ticks", [0, 5, 20, 40])
def test_clouds_wait_for_odometry_that_lags_by_more_than_a_sweep(hmmwv: Hmmwv, lag_ticks: int) -> None:
    used: list[str] = []
    lidar = SeenLidar(mount=Mount(xyz_m=(2.0, 0.0, 2.0)))
    driver = navigator(hmmwv, used, sensing="lidar", lidar=lidar, least_points=1)
    angle = np.linspace(0.0, 2.0 * math.pi, 400)
    points = np.zeros(400, POINT)
    points["x"], points["y"], points["z"] = 10.0 * np.cos(angle), 10.0 * np.sin(angle), -2.0
    points["time"] = np.linspace(0.0, 0.1, 400)

    for tick in range(300):
        if tick % 10 == 0 and tick > lag_ticks:
            driver.add_cloud((tick - 10) * PERIOD_NS, points)
        if tick >= lag_ticks:
            driver.move((tick - lag_ticks) * PERIOD_NS, motion())

    assert used.count("") >= 20


def test_a_cloud_whose_odometry_never_comes_is_dropped_and_named(hmmwv: Hmmwv) -> None:
    said: list[str] = []
    driver = navigator(hmmwv, said, sensing="lidar", lidar=SeenLidar(mount=Mount(xyz_m=(2.0, 0.0, 2.0))))
    driver.move(0, motion())

    for tick in range(50):
        driver.add_cloud((1000 + 10 * tick) * PERIOD_NS, np.zeros(3, POINT))

    assert "no odometry" in said[0]


def test_reset_keeps_the_goals_and_clears_the_failure(hmmwv: Hmmwv) -> None:
    driver = navigator(hmmwv)
    run(driver, 0, 50)
    driver.wait(2.0)

    driver.reset()

    assert driver.progress.status is Status.DRIVING
    assert driver.goals == [GOAL]
