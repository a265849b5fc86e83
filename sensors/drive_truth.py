"""Truth for the encoders, from a snapshot of the vehicle."""

from __future__ import annotations

import math

import numpy as np

from sensors.samples import DriveTruth
from vehicle_dynamics.driving.snapshot import SnapshotRecord


def drive_truth(seen: SnapshotRecord) -> DriveTruth:
    """True values of wheels, pedals and engine at a snapshot, copied because its record may be refilled."""
    return DriveTruth(
        spin=np.array(seen["spin"]),
        wheel_torque=seen["drive_torque"] + seen["brake_torque"],
        steering=-float(seen["pitman_angle"]),  # in chassis axes, left is negative
        throttle=float(seen["throttle"]),
        brake=float(seen["brake"]),
        engine_speed=float(seen["engine_speed"]),
    )


def require_finite_drive(drive: DriveTruth) -> None:
    """Raises ValueError with one line for values that are not finite."""
    single = (drive.steering, drive.throttle, drive.brake, drive.engine_speed)
    values = {"spin": drive.spin.tolist(), "wheel_torque": drive.wheel_torque.tolist(), "pedals and engine": single}
    for name, numbers in values.items():
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"drive: {name} must be finite, got {numbers}")
