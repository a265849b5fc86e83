"""Recorded channels of a run, by name with unit: the columns of plots, criteria and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.interfaces.joints import CORNERS
from proving_ground.scenarios.vibration import absorbed_power, total_of, weighted

Array = NDArray[np.float64]
Channels = Mapping[str, Array]

RPM = 30.0 / np.pi
PER_WHEEL: dict[str, tuple[str, float]] = {  # channel name without the corner: field of SNAPSHOT, factor
    "wheel_load_n": ("load", 1.0),
    "wheel_speed_radps": ("spin_rate", 1.0),
    "wheel_angle_rad": ("steer_angle", 1.0),
    "spring_compression_m": ("spring_compression", 1.0),
    "slip_along": ("slip_along", 1.0),
    "slip_across": ("slip_across", 1.0),
    "sinkage_m": ("sinkage", 1.0),
    "force_along_n": ("force_along", 1.0),
    "force_across_n": ("force_across", 1.0),
    "brake_torque_nm": ("brake_torque", 1.0),
    "drive_torque_nm": ("drive_torque", 1.0),
}
SINGLE: dict[str, tuple[str, float]] = {
    "steering": ("steering", 1.0),
    "throttle": ("throttle", 1.0),
    "brake": ("brake", 1.0),
    "gear_lever": ("selected", 1.0),
    "engine_speed_rpm": ("engine_speed", RPM),
    "gear": ("gear", 1.0),
    "collision_n": ("collision", 1.0),
}
MOTION = (
    "time_s",
    "x_m",  # of base_link, world
    "y_m",
    "z_m",
    "roll_rad",
    "pitch_rad",  # positive nose down
    "yaw_rad",  # unwrapped
    "speed_mps",  # of the chassis' centre of mass, chassis axes: forward, left, up
    "side_speed_mps",
    "up_speed_mps",
    "sideslip_rad",
    "roll_rate_radps",
    "pitch_rate_radps",
    "yaw_rate_radps",
    "forward_acceleration_mps2",  # of the same point, chassis axes, gravity not included
    "side_acceleration_mps2",
    "up_acceleration_mps2",
)
SEAT_ACCELERATIONS = (  # of the driver's seat, chassis axes, gravity not included
    "seat_forward_acceleration_mps2",
    "seat_side_acceleration_mps2",
    "seat_up_acceleration_mps2",
)
SEAT = (
    *SEAT_ACCELERATIONS,
    "seat_weighted_acceleration_mps2",  # all axes, weighted by ISO 2631-1; its root mean square is a_wv
    "seat_absorbed_power_w",  # vertical; its mean is what is limited to 6 W
)
CHANNELS: tuple[str, ...] = (
    *MOTION,
    *SEAT,
    *SINGLE,
    *(f"{name}.{corner}" for name in PER_WHEEL for corner in CORNERS),
)
ESTIMATE_CHANNELS: tuple[str, ...] = (  # estimate less truth, of runs with an observer
    "estimate_error_m",  # of base_link's position, horizontal distance
    "estimate_yaw_error_rad",
    "estimate_speed_error_mps",  # of base_link, longitudinal
    "estimate_sideslip_error_rad",  # of the vehicle's middle
)
SLOW = 0.1  # [m/s]: below, sideslip is meaningless
MOVES = 1.0  # [m/s]: below, its estimate is not judged
MOST_BRIDGED = 100  # steps of a gap, for filters


class Points(NamedTuple):
    """Points of the chassis whose motion the channels give, chassis frame [m]."""

    centre_of_mass: Array
    base: Array  # base_link
    seat: Array


def channels(time: Array, history: NDArray[np.void], points: Points) -> dict[str, Array]:
    """All channels of a history (records of SNAPSHOT) at times [s]."""
    centre_of_mass, base = points.centre_of_mass, points.base
    attitude = Rotation.from_quat(history["attitude"])
    angular_velocity = history["angular_velocity"]
    position = history["position"] + attitude.apply(base)
    yaw, pitch, roll = attitude.as_euler("ZYX").T
    velocity = attitude.inv().apply(history["velocity"]) + np.cross(angular_velocity, centre_of_mass)
    acceleration = acceleration_at(history, centre_of_mass)
    moves = np.hypot(velocity[:, 0], velocity[:, 1]) > SLOW
    sideslip = np.where(moves, np.arctan2(velocity[:, 1], np.abs(velocity[:, 0])), 0.0)
    motion = (
        time, *position.T, roll, pitch, np.unwrap(yaw), *velocity.T, sideslip, *angular_velocity.T, *acceleration.T,
    )  # fmt: skip
    found = dict(zip(MOTION, motion, strict=True)) | seat_channels(time, acceleration_at(history, points.seat))
    found |= {name: factor * history[field] for name, (field, factor) in SINGLE.items()}
    for name, (field, factor) in PER_WHEEL.items():
        found |= {f"{name}.{corner}": factor * history[field][:, index] for index, corner in enumerate(CORNERS)}
    return found


def acceleration_at(history: NDArray[np.void], point: Array) -> Array:
    """Acceleration [m/s^2] of a point [m] of the chassis, n x 3 in chassis axes, gravity not included."""
    rate, change = history["angular_velocity"], history["angular_acceleration"]
    swing = np.cross(change, point) + np.cross(rate, np.cross(rate, point))
    return np.asarray(Rotation.from_quat(history["attitude"]).inv().apply(history["acceleration"]) + swing)


def seat_channels(time: Array, acceleration: Array) -> dict[str, Array]:
    """SEAT from the seat's acceleration [m/s^2] at times [s]; short gaps are bridged, longer ones shortened."""
    found = dict(zip(SEAT_ACCELERATIONS, acceleration.T, strict=True))
    if len(time) < 2:
        return found | {name: np.zeros(len(time)) for name in SEAT[len(SEAT_ACCELERATIONS) :]}
    steps = np.diff(time)
    step = float(np.median(steps))
    at = np.concatenate([[0.0], np.cumsum(np.minimum(steps, MOST_BRIDGED * step))])
    even = step * np.arange(round(at[-1] / step) + 1)
    there = np.column_stack([np.interp(even, at, column) for column in acceleration.T])
    judged = (total_of(weighted(there, step)), absorbed_power(there[:, 2], step))
    of_seat = zip(SEAT[len(SEAT_ACCELERATIONS) :], judged, strict=True)
    return found | {name: np.interp(at, even, values) for name, values in of_seat}


