"""Drive-by-wire: follows the newest command within limits, reports what it cannot follow, stops on silence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terrain.ground import FlatGround
from vehicle_dynamics.control.creep import CreepSettings
from vehicle_dynamics.control.drive_by_wire import DriveByWire, DriveByWireSettings, Verdict
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import DRIVE, NEUTRAL, REVERSE, Pedals

LIMITS = DriveByWireSettings()
ANY_FLOAT = st.floats() | st.floats(-120.0, 120.0)
Ride = Callable[..., Any]


def motion(speed: float, yaw_rate: float = 0.0) -> Callable[[DriveByWire, float], object]:
    return lambda drive, now: drive.receive_motion(now, speed, yaw_rate)


def test_follows_speed_and_yaw_rate(ride: Ride) -> None:
    car = ride()

    car.run(8.0, motion(5.0, 0.25))

    assert car.speed == pytest.approx(5.0, abs=0.15)
    assert float(car.seen["angular_velocity"][2]) == pytest.approx(0.25, abs=0.02)


def test_silence_stops_the_vehicle_and_keeps_the_steering(ride: Ride) -> None:
    car = ride()
    car.run(5.0, motion(5.0, 0.5))

    car.run(LIMITS.command_timeout_s - PERIOD_S)
    assert car.pedals.brake == 0.0  # not yet
    car.run(4.0)
    steering = next(pedals.steering for pedals in reversed(car.log) if pedals.brake == 0.0)

    assert steering > 0.2
    assert abs(car.speed) < 0.01
    assert car.pedals.steering == steering
    assert "no command since" in car.drive.status


def test_before_any_command_it_stands_with_brakes_on(ride: Ride) -> None:
    car = ride()

    car.run(1.0)

    assert car.pedals.brake >= LIMITS.stop_brake
    assert abs(car.speed) < 1e-3
    assert car.drive.status == "no command yet"


@pytest.mark.parametrize(
    ("receive", "reason"),
    [
        (lambda drive, now: drive.receive_motion(now, math.nan, 0.0), "speed is nan"),
        (lambda drive, now: drive.receive_motion(now, 1.0, math.inf), "yaw rate is inf"),
        (lambda drive, now: drive.receive_motion(now, 1e6, 0.0), "speed of 1e+06 m/s is absurd"),
        (lambda drive, now: drive.receive_steering(now, 1.0, 2.0), "steering angle of 2 rad is absurd"),
        (lambda drive, now: drive.receive_steering(now, -math.inf, 0.0), "speed is -inf"),
        (lambda drive, now: drive.receive_pedals(now, Pedals(throttle=math.nan)), "throttle is nan"),
        (lambda drive, now: drive.receive_pedals(now, Pedals(brake=50.0)), "brake of 50 is absurd"),
        (lambda drive, now: drive.receive_pedals(now, Pedals(selected=2)), "selected: must be -1"),
    ],
)
def test_nonsense_is_rejected_and_brakes_at_once(ride: Ride, receive: Any, reason: str) -> None:
    car = ride(speed=5.0)
    car.run(0.5, motion(5.0))

    answer = receive(car.drive, car.time)
    car.run(0.05)

    assert answer.verdict is Verdict.REJECTED
    assert reason in answer.reason
    assert car.pedals.brake >= LIMITS.stop_brake
    assert car.pedals.throttle == 0.0
    assert reason in car.drive.status

    car.run(1.0, motion(5.0))  # and a good command ends it
    assert car.pedals.throttle > 0.0


def test_turn_on_the_spot_is_reported_and_the_vehicle_stands(ride: Ride) -> None:
    car = ride()

    answer = car.drive.receive_motion(0.0, 0.0, 1.0)
    car.run(1.0, motion(0.0, 1.0))

    assert answer.verdict is Verdict.LIMITED
    assert "cannot turn on the spot" in answer.reason
    assert abs(car.speed) < 1e-3


@pytest.mark.parametrize(
    ("speed", "yaw_rate", "words"), [(90.0, 0.0, "beyond +25.00"), (-20.0, 0.0, "beyond -5.00"), (2.0, 2.0, "radius")]
)
def test_command_beyond_limits_is_followed_as_far_as_possible(
    vehicle: Hmmwv, speed: float, yaw_rate: float, words: str
) -> None:
    answer = DriveByWire(vehicle, LIMITS).receive_motion(0.0, speed, yaw_rate)

    assert answer.verdict is Verdict.LIMITED
    assert words in answer.reason


def test_speed_limit_holds(ride: Ride) -> None:
    car = ride(speed=20.0)
    car.drive.settings = DriveByWireSettings(max_speed_mps=22.0)

    car.run(10.0, motion(60.0))

    assert car.speed < 22.2


def test_brakes_respond_and_release_at_once(ride: Ride) -> None:
    car = ride(speed=8.0)
    car.run(3.0, motion(8.0))

    car.run(0.05, motion(0.0))
    assert car.pedals.throttle == 0.0
    assert car.pedals.brake > 0.05
    car.run(0.3, motion(0.0))
    assert car.pedals.brake > 0.25
    assert car.speed > 6.0

    car.run(0.02, motion(8.0))
    assert car.pedals.brake == 0.0


def test_reverse_gear_only_after_a_stop(ride: Ride) -> None:
    car = ride(speed=4.0)
    speeds = []

    def command(drive: DriveByWire, now: float) -> None:
        speeds.append(car.speed)
        drive.receive_motion(now, -2.0, 0.0)

    car.run(6.0, command)

    first = next(index for index, pedals in enumerate(car.log) if pedals.selected == REVERSE)
    assert speeds[first] < 0.15
    assert all(pedals.throttle == 0.0 for pedals in car.log[:first])
    assert car.speed == pytest.approx(-2.0, abs=0.15)


def test_forward_after_pedals_in_reverse_stops_first(ride: Ride) -> None:
    car = ride()
    car.run(3.0, lambda drive, now: drive.receive_pedals(now, Pedals(throttle=0.5, selected=REVERSE)))
    assert car.speed < -2.0

    car.run(0.3, motion(3.0))
    assert car.pedals.brake > 0.0
    assert car.pedals.throttle == 0.0
    car.run(6.0, motion(3.0))

    assert car.speed == pytest.approx(3.0, abs=0.15)


@pytest.mark.parametrize("slope", [0.3, -0.3])
def test_holds_on_a_slope_of_30_percent(ride: Ride, slope: float) -> None:
    car = ride(FlatGround(slope_x=slope))
    car.run(1.0, motion(0.0))
    position = car.seen["position"].copy()

    car.run(10.0, motion(0.0))

    assert abs(car.speed) < 1e-4
    assert float(abs(car.seen["position"] - position).max()) < 1e-3


def test_starts_uphill_on_a_slope_of_30_percent(ride: Ride) -> None:
    car = ride(FlatGround(slope_x=0.3))
    car.run(1.0, motion(0.0))
    lowest = 0.0

    def command(drive: DriveByWire, now: float) -> None:
        nonlocal lowest
        lowest = min(lowest, car.speed)
        drive.receive_motion(now, 2.0, 0.0)

    car.run(8.0, command)

    assert car.speed == pytest.approx(2.0, abs=0.3)
    assert lowest > -1.0


def test_stop_of_a_vehicle_that_rolls_against_its_gear_uses_the_service_brake(ride: Ride) -> None:
    car = ride(speed=-4.0)  # the lever is at drive

    car.run(0.1, motion(0.0))

    assert car.pedals.brake > 0.3


def test_newest_source_wins(ride: Ride) -> None:
    car = ride(speed=3.0)
    car.run(0.5, motion(3.0))
    assert "motion" in car.drive.status

    car.run(0.1, lambda drive, now: drive.receive_pedals(now, Pedals(0.4, 0.2)))
    assert car.pedals == Pedals(0.4, 0.2)
    assert "pedals" in car.drive.status

    car.run(0.1, lambda drive, now: drive.receive_steering(now, 3.0, -0.1))
    assert "steering" in car.drive.status
    assert car.pedals.steering < 0.0


def test_pedals_beyond_their_limits_are_clamped(ride: Ride) -> None:
    car = ride()

    answer = car.drive.receive_pedals(0.0, Pedals(1.5, -0.1, 1.2, NEUTRAL))
    car.run(0.01)

    assert answer.verdict is Verdict.LIMITED
    assert car.pedals == Pedals(1.0, 0.0, 1.0, NEUTRAL)


def test_stop_in_a_curve_does_not_change_the_steering_controller(ride: Ride) -> None:
    car = ride(speed=8.0)
    car.run(3.0, motion(8.0, 0.4))
    correction = car.drive._helm.curvature.correction

    car.run(1.0, motion(0.0))

    assert car.drive._helm.curvature.correction == correction


def test_reset_clears_everything(ride: Ride) -> None:
    car = ride(speed=5.0)
    car.run(1.0, motion(5.0, 0.3))
    car.drive.receive_motion(car.time, math.nan, 0.0)

    car.drive.reset()
    pedals = car.drive.pedals(car.time, car.seen)

    assert car.drive.status == "no command yet"
    assert (pedals.steering, pedals.throttle, pedals.selected) == (0.0, 0.0, DRIVE)


COMMANDS = st.one_of(
    st.tuples(st.just("motion"), ANY_FLOAT, ANY_FLOAT),
    st.tuples(st.just("steering"), ANY_FLOAT, ANY_FLOAT),
    st.tuples(st.just("pedals"), ANY_FLOAT, ANY_FLOAT, ANY_FLOAT, st.integers(-3, 3)),
    st.just(("silence",)),
)


@settings(max_examples=100, deadline=None)
@given(commands=st.lists(COMMANDS, min_size=1, max_size=15), speed=st.floats(-5.0, 25.0))
def test_limits_hold_whatever_is_sent(vehicle: Hmmwv, commands: list[tuple[Any, ...]], speed: float) -> None:
    ground = FlatGround()
    drive = DriveByWire(vehicle, LIMITS)
    state, now = vehicle.start(ground, speed=speed), 0.0
    seen = vehicle.snapshot(state, Pedals(), ground)
    in_force = ""  # a short silence changes nothing
    for kind, *values in commands:
        in_force = in_force if kind == "silence" else kind
        if kind == "motion":
            drive.receive_motion(now, *values)
        elif kind == "steering":
            drive.receive_steering(now, *values)
        elif kind == "pedals":
            drive.receive_pedals(now, Pedals(*values))
        for _ in range(3):
            pedals = drive.pedals(now, seen)
            assert pedals == pedals.within_limits()
            is_slow = abs(drive._set_point.speed) < CreepSettings().below_mps  # with both pedals
            assert pedals.throttle == 0.0 or pedals.brake == 0.0 or in_force == "pedals" or is_slow
            assert -LIMITS.max_reverse_mps <= drive._set_point.speed <= LIMITS.max_speed_mps
            assert vehicle.advance(state, pedals, ground, 10) == 10
            seen = vehicle.snapshot(state, pedals, ground)
            now += PERIOD_S


@settings(max_examples=50, deadline=None)
@given(bad=st.sampled_from([math.nan, math.inf, -math.inf, 1e6]), position=st.integers(0, 1))
def test_rejected_command_leaves_no_trace_after_the_next_good_one(vehicle: Hmmwv, bad: float, position: int) -> None:
    seen = vehicle.snapshot(vehicle.start(FlatGround(), speed=5.0), Pedals(), FlatGround())
    disturbed, undisturbed = DriveByWire(vehicle, LIMITS), DriveByWire(vehicle, LIMITS)
    for drive in (disturbed, undisturbed):
        drive.receive_motion(0.0, 5.0, 0.1)
        drive.pedals(0.0, seen)

    disturbed.receive_motion(0.005, *((bad, 0.0) if position == 0 else (1.0, bad)))
    for drive in (disturbed, undisturbed):
        drive.receive_motion(0.01, 5.0, 0.1)

    assert disturbed.pedals(0.01, seen) == undisturbed.pedals(0.01, seen)


def test_commands_that_flip_sign_every_period_are_harmless(ride: Ride) -> None:
    car = ride(speed=3.0)

    car.run(3.0, lambda drive, now: drive.receive_motion(now, 25.0 * (-1.0) ** round(now * 100), 0.0))

    assert abs(car.speed) < 5.0
    assert all(pedals == pedals.within_limits() for pedals in car.log)
