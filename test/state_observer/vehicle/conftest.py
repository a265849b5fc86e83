"""Simulated drives shared by the tests of the vehicle's observers; sensors sample them with each test's own seed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.observer_drives import (
    DATUM,
    MOUNTS,
    TOWN,
    along_legs,
    drive,
    lane_change,
    sense,
    vehicle_parameters,
    wrong_parameters,
)
from state_observer.kinds import INS, VEHICLE
from state_observer.vehicle.drive import Drive
from state_observer.vehicle.observer import InsObserver, VehicleObserver
from state_observer.vehicle.settings import InsSettings, VehicleObserverSettings
from state_observer.vehicle.validation import Sample


@pytest.fixture(scope="session")
def settings() -> VehicleObserverSettings:
    """Default settings with the mounts and the datum of the drives."""
    return replace(VEHICLE.load(), mounts=MOUNTS, datum=DATUM)


@pytest.fixture(scope="session")
def ins_settings() -> InsSettings:
    return replace(INS.load(), mounts=MOUNTS, datum=DATUM)


@pytest.fixture(scope="session")
def town() -> Drive:
    """305 m with two stops and four turns, 75 s."""
    return drive(along_legs(TOWN), 75.0)


@pytest.fixture(scope="session")
def block(town: Drive) -> Drive:
    """First half minute of `town`: one turn, one stop."""
    return town.first(30.0)


@pytest.fixture(scope="session")
def lane() -> Drive:
    """Two quick swerves at 18 m/s with 2 degrees of sideslip, 22 s."""
    return drive(lane_change(18.0, steering=0.11, at_s=12.0), 22.0)


@pytest.fixture(scope="session")
def town_samples(town: Drive) -> list[Sample]:
    return sense(town, seed=1)


@pytest.fixture(scope="session")
def block_samples(block: Drive) -> list[Sample]:
    return sense(block, seed=2)


@pytest.fixture(scope="session")
def _observer(settings: VehicleObserverSettings) -> VehicleObserver:
    return VehicleObserver(settings)


@pytest.fixture
def observer(_observer: VehicleObserver) -> VehicleObserver:
    """Observer with the right model, reset."""
    _observer.reset()
    return _observer


@pytest.fixture(scope="session")
def _wrong_observer(settings: VehicleObserverSettings) -> VehicleObserver:
    wrong = wrong_parameters(vehicle_parameters(), mass=1.1, tyre=0.8, rolling=1.3, inertia=1.15)
    return VehicleObserver(settings, parameters=wrong)


@pytest.fixture
def wrong_observer(_wrong_observer: VehicleObserver) -> VehicleObserver:
    """Mass +10 %, tyre forces -20 %, rolling resistance +30 %, inertia +15 %."""
    _wrong_observer.reset()
    return _wrong_observer


@pytest.fixture
def ins(ins_settings: InsSettings) -> InsObserver:
    return InsObserver(ins_settings)


@pytest.fixture(scope="session")
def lane_samples(lane: Drive) -> list[Sample]:
    return sense(lane, seed=4)


@pytest.fixture(scope="session")
def rtk_samples(block: Drive) -> list[Sample]:
    return sense(block, seed=3, gps="rtk")
