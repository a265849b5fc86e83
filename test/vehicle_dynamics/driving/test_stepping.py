"""The driving vehicle: at rest like the reference, still on a slope, repeatable to the bit, converging."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from terrain.ground import FlatGround, Ground
from vehicle_dynamics.driving.handle import advance, handle
from vehicle_dynamics.driving.model import DrivingVehicle, driving_vehicle, driving_workspace
from vehicle_dynamics.driving.state import DrivingState
from vehicle_dynamics.driving.stepping import LOAD
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rigid_steps import RK4, SEMI_IMPLICIT_EULER
from vehicle_dynamics.vehicle_state import VehicleState

LEVEL = FlatGround().kernel()
PARKED = Pedals(brake=1.0)


@pytest.fixture(scope="module")
def vehicle(parameters: VehicleParameters) -> DrivingVehicle:
    return driving_vehicle(parameters)


def placed(**body: object) -> np.ndarray:
    values = {"position": np.array([0.0, 0.0, 0.5875]), "theta": np.array([-0.2255, -0.2255, -0.2265, -0.2265]), **body}
    return DrivingState(body=VehicleState(**values)).to_array()


def run(
    vehicle: DrivingVehicle,
    state: np.ndarray,
    pedals: Pedals,
    seconds: float,
    ground: Ground = LEVEL,
    method: int = SEMI_IMPLICIT_EULER,
    step: float = 1e-3,
) -> np.ndarray:
    """The tyres' loads after the run; the state changes in place."""
    work = driving_workspace(vehicle)
    advance(handle(vehicle, work, method), ground, pedals, step, round(seconds / step), state)
    return work.tyre[:, LOAD].copy()


@pytest.mark.parametrize("method", [SEMI_IMPLICIT_EULER, RK4])
def test_parked_vehicle_stands_as_the_reference_does(vehicle: DrivingVehicle, method: int) -> None:
    state = placed()

    loads = run(vehicle, state, PARKED, 20.0, method=method)

    assert_allclose(loads, [6495.36, 6493.53, 6128.52, 6126.18], rtol=1e-3)
    assert state[2] == pytest.approx(0.586522, abs=3e-3)
    assert np.abs(state[15:29]).max() < 1e-6  # still


def test_brakes_hold_on_a_steep_slope(vehicle: DrivingVehicle) -> None:
    slope = 0.3
    angle = np.arctan(slope)
    attitude = np.array([0.0, -np.sin(angle / 2.0), 0.0, np.cos(angle / 2.0)])
    ground = FlatGround(slope_x=slope).kernel()
    up = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    state = placed(position=0.5875 * up, attitude=attitude)
    run(vehicle, state, PARKED, 20.0, ground)
    before = state[:3].copy()

    run(vehicle, state, PARKED, 60.0, ground)

    assert np.linalg.norm(state[:3] - before) < 1e-4  # [m] in a minute
    assert np.abs(state[15:29]).max() < 1e-5


def test_same_start_gives_the_same_bits_also_after_a_restore(vehicle: DrivingVehicle) -> None:
    pedals = Pedals(steering=0.3, throttle=0.6)
    first, second = placed(), placed()
    run(vehicle, first, pedals, 4.0)
    run(vehicle, second, pedals, 2.0)
    restored = DrivingState.from_array(second).to_array()
    assert_array_equal(restored, second)

    run(vehicle, restored, pedals, 2.0)

    assert_array_equal(restored, first)


def test_vehicle_drives_steers_and_stops(vehicle: DrivingVehicle) -> None:
    state = placed()
    run(vehicle, state, Pedals(throttle=1.0), 5.0)
    assert state[15] > 8.0
    run(vehicle, state, Pedals(throttle=0.3, steering=0.3), 3.0)
    assert state[20] > 0.1  # to the left
    run(vehicle, state, PARKED, 10.0)
    assert np.abs(state[15:29]).max() < 1e-3


def test_methods_agree_as_steps_shrink(vehicle: DrivingVehicle) -> None:
    def end(method: int, step: float) -> np.ndarray:
        state = placed(velocity=np.array([10.0, 0.0, 0.0]), spin_rate=np.full(4, 10.0 / 0.4646))
        run(vehicle, state, Pedals(steering=0.1, selected=0), 1.0, method=method, step=step)
        return state[:3].copy()

    exact = end(RK4, 1e-4)
    euler = [np.linalg.norm(end(SEMI_IMPLICIT_EULER, step) - exact) for step in (1e-3, 5e-4)]

    assert np.linalg.norm(end(RK4, 1e-3) - exact) < 2e-3
    assert euler[0] / euler[1] == pytest.approx(2.0, rel=0.3)
