"""Attitudes outside of kernels, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from vehicle_dynamics.attitude import pitch_of, quaternion_from_rpy, rotation_from_quaternion, rotation_from_rpy

ANGULAR_VELOCITY = st.floats(-np.pi, np.pi)
PITCH = st.floats(-1.5, 1.5)


@given(roll=ANGULAR_VELOCITY, pitch=PITCH, yaw=ANGULAR_VELOCITY)
def test_rotations_are_those_of_scipy(roll: float, pitch: float, yaw: float) -> None:
    other = Rotation.from_euler("xyz", [roll, pitch, yaw])  # fixed axes, as in URDF
    quaternion = quaternion_from_rpy(roll, pitch, yaw)

    assert_allclose(rotation_from_rpy(roll, pitch, yaw), other.as_matrix(), atol=1e-12)
    assert_allclose(rotation_from_quaternion(quaternion), other.as_matrix(), atol=1e-12)
    assert pitch_of(quaternion) == pytest.approx(pitch, abs=1e-9)
