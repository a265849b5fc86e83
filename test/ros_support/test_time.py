"""Stamps are integers throughout."""

from __future__ import annotations

import pytest
from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support.time import ns_to_stamp


@given(st.integers(-(2**31) * 10**9, 2**31 * 10**9 - 1))
def test_time_survives_the_round_trip_to_the_nanosecond(nanoseconds: int) -> None:
    assert read_stamp(ns_to_stamp(nanoseconds)) == nanoseconds


def test_stamp_with_too_many_nanoseconds_is_rejected() -> None:
    with pytest.raises(ValueError, match="nanosec 1000000000, allowed 0 to 999999999"):
        read_stamp(Time(sec=1, nanosec=10**9))


def test_time_that_no_stamp_can_hold_is_rejected() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        ns_to_stamp(2**63)
