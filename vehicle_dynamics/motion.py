"""Scalar readings of a snapshot for controllers, without the cost of arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vehicle_dynamics.driving.snapshot import SnapshotRecord

STANDS_MPS = 0.05  # below this speed a vehicle stands, and a command means stop


def forward_speed(seen: SnapshotRecord) -> float:
    """Speed along the vehicle's x axis [m/s]."""
    x, y, z, w = seen["attitude"].tolist()
    along, left, up = seen["velocity"].tolist()
    return float(
        along * (1.0 - 2.0 * (y * y + z * z)) + left * 2.0 * (x * y + z * w) + up * 2.0 * (x * z - y * w)
    )  # first column of world_from_chassis


def rise_of(seen: SnapshotRecord) -> float:
    """Sine of the vehicle's pitch, positive nose up."""
    x, y, z, w = seen["attitude"].tolist()
    return float(2.0 * (x * z - y * w))  # third component of the x axis


def heading(seen: SnapshotRecord) -> float:
    """Yaw of the chassis [rad], counter-clockwise from x of the world, from -pi to pi."""
    return heading_of(seen["attitude"].tolist())


def heading_of(attitude: Sequence[float]) -> float:
    """Yaw [rad], from -pi to pi, of a unit quaternion x, y, z, w.

    >>> round(heading_of((0.0, 0.0, math.sin(0.5), math.cos(0.5))), 12)
    1.0
    """
    x, y, z, w = attitude
    return math.atan2(2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z))


def wrapped(angle: float) -> float:
    """The same direction as an angle [rad] from -pi to pi.

    >>> round(wrapped(3.0 * math.pi / 2.0), 3)
    -1.571
    """
    return math.remainder(angle, 2.0 * math.pi)
