"""Slow driving: a commanded speed below walking pace is reached and kept, with any powertrain, up, down, in reverse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from proving_ground.saving.codec import decoded, encoded
from terrain.ground import FlatGround
from vehicle_dynamics.control.creep import CreepController, CreepSettings
from vehicle_dynamics.control.drive_by_wire import DriveByWire
from vehicle_dynamics.control.helm import PERIOD_S, Helm
from vehicle_dynamics.driving.model import POWERTRAINS
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import DRIVE, REVERSE
from vehicle_dynamics.single_track import SingleTrack
from vehicle_dynamics.vehicle import PedalAuthority, Vehicle
from vehicle_dynamics.vehicle_files import vehicle_file

SPEEDS = (0.1, 0.22, 0.5)  # [m/s]
SLOPES = (0.0, 0.1, -0.1)
SETTLED_S, KEPT_S = 3.0, 5.0
NEAR = 0.1  # of the commanded speed
LET_BY = 0.2  # of the commanded speed: largest ripple, peak
MOST_SURGE = 2.0  # of the commanded speed, from rest
Make = Callable[..., Any]
PERIODS_PER_S = round(1.0 / PERIOD_S)


@pytest.fixture(scope="module", params=[(name, kind) for name in ("hmmwv_chrono", "hmmwv") for kind in POWERTRAINS])
def creeper(request: Any) -> Vehicle:
    name, powertrain = request.param
    return Hmmwv(VehicleParameters.from_yaml(vehicle_file(name)), powertrain=powertrain)


def speeds(car: Any, seconds: float, wanted: float) -> NDArray[np.float64]:
    """Speeds in the commanded direction over the commanded speed, one of each period."""
    found = []

    def command(drive: DriveByWire, now: float) -> None:
        found.append(car.speed / wanted)
        drive.receive_motion(now, wanted, 0.0)

    car.run(seconds, command)
    return np.array([*found[1:], car.speed / wanted])


def assert_kept(after: NDArray[np.float64]) -> None:
    """Speeds from SETTLED_S on."""
    assert np.isfinite(after).all()
    assert after[0] == pytest.approx(1.0, abs=NEAR)
    assert after.mean() == pytest.approx(1.0, abs=NEAR)
    assert np.abs(after - 1.0).max() < LET_BY


@pytest.mark.parametrize("sign", [DRIVE, REVERSE])
@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("speed", SPEEDS)
def test_slow_speed_is_reached_from_rest_without_surge_and_kept(
    ride_in: Make, creeper: Vehicle, speed: float, slope: float, sign: int
) -> None:
    car = ride_in(creeper, FlatGround(slope_x=slope))
    car.run(1.0, lambda drive, now: drive.receive_motion(now, 0.0, 0.0))

    found = speeds(car, SETTLED_S + KEPT_S, sign * speed)

    assert found.max() < MOST_SURGE
    assert_kept(found[round(SETTLED_S * PERIODS_PER_S) - 1 :])


@pytest.mark.parametrize("sign", [DRIVE, REVERSE])
@pytest.mark.parametrize("slope", SLOPES)
def test_slow_speed_is_reached_from_a_higher_one(ride_in: Make, creeper: Vehicle, slope: float, sign: int) -> None:
    car = ride_in(creeper, FlatGround(slope_x=slope), speed=sign * 5.0)
    car.run(1.0, lambda drive, now: drive.receive_motion(now, sign * 5.0, 0.0))

    found = speeds(car, 12.0, sign * 0.22)

    first = int(np.argmax(found < 0.5 / 0.22)) + round(SETTLED_S * PERIODS_PER_S)
    assert_kept(found[first : first + round(KEPT_S * PERIODS_PER_S)])


@pytest.mark.parametrize("payload_kg", [600.0, 1134.0])
@pytest.mark.parametrize("slope", SLOPES)
def test_a_loaded_vehicle_drives_as_slowly(ride_in: Make, payload_kg: float, slope: float) -> None:
    loaded = VehicleParameters.from_yaml(vehicle_file("hmmwv")).loaded(payload_kg)

    assert_kept(speeds(ride_in(Hmmwv(loaded), FlatGround(slope_x=slope)), 8.0, 0.22)[299:])


@pytest.mark.parametrize("speed", SPEEDS)
def test_the_kinematic_vehicle_drives_as_slowly(ride_in: Make, parameters: VehicleParameters, speed: float) -> None:
    assert_kept(speeds(ride_in(SingleTrack(parameters)), 8.0, speed)[299:])


def test_a_script_without_drive_by_wire_drives_as_slowly(ride_in: Make, creeper: Vehicle) -> None:
    helm, car, found = Helm(creeper), ride_in(creeper), []
    for _ in range(8 * PERIODS_PER_S):
        pedals = helm.pedals(car.seen, 0.22, 0.0)
        assert creeper.advance(car.state, pedals, car.ground, 10) == 10
        car.seen = creeper.snapshot(car.state, pedals, car.ground)
        found.append(car.speed / 0.22)

    assert_kept(np.array(found)[299:])


def test_a_stop_and_a_change_of_direction_end_slow_driving(ride_in: Make, creeper: Vehicle) -> None:
    car = ride_in(creeper)
    speeds(car, 4.0, 0.3)

    speeds(car, 6.0, -0.3)
    assert car.speed == pytest.approx(-0.3, rel=NEAR)
    car.run(2.0, lambda drive, now: drive.receive_motion(now, 0.0, 0.0))

    assert abs(car.speed) < 1e-2
    assert (car.pedals.throttle, car.pedals.selected) == (0.0, REVERSE)


def test_a_faster_command_ends_slow_driving(ride_in: Make, creeper: Vehicle) -> None:
    car = ride_in(creeper)
    speeds(car, 4.0, 0.22)

    speeds(car, 8.0, 3.0)

    assert car.pedals.brake == 0.0 or car.pedals.throttle == 0.0
    assert car.speed == pytest.approx(3.0, abs=0.3)


@pytest.mark.parametrize("seconds", [0.05, 0.6, 4.0])  # brake released, moving off, settled
def test_a_restored_vehicle_goes_on_to_the_bit(ride_in: Make, creeper: Vehicle, seconds: float) -> None:
    first, second = ride_in(creeper, FlatGround(slope_x=0.1)), ride_in(creeper, FlatGround(slope_x=0.1))
    speeds(first, seconds, 0.22)
    second.drive.restore_state(decoded(encoded(first.drive.saved_state())))
    second.state, second.seen, second.time = first.state.copy(), first.seen, first.time

    assert (speeds(first, 2.0, 0.22) == speeds(second, 2.0, 0.22)).all()
    assert first.log[-1] == second.log[-1]


@given(
    brake=st.floats(0.5, 50.0), throttle=st.floats(0.5, 50.0),
    motion=st.lists(st.tuples(st.floats(-3.0, 3.0), st.floats(0.0, 1.0)), min_size=1, max_size=100),
)  # fmt: skip
def test_pedals_are_within_limits_whatever_the_vehicle_does(
    brake: float, throttle: float, motion: list[tuple[float, float]]
) -> None:
    controller = CreepController(CreepSettings(), PedalAuthority(brake, throttle))
    controller.start(motion[0][0], 0.0, 0.0, 0.4)
    for speed, wanted in motion:
        pedals = controller.pedals(PERIOD_S, speed, wanted, 0.4)

        assert all(math.isfinite(value) for value in pedals)
        assert 0.0 <= pedals[0] <= 1.0
        assert 0.0 <= pedals[1] <= 0.4


@given(speed=st.floats(-0.1, 1.0), wanted=st.floats(0.05, 0.6))
def test_gains_follow_from_the_authority_of_the_brake(speed: float, wanted: float) -> None:
    def braked(authority: float) -> float:
        controller = CreepController(CreepSettings(), PedalAuthority(authority, 4.0))
        controller.start(speed, 0.0, 0.0, 4.0 / authority)
        return controller.pedals(PERIOD_S, speed, wanted, 1.0)[1] * authority

    # The same deceleration of any vehicle, as long as its pedal is not at its end.
    assert braked(8.0) == pytest.approx(braked(16.0), rel=1e-9, abs=1e-9)
