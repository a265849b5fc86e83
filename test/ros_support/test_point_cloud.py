"""Point clouds: round trips, layout as other tools expect it, and rejection of messages with inconsistent sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from proving_ground.ros_support.point_cloud import cloud_to_points, points_to_cloud

LIDAR = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2"), ("time", "<f8")])


def some_points(count: int) -> np.ndarray:
    points = np.zeros(count, LIDAR)
    random = np.random.default_rng(5)
    for name in LIDAR.names or ():
        points[name] = random.integers(0, 1000, count)
    return points


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_points_survive_the_round_trip(count: int) -> None:
    points = some_points(count)

    cloud = points_to_cloud(points, Header(frame_id="lidar_link"))

    assert (cloud.height, cloud.width, cloud.point_step) == (1, count, LIDAR.itemsize)
    assert [field.name for field in cloud.fields] == list(LIDAR.names or ())
    assert cloud.is_dense
    assert (cloud_to_points(cloud)[0] == points).all()


def test_two_axes_become_rows() -> None:
    cloud = points_to_cloud(some_points(12).reshape(3, 4), Header())

    assert (cloud.height, cloud.width, cloud.row_step) == (3, 4, 4 * LIDAR.itemsize)


def test_invalid_points_are_kept_and_make_the_cloud_not_dense() -> None:
    points = some_points(3)
    points["x"][1] = np.nan

    assert not points_to_cloud(points, Header()).is_dense


def test_padded_rows_and_big_endian_are_read() -> None:
    values = np.array([1.0, 2.0], ">f4").tobytes()
    field = PointField(name="x", offset=0, datatype=PointField.FLOAT32, count=1)
    cloud = PointCloud2(height=2, width=1, fields=[field], is_bigendian=True, point_step=4, row_step=6)
    cloud.data = values[:4] + b"??" + values[4:] + b"??"

    assert cloud_to_points(cloud)["x"].ravel().tolist() == [1.0, 2.0]


def test_plain_array_and_foreign_types_are_rejected() -> None:
    with pytest.raises(ValueError, match="named fields"):
        points_to_cloud(np.zeros((3, 3)), Header())
    with pytest.raises(ValueError, match="field label has type"):
        points_to_cloud(np.zeros(3, [("label", "U3")]), Header())


@given(
    height=st.integers(0, 5),
    width=st.integers(0, 5),
    point_step=st.integers(0, 40),
    row_step=st.integers(0, 200),
    offset=st.integers(0, 60),
    datatype=st.integers(0, 12),
    count=st.integers(0, 4),
    size=st.integers(0, 200),
)
def test_cloud_with_inconsistent_sizes_is_rejected_and_never_read_beyond_its_data(
    height: int, width: int, point_step: int, row_step: int, offset: int, datatype: int, count: int, size: int
) -> None:
    field = PointField(name="x", offset=offset, datatype=datatype, count=count)
    cloud = PointCloud2(height=height, width=width, fields=[field], point_step=point_step, row_step=row_step)
    cloud.data = bytes(size)
    try:
        points = cloud_to_points(cloud)
    except ValueError:
        return
    assert points.shape == (height, width)
    assert size == height * row_step
