"""Maps and shapes of a world as messages. Their stamp is 0: they hold at all times, and tf2 takes it as the latest."""

from __future__ import annotations

import array
import math
from collections.abc import Iterable

from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from nav_msgs.msg import MapMetaData, OccupancyGrid
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from proving_ground.ros_support.convert import point_to_msg
from terrain.map_messages import Colour, Occupancy, Shape

_KINDS = {
    "triangles": Marker.TRIANGLE_LIST,
    "lines": Marker.LINE_LIST,
    "cube": Marker.CUBE,
    "cylinder": Marker.CYLINDER,
}


def occupancy_to_msg(occupancy: Occupancy, frame: str) -> OccupancyGrid:
    """nav_msgs/OccupancyGrid, row by row from the least x and y."""
    rows, columns = occupancy.cells.shape
    corner = Pose(position=Point(x=occupancy.x, y=occupancy.y, z=0.0), orientation=Quaternion(w=1.0))
    data = array.array("b")
    data.frombytes(occupancy.cells.tobytes())
    info = MapMetaData(resolution=occupancy.resolution, width=columns, height=rows, origin=corner)
    return OccupancyGrid(header=Header(frame_id=frame), info=info, data=data)


def shapes_to_msg(shapes: Iterable[Shape], frame: str) -> MarkerArray:
    """visualization_msgs/MarkerArray that first takes away what was there before."""
    header = Header(frame_id=frame)
    return MarkerArray(
        markers=[Marker(header=header, action=Marker.DELETEALL), *(_marker(shape, header) for shape in shapes)]
    )


def _marker(shape: Shape, header: Header) -> Marker:
    length, width, height = shape.size
    order = shape.order.tolist()
    points = [Point(x=x, y=y, z=z) for x, y, z in shape.points.tolist()]  # one each, however many triangles meet there
    colours = [_colour((red, green, blue)) for red, green, blue in shape.colours.tolist()]
    turn = Quaternion(z=math.sin(0.5 * shape.yaw), w=math.cos(0.5 * shape.yaw))
    return Marker(
        header=header,
        ns=shape.group,
        id=shape.number,
        type=_KINDS[shape.kind],
        action=Marker.ADD,
        pose=Pose(position=point_to_msg(shape.place), orientation=turn),
        scale=Vector3(x=length, y=width, z=height),
        color=_colour(shape.colour),
        points=[points[corner] for corner in order],
        colors=[colours[corner] for corner in order] if colours else [],
    )


def _colour(colour: Colour) -> ColorRGBA:
    red, green, blue = colour
    return ColorRGBA(r=red, g=green, b=blue, a=1.0)
