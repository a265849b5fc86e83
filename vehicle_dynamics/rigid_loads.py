"""Motion of the vehicle's rigid bodies and the loads on them: inputs of forward dynamics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3

Array = NDArray[np.float64]


class RigidMotion(NamedTuple):
    """Motion of the vehicle's rigid bodies."""

    angular_velocity: Vector3  # of the chassis, in its axes [rad/s]
    theta: Array  # 4: lower-arm angles [rad]
    theta_rate: Array  # 4 [rad/s]
    spin_rate: Array  # 4, of the wheels relative to their spindles [rad/s]


class RigidLoads(NamedTuple):
    """Loads on the rigid bodies besides springs, stops and dampers; chassis axes."""

    gravity: Vector3  # [m/s^2]
    theta_force: Array  # 4: further generalised forces on the lower-arm angles [N m]
    spin_torque: Array  # 4: from the spindle on the wheel, such as brake torque [N m]
    wheel_force: Array  # 4 x 6: moment [N m] and force [N] on each wheel at its centre
    chassis_force: Array  # 6: the same on the chassis at its origin
