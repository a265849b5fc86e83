"""What a planner shows, as messages: the path, the arcs, the rolling map."""

from __future__ import annotations

import array
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Vector3
from nav_msgs.msg import MapMetaData, OccupancyGrid, Path
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from planner.maps.grid import LocalGrid
from planner.planning import Arcs

Array = NDArray[np.float64]

CHOSEN = ColorRGBA(r=0.1, g=0.4, b=1.0, a=1.0)
CLEAR = ColorRGBA(r=0.1, g=0.8, b=0.2, a=0.6)
BLOCKED = ColorRGBA(r=0.9, g=0.1, b=0.1, a=0.4)
LIFT_M = 0.3  # above the vehicle's ground, so that lines are seen


def path_to_msg(path: Array, stamp: Time, frame: str, height: float) -> Path:
    """nav_msgs/Path of n x 2 places [m]; each looks to the next."""
    header = Header(stamp=stamp, frame_id=frame)
    ways = np.diff(path, axis=0, append=path[-1:]) if len(path) else path
    if len(path) > 1:
        ways[-1] = ways[-2]
    yaws = np.arctan2(ways[:, 1], ways[:, 0]) if len(path) else np.zeros(0)
    poses = []
    for (x, y), yaw in zip(path.tolist(), yaws.tolist(), strict=True):
        turn = Quaternion(z=float(np.sin(0.5 * yaw)), w=float(np.cos(0.5 * yaw)))
        poses.append(PoseStamped(header=header, pose=Pose(position=Point(x=x, y=y, z=height), orientation=turn)))
    return Path(header=header, poses=poses)


def arcs_to_msg(arcs: Arcs, stamp: Time, frame: str, height: float) -> MarkerArray:
    """visualization_msgs/MarkerArray: the chosen arc, clear ones and blocked ones, each kind one list of lines."""
    header = Header(stamp=stamp, frame_id=frame)
    groups = (
        ("blocked", BLOCKED, 0.03, arcs.blocked),
        ("clear", CLEAR, 0.05, arcs.clear),
        ("chosen", CHOSEN, 0.15, () if arcs.chosen is None else (arcs.chosen,)),
    )
    return MarkerArray(
        markers=[
            _lines(header, number, name, colour, width, lines, height + LIFT_M)
            for number, (name, colour, width, lines) in enumerate(groups)
        ]
    )


def grid_to_msg(grid: LocalGrid, stamp: Time, frame: str) -> OccupancyGrid:
    """nav_msgs/OccupancyGrid of the rolling map."""
    window = grid.window
    data = array.array("b")
    data.frombytes(grid.cells.tobytes())
    corner = Pose(position=Point(x=window.x, y=window.y), orientation=Quaternion(w=1.0))
    info = MapMetaData(
        map_load_time=stamp, resolution=window.resolution, width=window.columns, height=window.rows, origin=corner
    )
    return OccupancyGrid(header=Header(stamp=stamp, frame_id=frame), info=info, data=data)


def _lines(
    header: Header, number: int, name: str, colour: ColorRGBA, width: float, lines: Iterable[Array], height: float
) -> Marker:
    points: list[Point] = []
    for line in lines:
        corners = [Point(x=x, y=y, z=height) for x, y in line[:, :2].tolist()]
        for start, end in pairwise(corners):
            points += [start, end]
    action = Marker.ADD if points else Marker.DELETE
    return Marker(
        header=header,
        ns=name,
        id=number,
        type=Marker.LINE_LIST,
        action=action,
        pose=Pose(orientation=Quaternion(w=1.0)),
        scale=Vector3(x=width),
        color=colour,
        points=points,
    )
