"""The kinematic vehicle: what it follows exactly, because it has no inertia except along its path."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, REVERSE, Pedals
from vehicle_dynamics.single_track import CURVATURE, SPEED, SingleTrack

ROAD = FlatGround()


@pytest.fixture(scope="module")
def track(parameters: VehicleParameters) -> SingleTrack:
    return SingleTrack(parameters)


def test_it_comes_from_the_same_file(track: SingleTrack) -> None:
    other = SingleTrack.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"), step_s=0.002)

    assert other.step_s == 0.002
    assert other.parameters == track.parameters


def test_circle_closes_on_itself(track: SingleTrack) -> None:
    curvature = 0.1
    pedals = Pedals(steering=track.steering_for(curvature), throttle=0.1)
    state = track.start(ROAD, speed=3.0)
    track.advance(state, pedals, ROAD, 2_000)  # steering has settled
    assert state[CURVATURE] == pytest.approx(curvature, abs=1e-12)
    path = []
    for _ in range(400):
        path.append(state[:2].copy())
        track.advance(state, pedals, ROAD, 50)

    points = np.array(path)
    middle = 0.5 * (points.max(axis=0) + points.min(axis=0))
    # Chords of arcs of 3 mm: exact to rounding. The centre is known to the spacing of the points, squared over 8 R.
    assert_allclose(np.linalg.norm(points - middle, axis=1), 1.0 / curvature, atol=2e-3)


def test_steering_takes_its_time(track: SingleTrack) -> None:
    state = track.start(ROAD, speed=5.0)

    track.advance(state, Pedals(steering=1.0), ROAD, 250)

    # From straight to full lock in half a second, as the servo of the multibody model at its fastest.
    assert state[CURVATURE] == pytest.approx(0.5 * track.curvature_at(1.0), rel=1e-9)
    track.advance(state, Pedals(steering=1.0), ROAD, 260)
    assert state[CURVATURE] == track.curvature_at(1.0)


def test_full_throttle_approaches_the_top_speed(track: SingleTrack) -> None:
    state = track.start(ROAD)
    speeds = []
    for _ in range(60):
        track.advance(state, Pedals(throttle=1.0), ROAD, 1_000)
        speeds.append(state[SPEED])

    own = track.parameters.single_track
    # The linearly fading drive and the constant resistance balance below the top speed.
    assert np.all(np.diff(speeds) > -1e-12)
    assert speeds[-1] == pytest.approx(own.top_speed_mps * (1.0 - own.coast_mps2 / own.drive_mps2), rel=1e-4)


def test_coasting_and_braking_are_as_hard_as_the_file_says(track: SingleTrack) -> None:
    own = track.parameters.single_track
    for pedals, deceleration in (
        (Pedals(), own.coast_mps2),
        (Pedals(brake=1.0), own.brake_mps2 + own.coast_mps2),
        (Pedals(brake=0.4), 0.4 * own.brake_mps2 + own.coast_mps2),
    ):
        state = track.start(ROAD, speed=10.0)
        track.advance(state, pedals, ROAD, 1_000)
        assert 10.0 - state[SPEED] == pytest.approx(deceleration, rel=1e-9)


@pytest.mark.parametrize("speed", [4.0, -4.0])
def test_brakes_never_push_backwards(track: SingleTrack, speed: float) -> None:
    state = track.start(ROAD, speed=speed)
    for _ in range(2_000):
        track.advance(state, Pedals(brake=0.7), ROAD, 1)
        assert state[SPEED] * speed >= 0.0
    assert state[SPEED] == 0.0


def test_reverse_changes_the_direction_at_any_speed(track: SingleTrack) -> None:
    state = track.start(ROAD, speed=3.0)

    track.advance(state, Pedals(throttle=1.0, selected=REVERSE), ROAD, 3_000)

    assert state[SPEED] < -3.0


@pytest.mark.parametrize("heading", [0.0, 0.9, math.pi, -2.0])
def test_chassis_follows_the_ground(track: SingleTrack, heading: float) -> None:
    slope = FlatGround(slope_x=0.2, slope_y=-0.1)
    state = track.start(slope, x=3.0, y=-2.0, heading=heading, speed=4.0)
    track.advance(state, Pedals(selected=NEUTRAL), slope, 100)

    seen = track.snapshot(state, Pedals(), slope)

    world = Rotation.from_quat(seen["attitude"])
    normal = np.array([-0.2, 0.1, 1.0]) / np.linalg.norm([-0.2, 0.1, 1.0])
    level = track.snapshot(track.start(ROAD), Pedals(), ROAD)
    upright = Rotation.from_quat(level["attitude"]).inv().apply([0.0, 0.0, 1.0])
    # The chassis is pitched by 2.8 mrad on level ground; on a bank, that is rotated by the slope's product: 1e-5 rad.
    assert_allclose(world.apply(upright), normal, atol=1e-4)
    base = seen["position"] + world.apply(track.base_in_chassis)
    assert base @ normal == pytest.approx(0.0, abs=1e-12)
    assert abs(seen["velocity"] @ normal) < 1e-3  # along the ground


def test_speed_on_a_slope_is_along_the_slope(track: SingleTrack) -> None:
    slope = FlatGround(slope_x=0.3)
    state = track.start(slope, speed=-5.0)
    before = track.snapshot(state, Pedals(), slope)["position"]

    track.advance(state, Pedals(brake=0.4), slope, 100)

    after = track.snapshot(state, Pedals(), slope)["position"]
    mean_speed = 0.5 * (state[SPEED] - 5.0)
    assert np.linalg.norm(after - before) == pytest.approx(0.1 * abs(mean_speed), rel=1e-6)
    assert (after - before)[2] / (after - before)[0] == pytest.approx(0.3, rel=1e-9)


def test_start_that_is_not_finite_is_rejected(track: SingleTrack) -> None:
    with pytest.raises(ValueError, match="start: x, y, heading and speed must be finite"):
        track.start(ROAD, speed=math.nan)
