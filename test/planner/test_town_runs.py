"""Drives through towns by sensors alone, as in the bench: how they are described, counted and drawn."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from benchmark.town_pictures import draw_drive, is_clean, words
from benchmark.town_runs import DriveResult, drive, scenario_of, seeds
from planner.drive_to_goal import Reason, Status
from planner.towns import town
from proving_ground.settings import SettingsError


def result(**changes: object) -> DriveResult:
    values = {
        "reached": True, "status": Status.ARRIVED, "reason": Reason.NONE, "time": 100.0, "collisions": 0,
        "kerb_strikes": 0, "top_speed": 4.5, "plans": 1000, "track": np.array([(0.0, 0.0, 0.0), (5.0, 1.0, 0.2)]),
    }  # fmt: skip
    return DriveResult(**{**values, **changes})  # type: ignore[arg-type]


def test_scenario_of_a_town_is_the_urban_one_at_its_start_with_lidar_and_observer() -> None:
    world = town(3)

    described = scenario_of(world, 120.0, seed=3)

    assert (described.start.x_m, described.start.y_m) == (world.start.x, world.start.y)
    assert math.radians(described.start.heading_deg) == pytest.approx(world.start.heading)
    assert (described.seed, described.duration_s) == (3, 120.0)
    assert described.driver.to_goal is not None
    assert (described.driver.to_goal.sensing, described.driver.to_goal.pose) == ("lidar", "observer")
    assert described.observer is not None


def test_vehicle_sets_off_by_sensors_alone_and_the_run_ends_with_its_time() -> None:
    world = town(3)
    found = drive(scenario_of(world, 4.0, seed=3), world)

    assert found.status is Status.DRIVING
    assert found.time == pytest.approx(4.0)
    assert found.top_speed > 1.0
    assert found.collisions + found.kerb_strikes == 0
    assert len(found.track) == 40


def test_drive_that_hits_something_is_not_clean_and_says_so() -> None:
    assert is_clean(result())
    assert not is_clean(result(collisions=1))
    assert not is_clean(result(reached=False))
    assert "1 collisions, 0 kerb strikes" in words(result(collisions=1))
    assert "boxed in" in words(result(reached=False, status=Status.FAILED, reason=Reason.BOXED_IN))


def test_picture_of_a_drive_is_written(tmp_path: Path) -> None:
    draw_drive(tmp_path / "town.png", 3, town(3), result(reached=False, status=Status.FAILED, reason=Reason.STUCK))

    assert (tmp_path / "town.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("bad", ["0", "21", "three", "-1"])
def test_invalid_number_of_towns_is_one_line(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVING_GROUND_TOWNS", bad)

    with pytest.raises(SettingsError, match="from 1 to 20"):
        seeds()
