"""The IMU node: angular rate and specific force as sensor_msgs/Imu. All behaviour is in sensors.imu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.sensor_codec import fill_imu
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from sensors.imu import Imu, ImuSettings
from sensors.ros.sensor_node import SensorNode, SensorNodeSettings
from sensors.samples import DriveTruth, ImuSample
from vehicle_dynamics.base_motion import BaseMotion


@dataclass(frozen=True, kw_only=True)
class ImuNodeSettings(ImuSettings, SensorNodeSettings):
    """An IMU as a node."""


class ImuNode(SensorNode[ImuNodeSettings, ImuSample]):
    """Publishes imu/data_raw, and imu/data when the unit has an attitude of its own."""

    default_name = "imu"
    default_frame = "imu_link"
    settings_type = ImuNodeSettings
    needs_accel = True

    def prepare(self) -> None:
        """Publishers."""
        self._message = new_message(topics.IMU_RAW.type, self.frame)
        self._raw = self.advertise(topics.IMU_RAW)
        self._data = self.advertise(topics.IMU_DATA) if self.settings.has_attitude else None

    def make_sensor(self, **common: Any) -> Imu:
        """The unit."""
        return Imu(self.settings, **common)

    def measure(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> Sequence[ImuSample]:
        """What arrives now."""
        assert isinstance(self.sensor, Imu)
        return self.sensor.update(time_ns, motion)

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
