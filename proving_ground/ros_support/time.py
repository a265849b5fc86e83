"""Time between integers and messages, and what a node does when ROS time jumps."""

from __future__ import annotations

from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node

from proving_ground.interfaces.fields import set_stamp

GAP_S = 1.0  # a forward jump beyond this is a gap, not something to integrate over


def ns_to_stamp(nanoseconds: int) -> Time:
    """Message stamp of an integer time [ns] since the epoch; raises ValueError outside the range of a stamp."""
    stamp = Time()
    set_stamp(stamp, nanoseconds)
    return stamp


def on_time_jump(node: Node, reset: Callable[[], None], gap: Callable[[], None] | None = None) -> object:
    """Call reset when ROS time jumps back (bag loop, simulation reset) or changes its source, gap when it skips ahead.

    Both run in the thread that spins the node, before any callback sees the new time. Keep the returned handle.
    """

    def jumped(jump: TimeJump) -> None:
        has_new_source = not jump.clock_change.name.endswith("NO_CHANGE")
        if has_new_source or jump.delta.nanoseconds < 0:
            reset()
        elif gap is not None:
            gap()

    threshold = JumpThreshold(
        min_forward=Duration(seconds=GAP_S), min_backward=Duration(nanoseconds=-1), on_clock_change=True
    )
    return node.get_clock().create_jump_callback(threshold, post_callback=jumped)