def estimate_channels(
    start_ns: int, time: Array, history: NDArray[np.void], base: Array, estimates: NDArray[np.void]
) -> dict[str, Array]:
    """ESTIMATE_CHANNELS at the run's instants; empty without estimates, which are records of ESTIMATE.

    start_ns: start of the run; time, history, base: as for channels.

    Computed at common instants, interpolated linearly; before the first estimate as at the first, after the last
    as at the last. Longer gaps are excluded when judging: proving_ground.scenarios.gaps.
    """
    ours, theirs = shared_instants(start_ns, time, estimates)
    if not len(ours):
        return {}
    seen, estimates = history[ours], estimates[theirs]
    attitude = Rotation.from_quat(seen["attitude"])
    middle = attitude.inv().apply(seen["velocity"])  # of the chassis origin, its axes
    speed = middle[:, 0] + np.cross(seen["angular_velocity"], base)[:, 0]
    position = seen["position"] + attitude.apply(base)
    away = np.hypot(*(estimates["position"][:, :2] - position[:, :2]).T)
    yaw = _yaw(Rotation.from_quat(estimates["attitude"])) - _yaw(attitude)
    moves = np.hypot(middle[:, 0], middle[:, 1]) > MOVES
    sideslip = np.where(moves, estimates["sideslip"] - np.arctan2(middle[:, 1], np.abs(middle[:, 0])), 0.0)
    values = (away, np.remainder(yaw + np.pi, 2.0 * np.pi) - np.pi, estimates["velocity"][:, 0] - speed, sideslip)
    return {name: np.interp(time, time[ours], value) for name, value in zip(ESTIMATE_CHANNELS, values, strict=True)}


def shared_instants(
    start_ns: int, time: Array, estimates: NDArray[np.void]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the common instants in the run's times [s] and in the estimates."""
    instants = start_ns + np.round(time * 1e9).astype(np.int64)
    _, ours, theirs = np.intersect1d(instants, estimates["time_ns"], return_indices=True)
    return ours, theirs


def _yaw(attitude: Rotation) -> Array:
    return np.asarray(attitude.as_euler("ZYX")[:, 0])
