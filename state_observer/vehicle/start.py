"""Initial pose ([Sanjurjo] Section 5.5), from standstill or while driving.

The position comes from fixes; the heading from the GPS velocity, or from two fixes some metres apart: the path between
them, dead-reckoned from wheels and gyroscopes in the axes of the start, is rotated until it fits. At standstill the
mean of the gyroscopes is their bias.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from state_observer.vehicle.layout import FilterState
from state_observer.vehicle.settings import Gates, Start

Array = NDArray[np.float64]

WHEELS_REST_MPS = 0.05  # mean of wheel speeds, whose pulses are coarse: slower wheels may be at rest
SAME_POSITION_M = 0.05  # dead reckoning since the anchor is no further than this: the vehicle has not moved
ENOUGH_STILL = 50  # IMU samples for a bias
FIRST_STILL = 20
TREMBLE = 0.01  # [rad/s]: faster is motion, not noise
STILL_STD = 1e-4  # [rad/s]: of a bias found at standstill


class InitialState(NamedTuple):
    """Initial state of the vehicle when the filter starts."""

    antenna: Array  # east, north, up [m]
    heading: float  # [rad] from east, counter-clockwise
    speed: float  # forward, of the antenna [m/s]
    position_variance: float  # each horizontal axis [m^2]
    up_variance: float
    heading_variance: float
    speed_variance: float


def begin_wait(filter_state: FilterState) -> None:
    """Clear what was gathered for a start."""
    for name in ("fixes", "anchor", "anchor_variance", "walked", "still", "still_angular_velocity", "rate", "speed"):
        filter_state[name] = 0.0


def wait_imu(filter_state: FilterState, angular_velocity: Array, base_angular_velocity: Array) -> None:
    """Process gyroscopes [rad/s] while there is no heading yet, in sensor and in base_link axes."""
    now = filter_state[0]
    # The body moves before the first wheel pulse arrives.
    rests = now["still"] < FIRST_STILL or np.abs(angular_velocity - now["still_angular_velocity"]).max() < TREMBLE
    if abs(now["speed"]) < WHEELS_REST_MPS and rests:
        now["still"] += 1.0
        now["still_angular_velocity"] += (angular_velocity - now["still_angular_velocity"]) / now["still"]
    now["rate"] = base_angular_velocity


def wait_wheels(filter_state: FilterState, speed: float, passed: float, bias: float) -> None:
    """Dead-reckon with the wheel speed [m/s] over the time since the last one [s]; bias [rad/s] of the yaw rate."""
    now = filter_state[0]
    yaw = now["walked"][2] + 0.5 * passed * (now["rate"][2] - bias)
    now["walked"] += passed * np.array([speed * math.cos(yaw), speed * math.sin(yaw), now["rate"][2] - bias])
    now["speed"] = speed


def wait_fix(filter_state: FilterState, fix: Array, variance: Array, start: Start, gates: Gates) -> InitialState | None:
    """Process a fix: position and velocity east, north, up [m, m/s] and their variances.

    Returns the initial state once it is good enough, until then None.
    """
    now = filter_state[0]
    stands = abs(now["speed"]) < WHEELS_REST_MPS and math.hypot(now["walked"][0], now["walked"][1]) < SAME_POSITION_M
    if now["fixes"] == 0.0 or stands:
        now["fixes"] += 1.0
        now["anchor"] += (fix[:3] - now["anchor"]) / now["fixes"]
        now["anchor_variance"] = variance[0] / now["fixes"]
        now["walked"] = 0.0
    found = _by_velocity(filter_state, fix, variance, start, gates)
    return found if found is not None else _by_two_fixes(filter_state, fix, variance, start)


def _by_velocity(
    filter_state: FilterState, fix: Array, variance: Array, start: Start, gates: Gates
) -> InitialState | None:
    now, speed = filter_state[0], math.hypot(fix[3], fix[4])
    if not np.isfinite(variance[3:5]).all() or speed < gates.course_above_mps:
        return None
    heading_variance = max(variance[3], variance[4]) / speed**2
    if math.sqrt(heading_variance) > start.heading_std:
        return None
    backward = now["speed"] < -WHEELS_REST_MPS
    heading = math.atan2(fix[4], fix[3]) + (math.pi if backward else 0.0)
    position, position_variance = _best_position(filter_state, fix, variance, heading)
    return InitialState(
        position,
        heading,
        -speed if backward else speed,
        position_variance,
        float(variance[2]),
        heading_variance,
        float(variance[3]),
    )


def _best_position(filter_state: FilterState, fix: Array, variance: Array, heading: float) -> tuple[Array, float]:
    """Position of this fix, fused with the mean of earlier ones dead-reckoned to here."""
    now = filter_state[0]
    first = heading - now["walked"][2]
    x, y = now["walked"][:2].tolist()
    carried = now["anchor"] + np.array(
        [math.cos(first) * x - math.sin(first) * y, math.sin(first) * x + math.cos(first) * y, 0.0]
    )
    if now["fixes"] < 2.0:
        return fix[:3].copy(), float(variance[0])
    before = now["anchor_variance"] + (0.1 * math.hypot(x, y)) ** 2
    share = before / (before + variance[0])
    return carried + share * (fix[:3] - carried), float(before * variance[0] / (before + variance[0]))


def _by_two_fixes(filter_state: FilterState, fix: Array, variance: Array, start: Start) -> InitialState | None:
    now = filter_state[0]
    away = fix[:2] - now["anchor"][:2]
    x, y, yaw = now["walked"].tolist()
    distance = min(math.hypot(*away), math.hypot(x, y))
    if distance < start.baseline_m:
        return None
    heading_variance = (now["anchor_variance"] + variance[0]) / distance**2
    if math.sqrt(heading_variance) > start.heading_std:
        return None
    heading = math.atan2(away[1], away[0]) - math.atan2(y, x) + yaw
    return InitialState(
        fix[:3].copy(),
        heading,
        float(now["speed"]),
        float(variance[0]),
        float(variance[2]),
        float(heading_variance),
        0.04,
    )
