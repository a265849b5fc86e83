"""The GPS node: fixes, Doppler velocity and NMEA sentences. All behaviour is in sensors.gps."""

from __future__ import annotations

from typing import Any

from std_msgs.msg import String

from proving_ground.interfaces import topics
from proving_ground.interfaces.sensor_codec import NO_FIX, fill_datum, fill_fix, fill_gps_velocity
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from sensors.gps import LocalFrame
from sensors.gps.nmea import gga_from_sample, rmc_from_sample
from sensors.kinds import GPS
from sensors.ros.sensor_node import SensorNode
from sensors.samples import GpsSample


class GpsNode(SensorNode[Any, GpsSample]):
    """Publishes gps/fix, gps/vel and gps/nmea."""

    default_name = "gps"
    kind = GPS
    settings_type = GPS.node_settings

    def prepare(self) -> None:
        """World and publishers."""
        assert self.seen is not None
        frame = LocalFrame(self.seen.there.georeference)
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
