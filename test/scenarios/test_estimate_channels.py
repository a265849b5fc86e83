"""Channels of an estimate: its errors, and criteria on them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from proving_ground.campaigns.estimate_errors import estimate_errors
from proving_ground.scenarios.channels import ESTIMATE_CHANNELS
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.metrics import judge
from proving_ground.scenarios.scenario import Criterion, load_scenario, scenario_file
from proving_ground.scenarios.simulation import Simulation
from proving_ground.settings import SettingsError
from some_sensors import SENSORS

Write = Callable[[str], Path]


@pytest.fixture(scope="module")
def observed() -> LockStep:
    """A lane change with an observer that has a wrong model, 12 s."""
    path = scenario_file("low_cost_gps")
    chosen, change = load_scenario(path), load_scenario(scenario_file("lane_change"))
    lane = dataclasses.replace(change.driver.lane_change, speed_mps=10.0, change_at_s=4.0, back_at_s=8.0)  # type: ignore[type-var]
    driver = dataclasses.replace(change.driver, lane_change=lane)
    start = dataclasses.replace(chosen.start, speed_mps=5.0)
    described = dataclasses.replace(
        chosen, world=change.world, driver=driver, start=start, duration_s=12.0, criteria=()
    )
    runner = LockStep(described)
    runner.run()
    return runner


def test_channels_of_the_estimate_are_the_errors_that_campaigns_compute(observed: LockStep) -> None:
    run = observed.result()
    late = run.time >= 5.0

    assert observed.observation is not None
    base, start_ns = np.asarray(observed.vehicle.base_in_chassis), load_scenario(scenario_file("low_cost_gps")).start
    figures = estimate_errors(run, base, start_ns.time_ns(), observed.observation.observer.health())

    def rms(name: str) -> float:
        return float(np.sqrt(np.mean(run.channels[name][late] ** 2)))

    # Ours are interpolated linearly between the common instants.
    assert rms("estimate_error_m") == pytest.approx(figures["position_rmse_m"], rel=0.02)
    assert math.degrees(rms("estimate_yaw_error_rad")) == pytest.approx(figures["yaw_rmse_deg"], rel=0.02)
    assert rms("estimate_speed_error_mps") == pytest.approx(figures["speed_rmse_mps"], rel=0.05)
    assert math.degrees(rms("estimate_sideslip_error_rad")) == pytest.approx(figures["sideslip_rmse_deg"], rel=0.02)


def test_channels_of_the_estimate_are_finite_at_every_instant(observed: LockStep) -> None:
    run = observed.result()

    for name in ESTIMATE_CHANNELS:
        assert run.channels[name].shape == run.time.shape
        assert np.isfinite(run.channels[name]).all()


def test_a_run_without_observer_has_no_channels_of_an_estimate() -> None:
    simulation = Simulation("j_turn")
    simulation.reset()

    assert not set(ESTIMATE_CHANNELS) & set(simulation.result().channels)


def test_a_criterion_on_a_missing_estimate_fails(write_scenario: Write, scenario_text: str) -> None:
    text = scenario_text + SENSORS.replace("{preset: low_cost}", "{preset: low_cost, latency_s: 2.0}")
    criterion = "criteria:\n  - {channel: estimate_error_m, statistic: rms, at_most: 5.0}\n"
    waiting = "observer: {kind: vehicle, knows_start: false}\n"
    chosen = load_scenario(write_scenario(text + waiting + criterion))

    run = LockStep(chosen).run()
    (finding,) = judge(chosen.criteria, run.channels, None)

    assert not finding.passed
    assert math.isnan(finding.value)


def test_rms_is_the_root_of_the_mean_square() -> None:
    criterion = Criterion(channel="y_m", statistic="rms", from_s=1.0, at_most=6.0)
    channels = {"time_s": np.array([0.0, 1.0, 2.0]), "y_m": np.array([99.0, -3.0, 4.0])}

    (finding,) = judge([criterion], channels, None)

    assert finding.value == pytest.approx(math.sqrt(12.5))


def test_a_criterion_on_an_estimate_without_observer_is_rejected(write_scenario: Write, scenario_text: str) -> None:
    text = scenario_text + "criteria:\n  - {channel: estimate_error_m, statistic: rms, at_most: 1.0}\n"

    with pytest.raises(SettingsError, match="estimate_error_m needs an observer"):
        load_scenario(write_scenario(text))
