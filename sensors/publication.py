"""How samples of a kind of sensor become messages, for its node and for bags alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from proving_ground.interfaces.topic import Topic

Make = Callable[..., Any]  # an empty message of a ROS type, of rclpy or of rosbags; a frame may follow
Fill = Callable[[Any], None]  # of a message


@dataclass(frozen=True)
class Publication:
    """One topic of a kind of sensor."""

    topic: Topic  # of a sensor that is called like its kind
    fills: Callable[[Any, Any], Iterable[Fill]]  # from sample and settings: one for each message
    in_map: bool = False  # its header has the world's frame, else the sensor's
    prepare: Callable[[Any, Make], Any] = lambda message, make: message  # once, of a message that is filled many times
    is_sent: Callable[[Any], bool] = lambda settings: True  # by settings

    def new(self, make: Make, sensor_frame: str, map_frame: str) -> Any:
        """The message that is filled for each sample."""
        message = make(self.topic.type)
        if self.topic.frame:
            message.header.frame_id = map_frame if self.in_map else sensor_frame
        return self.prepare(message, make)


@dataclass(frozen=True)
class Announcement:
    """One topic with what holds all the time, published once; in the world's frame."""

    topic: Topic
    fill: Callable[[Any, int, Any], None]  # message, time [ns], scene


class Remark(NamedTuple):
    """What a sample says of the health of its sensor."""

    check: str
    is_fine: bool
    words: str
