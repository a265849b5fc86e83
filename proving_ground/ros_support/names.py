"""Names of the ROS graph."""

from __future__ import annotations


def full_name(namespace: str, name: str) -> str:
    """Fully qualified node name.

    >>> full_name("/", "teleop"), full_name("truck_1", "teleop"), full_name("/a/b/", "gps")
    ('/teleop', '/truck_1/teleop', '/a/b/gps')
    """
    return "/" + "/".join(part for part in (*namespace.split("/"), name) if part)


def type_name(message_type: type) -> str:
    """Name of a message type as the graph gives it: 'geometry_msgs/msg/Twist'."""
    return f"{message_type.__module__.split('.')[0]}/msg/{message_type.__name__}"
