"""The script node: a scenario's driver, from /ground_truth/odom to /vehicle/pedals. The rest is in planner.scripted."""

from __future__ import annotations

from typing import Any

from sensor_msgs.msg import JointState

from proving_ground.interfaces import topics
from proving_ground.interfaces.motion_codec import fill_pedals
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.synchronous import Finished
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.scenarios.script import ScriptSettings, make_script
from proving_ground.settings.units import NS_PER_S
from sensors.ros.truth_input import TruthInput
from terrain.surroundings import Surroundings
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.stepper import CONTROL_NS
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
        self._driver = make_script(s, vehicle, there)
        self._begun_ns: int | None = s.start.time_ns()
        self._message = JointState()
        self._pedals = self.advertise(topics.PEDALS)
        self._finished = Finished(self, [topics.PEDALS.name]) if s.sync_with else None
        self._driver.digest = self._finished.digest if self._finished is not None else None
        on_resets = self._finished.on_resets if self._finished is not None else lambda resets: None
        self._truth = TruthInput(self, self._on_truth, self._on_reset, on_resets=on_resets)
        self._has_subscriber = False
        self.report("script", Level.OK, "waits for /ground_truth/odom")

    def publish_health(self) -> None:
        """Report only once the vehicle is subscribed: until then the node does not count as ready."""
        self._has_subscriber = self._has_subscriber or self._pedals.get_subscription_count() > 0
        if self._has_subscriber:
            figures = self._finished.digest.texts() if self._finished is not None else {}
            self.publish_figures(ns_to_stamp(self._truth.time_ns or 0), figures)

    def _on_truth(self, time_ns: int, motion: BaseMotion, drive: Any) -> None:
        if self._begun_ns is None:  # after a reset the script restarts, while time runs on
            self._begun_ns = time_ns
        if (time_ns - self._begun_ns) % CONTROL_NS:
            return
        pedals = self._driver.drive((time_ns - self._begun_ns) / NS_PER_S, motion)
        fill_pedals(self._message, time_ns, pedals)
        self._pedals.publish(self._message)
        if self._finished is not None:
            self._finished.count(topics.PEDALS.name)
            self._finished.report(time_ns, time_ns + CONTROL_NS)
        self.health.report("script", Level.OK, "drives")

    def _on_reset(self) -> None:
        self._driver.reset()
        self._begun_ns = None


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(ScriptNode)


if __name__ == "__main__":
    raise SystemExit(main())
