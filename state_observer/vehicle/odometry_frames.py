"""An estimate as the two transforms of REP-105: map to odom, which may jump, odom to base_link, which never does."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Placement(NamedTuple):
    """Pose of a frame in its parent frame."""

    translation: tuple[float, float, float]  # [m]
    quaternion: tuple[float, float, float, float]  # x y z w


def odometry_frames(estimate: Any) -> tuple[Placement, Placement]:
    """odom in map and base_link in odom, from a record of ESTIMATE; map and odom differ by a rotation about z."""
    x, y, z, yaw = estimate["odom"].tolist()
    qx, qy, qz, qw = estimate["attitude"].tolist()
    heading = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
    angle = heading - yaw
    cosine, sine = math.cos(angle), math.sin(angle)
    px, py, pz = estimate["position"].tolist()
    shift = (px - cosine * x + sine * y, py - sine * x - cosine * y, pz - z)
    half_cosine, half_sine = math.cos(0.5 * angle), math.sin(0.5 * angle)
    # odom_from_base = (map_from_odom)^-1 map_from_base: a rotation by -angle about z, then the attitude.
    attitude = (
        half_cosine * qx + half_sine * qy,
        half_cosine * qy - half_sine * qx,
        half_cosine * qz - half_sine * qw,
        half_cosine * qw + half_sine * qz,
    )
    return Placement(shift, (0.0, 0.0, half_sine, half_cosine)), Placement((x, y, z), attitude)
