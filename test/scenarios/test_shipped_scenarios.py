"""What shipped scenarios, vehicles and observers say about themselves holds."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from benchmark.observer_drives import numbers, wrong_numbers
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.metrics import judge
from proving_ground.scenarios.scenario import load_scenario, scenario_file
from state_observer.kinds import VEHICLE


def test_the_off_road_scenario_is_failed_by_a_driver_who_does_not_turn() -> None:
    path = scenario_file("off_road")
    chosen = load_scenario(path)
    change = dataclasses.replace(chosen.driver.lane_change, offset_m=0.0)  # type: ignore[type-var]
    straight = dataclasses.replace(chosen, driver=dataclasses.replace(chosen.driver, lane_change=change))

    run = LockStep(straight).run()

    failed = {finding.criterion.channel for finding in judge(chosen.criteria, run.channels, None) if not finding.passed}
    assert "collision_n" in failed


def test_the_wrong_vehicle_differs_in_four_parameters_and_no_others() -> None:
    wrong = numbers("config/vehicles/hmmwv_wrong.yaml")
    expected = wrong_numbers(numbers(), mass=1.1, tyre=0.8, rolling=1.3, inertia=1.15)

    assert _leaves(dataclasses.replace(wrong, name="any")) == pytest.approx(
        _leaves(dataclasses.replace(expected, name="any")), rel=1e-9
    )


def test_the_observer_with_the_wrong_model_is_the_usual_one_but_for_its_vehicle() -> None:
    path = Path(__file__).parents[2] / "config/observers/vehicle_wrong.yaml"

    assert dataclasses.replace(VEHICLE.load(path), vehicle="hmmwv") == VEHICLE.load()


def _leaves(value: Any) -> list[float]:
    """All values of nested dataclasses and tuples, in order."""
    if dataclasses.is_dataclass(value):
        return [leaf for item in dataclasses.fields(value) for leaf in _leaves(getattr(value, item.name))]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [float(value)] if isinstance(value, int | float) else []
