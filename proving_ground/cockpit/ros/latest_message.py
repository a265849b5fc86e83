"""Topics that are polled: they do not wake the executor, which is the expensive part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from proving_ground.interfaces.message_types import message_class
from proving_ground.interfaces.topic import Topic
from proving_ground.ros_support.polled import PolledGroup


def _profile(depth: int, reliability: ReliabilityPolicy, durability: DurabilityPolicy) -> QoSProfile:
    return QoSProfile(depth=depth, history=HistoryPolicy.KEEP_LAST, reliability=reliability, durability=durability)


# Best effort: a slow page does not block publishers.
LATEST = _profile(1, ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE)
MANY = _profile(50, ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE)
LATCHED_ALL = _profile(100, ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL)


class LatestMessages:
    """Latest messages of one topic. They wait until polled; beyond the depth, the oldest are lost."""

    def __init__(
        self,
        node: Node,
        group: PolledGroup,
        topic: Topic,
        update: Callable[[Any], None],
        profile: QoSProfile = LATEST,
        period_s: float = 0.0,
        is_wanted: Callable[[], bool] | None = None,
    ) -> None:
        """period_s: shortest time between polls, by the clock that `look` is given; is_wanted: else do not poll."""
        self._node, self._callback, self._period, self._is_wanted = node, update, period_s, is_wanted
        self._depth, self._looked_at = profile.depth, float("-inf")
        self._subscription = node.create_subscription(
            message_class(topic.type), topic.name, update, profile, callback_group=group
        )

    def look(self, now: float) -> None:
        """Take all waiting messages, if the polling period is over; now: seconds of a steady clock."""
        if now - self._looked_at < self._period or (self._is_wanted is not None and not self._is_wanted()):
            return
        self._looked_at = now
        subscription = self._subscription
        with subscription.handle:
            for _ in range(self._depth):
                found = subscription.handle.take_message(subscription.msg_type, subscription.raw)
                if found is None:
                    return
                self._callback(found[0])

    def close(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self._subscription)
