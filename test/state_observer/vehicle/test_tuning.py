"""Tuning of the process noise on a recording."""

from __future__ import annotations

from dataclasses import replace

import pytest

from state_observer.vehicle.observer import InsObserver, VehicleObserver
from state_observer.vehicle.settings import InsSettings, VehicleObserverSettings
from state_observer.vehicle.track import observe
from state_observer.vehicle.tuning import tune, whiteness
from state_observer.vehicle.validation import Sample


def test_noise_a_thousand_times_too_large_is_reduced(block_samples: list[Sample], ins_settings: InsSettings) -> None:
    loud = replace(ins_settings, noise=replace(ins_settings.noise, force_mps2=1.0))
    found = tune(block_samples, loud, InsObserver, parameters=["force_mps2"], rounds=2)
    assert found.settings.noise.force_mps2 < 0.2
    assert found.objective < found.before
    assert found.settings.mounts == loud.mounts  # nothing else changes


def test_the_multibody_observer_is_tuned_by_the_same_tool(
    block_samples: list[Sample], settings: VehicleObserverSettings
) -> None:
    short = block_samples[:2400]
    quiet = replace(settings, noise=replace(settings.noise, yaw_radps2=2e-7))
    found = tune(short, quiet, VehicleObserver, parameters=["yaw_radps2"])
    assert found.objective <= found.before


def test_an_unknown_noise_is_rejected(block_samples: list[Sample], ins_settings: InsSettings) -> None:
    with pytest.raises(ValueError, match="unknown thrust"):
        tune(block_samples, ins_settings, InsObserver, parameters=["thrust"])


def test_whiteness_detects_innovations_that_are_too_small(
    block_samples: list[Sample], ins_settings: InsSettings
) -> None:
    loud = replace(ins_settings, noise=replace(ins_settings.noise, force_mps2=100.0))
    usual = whiteness(observe(block_samples, InsObserver(ins_settings), keep_innovations=True))
    found = whiteness(observe(block_samples, InsObserver(loud), keep_innovations=True))
    assert found["gps_velocity"].nis < usual["gps_velocity"].nis
    assert found["gps_velocity"].cost > usual["gps_velocity"].cost
