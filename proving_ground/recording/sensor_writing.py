"""Samples of a rig's sensors as messages in a bag, on the topics of their nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.motion_codec import new_transform, set_transform
from proving_ground.interfaces.topic import Topic
from proving_ground.recording.types import empty
from proving_ground.ros_support.transformations import quaternion_from_euler
from sensors.node_settings import SensorNodeSettings
from sensors.publication import Publication
from sensors.rig import SensorRig

Write = Callable[[Topic, Any], None]
Prepared = tuple[Publication, Topic, Any]  # with the sensor's own topic and the message to fill


class SensorWriting:
    """Samples of one rig; a message is created once for each topic and reused."""

    def __init__(self, rig: SensorRig, write: Write, settings: Mapping[str, SensorNodeSettings]) -> None:
        """settings: of the sensors as parts of the run, by name."""
        self._rig, self._write, self._settings = rig, write, settings
        self._prepared = {name: self._prepare(name) for name in rig.sensors}

    def _prepare(self, name: str) -> list[Prepared]:
        return [
            (item, item.topic.named(name), item.new(empty, self._frame(name), self._map(name)))
            for item in self._rig.kinds[name].publishes
            if item.is_sent(self._rig.sensors[name].settings)
        ]

    def write_fixed(self, time_ns: int) -> None:
        """Write the mounts of all sensors, and what their kinds announce."""
        sensors = self._rig.sensors
        if sensors:
            transforms = empty(topics.FIXED_TRANSFORMS.type)
            transforms.transforms = [self._mount(name, sensor.settings) for name, sensor in sensors.items()]
            self._write(topics.FIXED_TRANSFORMS, transforms)
        announced = {item: name for name, kind in self._rig.kinds.items() for item in kind.announces}
        for item, name in announced.items():
            message = empty(item.topic.type, self._map(name))
            item.fill(message, time_ns, self._rig.seen)
            self._write(item.topic, message)

    def write(self, name: str, sample: Any) -> None:
        """Write a sample of the sensor with that name."""
        settings = self._rig.sensors[name].settings
        for item, topic, message in self._prepared[name]:
            for fill in item.fills(sample, settings):
                fill(message)
                self._write(topic, message)

    def _mount(self, name: str, settings: Any) -> Any:
        link = new_transform(empty, self._settings[name].frames.base_frame, self._frame(name))
        rotation = quaternion_from_euler(*(math.radians(angle) for angle in settings.mount.rpy_deg))
        set_transform(link, [float(value) for value in settings.mount.position], rotation.tolist())
        return link

    def _frame(self, name: str) -> str:
        """Frame of a sensor, as in its node; named sensors have their own frames."""
        settings = self._settings[name]
        return settings.frames.named(settings.frame or self._rig.kinds[name].frame_of(name))

    def _map(self, name: str) -> str:
        return self._settings[name].frames.map_frame
