"""Statements of shipped scenarios, vehicles and observers about themselves hold."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmark.observer_drives import vehicle_parameters, wrong_parameters
from proving_ground.interfaces.joints import CORNERS
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.metrics import judge
from proving_ground.scenarios.scenario import load_scenario, scenario_file
from proving_ground.settings.share import share_file
from state_observer.kinds import VEHICLE
from state_observer.node_settings import ObserverNodeSettings, make_observer
from state_observer.vehicle.error_ekf import ErrorEkf
from terrain.surroundings import Surroundings

Array = NDArray[np.float64]


def test_the_off_road_scenario_is_failed_by_a_driver_who_does_not_turn() -> None:
    path = scenario_file("off_road")
    chosen = load_scenario(path)
    change = dataclasses.replace(chosen.driver.lane_change, offset_m=0.0)  # type: ignore[type-var]
    straight = dataclasses.replace(chosen, driver=dataclasses.replace(chosen.driver, lane_change=change))

    run = LockStep(straight).run()

    failed = {finding.criterion.channel for finding in judge(chosen.criteria, run.channels, None) if not finding.passed}
    assert "collision_n" in failed


def test_off_road_no_wheel_stands_for_long_while_another_spins() -> None:
    """The mark of open differentials on a cross-axle bump: one wheel spins in the air, the others stand."""
    scenario = load_scenario(scenario_file("off_road"))
    radius = scenario.vehicle.parameters().wheel.radius_m

    found = LockStep(scenario).run().channels

    rims = radius * np.abs([found[f"wheel_speed_radps.{corner}"] for corner in CORNERS])
    assert longest_stall(found["time_s"], found["speed_mps"], rims) <= 2.0


@pytest.mark.parametrize(("standing", "expected"), [(0.0, 3.0), (0.5, 0.0)])
def test_a_stall_lasts_as_long_as_one_wheel_stands_and_another_spins(standing: float, expected: float) -> None:
    time = np.arange(0.0, 10.0, 0.01)
    rims = np.full((4, len(time)), standing)
    rims[2, (time >= 2.0) & (time < 5.0)] = 3.0
    rims[1, (time >= 7.0) & (time < 8.0)] = 3.0

    assert longest_stall(time, np.full_like(time, 0.1), rims) == pytest.approx(expected, abs=0.02)


def longest_stall(time: Array, speed: Array, rims: Array) -> float:
    """Longest time [s] in which some wheel stands (rim below 0.1 m/s) while another spins (1.5 v and v + 0.5 m/s)."""
    v = np.abs(speed)
    is_stalled = (rims < 0.1).any(axis=0) & ((rims > 1.5 * v) & (rims > v + 0.5)).any(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_stalled, [False]]).astype(int)))
    lengths = edges[1::2] - edges[::2]
    return float(lengths.max(initial=0) * (time[1] - time[0]))


@pytest.mark.parametrize("model", ["hmmwv", "hmmwv_chrono"])
def test_the_wrong_vehicle_differs_in_four_parameters_and_no_others(model: str) -> None:
    wrong = vehicle_parameters(f"config/vehicles/{model}_wrong.yaml")
    expected = wrong_parameters(
        vehicle_parameters(f"config/vehicles/{model}.yaml"), mass=1.1, tyre=0.8, rolling=1.3, inertia=1.15
    )

    assert _leaves(dataclasses.replace(wrong, name="any")) == pytest.approx(
        _leaves(dataclasses.replace(expected, name="any")), rel=1e-9
    )


def test_the_observer_with_the_wrong_model_is_the_usual_one_but_for_its_vehicle() -> None:
    path = Path(__file__).parents[2] / "config/observers/vehicle_wrong.yaml"

    assert dataclasses.replace(VEHICLE.load(path), vehicle="") == VEHICLE.load()


@pytest.mark.parametrize("model", ["hmmwv", "hmmwv_chrono"])
@pytest.mark.parametrize(("observer", "expected"), [("", "{}"), ("vehicle_wrong.yaml", "hmmwv_wrong")])
def test_the_observer_models_the_vehicle_of_its_run_unless_its_file_names_one(
    model: str, observer: str, expected: str
) -> None:
    file = str(share_file(f"config/observers/{observer}")) if observer else ""
    settings = ObserverNodeSettings(vehicle=model, observer_file=file)

    made = make_observer(settings, Surroundings(settings))

    assert isinstance(made.filter, ErrorEkf)
    parameters = vehicle_parameters(f"config/vehicles/{expected.format(model)}.yaml")
    assert made.filter.model.parameters == parameters


def _leaves(value: Any) -> list[float]:
    """All values of nested dataclasses and tuples, in order."""
    if dataclasses.is_dataclass(value):
        return [leaf for item in dataclasses.fields(value) for leaf in _leaves(getattr(value, item.name))]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [float(value)] if isinstance(value, int | float) else []
