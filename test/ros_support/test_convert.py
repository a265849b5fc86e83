"""Conversion between arrays and messages: round trips, and no NaN passes."""

from __future__ import annotations

import math

import pytest
from geometry_msgs.msg import Point, Quaternion, Twist, Vector3
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.ros_support import convert

NUMBERS = st.floats(-1e9, 1e9)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
UNIT = (0.0, 0.0, math.sin(0.3), math.cos(0.3))


@given(VECTORS)
def test_vectors_and_points_survive_the_round_trip(vector: tuple[float, float, float]) -> None:
    assert tuple(convert.vector_from_msg(convert.vector_to_msg(vector))) == vector
    assert tuple(convert.vector_from_msg(convert.point_to_msg(vector))) == vector


def test_twist_and_transform_carry_their_parts() -> None:
    twist, transform = convert.twist_to_msg((4, 5, 6), (7, 8, 9)), convert.transform_to_msg((1, 2, 3), UNIT)

    assert twist == Twist(linear=Vector3(x=4.0, y=5.0, z=6.0), angular=Vector3(x=7.0, y=8.0, z=9.0))
    assert transform.translation == Vector3(x=1.0, y=2.0, z=3.0)
    assert convert.quaternion_from_msg(transform.rotation) == pytest.approx(UNIT)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nothing_that_is_not_finite_passes(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        convert.vector_to_msg((0.0, bad, 0.0))
    with pytest.raises(ValueError, match="not finite"):
        convert.vector_from_msg(Point(x=bad))
    with pytest.raises(ValueError, match="not finite"):
        convert.quaternion_from_msg(Quaternion(w=bad))
    with pytest.raises(ValueError, match="not finite"):
        convert.twist_to_msg((0.0, 0.0, 0.0), (0.0, 0.0, bad))


def test_quaternion_is_normalised_but_a_zero_one_is_rejected() -> None:
    message = convert.quaternion_to_msg((0.0, 0.0, 0.0, 1.05))

    assert message.w == 1.0
    with pytest.raises(ValueError, match="length 0"):
        convert.quaternion_from_msg(Quaternion(x=0.0, y=0.0, z=0.0, w=0.0))
