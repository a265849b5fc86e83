"""The sensor node: feeds the truth to a sensor of any kind and publishes its samples.

Stamps are those of the truth, so no node needs /clock, and a bag with ground truth can replace the vehicle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from proving_ground.ros_support.fixed_layout import as_published, fixed
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.synchronous import Finished
from proving_ground.ros_support.tf import FrameTransform, StaticTransformBroadcaster
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.ros_support.transformations import quaternion_from_euler
from proving_ground.settings.dates import date_ns
from proving_ground.settings.units import NS_PER_S
from sensors.kinds import SENSOR_KINDS, SeenWorld, SensorKind
from sensors.node_settings import SceneSettings
from sensors.publication import Publication
from sensors.rig import Truth, make_sensor, sampled, warm_up
from sensors.ros.truth_input import TruthInput
from sensors.samples import DriveTruth
from sensors.sensor import Sensor
from terrain.obstacles import Obstacles
from terrain.ros.changes import follow_spawned, follow_world
from terrain.surroundings import Surroundings
from terrain.world import World
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_files import vehicle_file

KEEPS_RATE = 0.98  # share of the expected samples
SHORTEST_JUDGED_S = 0.5  # of simulated time


class SensorNode(SuiteNode[Any]):
    """One sensor; its kind defines how to make it and what it publishes."""

    kind: ClassVar[SensorKind]
    seen: SeenWorld | None = None

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        self._equipment = VehicleParameters.from_yaml(vehicle_file(s.vehicle)).equipment
        self.fitted: Any = s.fitted(self.kind.name, self._equipment)
        self.frame = s.frames.named(s.frame or self.kind.frame_of(self.get_name()))
        self.map_frame = s.frames.map_frame
        if isinstance(s, SceneSettings):
            self.seen = SeenWorld.of(Surroundings(s), [s])
        warm_up(self.kind, self.fitted, self.seen, self.get_name())
        if self.seen is not None:
            follow_world(self, self._on_world)
            follow_spawned(self, self._on_spawned)
        self._advertise()
        self._prepare()
        self._total = 0  # samples published
        self._reported = (0, 0)  # time of the last rate report [ns], and samples until then
        self._mounts = StaticTransformBroadcaster(self)
        roll, pitch, yaw = (math.radians(angle) for angle in self.fitted.mount.rpy_deg)
        rotation = quaternion_from_euler(roll, pitch, yaw)
        mount = FrameTransform(s.frames.base_frame, self.frame, self.fitted.mount.position, rotation)
        self._mounts.send(ns_to_stamp(0), [mount])
        sent = [item.topic.named(self.get_name()).name for item, _, _ in self._publications]
        self._finished = Finished(self, sent) if s.sync_with else None
        self._truth = TruthInput(
            self,
            self._on_truth,
            self._on_reset,
            needs_accel=self.kind.needs_accel,
            needs_drive=self.kind.needs_drive,
            on_ruts=self._on_ruts if self.kind.sees_ground and self.seen is not None and self.seen.has_ruts else None,
            on_resets=self._finished.on_resets if self._finished is not None else lambda resets: None,
        )

    def _advertise(self) -> None:
        name, s = self.get_name(), self.fitted
        self._publications = [
            (item, self.advertise(item.topic.named(name)), self._message(item))
            for item in self.kind.publishes
            if item.is_sent(s)
        ]
        self._announced = [(item, self.advertise(item.topic)) for item in self.kind.announces]
        self._announce()

    def _message(self, item: Publication) -> Any:
        """The message that is filled for each sample."""
        message = item.new(new_message, self.frame, self.map_frame)
        return fixed(message) if item.is_fixed else message

    def _announce(self) -> None:
        for item, publisher in self._announced:
            message = new_message(item.topic.type, self.map_frame)
            item.fill(message, 0, self.seen)  # valid at all times
            publisher.publish(message)

    def publish(self, sample: Any) -> None:
        """Publish a sample on all topics of the kind."""
        for item, publisher, message in self._publications:
            for fill in item.fills(sample, self.fitted):
                fill(message)
                publisher.publish(as_published(message))
                if self._finished is not None:
                    self._finished.count(item.topic.named(self.get_name()).name)
        remark = self.kind.remark(sample) if self.kind.remark is not None else None
        if remark is not None and remark.is_fine:
            self.health.report(remark.check, Level.OK, remark.words)
        elif remark is not None:
            self.report(remark.check, Level.WARN, remark.words)

    @property
    def sensor(self) -> Any:
        """The sensor, once truth was received."""
        assert self._sensor is not None
        return self._sensor

    def on_settings(self, old: Any, new: Any) -> None:
        """Apply changes of errors, delivery and the present fault."""
        self.fitted = new.fitted(self.kind.name, self._equipment)
        if self._sensor is not None:
            self._sensor.change(self.fitted)

    def publish_health(self) -> None:
        """Rate, losses, faults; stamped with simulation time."""
        self._truth.report()
        self._report_rate()
        time_ns = self._truth.time_ns or 0
        self._report_faults(time_ns)
        figures = self._figures | (self._finished.digest.texts() if self._finished is not None else {})
        self.publish_figures(ns_to_stamp(time_ns), figures)

    def _report_faults(self, time_ns: int) -> None:
        faults = self._sensor.faults_at(time_ns) if self._sensor is not None else ()
        self.report_faults(faults)

    def _prepare(self) -> None:
        """Make the sensor, or leave that to the first truth when the settings give no start date."""
        self._sensor: Sensor[Any, Any] | None = None
        if self.settings.start_date:
            self._begin(date_ns("start_date", self.settings.start_date))

    def _begin(self, start_ns: int) -> None:
        self._sensor = make_sensor(self.kind, self.fitted, self.seen, name=self.get_name(), start_ns=start_ns)

    def _on_reset(self) -> None:
        self.get_logger().info("restarts: the simulation was reset")
        self._reported = (0, 0)
        if self.seen is not None:
            self.seen.clear_ruts()
        if self._sensor is not None:
            self._sensor.reset()

    def _on_world(self, name: str, world: World) -> None:
        self.seen = SeenWorld(Surroundings(self.settings, world), self.settings.moving_targets())
        self._announce()
        self._prepare()

    def _on_ruts(self, cells: Any) -> None:
        if self.seen is not None:
            self.seen.press(cells)

    def _on_spawned(self, spawned: Obstacles) -> None:
        if self.seen is not None:
            self.seen.set_spawned(spawned)

    def _on_truth(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> None:
        if self._sensor is None:
            self._begin(time_ns)
        if self.seen is not None:
            self.seen.move_to(self.sensor.seconds(time_ns))
        truth = Truth(time_ns, motion, drive)
        for sample in sampled(self.kind, self.sensor, truth, self._finished.digest if self._finished else None):
            self.publish(sample)
            self._total += 1
        if self._finished is not None:
            self._finished.report(time_ns, self.sensor.next_arrival_ns(time_ns))

    def _report_rate(self) -> None:
        now_ns = self._truth.time_ns
        total, lost = self._total, self._sensor.lost if self._sensor is not None else 0
        self._figures = {"samples": str(total), "lost": str(lost)}
        if now_ns is None:
            return
        before_ns, before = self._reported
        passed = (now_ns - before_ns) / NS_PER_S
        if before_ns and passed < SHORTEST_JUDGED_S:
            return
        self._reported = (now_ns, total + lost)
        if not before_ns:
            return
        rate, wanted = (total + lost - before) / passed, self.settings.rate_hz
        self._figures["achieved_rate_hz"] = f"{rate:.3f}"
        # A window may contain one sample more or less by chance.
        if rate < KEEPS_RATE * wanted - 1.0 / passed:
            self.report("rate", Level.WARN, f"{rate:.1f} samples per second instead of {wanted:g}")
        else:
            self.report("rate", Level.OK, f"{wanted:g} samples per second")


def node_of(kind: SensorKind) -> type[SensorNode]:
    """The node class for a kind of sensor."""
    members = {
        "kind": kind,
        "default_name": kind.name,
        "settings_type": kind.node_settings,
        "sends_large_messages": kind.sends_large_messages,
    }
    return type(f"{kind.name.title()}Node", (SensorNode,), members)


def main(kind: str) -> int:
    """Entry point of the node of a kind."""
    return run_node(node_of(SENSOR_KINDS[kind]))


def __getattr__(name: str) -> Callable[[], int]:
    """Entry point of a kind by its name, for executables that call `sensors.ros.sensor_node:NAME`."""
    if name not in SENSOR_KINDS:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return partial(main, name)
