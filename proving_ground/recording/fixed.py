"""Fixed data of a bag: mounts of the sensors (/tf_static) and the world's origin (/ground_truth/datum)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from proving_ground.interfaces import topics
from proving_ground.interfaces.geodesy import Geodetic
from proving_ground.interfaces.topic import Topic
from proving_ground.recording.reading import Bag
from proving_ground.recording.types import from_bytes
from proving_ground.ros_support.transformations import euler_from_quaternion

BASE = "base_link"


class Mount(NamedTuple):
    """Pose of a sensor in base_link."""

    xyz_m: tuple[float, float, float]
    rpy_deg: tuple[float, float, float]


def bag_datum(bag: Bag) -> Geodetic | None:
    """Datum of the bag, if it has one, as bags of `proving-ground run --bag` do."""
    for message in _fixed(bag, topics.DATUM):
        position = Geodetic(message.latitude, message.longitude, message.altitude)
        if (
            all(map(math.isfinite, position))
            and abs(position.latitude_deg) <= 90.0
            and abs(position.longitude_deg) <= 180.0
        ):
            return position
    return None


def bag_mounts(bag: Bag) -> dict[str, Mount]:
    """Mounts by the name of a child frame of base_link; frame prefixes are stripped."""
    found: dict[str, Mount] = {}
    for message in _fixed(bag, topics.FIXED_TRANSFORMS):
        for link in message.transforms:
            if _bare(link.header.frame_id) != BASE:
                continue
            position, rotation = link.transform.translation, link.transform.rotation
            quaternion = (rotation.x, rotation.y, rotation.z, rotation.w)
            values = (position.x, position.y, position.z, *quaternion)
            if all(map(math.isfinite, values)) and abs(math.hypot(*quaternion) - 1.0) < 0.01:
                roll, pitch, yaw = (math.degrees(angle) for angle in euler_from_quaternion(quaternion))
                found[_bare(link.child_frame_id)] = Mount((position.x, position.y, position.z), (roll, pitch, yaw))
    return found


def frame_of(bag: Bag, topic: str) -> str:
    """Frame of the first message of a topic, without prefix; empty if the topic has no message."""
    for message in _messages(bag, topic, bag.topics[topic]):
        return _bare(str(message.header.frame_id))
    return ""


def _bare(frame: str) -> str:
    return frame.rsplit("/", 1)[-1]


def _fixed(bag: Bag, topic: Topic) -> Any:
    return _messages(bag, topic.absolute, topic.type)


def _messages(bag: Bag, topic: str, message_type: str) -> Any:
    if bag.topics.get(topic) != message_type:
        return
    for _, _, data in bag.messages([topic]):
        try:
            yield from_bytes(data, message_type)
        except ValueError:
            continue
