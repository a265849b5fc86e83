"""Estimates of an observer as a bag: /odometry/filtered, sideslip and status."""

from __future__ import annotations

import math
import struct

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces import topics
from proving_ground.recording.types import empty, to_bytes, to_rosbags
from proving_ground.recording.writing import BagWriter
from proving_ground.settings.units import NS_PER_S

ODOMETRY, STATUS = topics.ESTIMATE.absolute, topics.OBSERVER_STATUS.absolute
SIDESLIP, SIDESLIP_STD = topics.SIDESLIP.absolute, topics.SIDESLIP_STD.absolute  # [rad]
_NUMBERS = 3 + 4 + 36 + 6 + 36  # values of an Odometry after its names
_STAMP_AT = 4  # bytes, after the CDR header


class EstimateBag:
    """Writes estimates to a bag, many at a time.

    Odometry messages differ only in stamp and values: these are patched into the bytes of one message.
    """

    def __init__(self, bag: BagWriter, world: str = "map", base: str = "base_link") -> None:
        self._bag = bag
        form = empty(topics.ESTIMATE.type, world)
        form.child_frame_id = base
        self._form = np.frombuffer(to_bytes(form), np.uint8)
        for topic in (topics.ESTIMATE, topics.SIDESLIP, topics.SIDESLIP_STD, topics.OBSERVER_STATUS):
            bag.announce(topic.absolute, topic.type, to_rosbags(topic.qos))

    def write(self, rows: NDArray[np.void]) -> None:
        """Write estimates, given as records of ESTIMATE, to the bag."""
        times = rows["time_ns"].tolist()
        deviations = np.sqrt(np.maximum(rows["sideslip_variance"], 0.0))
        odometry = self.odometry(rows)
        slips = zip(rows["sideslip"].tolist(), deviations.tolist(), strict=True)
        for time_ns, message, (slip, deviation) in zip(times, odometry, slips, strict=True):
            self._bag.write_bytes(ODOMETRY, message.tobytes(), time_ns)
            self._bag.write_bytes(SIDESLIP, _number(slip), time_ns)
            self._bag.write_bytes(SIDESLIP_STD, _number(min(deviation, math.pi)), time_ns)

    def odometry(self, rows: NDArray[np.void]) -> NDArray[np.uint8]:
        """CDR of nav_msgs/Odometry, one row for each record: pose in the world, twist in base_link's axes."""
        data = np.tile(self._form, (len(rows), 1))
        seconds, rest = np.divmod(rows["time_ns"], NS_PER_S)
        stamp = np.column_stack([seconds, rest]).astype("<u4")
        data[:, _STAMP_AT : _STAMP_AT + 8] = stamp.view(np.uint8)
        covariance = rows["covariance"]
        numbers = np.column_stack(
            [
                rows["position"],
                rows["attitude"],
                covariance[:, :6, :6].reshape(-1, 36),
                rows["velocity"],
                rows["angular_velocity"],
                covariance[:, 6:, 6:].reshape(-1, 36),
            ]
        )
        data[:, -8 * _NUMBERS :] = np.ascontiguousarray(numbers, "<f8").view(np.uint8)
        return data

    def status(self, time_ns: int, status: str) -> None:
        """Write the observer's status at a time; called when it changes."""
        message = empty(topics.OBSERVER_STATUS.type)
        message.data = status
        self._bag.write(STATUS, message, time_ns)


def _number(value: float) -> bytes:
    """CDR of std_msgs/Float64."""
    return b"\x00\x01\x00\x00" + struct.pack("<d", value)
