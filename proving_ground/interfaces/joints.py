"""Names in sensor_msgs/JointState messages of the suite: wheels, pedals, actuation, and the truth of the wheels."""

from __future__ import annotations

from typing import Final

CORNERS: Final = ("front_left", "front_right", "rear_left", "rear_right")
WHEELS: Final = tuple(f"{corner}_wheel" for corner in CORNERS)  # joints, front left to rear right
LOWER_ARMS: Final = tuple(f"{corner}_lower_arm" for corner in CORNERS)

STEERING, THROTTLE, BRAKE, ENGINE, GEAR = "steering", "throttle", "brake", "engine", "gear"
PEDALS: Final = (STEERING, THROTTLE, BRAKE)  # required in a command on vehicle/pedals
PEDALS_AND_GEAR: Final = (*PEDALS, GEAR)
LEVERS: Final = ("transfer_range", "locks", "parking_brake")  # optional there, after the gear; absent: as they are
DRIVE: Final = (*PEDALS, ENGINE)
TILTS: Final = ("tilt_x", "tilt_y")
ACTUATION: Final = (*DRIVE, *TILTS)  # of vehicle/actuation: measured
TRUTH_ACTUATION: Final = (*WHEELS, *DRIVE)  # of ground_truth/actuation

# ground_truth/wheels: fields of the vehicle's snapshot, with the corner where each wheel has its own value
WHEEL_FIELDS: Final = (
    "load", "steer_angle", "slip_along", "slip_across", "sinkage", "force_along", "force_across", "brake_torque",
    "drive_torque",
)  # fmt: skip
VEHICLE_FIELDS: Final = ("gear", "selected", "steering")
TRUTH_WHEELS: Final = (*(f"{field}.{corner}" for field in WHEEL_FIELDS for corner in CORNERS), *VEHICLE_FIELDS)
