"""The encoder node: wheels, steering and pedals as sensor_msgs/JointState. All behaviour is in sensors.encoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.sensor_codec import fill_actuation, fill_wheels
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from sensors.encoders import Encoders, EncoderSettings
from sensors.ros.sensor_node import SensorNode, SensorNodeSettings
from sensors.samples import DriveTruth, EncoderSample
from vehicle_dynamics.base_motion import BaseMotion


@dataclass(frozen=True, kw_only=True)
class EncodersNodeSettings(EncoderSettings, SensorNodeSettings):
    """Encoders as a node."""


class EncodersNode(SensorNode[EncodersNodeSettings, EncoderSample]):
    """Publishes wheels/joint_states and vehicle/actuation."""

    default_name = "encoders"
    default_frame = "inclinometer_link"
    settings_type = EncodersNodeSettings
    needs_accel = True
    needs_drive = True

    def prepare(self) -> None:
        """Publishers."""
        self._wheels_message, self._actuation_message = (new_message(topics.WHEELS.type) for _ in range(2))
        self._wheels_message.name, self._actuation_message.name = list(joints.WHEELS), list(joints.ACTUATION)
        self._wheels = self.advertise(topics.WHEELS)
        self._actuation = self.advertise(topics.ACTUATION)

    def make_sensor(self, **common: Any) -> Encoders:
        """All of them."""
        return Encoders(self.settings, **common)

    def measure(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> Sequence[EncoderSample]:
        """What arrives now."""
        assert isinstance(self.sensor, Encoders)
        assert drive is not None
        return self.sensor.update(time_ns, motion, drive)

    def publish(self, sample: EncoderSample) -> None:
        """Wheels, and what drives them."""
        fill_wheels(self._wheels_message, sample)
        self._wheels.publish(self._wheels_message)
        fill_actuation(self._actuation_message, sample)
        self._actuation.publish(self._actuation_message)


def main() -> int:
    """Entry point."""
    return run_node(EncodersNode)


if __name__ == "__main__":
    raise SystemExit(main())
