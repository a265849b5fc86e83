"""10,000 commands and states at and beyond every limit: exceptions only on input, never NaN, always recoverable.

Most examples are drawn in a plain loop from a seeded generator, a thousand by hypothesis, derandomised, which searches
for odd combinations and can shrink a failing one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from terrain.ground import FlatGround
from vehicle_dynamics.driving.state import DRIVING_SIZE, GEAR, PITMAN, PITMAN_RATE
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import DRIVE, MOST_RANGES, NEUTRAL, REVERSE, Pedals
from vehicle_dynamics.vehicle import Vehicle

Array = NDArray[np.float64]

GROUNDS = [
    FlatGround(),
    FlatGround(friction=0.0),
    FlatGround(friction=2.0, slope_x=0.3, slope_y=-0.3),
    FlatGround(slope_x=5.0),
    FlatGround(bump_length_m=0.3, bump_height_m=0.15),
]
GOOD = Pedals(steering=0.3, throttle=0.5)
AT_THE_LIMITS = [0.0, -0.0, 1.0, -1.0, 1e-308, 5e-324, 1.0 + 1e-15, 2.0, -1e6, 1e6, 1e308, -1e308]
NO_NUMBERS = [math.nan, math.inf, -math.inf]
# Extreme values of the state, index by index where that matters.
WILD = [0.0, 1e-300, 1e-3, 1.0, -1.0, 10.0, -100.0, 9_999.0, -9_999.0, 1e5, 1e7, 1e9, -1e9, 1e16, 1e308, -1e308]
EXAMPLES_PER_VEHICLE = 2_250  # of each of four vehicles; a thousand more by hypothesis


@pytest.fixture(scope="module")
def healthy(any_vehicle: Vehicle) -> tuple[Array, Array]:
    """A start, and the state after ten good steps from it."""
    start = any_vehicle.start(GROUNDS[0], speed=8.0)
    after = start.copy()
    any_vehicle.advance(after, GOOD, GROUNDS[0], 10)
    return start, after


def assert_unharmed(vehicle: Vehicle, healthy: tuple[Array, Array]) -> None:
    """Assert that the vehicle drives as before to the bit, whatever it went through."""
    state = healthy[0].copy()
    assert vehicle.advance(state, GOOD, GROUNDS[0], 10) == 10
    assert_array_equal(state, healthy[1])


def wild_pedals(random: np.random.Generator) -> Pedals:
    steering, throttle, brake = random.choice(AT_THE_LIMITS, 3)
    return Pedals(float(steering), float(throttle), float(brake), int(random.choice([REVERSE, NEUTRAL, DRIVE])))


def wild_state(random: np.random.Generator, start: Array) -> Array:
    """A good state with some values replaced or scaled, or all of them perturbed."""
    state = start.copy()
    kind = random.integers(4)
    if kind == 0:
        chosen = random.integers(len(state), size=random.integers(1, 4))
        state[chosen] = random.choice(WILD, len(chosen))
    elif kind == 1:
        state += random.normal(scale=10.0 ** random.uniform(-3.0, 3.0), size=len(state))
    elif kind == 2:
        state *= 10.0 ** random.uniform(-2.0, 6.0)
    else:  # fast, but within the bounds: each of these can be simulated
        state[-len(state) // 3 :] += random.uniform(-1.0, 1.0) * 1e-3
        index = random.integers(len(state))
        state[index] += random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-3.0, 2.0)
    return state


def test_every_command_and_state_is_harmless(any_vehicle: Vehicle, healthy: tuple[Array, Array]) -> None:
    random = np.random.default_rng(2024)
    followed = 0
    for count in range(EXAMPLES_PER_VEHICLE):
        ground = GROUNDS[random.integers(len(GROUNDS))]
        state = wild_state(random, healthy[0])
        asked = int(random.integers(1, 12))

        for _ in range(2):
            made = any_vehicle.advance(state, wild_pedals(random), ground, asked)
            assert 0 <= made <= asked
            assert np.isfinite(state).all()
        followed += made == asked

        if count % 10 == 0:
            assert_unharmed(any_vehicle, healthy)
        if count % 300 == 0:
            assert_array_equal(any_vehicle.start(GROUNDS[0], speed=8.0), healthy[0])
    assert EXAMPLES_PER_VEHICLE / 10 < followed < EXAMPLES_PER_VEHICLE  # some are rejected, not all


@pytest.mark.parametrize("no_number", NO_NUMBERS)
def test_non_finite_state_is_not_driven(any_vehicle: Vehicle, healthy: tuple[Array, Array], no_number: float) -> None:
    for index in range(len(healthy[0])):
        state = healthy[0].copy()
        state[index] = no_number
        before = state.copy()

        assert any_vehicle.advance(state, GOOD, GROUNDS[0], 5) == 0

        assert_array_equal(state, before)
        assert_unharmed(any_vehicle, healthy)


@pytest.mark.parametrize("gear", [0.0, -1.0, 0.5, 99.0, 3.5, 1e6, -1e6])
def test_unknown_gear_is_not_driven(car: Hmmwv, gear: float) -> None:
    state = car.start(GROUNDS[0])
    state[GEAR] = gear

    assert car.advance(state, GOOD, GROUNDS[0], 5) == 0


@pytest.mark.parametrize("angle", [-1.5, -0.6, 1.6, 3.0, -1e3])
@pytest.mark.parametrize("corner", range(4))
def test_suspension_beyond_its_reach_is_not_driven(car: Hmmwv, corner: int, angle: float) -> None:
    state = car.start(GROUNDS[0])
    state[7 + corner] = angle

    assert car.advance(state, GOOD, GROUNDS[0], 5) == 0


def test_diverging_motion_keeps_its_last_valid_state(car: Hmmwv) -> None:
    state = car.start(GROUNDS[0])
    state[21] = -300.0  # [rad/s]: out of reach within two steps

    made = car.advance(state, GOOD, GROUNDS[0], 100)
    kept = state.copy()

    assert made < 100
    assert car.advance(state, GOOD, GROUNDS[0], 100) == 0  # and stays there, for a replay
    assert_array_equal(state, kept)


def test_diverged_vehicle_can_be_restarted(car: Hmmwv) -> None:
    state = car.start(GROUNDS[0])
    state[15:29] = 9_000.0
    assert car.advance(state, GOOD, GROUNDS[0], 100) < 100

    state[:] = car.start(GROUNDS[0])

    assert car.advance(state, GOOD, GROUNDS[0], 100) == 100


pedal = st.one_of(st.sampled_from(AT_THE_LIMITS), st.floats(allow_nan=True, allow_infinity=True))
number = st.one_of(st.sampled_from(WILD), st.floats(allow_nan=False, allow_infinity=False))


@settings(
    max_examples=250, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    commands=st.lists(
        st.builds(
            Pedals,
            pedal,
            pedal,
            pedal,
            st.sampled_from([REVERSE, NEUTRAL, DRIVE, 2, -7]),
            transfer_range=st.integers(0, MOST_RANGES),
            locks=st.integers(0, 4),
            parking_brake=pedal,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_commands_are_followed_within_limits_or_rejected(car: Hmmwv, commands: list[Pedals]) -> None:
    state = car.start(GROUNDS[0], speed=8.0)
    for command in commands:
        before = state.copy()
        known = command.selected in (REVERSE, NEUTRAL, DRIVE) and command.locks < 4
        if all(map(math.isfinite, command)) and known and command.transfer_range < MOST_RANGES:
            assert car.advance(state, command, GROUNDS[0], 20) == 20
            assert np.isfinite(state).all()
            assert abs(state[PITMAN]) <= car.kernel.servo.lock + 1e-9
            assert abs(state[PITMAN_RATE]) <= car.kernel.servo.fastest + 1e-9
        else:
            with pytest.raises(ValueError, match=r"pedals: must be finite|(selected|transfer_range|locks): must be"):
                car.advance(state, command, GROUNDS[0], 20)
            assert_array_equal(state, before)


@settings(
    max_examples=250, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(changes=st.dictionaries(st.integers(0, DRIVING_SIZE - 1), number, max_size=6), brake=st.floats(0.0, 1.0))
def test_states_are_advanced_or_left_unchanged(car: Hmmwv, changes: dict[int, float], brake: float) -> None:
    state = car.start(GROUNDS[0], speed=8.0)
    for index, value in changes.items():
        state[index] = value

    made = car.advance(state, Pedals(brake=brake), GROUNDS[0], 5)

    assert 0 <= made <= 5
    assert np.isfinite(state).all()
    again = car.start(GROUNDS[0], speed=8.0)
    assert car.advance(again, GOOD, GROUNDS[0], 5) == 5


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(x=number, y=number, heading=number, speed=number)
def test_start_anywhere_gives_a_valid_state_or_a_reason(
    car: Hmmwv, x: float, y: float, heading: float, speed: float
) -> None:
    try:
        state = car.start(GROUNDS[0], x=x, y=y, heading=heading, speed=speed)
    except ValueError:
        return
    assert np.isfinite(state).all()
