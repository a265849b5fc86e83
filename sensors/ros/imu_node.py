"""The IMU node: angular rate and specific force as sensor_msgs/Imu. All behaviour is in sensors.imu."""

from __future__ import annotations

from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.sensor_codec import fill_imu
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from sensors.kinds import IMU
from sensors.ros.sensor_node import SensorNode
from sensors.samples import ImuSample


class ImuNode(SensorNode[Any, ImuSample]):
    """Publishes imu/data_raw, and imu/data when the unit has an attitude of its own."""

    default_name = "imu"
    kind = IMU
    settings_type = IMU.node_settings

    def prepare(self) -> None:
        """Publishers."""
        self._message = new_message(topics.IMU_RAW.type, self.frame)
        self._raw = self.advertise(topics.IMU_RAW)
        self._data = self.advertise(topics.IMU_DATA) if self.settings.has_attitude else None

    def publish(self, sample: ImuSample) -> None:
        """Without attitude, and with it."""
        fill_imu(self._message, sample, has_attitude=False)
        self._raw.publish(self._message)
        if self._data is not None:
            fill_imu(self._message, sample, has_attitude=True)
            self._data.publish(self._message)
        if sample.is_clipped:
            self.report("range", Level.WARN, "an axis is at the end of its range")
        else:
            self.health.report("range", Level.OK, "within its range")


def main() -> int:
    """Entry point."""
    return run_node(ImuNode)


if __name__ == "__main__":
    raise SystemExit(main())
