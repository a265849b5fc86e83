"""Messages that are written as bytes: the same as those filled field by field."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Path
from numpy.testing import assert_allclose
from rclpy.serialization import deserialize_message, serialize_message
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from proving_ground.interfaces.fields import set_stamp
from proving_ground.interfaces.map_codec import fill_arcs, fill_path
from proving_ground.interfaces.motion_codec import set_transform
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.packed import PackedArcs, PackedPath, PackedTransforms

TIME_NS = 1_767_225_600_123_456_789
FRAMES = ["map", "m", "own/a_map", "some_frame"]
RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("names", [["a"], ["front_left/wheel", "b", "chassis", "knuckle_2"]])
def test_transforms_are_those_of_the_message(names: list[str]) -> None:
    message = TFMessage(transforms=[TransformStamped(child_frame_id=name) for name in names])
    for link in message.transforms:
        link.header.frame_id = "base_" + link.child_frame_id
    packed = PackedTransforms(message)

    for time_ns in (TIME_NS, 0, 5):
        poses = RANDOM.normal(size=(len(names), 7))
        made = packed.of(time_ns, poses)
        for link, pose in zip(message.transforms, poses.tolist(), strict=True):
            set_stamp(link.header.stamp, time_ns)
            set_transform(link, pose[:3], pose[3:])
        assert deserialize_message(made, TFMessage) == message


def _rotations(path: Path) -> list[tuple[float, ...]]:
    turns = [pose.pose.orientation for pose in path.poses]
    return [(turn.x, turn.y, turn.z, turn.w) for turn in turns]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 600])
def test_path_is_that_of_the_message(frame: str, count: int) -> None:
    path, expected = RANDOM.normal(size=(count, 2)), new_message("nav_msgs/msg/Path", frame)
    fill_path(expected, TIME_NS, path, 1.5, new_message)
    packed = PackedPath(frame)
    packed.of(5, RANDOM.normal(size=(4, 2)), 2.0)

    made = deserialize_message(packed.of(TIME_NS, path, 1.5), Path)

    assert made.header == expected.header
    assert [pose.header for pose in made.poses] == [pose.header for pose in expected.poses]
    assert [pose.pose.position for pose in made.poses] == [pose.pose.position for pose in expected.poses]
    # Sines of numpy and of the C library may differ in the last bit.
    assert_allclose(_rotations(made), _rotations(expected), atol=1e-15)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("blocked", "clear", "has_chosen"), [(0, 0, False), (3, 38, True), (9, 0, False), (0, 9, 1)])
def test_arcs_are_those_of_the_message(frame: str, blocked: int, clear: int, has_chosen: bool) -> None:
    packed, expected = PackedArcs(frame), MarkerArray()
    header = new_message("nav_msgs/msg/Path", frame).header

    for time_ns in (TIME_NS, 0):
        lines = [RANDOM.normal(size=(RANDOM.integers(2, 62), 3)) for _ in range(blocked + clear + 1)]
        chosen = lines[-1] if has_chosen else None
        arcs = SimpleNamespace(blocked=lines[:blocked], clear=lines[blocked:-1], chosen=chosen)
        set_stamp(header.stamp, time_ns)
        fill_arcs(expected, header, arcs, 1.5, new_message)
        made = deserialize_message(packed.of(time_ns, arcs, 1.5), MarkerArray)
        assert made == deserialize_message(serialize_message(expected), MarkerArray)
