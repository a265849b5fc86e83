"""Maps, paths and shapes of worlds and planners as standard messages.

`fill_x` as in sensor_codec; `make` creates empty list items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from proving_ground.interfaces.fields import Array, Maker, numbers, set_heading, set_stamp, set_vector

MARKER, POINT, COLOUR = "visualization_msgs/msg/Marker", "geometry_msgs/msg/Point", "std_msgs/msg/ColorRGBA"
POSE: Final = "geometry_msgs/msg/PoseStamped"
CUBE, CYLINDER, LINE_LIST, TRIANGLE_LIST = 1, 3, 5, 11  # types of markers
ADD, DELETE, DELETE_ALL = 0, 2, 3  # actions of markers
KINDS: Final = {"triangles": TRIANGLE_LIST, "lines": LINE_LIST, "cube": CUBE, "cylinder": CYLINDER}
Colour = Sequence[float]  # red, green, blue and, if not opaque, alpha, 0 to 1

CHOSEN, CLEAR, BLOCKED = (0.1, 0.4, 1.0, 1.0), (0.1, 0.8, 0.2, 0.6), (0.9, 0.1, 0.1, 0.4)
LIFT_M: Final = 0.3  # of arcs above the vehicle's ground, so that lines are visible


def fill_grid(message: Any, cells: Any, resolution: float, x: float, y: float) -> None:
    """nav_msgs/OccupancyGrid, row by row from the least x and y [m]; its frame and stamps are set by its owner."""
    rows, columns = cells.shape
    message.info.resolution, message.info.width, message.info.height = resolution, columns, rows
    set_vector(message.info.origin.position, (x, y, 0.0))
    message.data = numbers(message, cells, "b")


def fill_local_grid(message: Any, time_ns: int, grid: Any) -> None:
    """nav_msgs/OccupancyGrid of a planner's grid around the vehicle."""
    set_stamp(message.header.stamp, time_ns)
    set_stamp(message.info.map_load_time, time_ns)
    fill_grid(message, grid.cells, grid.window.resolution, grid.window.x, grid.window.y)


def fill_path(message: Any, time_ns: int, path: Array, height: float, make: Maker) -> None:
    """nav_msgs/Path of n x 2 positions [m] at one height [m]; each pose points to the next.

    Poses that the message has already are used again.
    """
    set_stamp(message.header.stamp, time_ns)
    yaws = headings(path)
    poses = message.poses
    del poses[len(path) :]
    for _ in range(len(path) - len(poses)):
        poses.append(make(POSE))
        poses[-1].header = message.header
    for pose, (x, y), yaw in zip(poses, path.tolist(), yaws.tolist(), strict=True):
        set_vector(pose.pose.position, (x, y, height))
        set_heading(pose.pose.orientation, yaw)


def headings(path: Array) -> Array:
    """Heading of each of n x 2 positions towards the next [rad]; the last has that of the one before."""
    if not len(path):
        return np.zeros(0)
    steps = np.diff(path, axis=0, append=path[-1:])
    if len(path) > 1:
        steps[-1] = steps[-2]
    yaws: Array = np.arctan2(steps[:, 1], steps[:, 0])
    return yaws


def fill_arcs(message: Any, header: Any, arcs: Any, height: float, make: Maker) -> None:
    """visualization_msgs/MarkerArray: blocked, clear and chosen arcs at a height [m], each kind one list of lines."""
    chosen = () if arcs.chosen is None else (arcs.chosen,)
    groups = (
        ("blocked", BLOCKED, 0.03, arcs.blocked),
        ("clear", CLEAR, 0.05, arcs.clear),
        ("chosen", CHOSEN, 0.15, chosen),
    )
    message.markers = []
    for number, (name, colour, width, lines) in enumerate(groups):
        marker = _marker(make, header, name, number, LINE_LIST)
        marker.scale.x = width
        set_colour(marker.color, colour)
        marker.points = _line_points(lines, height + LIFT_M, make)
        marker.action = ADD if marker.points else DELETE
        message.markers.append(marker)


def fill_shapes(message: Any, header: Any, shapes: Iterable[Any], make: Maker) -> None:
    """visualization_msgs/MarkerArray of a world's shapes, which first deletes all earlier ones."""
    clear = _marker(make, header, "", 0, 0)
    clear.action = DELETE_ALL
    message.markers = [clear, *(_shape(shape, header, make) for shape in shapes)]


def read_shapes(message: Any) -> list[tuple[str, Any]]:
    """Kind ("cube" or "cylinder") and marker of a visualization_msgs/MarkerArray; others are left out."""
    names = {CUBE: "cube", CYLINDER: "cylinder"}
    return [(names[item.type], item) for item in message.markers if item.action == ADD and item.type in names]


def set_colour(message: Any, colour: Colour) -> None:
    """Fill a std_msgs/ColorRGBA."""
    message.r, message.g, message.b = colour[:3]
    message.a = colour[3] if len(colour) > 3 else 1.0


def _shape(shape: Any, header: Any, make: Maker) -> Any:
    marker = _marker(make, header, shape.group, shape.number, KINDS[shape.kind])
    set_vector(marker.pose.position, [float(value) for value in shape.position])
    set_heading(marker.pose.orientation, shape.yaw)
    set_vector(marker.scale, shape.size)
    set_colour(marker.color, shape.colour)
    order = shape.order.tolist()
    points = [
        _point(make, position) for position in shape.points.tolist()
    ]  # one each, however many triangles meet there
    colours = [_colour(make, colour) for colour in shape.colours.tolist()]
    marker.points = [points[corner] for corner in order]
    marker.colors = [colours[corner] for corner in order] if colours else []
    return marker


def _marker(make: Maker, header: Any, group: str, number: int, kind: int) -> Any:
    marker = make(MARKER)
    marker.header, marker.ns, marker.id, marker.type = header, group, number, kind
    return marker


def _line_points(lines: Iterable[Array], height: float, make: Maker) -> list[Any]:
    points: list[Any] = []
    for line in lines:
        corners = [_point(make, (x, y, height)) for x, y in line[:, :2].tolist()]
        for start, end in pairwise(corners):
            points += [start, end]
    return points


def _point(make: Maker, values: Sequence[float]) -> Any:
    point = make(POINT)
    set_vector(point, values)
    return point


def _colour(make: Maker, values: Colour) -> Any:
    colour = make(COLOUR)
    set_colour(colour, values)
    return colour
