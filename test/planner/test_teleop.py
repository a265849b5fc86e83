"""Teleop: drives while held, within limits, and stops on any doubt."""

from __future__ import annotations

import doctest
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner.drive_command
import planner.teleop
from planner.drive_command import DriveCommand
from planner.teleop import Teleop, TeleopSettings, response

XBOX = TeleopSettings(max_curvature_1pm=0.13)
CENTRED = (0.0, 0.0, 1.0, 0.0, 0.0, 1.0)  # triggers rest at +1
HOLD, HOLD_TURBO, NOTHING = (0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 1, 1), (0,) * 6
STEP = 0.05


def axes(speed: float = 0.0, steering: float = 0.0, throttle: float = 1.0, brake: float = 1.0) -> tuple[float, ...]:
    return (0.0, speed, brake, steering, 0.0, throttle)


def drive(teleop: Teleop, seconds: float, stick: tuple[float, ...], buttons: tuple[int, ...] = HOLD) -> DriveCommand:
    command = teleop.command(0.0)
    for tick in range(1, round(seconds / STEP) + 1):
        teleop.receive(tick * STEP, stick, buttons)
        command = teleop.command(tick * STEP)
    return command


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(planner.teleop).failed == 0
    assert doctest.testmod(planner.drive_command).failed == 0


def test_stops_before_the_first_message() -> None:
    command = Teleop(XBOX).command(0.0)

    assert command.is_stop
    assert (command.speed, command.yaw_rate, command.throttle) == (0.0, 0.0, 0.0)


def test_full_stick_reaches_the_top_speed_and_no_more() -> None:
    assert drive(Teleop(XBOX), 3.0, axes(speed=1.0)).speed == pytest.approx(XBOX.max_speed_mps)
    assert drive(Teleop(XBOX), 6.0, axes(speed=1.0), HOLD_TURBO).speed == pytest.approx(XBOX.turbo_speed_mps)
    assert drive(Teleop(XBOX), 3.0, axes(speed=-1.0)).speed == pytest.approx(-XBOX.max_speed_mps)


def test_speed_rises_at_the_acceleration_limit() -> None:
    assert drive(Teleop(XBOX), 0.5, axes(speed=1.0)).speed == pytest.approx(0.5 * XBOX.max_acceleration_mps2)


def test_yaw_rate_is_speed_times_curvature_and_flips_in_reverse() -> None:
    forward = drive(Teleop(XBOX), 3.0, axes(speed=1.0, steering=1.0))
    backward = drive(Teleop(XBOX), 3.0, axes(speed=-1.0, steering=1.0))

    assert forward.yaw_rate == pytest.approx(XBOX.max_speed_mps * XBOX.max_curvature_1pm)
    assert backward.yaw_rate == pytest.approx(-forward.yaw_rate)


def test_car_does_not_turn_on_the_spot() -> None:
    assert drive(Teleop(XBOX), 1.0, axes(steering=1.0)).yaw_rate == 0.0


def test_released_hold_button_stops_at_once_and_keeps_the_steering() -> None:
    teleop = Teleop(XBOX)
    before = drive(teleop, 2.0, axes(speed=1.0, steering=0.8))

    teleop.receive(2.01, axes(speed=1.0, steering=0.8), NOTHING)
    command = teleop.command(2.01)

    assert command.stop_reason == "hold button released"
    assert command.speed == 0.0
    assert command.steering == before.steering != 0.0


def test_silence_stops_after_the_timeout_and_not_before() -> None:
    teleop = Teleop(XBOX)
    drive(teleop, 1.0, axes(speed=1.0))

    assert not teleop.command(1.0 + XBOX.joy_timeout_s - 0.01).is_stop
    assert teleop.command(1.0 + XBOX.joy_timeout_s + 0.01).stop_reason == "/joy silent for 0.3 s"


def test_drives_on_after_silence_from_standstill() -> None:
    teleop = Teleop(XBOX)
    drive(teleop, 1.0, axes(speed=1.0))
    teleop.command(2.0)

    teleop.receive(2.05, axes(speed=1.0), HOLD)

    assert 0.0 < teleop.command(2.05).speed <= XBOX.max_acceleration_mps2 * 0.1


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.5, -7.0])
@pytest.mark.parametrize("index", range(len(CENTRED)))
def test_invalid_axis_value_stops(bad: float, index: int) -> None:
    teleop = Teleop(XBOX)
    drive(teleop, 1.0, axes(speed=1.0))
    stick = list(axes(speed=1.0))
    stick[index] = bad

    rejection = teleop.receive(1.01, stick, HOLD)

    assert f"axis {index} is {bad}" in rejection
    assert teleop.command(1.01).stop_reason == rejection


def test_first_message_with_nan_is_rejected_too() -> None:
    teleop = Teleop(XBOX)

    assert teleop.receive(0.0, [math.nan] * 6, HOLD)
    assert teleop.command(0.0).is_stop


def test_short_message_names_the_mapping() -> None:
    teleop = Teleop(XBOX)

    assert teleop.receive(0.0, (0.0, 0.0), HOLD) == "/joy has 2 axes, steering_axis needs index 3: wrong pad mapping?"
    assert "4 buttons, hold_button needs index 4" in teleop.receive(0.0, CENTRED, (0, 0, 0, 0))
    assert teleop.command(0.0).is_stop


def test_pedals_follow_the_triggers() -> None:
    teleop = Teleop(replace(XBOX, output="pedals"))

    command = drive(teleop, 1.0, axes(steering=1.0, throttle=-1.0, brake=0.0))

    assert (command.throttle, command.brake) == (1.0, 0.5)
    assert command.steering == pytest.approx(1.0)


def test_stop_on_pedals_brakes_and_never_latches_the_throttle() -> None:
    teleop = Teleop(replace(XBOX, output="pedals"))
    drive(teleop, 1.0, axes(throttle=-1.0))

    command = teleop.command(5.0)

    assert (command.throttle, command.brake) == (0.0, XBOX.stop_brake)


@given(
    inputs=st.lists(
        st.tuples(
            st.floats(0.0, 0.2),
            st.lists(st.floats(-1, 1) | st.sampled_from([math.nan, math.inf, 1e6]), min_size=4, max_size=8),
            st.lists(st.integers(0, 1), min_size=4, max_size=8),
        ),
        max_size=40,
    )
)
def test_limits_hold_whatever_arrives(inputs: list[tuple[float, list[float], list[int]]]) -> None:
    teleop = Teleop(XBOX)
    now, last = 0.0, teleop.command(0.0)
    for pause, stick, buttons in inputs:
        now += pause
        teleop.receive(now, stick, buttons)
        command = teleop.command(now)
        rise = abs(command.speed) - abs(last.speed)
        assert all(map(math.isfinite, (command.speed, command.yaw_rate, command.steering)))
        assert abs(command.speed) <= XBOX.turbo_speed_mps
        assert abs(command.yaw_rate) <= XBOX.max_yaw_rate_radps
        assert abs(command.steering) <= 1.0
        assert rise <= XBOX.max_acceleration_mps2 * min(pause, 0.1) + 1e-9 or last.is_stop
        last = command


@given(a=st.floats(-1, 1), b=st.floats(-1, 1), expo=st.floats(0, 1))
def test_response_is_odd_and_monotonic(a: float, b: float, expo: float) -> None:
    assert response(-a, expo) == -response(a, expo)
    assert (response(a, expo) <= response(b, expo)) == (a <= b) or response(a, expo) == response(b, expo)
