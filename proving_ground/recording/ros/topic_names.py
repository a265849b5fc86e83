"""Valid topic names in ROS."""

from __future__ import annotations

from rclpy.node import Node


def complaint(node: Node, topic: str) -> str:
    """Why this topic name is invalid for the node, in one line; empty if it is valid."""
    try:
        node.resolve_topic_name(topic)
    except (RuntimeError, ValueError) as error:  # RCLError, whose class has no public name; a name that is not UTF-8
        text = " ".join(str(error).split())
        return text.removeprefix("failed to resolve name: ").rsplit(", at /", 1)[0]
    return ""
