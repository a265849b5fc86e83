"""A start in equilibrium on any ground: still when braked, steady when rolling, rejected where nothing carries it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from terrain.ground import FlatGround
from vehicle_dynamics.driving.equilibrium import TOLERANCE, NoEquilibriumError
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.vehicle_state import SPIN_RATE, STATE_SIZE, THETA_RATE

LEVEL = FlatGround()
PARKED, ROLLING = Pedals(brake=1.0), Pedals(selected=NEUTRAL)
VELOCITIES = slice(15, STATE_SIZE)
WEIGHT = 2573.138 * 9.81  # [N]

SITES = {
    "level": (LEVEL, {}),
    "rotated": (LEVEL, {"x": 5.0, "y": -3.0, "heading": 2.0}),
    "far away": (LEVEL, {"x": 1e5, "y": -1e5}),
    "up 30 %": (FlatGround(slope_x=0.3), {}),
    "down 30 %": (FlatGround(slope_x=0.3), {"heading": math.pi}),
    "left side up 30 %": (FlatGround(slope_y=0.3), {}),
    "oblique": (FlatGround(slope_x=0.2, slope_y=0.2), {"heading": 0.5}),
    "front axle on a bump": (FlatGround(bump_start_m=1.0, bump_length_m=2.0, bump_height_m=0.1), {}),
    "one wheel on a bump": (FlatGround(bump_start_m=1.0, bump_length_m=2.0, bump_height_m=0.1), {"heading": 0.6}),
}


@pytest.fixture(params=SITES)
def position(request: pytest.FixtureRequest) -> tuple[FlatGround, dict[str, float]]:
    return SITES[request.param]


def test_braked_vehicle_is_still_from_the_first_step_on(
    car: Hmmwv, position: tuple[FlatGround, dict[str, float]]
) -> None:
    ground, where = position
    state = car.start(ground, **where)

    for steps in (1, 99, 900):
        assert car.advance(state, PARKED, ground, steps) == steps
        # The equilibrium search may leave 1e-9 m/s^2, 1e-10 m/s in a tenth of a second.
        assert np.abs(state[VELOCITIES]).max() < 1e-10


@pytest.mark.parametrize("name", ["up 30 %", "down 30 %", "left side up 30 %", "oblique"])
def test_parked_vehicle_does_not_creep_down_a_slope(car: Hmmwv, name: str) -> None:
    ground, where = SITES[name]
    state = car.start(ground, **where)
    before = state.copy()

    car.advance(state, PARKED, ground, 60_000)

    assert np.linalg.norm(state[:3] - before[:3]) < 1e-3  # [m] in a minute
    assert np.abs(state[VELOCITIES]).max() < 1e-10


def test_start_is_at_the_given_pose(car: Hmmwv) -> None:
    seen = car.snapshot(car.start(LEVEL, x=5.0, y=-3.0, heading=2.0), PARKED, LEVEL)

    base = seen["position"] + Rotation.from_quat(seen["attitude"]).apply(car.base_in_chassis)
    assert_allclose(base, [5.0, -3.0, 0.0], atol=1e-6)
    x, y, z, w = seen["attitude"]
    assert math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)) == pytest.approx(2.0, abs=1e-12)


def test_vehicle_stands_as_the_reference_does(car: Hmmwv) -> None:
    seen = car.snapshot(car.start(LEVEL), PARKED, LEVEL)

    # The reference after its drop; bounds are those of the project: 1 % of axle loads, 10 mm of heights.
    assert_allclose(seen["load"].reshape(2, 2).sum(axis=1), [12988.9, 12254.7], rtol=0.01)
    assert_allclose(seen["position"][2], 0.586522, atol=0.01)
    assert_allclose(seen["spring_compression"], [0.044771, 0.044762, 0.025942, 0.025934], atol=0.01)


@pytest.mark.parametrize("speed", [0.0, 20.0])
def test_loads_carry_the_weight(car: Hmmwv, speed: float) -> None:
    seen = car.snapshot(car.start(LEVEL, speed=speed), ROLLING, LEVEL)

    assert seen["load"].sum() == pytest.approx(WEIGHT, rel=1e-6)


def test_loads_on_a_slope_carry_their_share_of_the_weight(car: Hmmwv) -> None:
    slope = FlatGround(slope_x=0.3)
    seen = car.snapshot(car.start(slope), PARKED, slope)

    incline = math.atan(0.3)
    assert seen["load"].sum() == pytest.approx(WEIGHT * math.cos(incline), rel=1e-6)
    # Toe-in turns the front tyres' forces 1 degree out of the slope's line: 2e-4 of them.
    assert seen["force_along"].sum() == pytest.approx(WEIGHT * math.sin(incline), rel=1e-3)


@pytest.mark.parametrize("speed", [1.0, 3.0, 10.0, 20.0, 30.0, -1.0, -5.0, -10.0])
def test_rolling_vehicle_starts_without_a_jolt(car: Hmmwv, speed: float) -> None:
    start = car.start(LEVEL, speed=speed)
    state = start.copy()

    car.advance(state, ROLLING, LEVEL, 1)

    change = (state - start) / car.step_s
    # The residual of the search, and rounding of numbers up to 65 (spin rates) over a step of 1 ms.
    left = TOLERANCE + 65.0 * np.finfo(float).eps / car.step_s
    assert abs(change[17]) < left  # vertical
    assert np.abs(change[18:20]).max() < left  # roll and pitch
    assert np.abs(change[THETA_RATE]).max() < left
    assert np.abs(change[SPIN_RATE]).max() < left

    car.advance(state, ROLLING, LEVEL, 999)

    assert abs(state[2] - start[2]) < 1e-4  # [m]: as rolling resistance begins to brake, the vehicle dips by 0.01 mm
    assert np.abs(state[18:21]).max() < 1e-4


@pytest.mark.parametrize("speed", [5.0, 20.0])
def test_vehicle_can_start_rolling_on_a_slope(car: Hmmwv, speed: float) -> None:
    slope = FlatGround(slope_x=0.1, slope_y=0.05)
    seen = car.snapshot(car.start(slope, heading=0.4, speed=speed), ROLLING, slope)

    normal = np.array([-0.1, -0.05, 1.0]) / np.linalg.norm([-0.1, -0.05, 1.0])
    assert np.linalg.norm(seen["velocity"]) == pytest.approx(speed, rel=1e-12)
    assert abs(seen["velocity"] @ normal) < 1e-9 * speed  # along the ground


@pytest.mark.parametrize(
    "ground",
    [
        FlatGround(slope_x=50.0),
        FlatGround(slope_y=50.0),
        FlatGround(bump_length_m=2.0, bump_height_m=50.0),
    ],
    ids=["wall ahead", "wall beside", "spike"],
)
def test_start_is_rejected_where_no_ground_can_carry_it(car: Hmmwv, ground: FlatGround) -> None:
    with pytest.raises(NoEquilibriumError, match=r"finds no balance: .* are left, at x 0 m, y 0 m"):
        car.start(ground)


@pytest.mark.parametrize(
    "where", [{"x": math.nan}, {"y": math.inf}, {"heading": math.nan}, {"speed": -math.inf}, {"gear": 4}, {"gear": -1}]
)
def test_invalid_start_is_rejected(car: Hmmwv, where: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be finite|gear: must be 0 \(by speed\) to 3"):
        car.start(LEVEL, **where)  # type: ignore[arg-type]


def test_gear_fits_the_speed(car: Hmmwv) -> None:
    gears = [int(car.snapshot(car.start(LEVEL, speed=speed), ROLLING, LEVEL)["gear"]) for speed in (0.0, 8.0, 18.0)]

    assert gears == [1, 2, 3]
    assert int(car.snapshot(car.start(LEVEL, speed=8.0, gear=3), ROLLING, LEVEL)["gear"]) == 3


def test_start_is_the_same_to_the_bit_each_time(car: Hmmwv, position: tuple[FlatGround, dict[str, float]]) -> None:
    ground, where = position
    assert_array_equal(car.start(ground, **where), car.start(ground, **where))
