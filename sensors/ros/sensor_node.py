"""What all sensor nodes share: they hear the truth, let their sensor measure it, and publish what arrives.

Stamps are those of the truth, so no node needs /clock; a bag with ground truth drives them as the vehicle does.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from diagnostic_msgs.msg import KeyValue

from proving_ground.interfaces.fields import NS_PER_S
from proving_ground.ros_support.diagnostics import health_to_msg
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode
from proving_ground.ros_support.tf import FrameTransform, StaticTransformBroadcaster
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.ros_support.transformations import quaternion_from_euler
from proving_ground.settings import SettingsError, setting
from proving_ground.settings.dates import date_ns
from sensors.fault_script import fault_from_words
from sensors.faults import Fault
from sensors.ros.truth_input import TruthInput
from sensors.samples import DriveTruth
from sensors.sensor import Sensor, SensorSettings
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.choices import BASE_FRAME

KEEPS_RATE = 0.98  # share of the samples that should have come
SHORTEST_JUDGED_S = 0.5  # of simulated time


@dataclass(frozen=True, kw_only=True)
class SensorNodeSettings(SensorSettings):
    """What a sensor needs to be a node."""

    seed: int = setting(0, "Of all random numbers", minimum=0, maximum=2**31 - 1, read_only=True)
    frame: str = setting("", "Name of the sensor's frame; none: that of its kind", read_only=True)
    frame_prefix: str = setting("", "Before every frame name, as in 'truck_1/'", read_only=True)
    map_frame: str = setting("map", "Name of the world's frame", read_only=True)
    fault_script: tuple[str, ...] = setting(
        (), "Faults in time, each KIND START_S LENGTH_S [VALUE [CHANNEL]]", read_only=True
    )
    start_date: str = setting(
        "", "When the run began, from which faults count; none: with the first truth heard", read_only=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("frame", "frame_prefix", "map_frame"):
            if getattr(self, name).startswith("/"):
                raise ValueError(f"{name}: must not begin with '/', got {getattr(self, name)!r}")
        if self.start_date:
            date_ns("start_date", self.start_date)
        self.scripted()

    def scripted(self) -> tuple[Fault, ...]:
        """The faults of the script; raises ValueError for a bad one."""
        try:
            faults = tuple(fault_from_words(words) for words in self.fault_script)
            for fault in faults:
                fault.mask(self.channels)
        except ValueError as error:
            raise ValueError(f"fault_script: {error}") from None
        return faults


Settings = TypeVar("Settings", bound=SensorNodeSettings)
Sample = TypeVar("Sample")


class SensorNode(SuiteNode[Settings], ABC, Generic[Settings, Sample]):
    """A kind says how its sensor is made, measures and is published."""

    default_frame: ClassVar[str]
    needs_accel: ClassVar[bool] = False
    needs_drive: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        self.frame = s.frame_prefix + (s.frame or self.default_frame)
        self.map_frame = s.frame_prefix + s.map_frame
        self._sensor: Sensor[Any, Sample] | None = None
        self.prepare()
        if s.start_date:
            self._begin(date_ns("start_date", s.start_date))
        self._total = 0  # samples published
        self._reported = (0, 0)  # when the rate was last judged [ns], and samples until then
        self._mounts = StaticTransformBroadcaster(self)
        roll, pitch, yaw = (math.radians(angle) for angle in s.mount_rpy_deg)
        turn = quaternion_from_euler(roll, pitch, yaw)
        mount = FrameTransform(s.frame_prefix + BASE_FRAME, self.frame, s.mount_xyz_m, turn)
        self._mounts.send(ns_to_stamp(0), [mount])
        self._truth = TruthInput(
            self, self._on_truth, self._on_reset, needs_accel=self.needs_accel, needs_drive=self.needs_drive
        )

    @abstractmethod
    def prepare(self) -> None:
        """Worlds, publishers: all that is needed before the first truth."""

    @abstractmethod
    def make_sensor(self, **common: Any) -> Sensor[Any, Sample]:
        """The sensor; common are the arguments of every sensor."""

    @abstractmethod
    def measure(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> Sequence[Sample]:
        """What arrives at this instant."""

    @abstractmethod
    def publish(self, sample: Sample) -> None:
        """Send it."""

    @property
    def sensor(self) -> Sensor[Any, Sample]:
        """The sensor, once truth was heard."""
        assert self._sensor is not None
        return self._sensor

    def on_settings(self, old: Settings, new: Settings) -> None:
        """Errors, delivery and the present fault can change while it runs."""
        if self._sensor is not None:
            self._sensor.change(new)

    def publish_health(self) -> None:
        """Rate, losses, faults; stamped with simulation time."""
        self._truth.report()
        self._report_rate()
        time_ns = self._truth.time_ns or 0
        self._report_faults(time_ns)
        message = health_to_msg(self.health, self.get_fully_qualified_name(), ns_to_stamp(time_ns))
        message.status[0].values += [KeyValue(key=key, value=value) for key, value in self._figures.items()]
        self._diagnostics.publish(message)

    def _report_faults(self, time_ns: int) -> None:
        faults = self._sensor.faults_at(time_ns) if self._sensor is not None else ()
        if faults:
            words = (f"{fault.kind} {fault.value:g} {fault.channel}".strip() for fault in faults)
            self.report("fault", Level.WARN, f"fault on purpose: {', '.join(words)}")
        else:
            self.report("fault", Level.OK, "no fault is on")

    def _begin(self, start_ns: int) -> None:
        try:
            self._sensor = self.make_sensor(
                seed=self.settings.seed, name=self.get_name(), faults=self.settings.scripted(), start_ns=start_ns
            )
        except ValueError as error:
            raise SettingsError(str(error)) from None

    def _on_reset(self) -> None:
        self.get_logger().info("begins anew, as the simulation did")
        self._reported = (0, 0)
        if self._sensor is not None:
            self._sensor.reset()

    def _on_truth(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> None:
        if self._sensor is None:
            self._begin(time_ns)
        for sample in self.measure(time_ns, motion, drive):
            self.publish(sample)
            self._total += 1

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
        # One sample more or less falls into a window by chance.
        if rate < KEEPS_RATE * wanted - 1.0 / passed:
            self.report("rate", Level.WARN, f"takes {rate:.1f} samples per second, {wanted:g} were asked for")
        else:
            self.report("rate", Level.OK, f"takes {wanted:g} samples per second")
