"""Speed controller: pedals alone, without a vehicle where possible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vehicle_dynamics.control.speed import SpeedController, SpeedSettings
from vehicle_dynamics.pedals import DRIVE, REVERSE

PERIOD = 0.01
SPEED = st.floats(-40.0, 40.0)


def settled(speed: float, wanted: float, seconds: float = 5.0) -> SpeedController:
    controller = SpeedController(SpeedSettings())
    for _ in range(round(seconds / PERIOD)):
        controller.pedals(PERIOD, speed, wanted)
    return controller


@given(speeds=st.lists(st.tuples(SPEED, SPEED), min_size=1, max_size=50))
def test_pedals_are_always_within_limits(speeds: list[tuple[float, float]]) -> None:
    controller = SpeedController(SpeedSettings())
    for speed, wanted in speeds:
        pedals = controller.pedals(PERIOD, speed, wanted)

        assert pedals == pedals.within_limits()
        is_slow = abs(wanted) < controller.settings.creep.below_mps  # with both pedals
        assert pedals.throttle == 0.0 or pedals.brake == 0.0 or is_slow
        assert pedals.brake <= max(controller.settings.service_brake, controller.settings.hold_brake)


def test_forward_and_reverse_are_alike() -> None:
    ahead, back = settled(2.0, 3.0), settled(-2.0, -3.0)

    assert ahead.pedals(PERIOD, 2.5, 3.0)._replace(selected=0) == back.pedals(PERIOD, -2.5, -3.0)._replace(selected=0)
    assert (ahead.selected, back.selected) == (DRIVE, REVERSE)


def test_long_wait_at_full_throttle_does_not_wind_up() -> None:
    controller = settled(0.2, 20.0, seconds=60.0)  # stuck

    slowed = [controller.pedals(PERIOD, 20.5, 20.0).throttle for _ in range(round(3.0 / PERIOD))]

    assert controller.total <= 1.0
    assert slowed[-1] < 1.0


def test_standstill_is_held_until_the_hold_fails() -> None:
    controller = SpeedController(SpeedSettings())
    hold = controller.settings.hold_brake

    assert controller.pedals(PERIOD, 0.1, 0.0).brake == hold
    assert controller.pedals(PERIOD, -0.5, 0.0).brake == hold  # the carcass swings
    assert controller.pedals(PERIOD, -1.5, 0.0).brake <= controller.settings.service_brake


@pytest.mark.parametrize(("speed", "wanted"), [(3.0, -2.0), (-3.0, 2.0)])
def test_gear_is_changed_only_near_standstill(speed: float, wanted: float) -> None:
    controller = settled(speed, speed)
    gear = controller.selected

    braking = controller.pedals(PERIOD, speed, wanted)
    stopped = controller.pedals(PERIOD, 0.1 * speed / abs(speed), wanted)

    assert (braking.selected, braking.throttle) == (gear, 0.0)
    assert braking.brake > 0.0
    assert stopped.selected == -gear


def test_tiny_command_means_stop_and_changes_no_gear() -> None:
    controller = settled(-3.0, -3.0)

    pedals = controller.pedals(PERIOD, -3.0, 0.0005)

    assert pedals.selected == REVERSE
    assert pedals.brake > 0.0


def test_state_holds_everything() -> None:
    first = settled(4.0, 5.0)
    second = SpeedController(SpeedSettings())
    second.restore_state(first.saved_state())

    for speed, wanted in ((4.2, 5.0), (4.4, -1.0), (0.1, -1.0), (-0.5, -1.0), (0.0, 0.0)):
        assert first.pedals(PERIOD, speed, wanted) == second.pedals(PERIOD, speed, wanted)


def test_hold_brake_is_its_setting_on_the_level_and_what_a_steep_slope_needs() -> None:
    controller = SpeedController(SpeedSettings(hold_brake=0.2))

    assert controller.pedals(0.01, 0.0, 0.0).brake == 0.2  # also below the service brake
    assert controller.pedals(0.01, 0.0, 0.0, rise=-0.5).brake > 0.5
