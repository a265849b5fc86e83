"""Names of the ROS graph."""


def full_name(namespace: str, name: str) -> str:
    """Fully qualified node name.

    >>> full_name("/", "teleop"), full_name("truck_1", "teleop"), full_name("/a/b/", "gps")
    ('/teleop', '/truck_1/teleop', '/a/b/gps')
    """
    return "/" + "/".join(part for part in (*namespace.split("/"), name) if part)
