"""Quaternions and Euler angles in ROS conventions, with either library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.ros_support.transformations import (
    euler_from_quaternion,
    quaternion_from_euler,
    quaternion_from_matrix,
    quaternion_matrix,
    quaternion_multiply,
)

ANGLES = st.floats(-1.5, 1.5)


def test_yaw_is_about_z_and_w_comes_last() -> None:
    assert quaternion_from_euler(0.0, 0.0, 0.6) == pytest.approx([0.0, 0.0, math.sin(0.3), math.cos(0.3)])


def test_quarter_turn_to_the_left_points_forward_to_left() -> None:
    forward = np.array([1.0, 0.0, 0.0, 1.0])

    assert quaternion_matrix(quaternion_from_euler(0.0, 0.0, math.pi / 2)) @ forward == pytest.approx([0, 1, 0, 1])


@given(ANGLES, ANGLES, ANGLES)
def test_euler_angles_survive_the_round_trip(roll: float, pitch: float, yaw: float) -> None:
    assert euler_from_quaternion(quaternion_from_euler(roll, pitch, yaw)) == pytest.approx((roll, pitch, yaw), abs=1e-9)


@given(ANGLES, ANGLES, ANGLES)
def test_product_of_quaternions_is_the_product_of_matrices(roll: float, pitch: float, yaw: float) -> None:
    first, second = quaternion_from_euler(roll, pitch, yaw), quaternion_from_euler(yaw, roll, pitch)

    product = quaternion_multiply(second, first)

    np.testing.assert_allclose(
        quaternion_matrix(product), quaternion_matrix(second) @ quaternion_matrix(first), atol=1e-12
    )
    matrix_again = quaternion_matrix(quaternion_from_matrix(quaternion_matrix(product)))
    np.testing.assert_allclose(matrix_again, quaternion_matrix(product), atol=1e-9)
