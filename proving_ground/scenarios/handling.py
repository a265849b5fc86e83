"""Handling figures of a run: understeer gradient on a circle, turning circle at full lock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.lock_step import Run
from proving_ground.scenarios.scenario import Scenario

Array = NDArray[np.float64]

LINEAR_MPS2 = 3.0  # lateral acceleration up to which handling is nearly linear
LEAST_RANGE_MPS2 = 0.5
FULL_LOCK = 0.999
STEADY_S = 3.0  # last part of the run, used for the turning circle


def handling_figures(scenario: Scenario, run: Run) -> dict[str, float]:
    """Handling figures of a run by name with unit; empty where its manoeuvre gives none."""
    figures: dict[str, float] = {}
    if scenario.driver.circle is not None:
        gradient = understeer_gradient(run, scenario.driver.circle.settle_s)
        figures |= {} if gradient is None else {"understeer_gradient_degpmps2": gradient}
    steady = run.time >= run.time[-1] - STEADY_S
    if run.time[-1] > 2.0 * STEADY_S and np.abs(run.channels["steering"][steady]).min() > FULL_LOCK:
        figures |= turning_circle(run, steady)
    return figures


def understeer_gradient(run: Run, settled_s: float) -> float | None:
    """Growth of the front wheels' mean angle with lateral acceleration on a circle of constant radius [deg s^2/m].

    None where the lateral acceleration hardly changes.
    """
    c = run.channels
    angle = 0.5 * (c["wheel_angle_rad.front_left"] + c["wheel_angle_rad.front_right"])
    side = c["side_acceleration_mps2"]
    used = (run.time > settled_s) & (np.abs(side) < LINEAR_MPS2)
    if not used.any() or np.ptp(side[used]) < LEAST_RANGE_MPS2:
        return None
    slope = np.polyfit(np.abs(side[used]), np.sign(np.mean(side)) * angle[used], 1)[0]
    return float(np.degrees(slope))


def turning_circle(run: Run, steady: NDArray[np.bool_]) -> dict[str, float]:
    """Radius of the outer front wheel's track and of the middle of the rear axle [m], and drift of speed [m/s]."""
    history = run.history[steady]
    speed = run.channels["speed_mps"][steady]
    rate = history["angular_velocity"][:, 2]
    outer = 1 if rate.mean() > 0.0 else 0
    wheels = history["wheel_centre"][:, [outer, 2, 3]]
    centre_velocity = np.column_stack([speed, run.channels["side_speed_mps"][steady]])
    # From the chassis' centre of mass, whose velocity the channels give, to the wheels, in the plane.
    offset = wheels[:, :, :2] - run.centre_of_mass[:2]
    rotational = np.stack([-offset[:, :, 1], offset[:, :, 0]], axis=-1) * rate[:, None, None]
    velocity = centre_velocity[:, None, :] + rotational
    radius = np.hypot(velocity[:, :, 0], velocity[:, :, 1]) / np.abs(rate)[:, None]
    return {
        "turning_radius_outer_front_wheel_m": float(radius[:, 0].mean()),
        "turning_radius_rear_axle_m": float(0.5 * (radius[:, 1] + radius[:, 2]).mean()),
        "speed_drift_mps": float(np.ptp(speed)),
    }
