"""The encoder node: wheels, steering and pedals as sensor_msgs/JointState. All behaviour is in sensors.encoders."""

from __future__ import annotations

from typing import Any

from sensor_msgs.msg import JointState

from proving_ground.ros_support import qos
from proving_ground.ros_support.node import run_node
from sensors.kinds import ENCODERS
from sensors.ros.sensor_messages import actuation_to_msg, wheels_to_msg
from sensors.ros.sensor_node import SensorNode
from sensors.samples import EncoderSample
from vehicle_dynamics.vehicle_mechanism import CORNERS

WHEELS = tuple(f"{corner}_wheel" for corner in CORNERS)


class EncodersNode(SensorNode[Any, EncoderSample]):
    """Publishes wheels/joint_states and vehicle/actuation."""

    default_name = "encoders"
    kind = ENCODERS
    settings_type = ENCODERS.node_settings

    def prepare(self) -> None:
        """Publishers."""
        self._wheels = self.advertise(JointState, "wheels/joint_states", qos.SENSOR)
        self._actuation = self.advertise(JointState, "vehicle/actuation", qos.SENSOR)

    def publish(self, sample: EncoderSample) -> None:
        """Wheels, and what drives them."""
        self._wheels.publish(wheels_to_msg(sample, WHEELS))
        self._actuation.publish(actuation_to_msg(sample))


def main() -> int:
    """Entry point."""
    return run_node(EncodersNode)


if __name__ == "__main__":
    raise SystemExit(main())
