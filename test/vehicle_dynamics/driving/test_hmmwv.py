"""The HMMWV as one object: states by name, dynamics, drag, anti-roll bars, turning circle, order of its integrators."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from terrain.ground import FlatGround
from vehicle_dynamics.driving.state import GEAR, MOVING_SIZE, DrivingState
from vehicle_dynamics.hmmwv import DivergedError, Hmmwv
from vehicle_dynamics.parameters import Aerodynamics, VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.vehicle_state import VehicleState

Array = NDArray[np.float64]

ROAD = FlatGround()
COASTING = Pedals(selected=NEUTRAL)
MASS = 2573.138  # [kg]


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_steps_of_named_states_are_those_of_arrays(parameters: VehicleParameters, method: str) -> None:
    car = Hmmwv(parameters, method=method)
    pedals = Pedals(steering=0.2, throttle=0.7)
    array = car.start(ROAD, speed=6.0)
    named = car.initial_state(ROAD, speed=6.0)

    for _ in range(5):
        car.advance(array, pedals, ROAD, 100)
        named = car.step(named, pedals, ROAD, 0.1)

    assert_array_equal(named.to_array(), array)


def test_state_goes_to_an_array_and_back(car: Hmmwv) -> None:
    state = car.start(ROAD, speed=12.0)
    car.advance(state, Pedals(steering=-0.3, throttle=1.0), ROAD, 1_500)

    named = DrivingState.from_array(state)

    assert_array_equal(named.to_array(), state)
    assert named.gear == int(state[GEAR])
    state[:] = 0.0
    assert named.body.velocity[0] > 1.0  # a copy


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"deflection": np.zeros(7)}, "deflection: must be 8 finite numbers"),
        ({"stuck": np.array([0.0, 0.0, math.nan, 0.0])}, "stuck: must be 4 finite numbers"),
        ({"gear": 0}, "gear at least 1"),
        ({"pitman": math.inf}, "must be finite"),
    ],
)
def test_invalid_state_is_rejected(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DrivingState(**change)  # type: ignore[arg-type]


@pytest.mark.parametrize("dt", [0.0, -0.01, 0.0005, 0.00149])
def test_time_that_is_not_a_whole_number_of_steps_is_rejected(car: Hmmwv, dt: float) -> None:
    with pytest.raises(ValueError, match=r"dt: must be a whole number of steps of 0\.001 s"):
        car.step(car.initial_state(ROAD), Pedals(), ROAD, dt)


def test_diverging_motion_is_reported(car: Hmmwv) -> None:
    start = car.initial_state(ROAD)
    beyond = dataclasses.replace(start, body=dataclasses.replace(start.body, theta=np.full(4, -1.0)))

    with pytest.raises(DivergedError, match="the motion diverges at"):
        car.step(beyond, Pedals(), ROAD, 0.01)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "verlet"}, "method: must be one of euler, rk4"),
        ({"powertrain": "steam"}, "powertrain: must be one of converter, map"),
    ],
)
def test_unknown_choices_are_rejected(parameters: VehicleParameters, options: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Hmmwv(parameters, **options)  # type: ignore[arg-type]


def test_flying_vehicle_moves_by_its_forward_dynamics(car: Hmmwv) -> None:
    start = car.initial_state(ROAD)
    body = VehicleState(
        position=np.array([0.0, 0.0, 100.0]),
        attitude=Rotation.from_euler("ZYX", [0.5, -0.3, 0.8]).as_quat(),
        theta=np.array([-0.2, -0.1, -0.15, -0.05]),
        velocity=np.array([3.0, -1.0, 2.0]),
        angular_velocity=np.array([0.3, -0.5, 0.4]),
        theta_rate=np.array([0.5, -0.3, 0.2, 0.4]),
        spin_rate=np.full(4, 20.0),
    )
    state = dataclasses.replace(start, body=body).to_array()

    seen = car.snapshot(state, COASTING, ROAD)
    given = car.forward_dynamics(body)

    assert_allclose(seen["angular_acceleration"], given[:3], rtol=1e-12, atol=1e-12)
    assert_allclose(seen["acceleration"], Rotation.from_quat(body.attitude).apply(given[3:6]), rtol=1e-12, atol=1e-12)
    assert np.all(seen["load"] == 0.0)


def test_forward_dynamics_accept_only_forces_of_the_right_shape(car: Hmmwv) -> None:
    body = car.initial_state(ROAD).body
    lifted = car.forward_dynamics(body, chassis_force=[0.0, 0.0, 0.0, 0.0, 0.0, 1e5])

    assert lifted[5] > car.forward_dynamics(body)[5] + 20.0
    for wrong in ({"chassis_force": np.zeros(5)}, {"wheel_force": np.zeros(6)}, {"spin_torque": [math.nan] * 4}):
        with pytest.raises(ValueError, match="forces: must be finite and of shape"):
            car.forward_dynamics(body, **wrong)  # type: ignore[arg-type]


def with_drag(parameters: VehicleParameters, area: float) -> VehicleParameters:
    """Drag at the centre of mass, where it does not pitch the vehicle."""
    return dataclasses.replace(parameters, aerodynamics=Aerodynamics(drag_area_m2=area, centre_m=(0.048, 0.0, 0.152)))


@pytest.mark.parametrize("speed", [10.0, -20.0, 30.0])
def test_drag_slows_with_the_square_of_speed(parameters: VehicleParameters, car: Hmmwv, speed: float) -> None:
    state = car.start(ROAD, speed=speed)
    dragged = Hmmwv(with_drag(parameters, 2.5))

    free, slowed = (vehicle.snapshot(state, COASTING, ROAD)["acceleration"][0] for vehicle in (car, dragged))

    # At the instant the drag acts, the whole mass resists it; suspensions yield by less than a percent.
    assert slowed - free == pytest.approx(-0.5 * 1.225 * 2.5 * speed * abs(speed) / MASS, rel=0.01)


def test_drag_does_not_affect_a_standing_vehicle(parameters: VehicleParameters, car: Hmmwv) -> None:
    assert_array_equal(Hmmwv(with_drag(parameters, 2.5)).start(ROAD), car.start(ROAD))


def with_bars(parameters: VehicleParameters, front: float, rear: float) -> VehicleParameters:
    return dataclasses.replace(
        parameters,
        front_suspension=dataclasses.replace(parameters.front_suspension, antiroll_nmprad=front),
        rear_suspension=dataclasses.replace(parameters.rear_suspension, antiroll_nmprad=rear),
    )


def in_a_turn(car: Hmmwv) -> tuple[float, Array]:
    """Roll [rad] and load transfer [N] of the axles in a left turn of some 3 m/s^2."""
    state = car.start(ROAD, speed=10.0)
    pedals = Pedals(steering=0.2, throttle=0.2)
    car.advance(state, pedals, ROAD, 2_500)
    seen = car.snapshot(state, pedals, ROAD)
    loads = seen["load"].reshape(2, 2)
    return float(Rotation.from_quat(seen["attitude"]).as_euler("ZYX")[2]), loads[:, 1] - loads[:, 0]


def test_antiroll_bar_reduces_roll_and_loads_its_axle(parameters: VehicleParameters, car: Hmmwv) -> None:
    roll, transfer = in_a_turn(car)
    front_roll, front_transfer = in_a_turn(Hmmwv(with_bars(parameters, 20_000.0, 0.0)))
    rear_roll, rear_transfer = in_a_turn(Hmmwv(with_bars(parameters, 0.0, 20_000.0)))

    assert 0.0 < front_roll < 0.95 * roll
    assert 0.0 < rear_roll < 0.95 * roll
    assert front_transfer[0] / front_transfer[1] > transfer[0] / transfer[1] > rear_transfer[0] / rear_transfer[1]
    assert front_transfer.sum() == pytest.approx(transfer.sum(), rel=0.05)  # that of the same turn


def test_antiroll_bars_have_no_force_when_both_wheels_move_alike(parameters: VehicleParameters, car: Hmmwv) -> None:
    barred, plain = Hmmwv(with_bars(parameters, 20_000.0, 20_000.0)).start(ROAD), car.start(ROAD)

    # The steering's masses are not symmetric: left and right differ by 1e-4 of their angles.
    assert_allclose(barred[:11], plain[:11], atol=1e-4)


def radius(path: Array) -> float:
    """Radius of the circle through many points [m]."""
    equations = np.column_stack([2.0 * path[:, :2], np.ones(len(path))])
    x, y, rest = np.linalg.lstsq(equations, (path[:, :2] ** 2).sum(axis=1), rcond=None)[0]
    return float(np.sqrt(rest + x * x + y * y))


@pytest.mark.parametrize("steering", [1.0, -1.0])
def test_turning_circle_is_a_hmmwv_s(car: Hmmwv, steering: float) -> None:
    state = car.start(ROAD, speed=2.0)
    base, wheels = [], []
    wound_up = 0.0
    for count in range(1_500):
        missing = 2.0 - float(np.hypot(state[15], state[16]))
        wound_up += 0.02 * missing
        pedals = Pedals(steering, min(max(0.15 * missing + 0.1 * wound_up, 0.0), 1.0))
        car.advance(state, pedals, ROAD, 20)
        if count > 500:
            seen = car.snapshot(state, pedals, ROAD)
            world = Rotation.from_quat(seen["attitude"])
            base.append(seen["position"] + world.apply(car.base_in_chassis))
            wheels.append(seen["position"] + world.apply(seen["wheel_centre"][1 if steering > 0.0 else 0]))

    assert radius(np.array(base)) == pytest.approx(1.0 / abs(car.curvature_at(steering)), rel=0.03)
    # 7.62 m is the vehicle's published least turning radius, curb to curb.
    assert radius(np.array(wheels)) == pytest.approx(7.62, rel=0.10)


def coasted(parameters: VehicleParameters, method: str, step: float) -> Array:
    """Moving state after half a second of a turn in neutral in which everything is smooth.

    The servo moves the steering, not as fast as it can; dampers are linear, since theirs have kinks at rest and at the
    ends of the middle stroke, which cost any method its order.
    """
    car = Hmmwv(parameters, method=method, step_s=step, powertrain="map")
    corners = car.kernel.bodies.corners.copy()
    for rate in ("compression", "rebound", "outer_compression", "outer_rebound"):
        corners["strut"][rate] = 20_000.0  # [N s/m]
    car.kernel = car.kernel._replace(bodies=car.kernel.bodies._replace(corners=corners))
    state = car.start(ROAD, speed=10.0)
    assert car.advance(state, Pedals(steering=0.02, selected=NEUTRAL), ROAD, round(0.5 / step)) == round(0.5 / step)
    return state[:MOVING_SIZE]


@pytest.mark.parametrize(("method", "order"), [("euler", 1.0), ("rk4", 4.0)])
def test_integrators_show_their_order(parameters: VehicleParameters, method: str, order: float) -> None:
    exact = coasted(parameters, "rk4", 0.05e-3)
    errors = [np.abs(coasted(parameters, method, step) - exact).max() for step in (2e-3, 1e-3, 0.5e-3)]

    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert_allclose(orders, order, atol=0.1)
