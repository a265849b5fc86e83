"""Physics at the limits: falls, roll-overs, steep slopes, kerbs, long steps. Finite always, never through the ground.

A diverging motion ends with fewer steps than requested and the last valid state, not with NaN.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from terrain.ground import FlatGround
from vehicle_dynamics.driving.body_contact import DEEPEST
from vehicle_dynamics.driving.state import DEFLECTION
from vehicle_dynamics.hmmwv import LONGEST_STEP_S, Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle_state import ATTITUDE, POSITION, STATE_SIZE

Array = NDArray[np.float64]

ROAD = FlatGround()
HURRIED_S = 0.0025
PARKED = Pedals(brake=1.0)
VELOCITIES = slice(15, STATE_SIZE)
RESTING_POINT = 0.1  # [m]: a body at rest sinks in by less; 25 kN on one of its points would press it in by 0.063 m


@pytest.fixture(params=["euler", "rk4"])
def either_car(parameters: VehicleParameters, request: pytest.FixtureRequest) -> Hmmwv:
    return Hmmwv(parameters, method=request.param)


@pytest.fixture(params=["euler", "rk4"])
def hurried_car(parameters: VehicleParameters, request: pytest.FixtureRequest) -> Hmmwv:
    """The HMMWV with the longest step that a scenario can have: it must fit into 10 ms, and be allowed."""
    assert HURRIED_S <= LONGEST_STEP_S < 2.0 * HURRIED_S
    return Hmmwv(parameters, method=request.param, step_s=HURRIED_S)


def laid(car: Hmmwv, roll_deg: float, pitch_deg: float = 0.0) -> Array:
    """State at rest, rotated, with the lowest point of the body 1 m above the ground."""
    state = car.start(ROAD)
    state[2], state[DEFLECTION] = 0.0, 0.0
    state[ATTITUDE] = Rotation.from_euler("YX", [pitch_deg, roll_deg], degrees=True).as_quat()
    state[2] = 1.0 - lowest_point(car, state)
    return state


def lowest_point(car: Hmmwv, state: Array, ground: FlatGround = ROAD) -> float:
    """Height of the body over the ground [m]."""
    points = state[POSITION] + Rotation.from_quat(state[ATTITUDE]).apply(car.kernel.body.points)
    return float((points[:, 2] - ground.slope_x * points[:, 0] - ground.slope_y * points[:, 1]).min())


def watched(car: Hmmwv, state: Array, pedals: Pedals, ground: FlatGround, seconds: float) -> Array:
    """States every 10 ms, until the motion diverges."""
    every = round(0.01 / car.step_s)
    states = [state.copy()]
    for _ in range(round(seconds / 0.01)):
        made = car.advance(state, pedals, ground, every)
        states.append(state.copy())
        if made < every:
            break
    assert np.isfinite(states).all()
    return np.array(states)


@pytest.mark.parametrize("height", [1.0, 3.0])
def test_dropped_vehicle_lands_bounces_lower_and_stands(either_car: Hmmwv, height: float) -> None:
    state = either_car.start(ROAD)
    rest = state[2]
    state[2] += height

    states = watched(either_car, state, PARKED, ROAD, 10.0)

    heights = states[:, 2]
    assert len(states) == 1001
    assert heights.max() == heights[0]
    landed = int(heights.argmin())
    assert heights[landed:].max() < rest + 0.5 * height
    assert abs(state[2] - rest) < 0.01
    assert np.abs(state[VELOCITIES]).max() < 1e-6
    assert min(lowest_point(either_car, item) for item in states) > -DEEPEST


@pytest.mark.parametrize(
    ("roll_deg", "pitch_deg"), [(180.0, 0.0), (90.0, 0.0), (-90.0, 0.0), (0.0, 90.0), (0.0, -90.0), (100.0, 30.0)]
)
def test_overturned_vehicle_comes_to_rest_on_the_ground(either_car: Hmmwv, roll_deg: float, pitch_deg: float) -> None:
    state = laid(either_car, roll_deg, pitch_deg)

    states = watched(either_car, state, PARKED, ROAD, 20.0)

    assert len(states) == 2001
    assert np.abs(state[VELOCITIES]).max() < 1e-6
    assert lowest_point(either_car, state) > -RESTING_POINT
    assert min(lowest_point(either_car, item) for item in states) > -DEEPEST
    assert states[:, 2].max() == states[0, 2]  # not thrown up


def test_tumbling_vehicle_can_always_be_simulated(car: Hmmwv) -> None:
    random = np.random.default_rng(0)
    ended_early = 0
    for attitude in Rotation.random(20, random_state=1).as_quat():
        state = laid(car, 0.0)
        state[2], state[ATTITUDE] = 0.0, attitude
        state[2] = 1.0 - lowest_point(car, state)
        state[15:18], state[18:21] = random.uniform(-10.0, 10.0, 3), random.uniform(-4.0, 4.0, 3)
        ended_early += len(watched(car, state, PARKED, ROAD, 4.0)) < 401

    assert ended_early == 0


@pytest.mark.parametrize("roll_deg", range(0, 360, 15))
def test_fall_onto_any_side_stays_finite_and_above_ground(car: Hmmwv, roll_deg: float) -> None:
    state = laid(car, roll_deg, pitch_deg=10.0)

    states = watched(car, state, PARKED, ROAD, 5.0)

    assert min(lowest_point(car, item) for item in states) > -DEEPEST
    assert np.abs(states[:, VELOCITIES]).max() < 100.0  # [m/s, rad/s]: a fall from 2 m ends at 6 m/s


def test_body_carries_the_vehicle_on_its_roof(car: Hmmwv) -> None:
    state = laid(car, 180.0)
    car.advance(state, PARKED, ROAD, 20_000)
    points = state[POSITION] + Rotation.from_quat(state[ATTITUDE]).apply(car.kernel.body.points)

    carried = car.kernel.body.stiffness * np.clip(-points[:, 2], 0.0, None).sum()

    assert carried == pytest.approx(2573.138 * 9.81, rel=1e-6)
    assert car.snapshot(state, PARKED, ROAD)["load"].sum() == 0.0  # wheels up


def test_body_slides_to_a_halt_by_its_friction(car: Hmmwv) -> None:
    state = laid(car, 180.0)
    car.advance(state, PARKED, ROAD, 20_000)
    state[15] = 5.0

    car.advance(state, PARKED, ROAD, 500)

    # mu g for half a second; the swing of the hanging wheels averages out.
    assert 5.0 - state[15] == pytest.approx(0.5 * 9.81 * 0.5, rel=0.02)
    car.advance(state, PARKED, ROAD, 5_000)
    assert abs(state[15]) < 1e-3


@pytest.mark.parametrize("across", [False, True], ids=["along", "across"])
def test_vehicle_on_a_slope_of_60_degrees_slides_down_it(either_car: Hmmwv, across: bool) -> None:
    steep = math.tan(math.radians(60.0))
    ground = FlatGround(slope_y=steep) if across else FlatGround(slope_x=steep)
    state = either_car.start(ROAD)
    up = np.array([0.0, -1.0, 0.0]) if across else np.array([-1.0, 0.0, 0.0])
    normal = math.sin(math.radians(60.0)) * up + np.array([0.0, 0.0, 0.5])
    state[POSITION] = state[2] * normal
    state[ATTITUDE] = Rotation.from_euler("X" if across else "Y", 60.0 if across else -60.0, degrees=True).as_quat()

    states = watched(either_car, state, PARKED, ground, 5.0)

    assert len(states) == 501
    assert state[2] < -10.0  # far down
    assert min(lowest_point(either_car, item, ground) for item in states) > -DEEPEST / 0.5  # measured along z
    assert np.linalg.norm(state[15:18]) < 9.81 * 5.0  # slower than a free fall


@pytest.mark.parametrize(("height", "length"), [(0.15, 0.3), (0.15, 1.0), (0.3, 0.3)])
def test_kerb_at_20_metres_per_second_can_be_simulated(either_car: Hmmwv, height: float, length: float) -> None:
    kerb = FlatGround(bump_start_m=5.0, bump_length_m=length, bump_height_m=height)
    state = either_car.start(kerb, speed=20.0)
    rest = state[2]

    states = watched(either_car, state, Pedals(), kerb, 5.0)

    assert len(states) == 501
    assert state[0] > 50.0  # beyond it
    assert 0.0 < state[15] < 20.0  # slower
    assert abs(state[2] - rest) < 0.01  # on its wheels again
    assert states[:, 2].max() < rest + 1.0


@pytest.mark.parametrize("roll_deg", [0.0, 90.0, 180.0])
def test_the_longest_step_stays_finite_and_on_the_ground(hurried_car: Hmmwv, roll_deg: float) -> None:
    state = laid(hurried_car, roll_deg)

    states = watched(hurried_car, state, PARKED, ROAD, 10.0)

    assert len(states) == 1001
    assert lowest_point(hurried_car, state) > -RESTING_POINT
    # A fall from 2 m; whatever the step.
    assert np.abs(states[:, VELOCITIES]).max() < 20.0


def test_the_longest_step_drives_the_same_way(hurried_car: Hmmwv, car: Hmmwv) -> None:
    ends = []
    for vehicle in (hurried_car, car):
        state = vehicle.start(ROAD, speed=10.0)
        watched(vehicle, state, Pedals(steering=0.1, throttle=0.2), ROAD, 2.0)
        ends.append(state[POSITION].copy())

    assert_allclose(ends[0], ends[1], atol=0.1)  # [m] of 20 m: first order in the step, 20 mm per ms


def test_vehicle_placed_underground_surfaces_and_is_not_ejected(car: Hmmwv) -> None:
    state = car.start(ROAD)
    state[2] -= 100.0

    states = watched(car, state, PARKED, ROAD, 30.0)

    assert len(states) == 3001
    assert np.abs(states[:, 17]).max() < 20.0  # [m/s]
    assert state[2] == pytest.approx(0.5865, abs=0.01)


def test_body_contact_does_not_affect_a_driving_vehicle(car: Hmmwv, parameters: VehicleParameters) -> None:
    bare = Hmmwv(parameters)
    bare.kernel = bare.kernel._replace(body=bare.kernel.body._replace(points=np.zeros((0, 3))))
    ends = []
    for vehicle in (car, bare):
        state = vehicle.start(ROAD, speed=15.0)
        vehicle.advance(state, Pedals(steering=0.2, throttle=0.5), ROAD, 2_000)
        ends.append(state)

    np.testing.assert_array_equal(ends[0], ends[1])
