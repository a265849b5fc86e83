"""Conversion of samples to messages by kind of sensor, for nodes and bags."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from proving_ground.interfaces.topic import Topic

Make = Callable[..., Any]  # an empty message of a ROS type, from rclpy or rosbags; a frame may follow
Fill = Callable[[Any], None]  # fills a message


@dataclass(frozen=True)
class Publication:
    """A topic of a kind of sensor, and how its messages are filled."""

    topic: Topic  # of a sensor named after its kind
    fills: Callable[[Any, Any], Iterable[Fill]]  # from sample and settings: one per message
    in_map: bool = False  # the header has the world's frame, else the sensor's
    prepare: Callable[[Any, Make], Any] = lambda message, make: message  # once per message, which is then reused
    is_sent: Callable[[Any], bool] = lambda settings: True  # depends on settings
    is_fixed: bool = False  # once prepared, texts and lengths of arrays stay the same

    def new(self, make: Make, sensor_frame: str, map_frame: str) -> Any:
        """The message that is filled for each sample, in the map's frame if in_map, else in the sensor's."""
        message = make(self.topic.type)
        if self.topic.frame:
            message.header.frame_id = map_frame if self.in_map else sensor_frame
        return self.prepare(message, make)


@dataclass(frozen=True)
class Announcement:
    """A topic with constant content, published once, in the world's frame."""

    topic: Topic
    fill: Callable[[Any, int, Any], None]  # message, time [ns], scene


class Remark(NamedTuple):
    """Health of a sensor, from a sample."""

    check: str
    is_fine: bool
    words: str
