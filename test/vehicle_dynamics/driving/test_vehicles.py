"""Guarantees of every vehicle, whatever its fidelity: the same interface, repeatable bits, consistent snapshots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from terrain.ground import FlatGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import DRIVE, NEUTRAL, REVERSE, Pedals
from vehicle_dynamics.single_track import SingleTrack
from vehicle_dynamics.vehicle import Vehicle

ROAD = FlatGround()
PARKED = Pedals(brake=1.0)
DRIVEN = [
    Pedals(throttle=0.6),
    Pedals(steering=0.3, throttle=0.4),
    Pedals(steering=-0.2, brake=0.3),
    Pedals(steering=-0.2, throttle=0.8),
]


def forward_speed(vehicle: Vehicle, state: np.ndarray, ground: FlatGround = ROAD) -> float:
    seen = vehicle.snapshot(state, Pedals(), ground)
    return float(Rotation.from_quat(seen["attitude"]).inv().apply(seen["velocity"])[0])


def drive(vehicle: Vehicle, state: np.ndarray) -> list[np.ndarray]:
    """States after each second of a lively drive."""
    states = []
    for pedals in DRIVEN:
        assert vehicle.advance(state, pedals, ROAD, 1_000) == 1_000
        states.append(state.copy())
    return states


def test_same_drive_gives_the_same_bits(any_vehicle: Vehicle) -> None:
    first, second = (drive(any_vehicle, any_vehicle.start(ROAD, speed=5.0)) for _ in range(2))

    assert_array_equal(first, second)


def test_another_vehicle_with_the_same_parameters_gives_the_same_bits(parameters: VehicleParameters) -> None:
    for kind in (Hmmwv, SingleTrack):
        runs = [drive(vehicle, vehicle.start(ROAD, speed=5.0)) for vehicle in (kind(parameters), kind(parameters))]
        assert_array_equal(runs[0], runs[1])


def test_copy_of_the_state_restores_to_the_bit(any_vehicle: Vehicle) -> None:
    state = any_vehicle.start(ROAD, speed=5.0)
    any_vehicle.advance(state, DRIVEN[1], ROAD, 777)
    saved = state.copy()
    any_vehicle.advance(state, DRIVEN[3], ROAD, 1_500)

    drive(any_vehicle, any_vehicle.start(ROAD, x=3.0))  # something else in between
    any_vehicle.advance(saved, DRIVEN[3], ROAD, 1_500)

    assert_array_equal(saved, state)


def test_many_steps_at_once_are_many_single_steps(any_vehicle: Vehicle) -> None:
    at_once, one_by_one = any_vehicle.start(ROAD, speed=5.0), any_vehicle.start(ROAD, speed=5.0)

    any_vehicle.advance(at_once, DRIVEN[1], ROAD, 200)
    for _ in range(200):
        any_vehicle.advance(one_by_one, DRIVEN[1], ROAD, 1)
        any_vehicle.snapshot(one_by_one, DRIVEN[1], ROAD)  # a snapshot changes nothing

    assert_array_equal(at_once, one_by_one)


def test_snapshot_does_not_change_the_state_or_earlier_snapshots(any_vehicle: Vehicle) -> None:
    state = any_vehicle.start(ROAD, speed=5.0)
    any_vehicle.advance(state, DRIVEN[1], ROAD, 500)
    before = state.copy()

    first = any_vehicle.snapshot(state, DRIVEN[1], ROAD)
    kept = first.copy()
    any_vehicle.snapshot(any_vehicle.start(ROAD), PARKED, ROAD)

    assert_array_equal(state, before)
    assert first == kept
    assert first == any_vehicle.snapshot(state, DRIVEN[1], ROAD)


def test_snapshot_s_rates_are_those_of_its_positions(any_vehicle: Vehicle) -> None:
    pedals = Pedals(steering=0.3, throttle=0.5)
    state = any_vehicle.start(ROAD, speed=8.0, heading=0.7)
    any_vehicle.advance(state, pedals, ROAD, 800)  # steering has settled
    seen = []
    for _ in range(41):
        seen.append(any_vehicle.snapshot(state, pedals, ROAD))
        any_vehicle.advance(state, pedals, ROAD, 1)
    records = np.array(seen)
    span, middle = 40 * any_vehicle.step_s, records[20]

    # Central differences over 40 ms of a turn with 1 rad/s and jerks of some 10 m/s^3: 1e-3 of them. Semi-implicit
    # steps add half a step's acceleration to velocities: 2e-3 m/s at 4 m/s^2.
    velocity = (records["position"][40] - records["position"][0]) / span
    acceleration = (records["velocity"][40] - records["velocity"][0]) / span
    assert_allclose(middle["velocity"], velocity, atol=5e-3)
    assert_allclose(middle["acceleration"], acceleration, atol=0.02)
    rotated = Rotation.from_quat(records["attitude"][0]).inv() * Rotation.from_quat(records["attitude"][40])
    assert_allclose(middle["angular_velocity"], rotated.as_rotvec() / span, atol=2e-3)
    assert_allclose(
        middle["angular_acceleration"],
        (records["angular_velocity"][40] - records["angular_velocity"][0]) / span,
        atol=0.02,
    )
    assert_allclose(middle["spin_rate"], (records["spin"][40] - records["spin"][0]) / span, atol=0.02)
    assert_allclose(middle["arm_rate"], (records["arm_angle"][40] - records["arm_angle"][0]) / span, atol=2e-3)


def test_snapshot_holds_the_pedals_within_their_limits(any_vehicle: Vehicle) -> None:
    seen = any_vehicle.snapshot(any_vehicle.start(ROAD), Pedals(1e6, -3.0, 1e308, REVERSE), ROAD)

    assert (seen["steering"], seen["throttle"], seen["brake"], seen["selected"]) == (1.0, 0.0, 1.0, -1.0)


def test_loads_carry_the_weight_and_wheels_stand_on_the_ground(any_vehicle: Vehicle) -> None:
    seen = any_vehicle.snapshot(any_vehicle.start(ROAD, heading=1.0), PARKED, ROAD)

    assert seen["load"].sum() == pytest.approx(2573.138 * 9.81, rel=1e-6)
    centres = seen["position"] + Rotation.from_quat(seen["attitude"]).apply(seen["wheel_centre"])
    # Loaded tyres are 15 to 16 mm flatter.
    assert_allclose(centres[:, 2], any_vehicle.wheel_radius - 0.0155, atol=2e-3)


def test_base_is_on_the_ground_under_the_rear_axle(any_vehicle: Vehicle) -> None:
    seen = any_vehicle.snapshot(any_vehicle.start(ROAD, x=2.0, y=1.0, heading=0.8), PARKED, ROAD)
    world = Rotation.from_quat(seen["attitude"])

    base = seen["position"] + world.apply(any_vehicle.base_in_chassis)
    rear = seen["position"] + world.apply(seen["wheel_centre"][2:].mean(axis=0))

    assert base[2] == pytest.approx(0.0, abs=1e-5)
    assert_allclose(base[:2], rear[:2], atol=1e-4)
    assert_allclose(base[:2], [2.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("speed", [3.0, 15.0])
def test_brakes_stop_it_and_keep_it_stopped(any_vehicle: Vehicle, speed: float) -> None:
    state = any_vehicle.start(ROAD, speed=speed)
    started = any_vehicle.snapshot(state, PARKED, ROAD)

    any_vehicle.advance(state, PARKED, ROAD, 8_000)
    stopped = any_vehicle.snapshot(state, PARKED, ROAD)
    any_vehicle.advance(state, PARKED, ROAD, 2_000)
    later = any_vehicle.snapshot(state, PARKED, ROAD)

    # Stopping distance at 4 to 8 m/s^2.
    assert speed**2 / 16.0 < stopped["position"][0] - started["position"][0] < speed**2 / 8.0 + 0.5
    assert np.abs(later["velocity"]).max() < 1e-4
    assert_allclose(later["position"], stopped["position"], atol=1e-3)


@pytest.mark.parametrize(
    ("ground", "heading"),
    [(FlatGround(slope_x=0.3), 0.0), (FlatGround(slope_x=0.3), math.pi), (FlatGround(slope_y=0.3), 0.0)],
    ids=["up", "down", "across"],
)
def test_brakes_hold_it_on_a_slope(any_vehicle: Vehicle, ground: FlatGround, heading: float) -> None:
    state = any_vehicle.start(ground, heading=heading)
    before = any_vehicle.snapshot(state, PARKED, ground)["position"]

    any_vehicle.advance(state, PARKED, ground, 10_000)

    seen = any_vehicle.snapshot(state, PARKED, ground)
    assert np.linalg.norm(seen["position"] - before) < 1e-3
    assert np.abs(seen["velocity"]).max() < 1e-6


def test_without_brakes_it_rolls_down_a_slope(any_vehicle: Vehicle) -> None:
    slope = FlatGround(slope_x=0.1)
    state = any_vehicle.start(slope)

    any_vehicle.advance(state, Pedals(selected=NEUTRAL), slope, 3_000)

    # g sin less rolling resistance, including the wheels' spin inertia and toe-in of the multibody model.
    assert -2.6 < forward_speed(any_vehicle, state, slope) < -1.8


@pytest.mark.parametrize(("selected", "sign"), [(DRIVE, 1.0), (REVERSE, -1.0), (NEUTRAL, 0.0)])
def test_gear_lever_picks_the_direction(any_vehicle: Vehicle, selected: int, sign: float) -> None:
    state = any_vehicle.start(ROAD)

    any_vehicle.advance(state, Pedals(throttle=0.5, selected=selected), ROAD, 3_000)

    speed = forward_speed(any_vehicle, state)
    assert abs(speed) < 1e-3 if sign == 0.0 else sign * speed > 1.0


@pytest.mark.parametrize("steering", [-0.4, 0.4])
@pytest.mark.parametrize("selected", [DRIVE, REVERSE])
def test_vehicle_turns_in_the_steered_direction(any_vehicle: Vehicle, steering: float, selected: int) -> None:
    state = any_vehicle.start(ROAD)

    any_vehicle.advance(state, Pedals(steering, 0.4, 0.0, selected), ROAD, 3_000)

    seen = any_vehicle.snapshot(state, Pedals(steering, 0.4, 0.0, selected), ROAD)
    assert seen["angular_velocity"][2] * steering * selected > 0.0  # in reverse, steering left yaws right
    assert np.all(seen["steer_angle"][:2] * steering > 0.0)
    assert seen["pitman_angle"] * steering < 0.0


@pytest.mark.parametrize("curvature", np.linspace(-0.15, 0.15, 13))
def test_steering_and_curvature_are_inverse(any_vehicle: Vehicle, curvature: float) -> None:
    assert any_vehicle.curvature_at(any_vehicle.steering_for(curvature)) == pytest.approx(curvature, abs=1e-12)


def test_steering_ends_at_its_stops(any_vehicle: Vehicle) -> None:
    assert any_vehicle.steering_for(1e6) == 1.0
    assert any_vehicle.steering_for(-1e6) == -1.0
    assert any_vehicle.curvature_at(5.0) == any_vehicle.curvature_at(1.0) > 0.1
    assert any_vehicle.curvature_at(0.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("steering", [0.3, -0.8])
def test_slow_vehicle_follows_its_table(any_vehicle: Vehicle, steering: float) -> None:
    state = any_vehicle.start(ROAD, speed=2.0)

    any_vehicle.advance(state, Pedals(steering, 0.03), ROAD, 2_500)

    seen = any_vehicle.snapshot(state, Pedals(steering, 0.03), ROAD)
    world = Rotation.from_quat(seen["attitude"])
    rear = world.inv().apply(seen["velocity"]) + np.cross(seen["angular_velocity"], any_vehicle.base_in_chassis)
    # The table is geometry; tyres on four wheels that do not share one centre slip a little.
    assert seen["angular_velocity"][2] / rear[0] == pytest.approx(any_vehicle.curvature_at(steering), rel=0.03)


@pytest.mark.parametrize("pedals", [Pedals(math.nan), Pedals(throttle=math.inf), Pedals(brake=-math.inf)])
def test_pedals_that_are_not_finite_are_rejected_and_change_nothing(any_vehicle: Vehicle, pedals: Pedals) -> None:
    state = any_vehicle.start(ROAD, speed=5.0)
    before = state.copy()

    with pytest.raises(ValueError, match="pedals: must be finite"):
        any_vehicle.advance(state, pedals, ROAD, 10)
    with pytest.raises(ValueError, match="pedals: must be finite"):
        any_vehicle.snapshot(state, pedals, ROAD)

    assert_array_equal(state, before)


def test_unknown_gear_is_rejected(any_vehicle: Vehicle) -> None:
    with pytest.raises(ValueError, match=r"selected: must be -1 \(reverse\), 0 \(neutral\) or 1 \(drive\), got 2"):
        any_vehicle.advance(any_vehicle.start(ROAD), Pedals(selected=2), ROAD, 1)


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros(46, dtype=np.float32), np.zeros((46, 1))])
def test_state_of_another_shape_is_rejected(any_vehicle: Vehicle, wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match="state: must be an array of"):
        any_vehicle.advance(wrong, PARKED, ROAD, 1)


@pytest.mark.parametrize("kind", [Hmmwv, SingleTrack])
@pytest.mark.parametrize("step_s", [0.0, -0.001, 0.0041, math.nan, math.inf])
def test_invalid_steps_are_rejected(parameters: VehicleParameters, kind: type, step_s: float) -> None:
    with pytest.raises(ValueError, match="step_s: must be above 0"):
        kind(parameters, step_s=step_s)


@pytest.mark.parametrize("slope", [0.3, 0.55])
@pytest.mark.parametrize("poke", [1e-9, 1e-3])
def test_standing_vehicle_is_held_by_static_friction_also_when_disturbed(car: Hmmwv, slope: float, poke: float) -> None:
    ground = FlatGround(slope_x=slope)
    state = car.start(ground)
    before = state[:3].copy()
    state[15] -= poke

    car.advance(state, PARKED, ground, 5_000)

    assert np.abs(state[:3] - before).max() < 1e-3  # [m]; sliding friction alone would release it at 47 %


@pytest.mark.parametrize("powertrain", ["converter", "map"])
@pytest.mark.parametrize("gear", [DRIVE, REVERSE])
def test_engine_without_throttle_moves_nothing(parameters: VehicleParameters, powertrain: str, gear: int) -> None:
    car = Hmmwv(parameters, powertrain=powertrain)
    state = car.start(ROAD)

    car.advance(state, Pedals(selected=gear), ROAD, 10_000)

    assert np.abs(state[15:18]).max() < 1e-4
