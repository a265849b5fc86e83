"""The script node: a scenario's driver, from /ground_truth/odom to /vehicle/pedals. The rest is in planner.scripted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.motion_codec import fill_pedals
from proving_ground.kernels.vector3 import Vector3, vector
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.scenarios.script import ScriptSettings, make_script
from proving_ground.settings.units import NS_PER_S
from sensors.ros.truth_input import TruthInput
from terrain.surroundings import Surroundings
from vehicle_dynamics.attitude import rotation_from_quaternion
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord
from vehicle_dynamics.vehicle_choice import make_vehicle


class ScriptNode(SuiteNode[ScriptSettings]):
    """Acts on each instant of the truth, as in lock-step."""

    default_name = "script"
    settings_type = ScriptSettings

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        there = Surroundings(s)
        vehicle = make_vehicle(s.vehicle, s.vehicle.parameters())
        self._base = vector(vehicle.base_in_chassis)
        self._driver = make_script(s, vehicle, there)
        self._begun_ns: int | None = s.start.time_ns()
        self._seen = np.zeros(1, SNAPSHOT)[0]
        self._message = JointState(name=list(joints.PEDALS_AND_GEAR))
        self._pedals = self.advertise(topics.PEDALS)
        self._truth = TruthInput(self, self._on_truth, self._on_reset)
        self._has_subscriber = False
        self.report("script", Level.OK, "waits for /ground_truth/odom")

    def publish_health(self) -> None:
        """Report only once the vehicle is subscribed: until then the node does not count as ready."""
        self._has_subscriber = self._has_subscriber or self._pedals.get_subscription_count() > 0
        if self._has_subscriber:
            super().publish_health()

    def _on_truth(self, time_ns: int, motion: BaseMotion, drive: Any) -> None:
        if self._begun_ns is None:  # after a reset the script restarts, while time runs on
            self._begun_ns = time_ns
        elapsed = (time_ns - self._begun_ns) / NS_PER_S
        pedals = self._driver.act(elapsed, seen_from(motion, self._base, self._seen)).within_limits()
        fill_pedals(self._message, time_ns, pedals)
        self._pedals.publish(self._message)
        self.health.report("script", Level.OK, "drives")

    def _on_reset(self) -> None:
        self._driver.reset()
        self._begun_ns = None


def seen_from(motion: BaseMotion, base: Vector3, seen: SnapshotRecord) -> SnapshotRecord:
    """The snapshot for drivers, filled in from base_link's motion; base is in the chassis frame [m]."""
    rotation, arm = rotation_from_quaternion(motion.attitude), -np.array(base)  # arm: to the chassis' origin
    seen["attitude"] = motion.attitude
    seen["position"] = motion.position + rotation @ arm
    seen["velocity"] = rotation @ (motion.velocity + np.cross(motion.angular_velocity, arm))
    seen["angular_velocity"] = motion.angular_velocity
    return seen


def main() -> int:
    """Entry point."""
    return run_node(ScriptNode)


if __name__ == "__main__":
    raise SystemExit(main())
