"""Anti-lock control of the brakes, an option of vehicle files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.drive.brake import antilock_share, brake_constants
from vehicle_dynamics.drive.drive_parameters import Brakes
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals

SLIPS = (0.04, 0.2)  # around the slip of most friction: 0.12 on a dry road, less on a slippery one
SPEED = 20.0  # [m/s]


@pytest.fixture(scope="module")
def plain() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


@pytest.fixture(scope="module")
def with_antilock(plain: VehicleParameters) -> VehicleParameters:
    return replace(plain, brakes=replace(plain.brakes, antilock_slip=SLIPS))


def stopped(parameters: VehicleParameters, friction: float, steering: float) -> tuple[float, float, float]:
    """Brake fully; distance [m], lateral offset [m], and the largest time [s] that a wheel stood above 3 m/s."""
    hmmwv, road = Hmmwv(parameters), FlatGround(friction=friction)
    state, pedals = hmmwv.start(road, speed=SPEED), Pedals(brake=1.0, steering=steering)
    start, locked = state[:2].copy(), np.zeros(4)
    while (speed := forward_speed(seen := hmmwv.snapshot(state, pedals, road))) > 0.1:
        if speed > 3.0:
            locked += np.where(np.abs(seen["spin_rate"]) < 0.5, 0.01, 0.0)
        assert hmmwv.advance(state, pedals, road, 10) == 10
    away = state[:2] - start
    return float(np.hypot(*away)), float(away[1]), float(locked.max())


def test_wheels_keep_turning_and_the_vehicle_stops_no_later(
    plain: VehicleParameters, with_antilock: VehicleParameters
) -> None:
    for friction in (0.8, 0.3):
        before, after = stopped(plain, friction, 0.0), stopped(with_antilock, friction, 0.0)
        assert before[2] > 0.5  # wheels lock
        assert after[2] == 0.0
        assert after[0] < before[0]


def test_the_vehicle_can_be_steered_while_it_brakes(plain: VehicleParameters, with_antilock: VehicleParameters) -> None:
    before, after = stopped(plain, 0.3, 0.5), stopped(with_antilock, 0.3, 0.5)
    assert after[1] > 4.0 * before[1]  # locked wheels slide nearly straight on


def test_pressure_falls_with_slip_alike_in_both_directions_and_rests_at_low_speed(
    with_antilock: VehicleParameters,
) -> None:
    brakes = brake_constants(with_antilock.brakes, wheel_radius=0.5)
    for direction in (-1.0, 1.0):
        shares = [
            antilock_share(brakes, direction * 10.0, direction * 20.0 * (1.0 - slip)) for slip in (0.0, *SLIPS, 1.0)
        ]
        assert shares == pytest.approx([1.0, 1.0, 0.0, 0.0], abs=1e-12)
    assert antilock_share(brakes, 1.9, 0.0) == 1.0


def test_without_it_nothing_changes(plain: VehicleParameters) -> None:
    assert antilock_share(brake_constants(plain.brakes), 10.0, 0.0) == 1.0


@pytest.mark.parametrize("slips", [(0.2, 0.1), (0.1, 0.1), (0.1, 0.15), (0.1, 0.0)])
def test_slips_that_do_not_rise_are_rejected(plain: VehicleParameters, slips: tuple[float, float]) -> None:
    with pytest.raises((SettingsError, ValueError), match="antilock_slip: must rise"):
        replace(plain.brakes, antilock_slip=slips)
    assert isinstance(plain.brakes, Brakes)
