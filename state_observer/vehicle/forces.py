"""Unmeasured quantities: tyre forces, wheel loads and friction use."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from state_observer.vehicle.error_dynamics import SLOWEST
from state_observer.vehicle.error_ekf import ErrorEkf
from state_observer.vehicle.layout import ANGULAR_VELOCITY, ERROR_SIZE, VELOCITY, WHEEL_RATE

Array = NDArray[np.float64]


class Forces(NamedTuple):
    """Forces per wheel: front left, front right, rear left, rear right."""

    load: Array  # normal force [N]
    along: Array  # longitudinal [N]
    across: Array  # lateral, positive to the left [N]
    slip_along: Array
    slip_across: Array
    friction_use: Array  # horizontal force over load
    load_variance: Array  # [N^2]
    along_variance: Array
    across_variance: Array


def tyre_forces(ekf: ErrorEkf, model_error: float) -> Forces:
    """Forces of the model; variances from the motion through the tyre stiffness, and relative model error."""
    seen, known, covariance = ekf.snapshot(), ekf.constants[0], ekf.filter_state["covariance"][0]
    load, along, across = seen["load"].copy(), seen["force_along"].copy(), seen["force_across"].copy()
    estimate = ekf.estimate()
    speed = max(abs(float(estimate["velocity"][0])), SLOWEST)
    along_variance, across_variance = np.empty(4), np.empty(4)
    for k in range(4):
        x, y = known["wheel"][k].tolist()
        side = np.zeros(ERROR_SIZE)
        side[VELOCITY + 1], side[ANGULAR_VELOCITY + 2] = 1.0, x
        side *= 0.5 * float(known["cornering"][k // 2]) / speed
        ahead = np.zeros(ERROR_SIZE)
        ahead[WHEEL_RATE + k], ahead[VELOCITY], ahead[ANGULAR_VELOCITY + 2] = float(known["radius"]), -1.0, y
        ahead *= float(known["slip_slope"]) / speed
        across_variance[k] = side @ covariance @ side + (model_error * across[k]) ** 2
        along_variance[k] = ahead @ covariance @ ahead + (model_error * along[k]) ** 2
    use = np.hypot(along, across) / np.maximum(load, 1.0)
    return Forces(
        load=load,
        along=along,
        across=across,
        slip_along=seen["slip_along"].copy(),
        slip_across=seen["slip_across"].copy(),
        friction_use=np.where(load > 1.0, use, 0.0),
        load_variance=(model_error * load) ** 2 + math.pow(50.0, 2),
        along_variance=along_variance,
        across_variance=across_variance,
    )
