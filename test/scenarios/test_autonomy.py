"""The planner as a driver in lock-step, on the truth and on sensors and estimates."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from planner.drive_to_goal import Reason
from proving_ground.scenarios.autonomy import Autonomy
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.scenario import Scenario, load_scenario
from proving_ground.settings import SettingsError

SCENARIO = """
version: 1
description: To a goal
world:
  named: {{name: urban}}
start: {{x_m: 10.0, y_m: -2.0}}
driver:
  to_goal: {{goal: {{x_m: 40.0, y_m: -2.0}}, {options}}}
duration_s: 16.0
seed: 2
{rest}
"""
SENSORS = """
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
  - lidar: {preset: spinning_16}
"""


SAME_STEPS = 500  # 5 s


def scenario(folder: Path, options: str = "", rest: str = "") -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.format(options=options, rest=rest))
    return load_scenario(path)


def arrives(run: Run) -> None:
    end = run.channels["x_m"][-1], run.channels["y_m"][-1]
    assert math.dist(end, (40.0, -2.0)) < 2.0
    assert abs(run.channels["speed_mps"][-1]) < 0.1
    assert run.channels["speed_mps"].max() <= 5.0
    assert run.channels["collision_n"].max() == 0.0


def test_vehicle_arrives_on_the_truth(tmp_path: Path) -> None:
    arrives(LockStep(scenario(tmp_path)).run())


def test_vehicle_arrives_by_lidar_and_observer_repeatably(tmp_path: Path) -> None:
    described = scenario(tmp_path, "sensing: lidar, pose: observer", SENSORS + "observer: {kind: vehicle}\n")
    run = LockStep(described).run()

    arrives(run)
    assert run.estimates is not None
    assert len(run.estimates) == pytest.approx(250 * run.time[-1], rel=0.02)
    true = np.column_stack([run.channels["x_m"], run.channels["y_m"]])
    own = run.estimates[(run.estimates["time_ns"] - described.start.time_ns()) % 10_000_000 == 0]
    index = (own["time_ns"] - described.start.time_ns()) // 10_000_000
    off = own["position"][:, :2] - true[index]
    assert float(np.sqrt((off**2).sum(axis=1).mean())) < 0.6  # the GPS alone: 1.8 m

    again = LockStep(described)
    again.advance_to(
        SAME_STEPS
    )  # by then it has started, been corrected by fixes and planned with scans of all directions
    assert again.result().history[:SAME_STEPS].tobytes() == run.history[:SAME_STEPS].tobytes()


@pytest.mark.parametrize("model", ["hmmwv_chrono", "hmmwv"])
def test_vehicle_stops_when_its_observer_falls_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    rest = f"{SENSORS}observer: {{kind: vehicle}}\nvehicle: {{model: {model}}}\n"
    described = scenario(tmp_path, "sensing: terrain, pose: observer", rest)
    run = LockStep(described)
    run.advance_to(600)
    driver = run._driver
    assert isinstance(driver, Autonomy)
    assert driver.progress.speed > 2.0

    monkeypatch.setattr(run.observation, "on_samples", lambda arrival_ns, samples: None)
    run.advance_to(1000)

    assert driver.progress.reason is Reason.OLD_POSE
    assert driver.progress.speed == 0.0
    assert abs(run._history[999]["velocity"][0]) < 0.1


@pytest.mark.parametrize(
    ("options", "rest", "reason"),
    [
        ("sensing: lidar", "", "sensing by LIDAR needs a sensor of kind lidar"),
        ("pose: observer", "", "a pose of the observer needs an observer"),
        ("pose: observer", "observer: {kind: vehicle}\n", "observer: needs a sensor of kind gps"),
        ("planner: {planner: 'nowhere:Best'}", "", "nowhere"),
    ],
)
def test_missing_parts_are_reported(tmp_path: Path, options: str, rest: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        LockStep(scenario(tmp_path, options, rest))
