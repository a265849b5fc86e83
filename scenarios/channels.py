"""What a run records, by name with unit: columns that plots, criteria and files speak of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from vehicle_dynamics.vehicle_mechanism import CORNERS

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
    "yaw_rad",  # without jumps
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
CHANNELS: tuple[str, ...] = (
    *MOTION,
    *SINGLE,
    *(f"{name}.{corner}" for name in PER_WHEEL for corner in CORNERS),
)
SLOW = 0.1  # [m/s]: below, sideslip means nothing


def channels(time: Array, history: NDArray[np.void], centre_of_mass: Array, base: Array) -> dict[str, Array]:
    """All channels of a history (records of SNAPSHOT); points are in the chassis frame [m]."""
    attitude = Rotation.from_quat(history["attitude"])
    turn, turn_rate = history["turn"], history["turn_rate"]
    place = history["position"] + attitude.apply(base)
    yaw, pitch, roll = attitude.as_euler("ZYX").T
    velocity = attitude.inv().apply(history["velocity"]) + np.cross(turn, centre_of_mass)
    swing = np.cross(turn_rate, centre_of_mass) + np.cross(turn, np.cross(turn, centre_of_mass))
    acceleration = attitude.inv().apply(history["acceleration"]) + swing
    moves = np.hypot(velocity[:, 0], velocity[:, 1]) > SLOW
    sideslip = np.where(moves, np.arctan2(velocity[:, 1], np.abs(velocity[:, 0])), 0.0)
    motion = (
        time, *place.T, roll, pitch, np.unwrap(yaw), *velocity.T, sideslip, *turn.T, *acceleration.T,
    )  # fmt: skip
    found = dict(zip(MOTION, motion, strict=True))
    found |= {name: factor * history[field] for name, (field, factor) in SINGLE.items()}
    for name, (field, factor) in PER_WHEEL.items():
        found |= {f"{name}.{corner}": factor * history[field][:, index] for index, corner in enumerate(CORNERS)}
    return found
