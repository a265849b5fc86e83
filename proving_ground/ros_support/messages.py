"""Empty messages of rclpy for the codecs of interfaces."""

from __future__ import annotations

import functools
from typing import Any

from proving_ground.interfaces.message_types import message_class
from proving_ground.settings import SettingsError


@functools.cache
def class_of(type_name: str) -> type:
    """The class of a ROS type such as 'sensor_msgs/msg/Imu'; raises SettingsError when its package is missing."""
    found = message_class(type_name)
    if found is None:
        raise SettingsError(f"{type_name}: its package is not installed")
    return found


def new_message(type_name: str, frame: str = "") -> Any:
    """An empty message; frame: of its header."""
    message = class_of(type_name)()
    if frame:
        message.header.frame_id = frame
    return message
