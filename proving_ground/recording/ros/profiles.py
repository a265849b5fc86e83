"""QoS between ROS and bags: what publishers offer, how to subscribe to all of them, and what a replay offers."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime

from proving_ground.interfaces.topics import FIXED_TRANSFORMS
from proving_ground.settings.units import NS_PER_S

LISTENING_DEPTH = 1000  # messages that may arrive while this process is not scheduled
SENDING_DEPTH = 100  # least depth of replays: many messages may be due at once
MOST_LATCHED = 100


def offered(profile: QoSProfile) -> Qos:
    """QoS of a publisher, as in bags."""
    return Qos(
        QosHistory[profile.history.name],
        profile.depth,
        QosReliability[profile.reliability.name],
        QosDurability[profile.durability.name],
        _time(profile.deadline),
        _time(profile.lifespan),
        QosLiveliness[profile.liveliness.name],
        _time(profile.liveliness_lease_duration),
        profile.avoid_ros_namespace_conventions,
    )


def listening(profiles: Sequence[QoSProfile]) -> QoSProfile:
    """QoS that matches all publishers: reliable only if all are, transient local only if all are."""
    is_reliable = all(item.reliability == ReliabilityPolicy.RELIABLE for item in profiles)
    is_latched = all(item.durability == DurabilityPolicy.TRANSIENT_LOCAL for item in profiles)
    return QoSProfile(
        depth=LISTENING_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if is_reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if is_latched else DurabilityPolicy.VOLATILE,
    )


def is_weaker(new: QoSProfile, old: QoSProfile) -> bool:
    """Whether the new QoS requests less than the old one."""
    return bool(
        (old.reliability == ReliabilityPolicy.RELIABLE and new.reliability != ReliabilityPolicy.RELIABLE)
        or (old.durability == DurabilityPolicy.TRANSIENT_LOCAL and new.durability != DurabilityPolicy.TRANSIENT_LOCAL)
    )


def is_latched(profiles: Sequence[Qos]) -> bool:
    """Whether all publishers of a topic kept messages for late joiners."""
    return bool(profiles) and all(item.durability == QosDurability.TRANSIENT_LOCAL for item in profiles)


def sending(topic: str, profiles: Sequence[Qos], count: int) -> QoSProfile:
    """QoS that one publisher must offer to serve all subscribers of the recorded ones; count: messages in the bag.

    Liveliness and deadlines are not offered: a replay that is paused could not keep them. Where the bag has no QoS,
    reliable and not latched, which matches all subscribers but those for latched topics.
    """
    is_reliable = not any(item.reliability == QosReliability.BEST_EFFORT for item in profiles)
    depth = max(SENDING_DEPTH, *(item.depth for item in profiles)) if profiles else SENDING_DEPTH
    if is_latched(profiles):
        depth = sum(max(item.depth, 1) for item in profiles)  # each publisher had its own
        # Many broadcasters, each with other frames; a bag that was cut has only the first messages.
        if topic.endswith(FIXED_TRANSFORMS.absolute):
            depth = max(depth, count)
        depth = min(depth, MOST_LATCHED)
    return QoSProfile(
        depth=depth,
        history=HistoryPolicy.KEEP_LAST,
        reliability=ReliabilityPolicy.RELIABLE if is_reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if is_latched(profiles) else DurabilityPolicy.VOLATILE,
        liveliness=LivelinessPolicy.AUTOMATIC,
    )


def _time(duration: Duration) -> QosTime:
    return QosTime(*divmod(duration.nanoseconds, NS_PER_S))
