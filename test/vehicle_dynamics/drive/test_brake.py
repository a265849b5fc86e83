"""A brake slides, holds and releases."""

from __future__ import annotations

import numpy as np
import pytest

from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.drive.brake import BrakeConstants, brake_constants, brake_torque, sliding_torque
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals

INERTIA = 7.78782  # of a wheel [kg m^2]
STEP = 1e-3


@pytest.fixture(scope="module")
def brakes(parameters: VehicleParameters) -> BrakeConstants:
    return brake_constants(parameters.brakes)


def spin_down(brakes: BrakeConstants, sliding: float, rate: float, load: float, seconds: float) -> np.ndarray:
    """Angle and rate of a wheel over time, with a constant torque on it."""
    angle, stuck, history = 0.0, 0.0, []
    for _ in range(round(seconds / STEP)):
        brake = brake_torque(brakes, sliding, angle, rate, stuck)
        stuck = brake.stuck_at
        rate += STEP * (brake.torque + load) / INERTIA
        angle += STEP * rate
        history.append((angle, rate))
    return np.array(history)


def test_full_brake_has_the_sources_torque(brakes: BrakeConstants) -> None:
    assert brakes.front_torque == pytest.approx(4000.0)
    assert brakes.rear_torque == pytest.approx(4000.0)


@pytest.mark.parametrize("rate", [-20.0, -3.0, 3.0, 20.0])
def test_spinning_wheel_is_braked_with_the_sliding_torque(brakes: BrakeConstants, rate: float) -> None:
    assert brake_torque(brakes, 1500.0, 0.3, rate, 0.0).torque == pytest.approx(-np.sign(rate) * 1500.0, rel=1e-9)


def test_wheel_stops_and_stays_against_a_smaller_load(brakes: BrakeConstants) -> None:
    history = spin_down(brakes, 2000.0, 30.0, 800.0, 3.0)

    assert abs(history[-1, 1]) < 1e-9
    assert np.ptp(history[2000:, 0]) < 1e-9  # still for the last second
    # It decelerates as the torques say: t = I w / (T_sl - load).
    stopped = STEP * np.argmax(history[:, 1] < 0.5)
    assert stopped == pytest.approx(INERTIA * 29.5 / 1200.0, rel=0.02)


def test_wheel_turns_against_a_larger_load(brakes: BrakeConstants) -> None:
    history = spin_down(brakes, 2000.0, 0.0, 2500.0, 2.0)

    acceleration = (history[-1, 1] - history[-501, 1]) / (500 * STEP)
    assert acceleration == pytest.approx(500.0 / INERTIA, rel=1e-6)


def test_held_torque_follows_the_load(brakes: BrakeConstants) -> None:
    history = spin_down(brakes, 2000.0, 0.0, 600.0, 1.0)

    assert history[-1, 0] == pytest.approx(600.0 / brakes.stiffness, rel=1e-6)


def test_released_brake_has_no_torque_and_resets(brakes: BrakeConstants) -> None:
    free = brake_torque(brakes, 0.0, 5.0, 2.0, 1.0)

    assert free.torque == 0.0
    assert free.stuck_at == 5.0


def test_torque_never_exceeds_friction_and_its_spring_does_not_wind_up(brakes: BrakeConstants) -> None:
    random = np.random.default_rng(0)
    for _ in range(500):
        sliding, angle, rate = (
            4000.0 * random.uniform(),
            random.normal(),
            float(random.normal() * 10 ** random.uniform(-3, 2)),
        )
        brake = brake_torque(brakes, sliding, angle, rate, random.normal())
        assert abs(brake.torque) <= sliding * (1.0 + 1e-12)
        assert abs(angle - brake.stuck_at) <= sliding / brakes.stiffness * (1.0 + 1e-9)


@pytest.fixture(scope="module")
def m998() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


def test_plain_brakes_are_proportional_to_the_pressure_front_and_rear(brakes: BrakeConstants) -> None:
    for pressure in np.linspace(0.0, 1.0, 11):
        for is_front in (True, False):
            assert sliding_torque(brakes, pressure, 0.0, is_front) == pytest.approx(4000.0 * pressure)


