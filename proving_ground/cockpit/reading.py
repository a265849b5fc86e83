"""Messages as plain, checked numbers for the page. Works on anything with the fields of the message.

Every function raises ValueError with a reason for values that are not finite or plausible, and for wrong sizes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.fields import FARTHEST_M, read_quaternion, read_vector
from proving_ground.interfaces.motion_codec import read_odometry

Array = NDArray[np.float64]

MOST_CELLS = 4_000_000
MOST_LINE_POINTS = 200_000


class Motion(NamedTuple):
    """Pose and velocity of a body."""

    time_ns: int
    position: Array  # [m], world
    attitude: Array  # quaternion x y z w
    velocity: Array  # [m/s], body axes
    position_covariance: Array  # 2 x 2 [m^2], world


class Grid(NamedTuple):
    """An occupancy map, as read from nav_msgs/OccupancyGrid."""

    cells: NDArray[np.int8]  # rows from south to north x columns: -1 unknown, 0 free, 100 occupied
    resolution: float  # [m]
    corner: Array  # x, y, z [m] of the lower left corner


def point(message: Any) -> Array:
    """Position [m] as an array from a message; raises ValueError unless finite."""
    return np.array(read_vector(message, "position", FARTHEST_M))


def attitude(message: Any) -> Array:
    """A unit quaternion x y z w."""
    return np.array(read_quaternion(message))


def motion(message: Any) -> Motion:
    """Pose and velocity from nav_msgs/Odometry; raises ValueError for invalid ones."""
    found = read_odometry(message)
    covariance = np.asarray(message.pose.covariance, float)
    plane = covariance.reshape(6, 6)[:2, :2] if covariance.size == 36 else np.zeros((2, 2))
    position, quaternion, velocity = (np.array(item) for item in (found.position, found.attitude, found.velocity))
    return Motion(found.time_ns, position, quaternion, velocity, plane)


def joint_positions(message: Any) -> dict[str, float]:
    """Joint positions from sensor_msgs/JointState, by name."""
    positions = np.asarray(message.position, float)
    if len(positions) != len(message.name):
        raise ValueError(f"{len(message.name)} names, but {len(positions)} positions")
    if not (np.abs(positions) <= FARTHEST_M).all():
        raise ValueError("joint positions must be finite")
    return dict(zip(message.name, positions.tolist(), strict=True))


def path(message: Any) -> Array:
    """n x 3 positions [m] from nav_msgs/Path."""
    positions = np.array([(p.pose.position.x, p.pose.position.y, p.pose.position.z) for p in message.poses], float)
    return _checked_line(positions.reshape(-1, 3))


def arcs(message: Any) -> dict[str, Array]:
    """Lines (n x 2 x 3 [m]) from visualization_msgs/MarkerArray by namespace; only line lists."""
    lines = {}
    for marker in message.markers:
        if marker.type == marker.LINE_LIST and marker.action == marker.ADD:
            positions = np.array([(p.x, p.y, p.z) for p in marker.points], float).reshape(-1, 3)
            lines[str(marker.ns)] = _checked_line(positions[: len(positions) // 2 * 2]).reshape(-1, 2, 3)
    return lines


def _checked_line(positions: Array) -> Array:
    if len(positions) > MOST_LINE_POINTS:
        raise ValueError(f"{len(positions)} points, allowed are {MOST_LINE_POINTS}")
    if not (np.abs(positions) <= FARTHEST_M).all():
        raise ValueError("points must be finite")
    return positions


def grid(message: Any) -> Grid:
    """Grid from nav_msgs/OccupancyGrid; its rotation is ignored, as our planner's is zero."""
    rows, columns, resolution = int(message.info.height), int(message.info.width), float(message.info.resolution)
    if not (0 < rows * columns <= MOST_CELLS and 0.0 < resolution < 1e4):
        raise ValueError(f"map of {columns} x {rows} cells of {resolution} m cannot be drawn")
    cells = np.frombuffer(message.data, np.int8)
    if len(cells) != rows * columns:
        raise ValueError(f"map has {len(cells)} cells, expected {columns} x {rows}")
    return Grid(cells.reshape(rows, columns), resolution, point(message.info.origin.position))


def euler(quaternion: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw [rad] of a unit quaternion x y z w, about fixed x, y, z axes."""
    x, y, z, w = quaternion.tolist()
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, pitch, yaw


def wxyz(quaternion: Array) -> tuple[float, float, float, float]:
    """Quaternion w x y z, as the page's library expects it."""
    x, y, z, w = quaternion.tolist()
    return w, x, y, z
