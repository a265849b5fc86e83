"""Names of the ROS message and service types of the suite, and the installed Python class of a name."""

from __future__ import annotations

import importlib
from typing import Final

ACCEL: Final = "geometry_msgs/msg/AccelStamped"
ACKERMANN: Final = "ackermann_msgs/msg/AckermannDriveStamped"
CLOCK: Final = "rosgraph_msgs/msg/Clock"
CLOUD: Final = "sensor_msgs/msg/PointCloud2"
COUNT: Final = "std_msgs/msg/UInt32"
DIAGNOSTICS: Final = "diagnostic_msgs/msg/DiagnosticArray"
FIX: Final = "sensor_msgs/msg/NavSatFix"
GRID: Final = "nav_msgs/msg/OccupancyGrid"
IMU: Final = "sensor_msgs/msg/Imu"
JOINTS: Final = "sensor_msgs/msg/JointState"
JOY: Final = "sensor_msgs/msg/Joy"
MARKERS: Final = "visualization_msgs/msg/MarkerArray"
NUMBER: Final = "std_msgs/msg/Float64"
ODOMETRY: Final = "nav_msgs/msg/Odometry"
PATH: Final = "nav_msgs/msg/Path"
POSE: Final = "geometry_msgs/msg/PoseStamped"
POSE_WITH_COVARIANCE: Final = "geometry_msgs/msg/PoseWithCovarianceStamped"
SCAN: Final = "sensor_msgs/msg/LaserScan"
TABLE: Final = "std_msgs/msg/Float64MultiArray"
TEXT: Final = "std_msgs/msg/String"
TRANSFORMS: Final = "tf2_msgs/msg/TFMessage"
TWIST: Final = "geometry_msgs/msg/Twist"
TWIST_STAMPED: Final = "geometry_msgs/msg/TwistStamped"
VELOCITY: Final = "geometry_msgs/msg/TwistWithCovarianceStamped"
WRENCH: Final = "geometry_msgs/msg/WrenchStamped"

SWITCH: Final = "std_srvs/srv/SetBool"
TRIGGER: Final = "std_srvs/srv/Trigger"


def short_name(type_name: str) -> str:
    """Package and name, the short form of a type.

    >>> short_name("sensor_msgs/msg/Imu")
    'sensor_msgs/Imu'
    """
    package, _, name = type_name.split("/")
    return f"{package}/{name}"


def message_class(type_name: str) -> type | None:
    """The Python class of a type such as 'sensor_msgs/msg/Imu' or 'std_srvs/srv/Trigger', if it is installed."""
    package, _, rest = type_name.partition("/")
    kind, _, name = rest.partition("/")
    if kind not in ("msg", "srv", "action") or not package.isidentifier() or not name.isidentifier():
        return None
    try:
        found = getattr(importlib.import_module(f"{package}.{kind}"), name, None)
    except ImportError:
        return None
    return found if isinstance(found, type) else None
