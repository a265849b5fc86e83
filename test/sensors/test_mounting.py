"""Mounts: motion of a sensor with the vehicle, against differences of its position and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from sensors.mounting import Mounting, require_motion
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]

ANGLE = st.floats(-180.0, 180.0)
SWING = np.array([0.3, -0.2, 0.5])  # [rad], amplitudes of `tumbling`
RATE = np.array([2.0, 1.3, 0.7])  # [rad/s]


def tumbling(time: float) -> BaseMotion:
    """A base that rotates about all axes and moves up and down, with analytic derivatives.

    Attitude is Rz(c) Ry(b) Rx(a) with angles SWING sin(RATE t).
    """
    phase = RATE * time
    a, b, c = SWING * np.sin(phase)
    da, db, dc = SWING * RATE * np.cos(phase)
    dda, ddb, ddc = -SWING * RATE**2 * np.sin(phase)
    sa, ca, sb, cb = math.sin(a), math.cos(a), math.sin(b), math.cos(b)
    angular_velocity = (da - dc * sb, db * ca + dc * cb * sa, dc * cb * ca - db * sa)
    angular_acceleration = (
        dda - ddc * sb - dc * db * cb,
        ddb * ca - db * da * sa + ddc * cb * sa - dc * db * sb * sa + dc * da * cb * ca,
        ddc * cb * ca - dc * db * sb * ca - dc * da * cb * sa - ddb * sa - db * da * ca,
    )
    attitude = Rotation.from_euler("ZYX", [c, b, a])
    velocity = attitude.inv().apply([3.0, 0.0, math.cos(time)])
    acceleration = attitude.inv().apply([0.0, 0.0, -math.sin(time)])
    x, y, z, w = attitude.as_quat().tolist()
    return BaseMotion(
        (3.0 * time, 0.0, math.sin(time)), (x, y, z, w), tuple(velocity), angular_velocity, tuple(acceleration),
        angular_acceleration,
    )  # fmt: skip


def test_velocity_and_acceleration_are_the_differences_of_the_position() -> None:
    mount, time, step = Mounting((1.7, -0.4, 0.8), (10.0, 20.0, 30.0)), 0.6, 1e-4
    before, now, after = (mount.motion(tumbling(time + k * step)) for k in (-1, 0, 1))

    assert_allclose(now.velocity, (after.position - before.position) / (2.0 * step), atol=1e-7)
    assert_allclose(now.acceleration, (after.velocity - before.velocity) / (2.0 * step), atol=1e-6)
    rotation = Rotation.from_matrix(before.world_from_sensor.T @ after.world_from_sensor).as_rotvec()
    assert_allclose(now.angular_velocity, rotation / (2.0 * step), atol=1e-6)


def test_pose_is_that_of_the_motion() -> None:
    mount = Mounting((1.7, -0.4, 0.8), (10.0, 20.0, 30.0))
    motion, (position, rotation) = mount.motion(tumbling(0.6)), mount.pose(tumbling(0.6))

    assert_allclose(position, motion.position)
    assert_allclose(rotation, motion.world_from_sensor)


@pytest.mark.parametrize("field", BaseMotion._fields)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_motion_that_is_not_finite_is_named(field: str, bad: float) -> None:
    good = tumbling(0.0)
    wrong = good._replace(**{field: (bad, *getattr(good, field)[1:])})

    require_motion(good)
    with pytest.raises(ValueError, match=f"base motion: {field} must be finite"):
        require_motion(wrong)


@pytest.mark.parametrize("attitude", [(0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.1), (1.0, 0.0, 0.0, 1.0)])
def test_motion_without_a_unit_quaternion_is_rejected(attitude: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="base motion: attitude must be a unit quaternion"):
        require_motion(tumbling(0.0)._replace(attitude=attitude))
