"""The encoder node: wheels, steering and pedals as sensor_msgs/JointState. All behaviour is in sensors.encoders."""

from __future__ import annotations

from typing import Any

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.sensor_codec import fill_actuation, fill_wheels
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from sensors.kinds import ENCODERS
from sensors.ros.sensor_node import SensorNode
from sensors.samples import EncoderSample


class EncodersNode(SensorNode[Any, EncoderSample]):
    """Publishes wheels/joint_states and vehicle/actuation."""

    default_name = "encoders"
    kind = ENCODERS
    settings_type = ENCODERS.node_settings

    def prepare(self) -> None:
        """Publishers."""
        self._wheels_message, self._actuation_message = (new_message(topics.WHEELS.type) for _ in range(2))
        self._wheels_message.name, self._actuation_message.name = list(joints.WHEELS), list(joints.ACTUATION)
        self._wheels = self.advertise(topics.WHEELS)
        self._actuation = self.advertise(topics.ACTUATION)

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
