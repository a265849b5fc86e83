"""A brake slides, holds and releases."""

from __future__ import annotations

import numpy as np
import pytest

from vehicle_dynamics.drive.brake import BrakeConstants, brake_constants, brake_torque
from vehicle_dynamics.parameters import VehicleParameters

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
