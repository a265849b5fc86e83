"""The IMU node: angular rate and specific force as sensor_msgs/Imu. All behaviour is in sensors.imu."""

from __future__ import annotations

from typing import Any

from sensor_msgs.msg import Imu as ImuMessage

from proving_ground.ros_support import qos
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import run_node
from sensors.kinds import IMU
from sensors.ros.sensor_messages import imu_to_msg
from sensors.ros.sensor_node import SensorNode
from sensors.samples import ImuSample


class ImuNode(SensorNode[Any, ImuSample]):
    """Publishes imu/data_raw, and imu/data when the unit has an attitude of its own."""

    default_name = "imu"
    kind = IMU
    settings_type = IMU.node_settings

    def prepare(self) -> None:
        """Publishers."""
        self._raw = self.advertise(ImuMessage, "imu/data_raw", qos.SENSOR)
        self._data = self.advertise(ImuMessage, "imu/data", qos.SENSOR) if self.settings.has_attitude else None

    def publish(self, sample: ImuSample) -> None:
        """Without attitude, and with it."""
        self._raw.publish(imu_to_msg(sample, self.frame, has_attitude=False))
        if self._data is not None:
            self._data.publish(imu_to_msg(sample, self.frame, has_attitude=True))
        if sample.is_clipped:
            self.report("range", Level.WARN, "an axis is at the end of its range")
        else:
            self.health.report("range", Level.OK, "within its range")


def main() -> int:
    """Entry point."""
    return run_node(ImuNode)


if __name__ == "__main__":
    raise SystemExit(main())