def test_pads_force_over_pressure_is_the_files_cubic_and_rises(m998: VehicleParameters) -> None:
    constants, brakes = brake_constants(m998.brakes), m998.brakes
    full = 2.0 * brakes.friction * brakes.front_force_n * brakes.front_radius_m
    pressures = np.linspace(0.0, 1.0, 201)

    torques = np.array([sliding_torque(constants, float(pressure), 0.0, True) for pressure in pressures])

    assert torques[0] == 0.0
    assert torques[-1] == pytest.approx(full, rel=1e-12)  # 2 mu F R
    assert np.all(np.diff(torques) > 0.0)
    cubic = np.polynomial.Polynomial([0.0, *brakes.force_over_pressure])
    assert np.abs(torques - full * cubic(pressures)).max() < 1e-9 * full


def test_proportioning_valve_spares_the_rear_above_its_knee_only(m998: VehicleParameters) -> None:
    constants, knee, slope = brake_constants(m998.brakes), m998.brakes.rear_knee, m998.brakes.rear_slope
    front, rear = (
        lambda pressure, side=is_front: sliding_torque(constants, pressure, 0.0, side) for is_front in (True, False)
    )

    for pressure in np.linspace(0.0, knee, 9):
        assert rear(float(pressure)) == pytest.approx(front(float(pressure)), rel=1e-12)
    assert rear(knee + 1e-9) == pytest.approx(rear(knee), rel=1e-6)  # no jump
    for pressure in np.linspace(knee + 0.05, 1.0, 9):
        assert rear(float(pressure)) == pytest.approx(front(knee + slope * (float(pressure) - knee)), rel=1e-12)
        assert rear(float(pressure)) < front(float(pressure))
    rising = [rear(float(pressure)) for pressure in np.linspace(0.0, 1.0, 101)]
    assert np.all(np.diff(rising) > 0.0)


def test_parking_brake_holds_the_rear_wheels_only_and_adds_to_the_pedal(m998: VehicleParameters) -> None:
    constants = brake_constants(m998.brakes)

    assert sliding_torque(constants, 0.0, 1.0, True) == 0.0
    assert sliding_torque(constants, 0.0, 0.5, False) == pytest.approx(0.5 * m998.brakes.parking_torque_nm)
    assert sliding_torque(constants, 0.2, 1.0, False) == pytest.approx(
        sliding_torque(constants, 0.2, 0.0, False) + m998.brakes.parking_torque_nm
    )


@pytest.mark.parametrize("payload_kg", [0.0, 1134.0])
@pytest.mark.parametrize("slope", [0.2, -0.2], ids=["uphill", "downhill"])
def test_parking_brake_holds_a_grade_in_neutral(m998: VehicleParameters, slope: float, payload_kg: float) -> None:
    ground = FlatGround(slope_x=slope, friction=0.9)
    car = Hmmwv(m998.loaded(payload_kg))
    state = car.start(ground)  # as four braked wheels hold it: the front ones let go
    parked = Pedals(selected=NEUTRAL, parking_brake=1.0)

    assert car.advance(state, parked, ground, 10_000) == 10_000
    settled = state[:3].copy()
    assert car.advance(state, parked, ground, 5_000) == 5_000

    assert np.linalg.norm(state[:3] - settled) < 1e-3
    seen = car.snapshot(state, parked, ground)
    torques, radius = seen["brake_torque"], car.wheel_radius - seen["load"][2] / car.kernel.tyre["stiffness"][2]
    assert np.abs(torques[:2]).max() == 0.0
    # The rear wheels alone hold the weight's part along the slope.
    weight = (2573.138 + payload_kg) * 9.81 * abs(slope) / np.hypot(1.0, slope)
    assert np.abs(torques[2:]).sum() == pytest.approx(radius * weight, rel=0.01)
    # That is 1.1 kN m of each rear wheel, or 1.6: a fifth of the lever is not enough.
    assert car.advance(state, Pedals(selected=NEUTRAL, parking_brake=0.2), ground, 2_000) == 2_000
    assert state[15] * slope < -0.01
