"""numpy structured arrays to sensor_msgs/PointCloud2 and back, without a Python loop over points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header

from proving_ground.interfaces.sensor_codec import FIELD_TYPES, describe_points
from proving_ground.ros_support.messages import new_message

_TYPE_NAMES = {number: name for name, number in FIELD_TYPES.items()}


def points_to_cloud(points: NDArray[np.void], header: Header) -> PointCloud2:
    """PointCloud2 of a structured array (names x, y, z, ... become fields); one row unless the array has two axes.

    NaN coordinates are allowed, as ROS uses them for invalid points; the cloud is then not dense.
    """
    layout = points.dtype
    if layout.names is None:
        raise ValueError("points must be a structured array with named fields")
    rows = np.atleast_2d(np.ascontiguousarray(points))
    cloud = PointCloud2(header=header)
    describe_points(cloud, layout, new_message)
    cloud.height, cloud.width = rows.shape
    cloud.row_step = layout.itemsize * rows.shape[1]
    cloud.is_dense = all(bool(np.isfinite(points[name]).all()) for name in layout.names)
    cloud.data.frombytes(rows.view(np.uint8).data if rows.size else b"")
    return cloud


def cloud_to_points(cloud: PointCloud2) -> NDArray[np.void]:
    """Structured array (height, width) that views the cloud's data; raises ValueError when its sizes disagree."""
    layout = _layout(cloud)
    if cloud.row_step < cloud.width * cloud.point_step:
        raise ValueError(f"row_step {cloud.row_step} is less than width {cloud.width} x point_step {cloud.point_step}")
    if len(cloud.data) != cloud.height * cloud.row_step:
        raise ValueError(f"{len(cloud.data)} data bytes, expected height {cloud.height} x row_step {cloud.row_step}")
    rows = np.frombuffer(cloud.data, np.uint8).reshape(cloud.height, cloud.row_step)
    packed = rows[:, : cloud.width * cloud.point_step]
    if cloud.row_step != cloud.width * cloud.point_step:
        packed = np.ascontiguousarray(packed)
    return packed.reshape(-1).view(layout).reshape(cloud.height, cloud.width)


def _layout(cloud: PointCloud2) -> np.dtype[Any]:
    names, formats, offsets = [], [], []
    for field in cloud.fields:
        if field.datatype not in _TYPE_NAMES:
            raise ValueError(f"field {field.name!r} has unknown datatype {field.datatype}")
        kind = np.dtype(_TYPE_NAMES[field.datatype]).newbyteorder(">" if cloud.is_bigendian else "<")
        names.append(field.name)
        formats.append(kind if field.count <= 1 else (kind, (field.count,)))
        offsets.append(field.offset)
    if not names or cloud.point_step == 0:
        raise ValueError("the cloud has no fields")
    try:
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": cloud.point_step})
    except ValueError as error:  # fields beyond point_step, duplicate names
        raise ValueError(f"the fields do not fit point_step {cloud.point_step}: {error}") from None
