"""The GPS node: fixes, Doppler velocity and NMEA sentences. All behaviour is in sensors.gps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from std_msgs.msg import String

from proving_ground.interfaces import topics
from proving_ground.interfaces.sensor_codec import NO_FIX, fill_datum, fill_fix, fill_gps_velocity
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from proving_ground.settings import setting
from sensors.gps import Gps, GpsSettings, LocalFrame
from sensors.gps.nmea import gga_from_sample, rmc_from_sample
from sensors.ros.node_scene import NodeScene, SceneSettings
from sensors.ros.sensor_node import SensorNode, SensorNodeSettings
from sensors.samples import DriveTruth, GpsSample
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion


@dataclass(frozen=True, kw_only=True)
class GpsNodeSettings(GpsSettings, SensorNodeSettings, SceneSettings):
    """A receiver as a node."""

    world: str = setting(
        "", "Name in config/worlds, or a path to a YAML file: where on Earth, and what hides the sky", read_only=True
    )


class GpsNode(SensorNode[GpsNodeSettings, GpsSample]):
    """Publishes gps/fix, gps/vel and gps/nmea."""

    default_name = "gps"
    default_frame = "gps_link"
    settings_type = GpsNodeSettings

    def prepare(self) -> None:
        """World and publishers."""
        s = self.settings
        world = load_world(s.world) if s.world else None
        self._georeference = world.georeference if world is not None else None
        self._sky: NodeScene | None = s.scene(world) if s.needs_sky else None
        frame = LocalFrame(self._georeference)
        if frame.remark:
            self.get_logger().info(frame.remark)
        self._datum = self.advertise(topics.DATUM)
        datum = new_message(topics.DATUM.type, self.map_frame)
        fill_datum(datum, 0, frame.origin)  # it holds at all times
        self._datum.publish(datum)
        self._fix_message = new_message(topics.FIX.type, self.frame)
        self._velocity_message = new_message(topics.GPS_VELOCITY.type, self.map_frame)
        self._fix = self.advertise(topics.FIX)
        self._velocity = self.advertise(topics.GPS_VELOCITY)
        self._nmea = self.advertise(topics.NMEA)

    def make_sensor(self, **common: Any) -> Gps:
        """The receiver."""
        sky = None if self._sky is None else self._sky.scene
        return Gps(self.settings, georeference=self._georeference, sky=sky, **common)

    def measure(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> Sequence[GpsSample]:
        """What arrives now."""
        assert isinstance(self.sensor, Gps)
        if self._sky is not None:
            self._sky.move_to(self.sensor.seconds(time_ns))
        return self.sensor.update(time_ns, motion)

    def publish(self, sample: GpsSample) -> None:
        """Without a fix the position goes on with its status, the velocity does not."""
        fill_fix(self._fix_message, sample)
        self._fix.publish(self._fix_message)
        if sample.quality != NO_FIX:
            fill_gps_velocity(self._velocity_message, sample)
            self._velocity.publish(self._velocity_message)
            self.report("fix", Level.OK, "has a fix")
        else:
            self.report("fix", Level.WARN, f"no fix, {sample.satellites} satellites in sight")
        separation = self.settings.geoid_separation_m
        for sentence in (gga_from_sample(sample, separation), rmc_from_sample(sample)):
            self._nmea.publish(String(data=sentence.sentence()))


def main() -> int:
    """Entry point."""
    return run_node(GpsNode)


if __name__ == "__main__":
    raise SystemExit(main())
