"""The QoS profiles of the suite (interfaces.profiles) for rclpy."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from proving_ground.interfaces import profiles


def to_rclpy(profile: profiles.Profile) -> QoSProfile:
    """rclpy's form of a declared profile."""
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
