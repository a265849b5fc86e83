"""Ride figures of runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.ride import ride_figures
from proving_ground.scenarios.scenario import load_scenario, scenario_file


@pytest.fixture(scope="module")
def ride() -> Run:
    """The first seconds on the ride course."""
    return LockStep(replace(load_scenario(scenario_file("ride")), duration_s=8.0)).run()


def test_a_rough_ride_has_all_figures_and_they_are_those_of_its_channels(ride: Run) -> None:
    figures = ride_figures(ride)

    assert set(figures) == {
        "seat_absorbed_power_w", "seat_weighted_acceleration_mps2", "seat_crest_factor",
        "seat_vibration_dose_mps1p75", "seat_peak_acceleration_g",
    }  # fmt: skip
    total = ride.channels["seat_weighted_acceleration_mps2"]
    assert figures["seat_absorbed_power_w"] == pytest.approx(ride.channels["seat_absorbed_power_w"].mean())
    assert figures["seat_weighted_acceleration_mps2"] == pytest.approx(np.sqrt(np.mean(total**2)))
    up = ride.channels["seat_up_acceleration_mps2"]
    assert 0.7 * np.abs(up).max() < 9.81 * figures["seat_peak_acceleration_g"] < 1.05 * np.abs(up).max()


def test_the_seat_moves_with_the_chassis_and_its_rotation(ride: Run) -> None:
    seat = np.array([0.87, 0.7, 1.05])  # of the vehicle's file
    history = ride.history
    turning = history["angular_acceleration"], history["angular_velocity"]
    swing = np.cross(turning[0], seat - ride.centre_of_mass)
    swing += np.cross(turning[1], np.cross(turning[1], seat - ride.centre_of_mass))

    for axis, name in enumerate(("forward", "side", "up")):
        expected = ride.channels[f"{name}_acceleration_mps2"] + swing[:, axis]
        assert ride.channels[f"seat_{name}_acceleration_mps2"] == pytest.approx(expected, abs=1e-9)


def test_a_manoeuvre_on_level_ground_is_no_ride() -> None:
    braking = LockStep(load_scenario(scenario_file("brake_test"))).run()

    assert np.abs(braking.channels["seat_forward_acceleration_mps2"]).max() > 2.0
    assert ride_figures(braking) == {}
