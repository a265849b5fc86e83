"""The lock-step runner: repeatable to the bit, also after a restore; results of runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from proving_ground.scenarios.identify import brake_friction, rolling_resistance
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.settings import SettingsError

Write = Callable[[str], Path]


def scenario(name: str, **changes: object) -> Scenario:
    return dataclasses.replace(load_scenario(scenario_file(name)), **changes)  # type: ignore[arg-type]


# Long enough to contain the manoeuvre.
LENGTHS = {"lane_change": 36.0, "j_turn": 6.0, "bump": 5.0, "coast_down": 3.0, "soft_soil": 6.0}


@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_a_run_repeats_to_the_bit_and_goes_on_after_a_restore(name: str) -> None:
    short = scenario(name, duration_s=LENGTHS[name])
    first = LockStep(short).run()
    again = LockStep(short)
    again.advance_to(round(100 * 0.9 * LENGTHS[name]))
    saved = again.save()
    taken_up = LockStep(short)
    taken_up.restore(saved)

    second, third = again.run(), taken_up.run()

    assert first.history.tobytes() == second.history.tobytes()
    assert first.history.tobytes() == third.history.tobytes()


@pytest.mark.parametrize("name", ["lane_change", "circle"])
def test_the_kinematic_vehicle_drives_the_same_scenarios(name: str) -> None:
    chosen = scenario(name, duration_s=36.0)
    simple = dataclasses.replace(chosen, vehicle=dataclasses.replace(chosen.vehicle, fidelity="single_track"))

    run = LockStep(simple).run()

    assert run.diverged_at is None
    if name == "lane_change":
        assert run.channels["y_m"][-1] == pytest.approx(3.7, abs=0.1)
    else:
        assert run.channels["yaw_rate_radps"][-1] == pytest.approx(run.channels["speed_mps"][-1] / 30.0, rel=0.02)


def test_a_run_that_diverges_ends_with_its_last_valid_state() -> None:
    chosen = scenario("bump", duration_s=2.0)
    runner = LockStep(chosen)
    runner.advance_to(10)
    runner._stepper._state[21] = 9e3  # a lower arm flung at 9000 rad/s

    run = runner.run()

    assert run.diverged_at == pytest.approx(0.1)
    assert len(run.time) == 11
    assert np.isfinite(runner._stepper._state).all()
    runner.fork().look()


def test_an_impossible_start_is_rejected_in_one_line(write_scenario: Write, scenario_text: str) -> None:
    chosen = load_scenario(write_scenario(scenario_text + "start: {gear: 12}\n"))

    with pytest.raises(SettingsError, match="start: gear: must be 0"):
        LockStep(chosen)


@pytest.mark.parametrize("model", ["hmmwv_chrono", "hmmwv"])  # without and with air drag
def test_coast_down_and_braking_give_back_the_configured_coefficients(model: str) -> None:
    mended, as_printed = rolling_resistance(model)

    assert abs(mended.error) < 0.02
    # Without the inertia of the rotating parts the printed equation gives too little, as derived.
    assert -0.12 < as_printed.error < -0.05


@pytest.mark.parametrize("model", ["hmmwv_chrono", "hmmwv"])
def test_braking_gives_back_the_configured_friction_of_the_pads(model: str) -> None:
    """Also where their force is a cubic of the line's pressure ([Sanjurjo], Fig. 5.7)."""
    assert abs(brake_friction(model).error) < 0.02


def test_an_observer_does_not_change_the_soft_ground_of_its_vehicle(write_scenario: Write, scenario_text: str) -> None:
    """Its model drives on sand too, and leaves ruts there; with a GPS that is metres off they would be elsewhere."""
    text = scenario_text.replace("flat: {friction: 0.8}", "field: {soil: dry_sand}").replace("1.0\n", "3.0\n")
    text += "start: {speed_mps: 4.0}\nsensors: [{imu: {}}, {gps: {preset: low_cost}}, {encoders: {}}]\n"
    alone, observed = (
        LockStep(load_scenario(write_scenario(text + words))).run().history for words in ("", "observer: {}\n")
    )
    assert alone.tobytes() == observed.tobytes()
