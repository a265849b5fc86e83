"""Fields of command messages: read as a whole or rejected by one rule; counts and messages about verdicts."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.ground import FlatGround
from vehicle_dynamics.control.commands import (
    CommandAudit,
    RateLimiter,
    receive_ackermann,
    receive_named_pedals,
    receive_twist,
)
from vehicle_dynamics.control.drive_by_wire import ACCEPTED, Answer, DriveByWire, DriveByWireSettings, Verdict
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import Pedals

ACKERMANN = ("steering_angle", "steering_angle_velocity", "speed", "acceleration", "jerk")
BAD = st.sampled_from([math.nan, math.inf, -math.inf])


@pytest.fixture
def drive(vehicle: Hmmwv) -> DriveByWire:
    return DriveByWire(vehicle, DriveByWireSettings())


def pressed(vehicle: Hmmwv, drive: DriveByWire) -> Pedals:
    return drive.pedals(0.0, vehicle.snapshot(vehicle.start(FlatGround()), Pedals(), FlatGround()))


@given(field=st.integers(0, 5), bad=BAD)
def test_twist_with_a_field_that_is_not_finite_is_rejected(vehicle: Hmmwv, field: int, bad: float) -> None:
    values = [1.0, 0.0, 0.0, 0.0, 0.0, 0.1]
    values[field] = bad

    answer = receive_twist(DriveByWire(vehicle, DriveByWireSettings()), 0.0, values[:3], values[3:])

    assert answer.verdict is Verdict.REJECTED
    assert str(bad) in answer.reason


@given(field=st.sampled_from(ACKERMANN), bad=BAD)
def test_ackermann_command_with_a_field_that_is_not_finite_is_rejected(vehicle: Hmmwv, field: str, bad: float) -> None:
    fields = {**dict.fromkeys(ACKERMANN, 0.1), field: bad}

    answer = receive_ackermann(DriveByWire(vehicle, DriveByWireSettings()), 0.0, fields)

    assert answer == Answer(Verdict.REJECTED, f"{field} is {bad}")


def test_lateral_command_is_reported(drive: DriveByWire) -> None:
    answer = receive_twist(drive, 0.0, (1.0, 0.5, 0.0), (0.0, 0.0, 0.0))

    assert answer == Answer(Verdict.LIMITED, "can only move ahead and turn about z")


def test_pedals_are_accepted_by_name_in_any_order(vehicle: Hmmwv, drive: DriveByWire) -> None:
    answer = receive_named_pedals(drive, 0.0, ["gear", "brake", "steering", "throttle"], [-1.0, 0.1, 0.2, 0.3])

    assert answer == ACCEPTED
    assert pressed(vehicle, drive) == Pedals(0.2, 0.3, 0.1, -1)


@pytest.mark.parametrize(
    ("names", "positions", "rule"),
    [
        (["steering", "throttle", "brake", "clutch"], [0.0] * 4, "pedal 'clutch' is unknown"),
        (["steering", "throttle"], [0.0] * 2, "pedal 'brake' is missing"),
        ([], [], "pedal 'steering' is missing"),
        (["steering", "throttle", "brake", "brake"], [0.0] * 4, "named twice"),
        (["steering", "throttle", "brake"], [0.0] * 2, "3 pedals are named, but 2 positions"),
        (["steering", "throttle", "brake"], [0.0] * 4, "3 pedals are named, but 4 positions"),
        (["steering", "throttle", "brake", "gear"], [0.0, 0.0, 0.0, 0.5], "selected: must be -1"),
        (["steering", "throttle", "brake", "gear"], [0.0, 0.0, 0.0, math.nan], "selected is nan"),
    ],
)
def test_inconsistent_pedals_are_rejected_by_a_rule(
    drive: DriveByWire, names: list[str], positions: list[float], rule: str
) -> None:
    answer = receive_named_pedals(drive, 0.0, names, positions)

    assert answer.verdict is Verdict.REJECTED
    assert rule in answer.reason


@given(names=st.lists(st.text(max_size=40), max_size=6), positions=st.lists(st.floats(), max_size=6))
def test_arbitrary_pedals_raise_nothing(vehicle: Hmmwv, names: list[str], positions: list[float]) -> None:
    drive = DriveByWire(vehicle, DriveByWireSettings())

    receive_named_pedals(drive, 0.0, names, positions)

    assert pressed(vehicle, drive) == pressed(vehicle, drive).within_limits()


def test_audit_reports_news_and_counts_all() -> None:
    audit = CommandAudit()
    for answer in (ACCEPTED, Answer(Verdict.REJECTED, "speed is nan"), Answer(Verdict.LIMITED, "too fast")):
        audit.record("cmd_vel", answer)
    audit.record("vehicle/pedals", ACCEPTED)

    words, topics = audit.take_news()

    assert words == ["cmd_vel: 1 of 3 rejected: speed is nan"]
    assert topics == ["cmd_vel", "vehicle/pedals"]
    assert audit.take_news() == ([], [])
    assert (audit.rejected, audit.limited) == (1, 1)


def test_rate_limiter_passes_usual_rates_and_bounds_a_flood() -> None:
    usual, flooded = RateLimiter(), RateLimiter()

    assert all(usual.rest_s(100.0 + 0.005 * count) == 0.0 for count in range(1000))  # 200 Hz
    now, accepted = 100.0, 0
    while now < 110.0:  # each at once after the last
        now += 1e-4 + flooded.rest_s(now)
        accepted += 1

    assert accepted < 10.0 * RateLimiter.PER_SECOND + 2 * RateLimiter.BURST


def test_rejection_reason_of_the_last_kind_is_kept(drive: DriveByWire) -> None:
    audit: Any = CommandAudit()
    audit.record("cmd_vel", Answer(Verdict.REJECTED, "first"))
    audit.record("cmd_vel", Answer(Verdict.LIMITED, "second"))

    assert audit.take_news()[0] == ["cmd_vel: 1 of 2 rejected: first"]
