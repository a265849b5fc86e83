"""Broadcasters of /tf and /tf_static that need only the message package, so that they work without tf2_ros."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from numpy.typing import ArrayLike
from tf2_msgs.msg import TFMessage

from proving_ground.interfaces import topics
from proving_ground.interfaces.motion_codec import new_transform
from proving_ground.ros_support.convert import transform_to_msg
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode


@dataclass(frozen=True)
class FrameTransform:
    """parent_from_child: origin [m] and axes of the child frame in the parent frame."""

    parent: str
    child: str
    translation: ArrayLike
    quaternion: ArrayLike  # x, y, z, w

    def to_msg(self, stamp: Time, frame_prefix: str = "") -> TransformStamped:
        """Stamped message; raises ValueError when a name is empty or a value is not finite."""
        link = new_transform(new_message, self.parent, self.child)
        link.header.stamp = stamp
        link.header.frame_id, link.child_frame_id = frame_prefix + self.parent, frame_prefix + self.child
        link.transform = transform_to_msg(self.translation, self.quaternion)
        return link


class TransformBroadcaster:
    """Publishes moving frames on tf. The topic is relative: a namespaced vehicle has its own tree."""

    def __init__(self, node: SuiteNode[Any], frame_prefix: str = "") -> None:
        self._publisher = node.advertise(topics.TRANSFORMS)
        self._prefix = frame_prefix

    def send(self, stamp: Time, transforms: Iterable[FrameTransform]) -> None:
        """Publish all transforms of one instant in one message."""
        messages = [transform.to_msg(stamp, self._prefix) for transform in transforms]
        self._publisher.publish(TFMessage(transforms=messages))


class StaticTransformBroadcaster:
    """Publishes fixed frames on tf_static, latched; a late joiner gets every frame ever sent by this node."""

    def __init__(self, node: SuiteNode[Any], frame_prefix: str = "") -> None:
        self._publisher = node.advertise(topics.FIXED_TRANSFORMS)
        self._prefix = frame_prefix
        self._by_child: dict[str, TransformStamped] = {}

    def send(self, stamp: Time, transforms: Iterable[FrameTransform]) -> None:
        """Add or replace transforms. All are sent again, because a latched topic keeps only its last message."""
        self.send_messages([transform.to_msg(stamp, self._prefix) for transform in transforms])

    def send_messages(self, transforms: Iterable[TransformStamped]) -> None:
        """Send messages as `send` does frames; nothing is sent while there are no frames."""
        self._by_child |= {transform.child_frame_id: transform for transform in transforms}
        if self._by_child:
            self._publisher.publish(TFMessage(transforms=list(self._by_child.values())))
