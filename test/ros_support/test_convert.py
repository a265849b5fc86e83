"""Conversion between arrays and messages: round trips, and no NaN passes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
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


def test_pose_twist_and_transform_carry_their_parts() -> None:
    position, quaternion = convert.pose_from_msg(convert.pose_to_msg((1, 2, 3), UNIT))
    linear, angular = convert.twist_from_msg(convert.twist_to_msg((4, 5, 6), (7, 8, 9)))
    transform = convert.transform_to_msg((1, 2, 3), UNIT)

    assert position.tolist() == [1.0, 2.0, 3.0]
    assert quaternion == pytest.approx(UNIT)
    assert (linear.tolist(), angular.tolist()) == ([4.0, 5.0, 6.0], [7.0, 8.0, 9.0])
    assert transform.translation == Vector3(x=1.0, y=2.0, z=3.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nothing_that_is_not_finite_passes(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        convert.vector_to_msg((0.0, bad, 0.0))
    with pytest.raises(ValueError, match="not finite"):
        convert.vector_from_msg(Point(x=bad))
    with pytest.raises(ValueError, match="not finite"):
        convert.quaternion_from_msg(Quaternion(w=bad))
    with pytest.raises(ValueError, match="not finite"):
        convert.twist_from_msg(Twist(angular=Vector3(z=bad)))
    with pytest.raises(ValueError, match="not finite"):
        convert.covariance_from_msg([bad] * 36)


def test_quaternion_is_normalised_but_a_zero_one_is_rejected() -> None:
    message = convert.quaternion_to_msg((0.0, 0.0, 0.0, 1.05))

    assert message.w == 1.0
    with pytest.raises(ValueError, match="length 0"):
        convert.pose_from_msg(Pose(orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=0.0)))


@pytest.mark.parametrize("size", [3, 6])
def test_covariance_survives_the_round_trip(size: int) -> None:
    root = np.random.default_rng(1).normal(size=(size, size))
    covariance = root @ root.T

    values = convert.covariance_to_msg(covariance)

    assert len(values) == size * size
    assert all(type(value) is float for value in values)
    np.testing.assert_allclose(convert.covariance_from_msg(values), covariance, rtol=1e-12)


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        (np.diag([1.0, -1.0, 1.0]), "not positive semidefinite"),
        (np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "not symmetric"),
        (np.zeros((2, 2)), "shape"),
    ],
)
def test_bad_covariance_is_rejected(covariance: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        convert.covariance_to_msg(covariance)


def test_huge_and_zero_covariances_are_judged_without_overflow() -> None:
    assert convert.covariance_to_msg(np.eye(6) * 1e308)[0] == 1e308
    assert convert.covariance_to_msg(np.zeros((3, 3))) == [0.0] * 9


def test_covariance_of_the_wrong_length_is_rejected() -> None:
    with pytest.raises(ValueError, match="5 values, allowed 9 or 36"):
        convert.covariance_from_msg([0.0] * 5)
