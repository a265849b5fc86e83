"""Large messages of a constant layout as bytes (CDR): filling and converting them number by number takes milliseconds.

Each class converts one message with known marks in place of the numbers, finds the marks, and writes numbers there.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message

from proving_ground.interfaces import topics
from proving_ground.interfaces.fields import Array
from proving_ground.interfaces.map_codec import LIFT_M, fill_arcs, fill_path, headings
from proving_ground.ros_support.messages import new_message
from proving_ground.settings.units import NS_PER_S

_HEADER: Final = 4  # bytes before the content, to which alignment refers
_STAMP: Final = (1_234_567_891, 987_654_321)
_STAMP_BYTES: Final = struct.pack("<iI", *_STAMP)
_POSE: Final = 7  # numbers of a pose or transform
_MARKS: Final = 1e-300 * np.arange(1.0, 1.0 + _POSE)
_POINT: Final = 3


class PackedTransforms:
    """tf2_msgs/TFMessage whose frames stay the same."""

    def __init__(self, message: Any) -> None:
        """message: with all frames; its numbers change."""
        for link in message.transforms:
            link.header.stamp.sec, link.header.stamp.nanosec = _STAMP
            _mark(link.transform.translation, link.transform.rotation)
        self._bytes = bytearray(serialize_message(message))
        count = len(message.transforms)
        self._poses = _found(self._bytes, _MARKS.tobytes(), count)[:, None] + 8 * np.arange(_POSE)
        self._stamps = _found(self._bytes, _STAMP_BYTES, count)

    def of(self, time_ns: int, poses: Array) -> bytes:
        """The message; poses: translation and quaternion of each transform."""
        _numbers(self._bytes)[(self._poses - _HEADER) // 8] = poses
        _set_stamps(self._bytes, self._stamps, time_ns)
        return bytes(self._bytes)


class PackedPath:
    """nav_msgs/Path in one frame."""

    def __init__(self, frame: str) -> None:
        message = new_message(topics.PLAN.type, frame)
        self._empty = bytearray(serialize_message(message))
        fill_path(message, 0, np.zeros((2, 2)), 0.0, new_message)  # poses share the header
        message.header.stamp.sec, message.header.stamp.nanosec = _STAMP
        for pose in message.poses:
            _mark(pose.pose.position, pose.pose.orientation)
        made = bytearray(serialize_message(message))
        self._pose, second = _found(made, _MARKS.tobytes(), 2).tolist()
        self._stride = second - self._pose
        end = self._pose + 8 * _POSE
        self._first, self._next = made[:end], made[end:]
        self._stamps = _found(made, _STAMP_BYTES, 3)  # of the path and of both poses
        self._count = len(self._empty) - 4

    def of(self, time_ns: int, path: Array, height: float) -> bytes:
        """The message of `fill_path`."""
        if not len(path):
            _set_stamps(self._empty, self._stamps[:1], time_ns)
            return bytes(self._empty)
        more = np.arange(len(path))
        made = bytearray(self._first + self._next * (len(path) - 1))
        struct.pack_into("<I", made, self._count, len(path))
        poses = np.zeros((len(path), _POSE))
        poses[:, :2], poses[:, 2] = path, height
        yaws = headings(path)
        poses[:, 5], poses[:, 6] = np.sin(0.5 * yaws), np.cos(0.5 * yaws)
        where = (self._pose - _HEADER + self._stride * more[:, None]) // 8 + np.arange(_POSE)
        _numbers(made)[where] = poses
        stamps = np.concatenate([self._stamps[:2], self._stamps[2] + self._stride * more[:-1]])
        _set_stamps(made, stamps, time_ns)
        return bytes(made)


class PackedArcs:
    """visualization_msgs/MarkerArray of a planner's arcs in one frame."""

    def __init__(self, frame: str) -> None:
        self._frame = frame
        self._made: dict[tuple[bool, ...], list[_Piece]] = {}  # what is between points, by groups that have some

    def of(self, time_ns: int, arcs: Any, height: float) -> bytes:
        """The message of `fill_arcs`."""
        chosen = () if arcs.chosen is None else (arcs.chosen,)
        groups = [_line_points(lines, height + LIFT_M) for lines in (arcs.blocked, arcs.clear, chosen)]
        key = tuple(len(points) > 0 for points in groups)
        if key not in self._made:
            self._made[key] = self._template(key)
        found: list[bytes] = []
        stamp = struct.pack("<iI", *divmod(time_ns, NS_PER_S))
        filled = [points for points in groups if len(points)]
        for piece, points in zip(self._made[key], [*filled, None], strict=True):
            if points is not None:
                struct.pack_into("<I", piece.data, piece.count_at, len(points))
            found.append(bytes(piece.data.replace(_STAMP_BYTES, stamp)))
            if points is not None:
                found.append(points.tobytes())
        return b"".join(found)

    def _template(self, key: Sequence[bool]) -> list[_Piece]:
        message, header = new_message(topics.ARCS.type), new_message(topics.PLAN.type, self._frame).header
        header.stamp.sec, header.stamp.nanosec = _STAMP
        blocked, clear, chosen = ((np.zeros((2, 2)),) if has_lines else () for has_lines in key)
        fill_arcs(message, header, _Arcs(blocked, clear, chosen[0] if chosen else None), 0.0, new_message)
        for marker in message.markers:
            marker.points = marker.points[:1]
            for point in marker.points:
                point.x, point.y, point.z = _MARKS[:_POINT].tolist()
        pieces = bytearray(serialize_message(message)).split(_MARKS[:_POINT].tobytes())
        # The number of points, 1 here, comes before them, or before 4 bytes of padding: then a flag is not 8 before.
        return [_Piece(data, len(data) - (8 if data[-8] == 1 else 4)) for data in pieces]


class _Piece(NamedTuple):
    data: bytearray
    count_at: int  # place of the number of points that follow


class _Arcs(NamedTuple):
    blocked: Sequence[Array]
    clear: Sequence[Array]
    chosen: Array | None


def _line_points(lines: Sequence[Array], height: float) -> Array:
    """Both ends of each piece of lines."""
    ends = [np.repeat(line[:, :2], 2, axis=0)[1:-1] for line in lines]
    points = np.full((sum(map(len, ends)), _POINT), height)
    if ends:
        points[:, :2] = np.concatenate(ends)
    return points


def _mark(position: Any, rotation: Any) -> None:
    x, y, z, *axes = _MARKS.tolist()
    position.x, position.y, position.z = x, y, z
    rotation.x, rotation.y, rotation.z, rotation.w = axes


def _found(data: bytearray, mark: bytes, count: int) -> NDArray[np.int64]:
    """Where a mark is; it must be there `count` times."""
    places, at = [], data.find(mark)
    while at >= 0:
        places.append(at)
        at = data.find(mark, at + 1)
    assert len(places) == count, f"found {len(places)} marks instead of {count}"
    return np.array(places)


def _numbers(data: bytearray) -> Array:
    return np.frombuffer(data, "<f8", (len(data) - _HEADER) // 8, _HEADER)


def _set_stamps(data: bytearray, places: NDArray[np.int64], time_ns: int) -> None:
    seconds, rest = divmod(time_ns, NS_PER_S)
    words = np.frombuffer(data, "<u4", len(data) // 4)
    words[places // 4], words[places // 4 + 1] = seconds, rest
