"""Roles of the topics of a bag: the one list, light to import because command lines are made from it."""

from __future__ import annotations

# Role -> type and meaning of its topic, as the help page of `observe` prints them.
ROLES = {
    "imu": "Imu",
    "fix": "NavSatFix",
    "velocity": "TwistWithCovarianceStamped of the GPS, east, north, up",
    "wheels": "JointState of the wheels",
    "actuation": "JointState of steering, throttle, brake, engine",
    "truth": "Odometry to compare with",
}
