"""The QoS profiles of the suite (interfaces.profiles) as rclpy has them."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from proving_ground.interfaces import profiles


def to_rclpy(profile: profiles.Profile) -> QoSProfile:
    """rclpy's profile of a declared one."""
    return QoSProfile(
        depth=profile.depth,
        history=HistoryPolicy.KEEP_LAST,
        reliability=ReliabilityPolicy.RELIABLE if profile.is_reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if profile.is_latched else DurabilityPolicy.VOLATILE,
    )


SENSOR = to_rclpy(profiles.SENSOR)
RELIABLE = to_rclpy(profiles.RELIABLE)
LATCHED = to_rclpy(profiles.LATCHED)
TF = to_rclpy(profiles.TF)
CLOCK = to_rclpy(profiles.CLOCK)
