"""The GPS node: fixes, Doppler velocity and NMEA sentences. All behaviour is in sensors.gps."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import TwistWithCovarianceStamped
from sensor_msgs.msg import NavSatFix
from std_msgs.msg import String

from proving_ground.ros_support import qos
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import run_node
from sensors.gps import LocalFrame
from sensors.gps.nmea import gga_from_sample, rmc_from_sample
from sensors.kinds import GPS
from sensors.ros.sensor_messages import NO_FIX, datum_to_msg, fix_to_msg, gps_velocity_to_msg
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
        self._datum = self.advertise(NavSatFix, "ground_truth/datum", qos.LATCHED)
        self._datum.publish(datum_to_msg(frame.origin, self.map_frame))
        self._fix = self.advertise(NavSatFix, "gps/fix", qos.SENSOR)
        self._velocity = self.advertise(TwistWithCovarianceStamped, "gps/vel", qos.SENSOR)
        self._nmea = self.advertise(String, "gps/nmea", qos.SENSOR)

    def publish(self, sample: GpsSample) -> None:
        """Without a fix the position goes on with its status, the velocity does not."""
        self._fix.publish(fix_to_msg(sample, self.frame))
        if sample.quality != NO_FIX:
            self._velocity.publish(gps_velocity_to_msg(sample, self.map_frame))
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
