"""The observer node: sensors in, pose, motion, sideslip and tyre forces out.

All behaviour is in state_observer.vehicle.
Time is that of the samples, so no clock is needed: a bag drives it as the vehicle does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseWithCovarianceStamped, TwistWithCovarianceStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, NavSatFix
from std_msgs.msg import Float64, Float64MultiArray, UInt32
from std_srvs.srv import Trigger

from ros_support import qos
from ros_support.convert import quaternion_from_msg
from ros_support.diagnostics import health_to_msg
from ros_support.health import Level
from ros_support.node import SuiteNode, run_node
from ros_support.observer_messages import EstimateMessages, forces_to_msg
from ros_support.tf import FrameTransform, TransformBroadcaster
from ros_support.time import NS_PER_S, ns_to_stamp, stamp_to_ns
from sensors.encoders import EncoderSettings
from sensors.from_messages import (
    PEDALS,
    actuation_sample,
    encoder_sample,
    gps_sample,
    imu_sample,
    velocity_sample,
    wheels_sample,
)
from sensors.gps import GpsSettings, LocalFrame
from sensors.imu import ImuSettings
from sensors.joining import Joiner
from sensors.samples import EncoderSample, ImuSample
from settings import setting
from state_observer.vehicle.doors import Sample
from state_observer.vehicle.health import ALIGNED, INVALID, STARTING
from state_observer.vehicle.observer import BasicObserver, InsObserver, VehicleObserver
from state_observer.vehicle.settings import Datum, Mounts, load_ins, load_observer
from terrain.world_ground import WorldGround
from terrain.worlds import load_world
from vehicle_dynamics.choices import BASE_FRAME
from vehicle_dynamics.vehicle_mechanism import CORNERS

KINDS = ("vehicle", "ins")
WHEELS = tuple(f"{corner}_wheel" for corner in CORNERS)
TOGETHER_NS = 5_000_000  # two messages of one sample
START_VARIANCE, HEADING_VARIANCE = 0.1**2, 0.02**2  # of the world's start [m^2, rad^2]
MOST_HELD = 3  # IMU samples that wait for wheels
FORCES_EVERY = 10  # estimates
DEFAULT_GPS, DEFAULT_IMU, DEFAULT_ENCODERS = GpsSettings(), ImuSettings(), EncoderSettings()


def _place(default: tuple[float, float, float], words: str) -> Any:
    return setting(default, words, unit="m", minimum=-10.0, maximum=10.0, read_only=True)


@dataclass(frozen=True, kw_only=True)
class ObserverNodeSettings:
    """Which observer, of which sensors, in which frames."""

    kind: str = setting(
        "vehicle", "errorEKF around the vehicle's model, or a strapdown INS", choices=KINDS, read_only=True
    )
    observer_file: str = setting("", "YAML file of its settings; none: that of config/observers", read_only=True)
    world: str = setting(
        "", "Name in config/worlds, or a path: ground under the model, and where on Earth; none: level", read_only=True
    )
    knows_start: bool = setting(False, "Begins at the world's start, as if /initialpose said so", read_only=True)
    rate_hz: float = setting(
        100.0, "Estimates per simulated second", unit="Hz", minimum=1.0, maximum=250.0, read_only=True
    )
    tf_rate_hz: float = setting(
        50.0, "Messages on tf; 0 for none", unit="Hz", minimum=0.0, maximum=250.0, read_only=True
    )
    gps_xyz_m: tuple[float, float, float] = _place(DEFAULT_GPS.mount_xyz_m, "Antenna in base_link")
    imu_xyz_m: tuple[float, float, float] = _place(DEFAULT_IMU.mount_xyz_m, "IMU in base_link")
    imu_rpy_deg: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "Roll, pitch, yaw of the IMU", unit="deg", minimum=-180.0, maximum=180.0, read_only=True
    )
    wheel_pulses: int = setting(
        DEFAULT_ENCODERS.wheel_pulses, "Counted edges per turn of a wheel", minimum=1, maximum=1_000_000, read_only=True
    )
    knows_direction: bool = setting(DEFAULT_ENCODERS.knows_direction, "Backward pulses count down", read_only=True)
    full_brake_pressure_pa: float = setting(
        DEFAULT_ENCODERS.full_brake_pressure_pa, "At full pedal", unit="Pa", minimum=1e3, maximum=1e9, read_only=True
    )
    frame_prefix: str = setting("", "Before every frame name, as in 'truck_1/'", read_only=True)
    map_frame: str = setting("map", "Name of the world's frame", read_only=True)
    odom_frame: str = setting("odom", "Name of the frame without jumps", read_only=True)

    def complete(self, settings: Any, frame: LocalFrame) -> Any:
        """Settings of an observer with what the node knows of sensors and place."""
        mounts = Mounts(gps_xyz_m=self.gps_xyz_m, imu_xyz_m=self.imu_xyz_m, imu_rpy_deg=self.imu_rpy_deg)
        noise = replace(settings.sensors, wheel_pulses=float(self.wheel_pulses))
        return replace(settings, mounts=mounts, sensors=noise, datum=Datum(**frame.origin._asdict()))


class _Fix(NamedTuple):
    """A fix that waits for its velocity."""

    time_ns: int
    message: NavSatFix


class ObserverNode(SuiteNode[ObserverNodeSettings]):
    """Converts, hands on, publishes."""

    default_name = "observer"
    settings_type = ObserverNodeSettings

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        self.get_logger().info(f"building the observer ({s.kind}); the first time on a machine this takes a while")
        self._observer = self._make_observer()
        self._period_ns = round(NS_PER_S / s.rate_hz)
        self._told_ns = 0
        self._count = 0
        self._resets: int | None = None
        self._busy_s = 0.0  # since the last report
        prefix = s.frame_prefix
        self._frames = (prefix + s.map_frame, prefix + s.odom_frame, prefix + BASE_FRAME)
        self._messages = EstimateMessages(self._frames[0], self._frames[2])
        self._odometry = self.advertise(Odometry, "odometry/filtered", qos.RELIABLE)
        self._sideslip = self.advertise(Float64, "observer/sideslip", qos.RELIABLE)
        self._forces = self.advertise(Float64MultiArray, "observer/tyre_forces", qos.RELIABLE)
        self._tf = TransformBroadcaster(self) if s.tf_rate_hz else None
        self._tf_every = max(round(s.rate_hz / s.tf_rate_hz), 1) if s.tf_rate_hz else 0
        self._gps: Joiner[Any, Any] = Joiner(TOGETHER_NS, has_second=True)
        self._encoders: Joiner[Any, Any] = Joiner(TOGETHER_NS, has_second=True)
        self._held: list[ImuSample] = []
        self._listen_to(Imu, "imu/data_raw", self._on_imu)
        self._listen_to(NavSatFix, "gps/fix", self._on_fix)
        self._listen_to(TwistWithCovarianceStamped, "gps/vel", self._on_velocity)
        self._listen_to(JointState, "wheels/joint_states", self._on_wheels)
        self._listen_to(JointState, "vehicle/actuation", self._on_actuation)
        self.listen(PoseWithCovarianceStamped, "initialpose", self._on_pose, qos.RELIABLE)
        self.listen(UInt32, "simulation/resets", self._on_resets, qos.LATCHED)
        self.create_service(Trigger, "observer/reset", self._on_reset)

    def _make_observer(self) -> BasicObserver:
        s = self.settings
        world = load_world(s.world) if s.world else None
        self._start = world.start if world is not None and s.knows_start else None
        frame = LocalFrame(world.georeference if world is not None else None)
        path = Path(s.observer_file) if s.observer_file else None
        if s.kind == "ins":
            return InsObserver(s.complete(load_ins(path), frame))
        settings = replace(
            s.complete(load_observer(path), frame),
            full_brake_pa=s.full_brake_pressure_pa,
            wheels_know_direction=s.knows_direction,
        )
        return VehicleObserver(settings, ground=WorldGround.of(world) if world is not None else None)

    # Sensors

    def _listen_to(self, kind: type, topic: str, convert: Callable[[Any], list[Sample]]) -> None:
        def take(message: Any) -> None:
            begun = time.monotonic()
            try:
                samples = convert(message)
            except ValueError as error:
                self.health.count(f"{topic} refused")
                self.report("samples", Level.WARN, f"{topic} refused: {error}")
                return
            for sample in samples:
                self._take(topic, sample)
            self._busy_s += time.monotonic() - begun

        self.listen(kind, topic, take, qos.SENSOR)

    def _on_imu(self, message: Imu) -> list[Sample]:
        sample = imu_sample(message)
        # What waits for a partner that does not come goes on alone.
        fixes = [gps_sample(item.message, moves) for item, moves in self._gps.complete(sample.time_ns)]
        wheels = [encoder_sample(*pair) for pair in self._encoders.complete(sample.time_ns)]
        self._held.append(sample)
        return [*wheels, *self._released(wheels), *fixes]

    def _released(self, wheels: list[EncoderSample]) -> list[Sample]:
        """IMU samples wait for the wheels of their time, which come first: a filter need not go back then."""
        newest = wheels[-1].time_ns if wheels else 0
        free = [sample for sample in self._held if sample.time_ns <= newest]
        free += self._held[len(free) : len(self._held) - MOST_HELD]
        del self._held[: len(free)]
        return list(free)

    def _on_fix(self, message: NavSatFix) -> list[Sample]:
        fix = _Fix(stamp_to_ns(message.header.stamp), message)
        return [gps_sample(item.message, moves) for item, moves in self._gps.first(fix.time_ns, fix)]

    def _on_velocity(self, message: TwistWithCovarianceStamped) -> list[Sample]:
        moves = velocity_sample(message)
        return [gps_sample(item.message, found) for item, found in self._gps.second(moves.time_ns, moves)]

    def _on_wheels(self, message: JointState) -> list[Sample]:
        wheels = wheels_sample(message, WHEELS)
        whole = [encoder_sample(*pair) for pair in self._encoders.first(wheels.time_ns, wheels)]
        return [*whole, *self._released(whole)]

    def _on_actuation(self, message: JointState) -> list[Sample]:
        actuation = actuation_sample(message, PEDALS)
        whole = [encoder_sample(*pair) for pair in self._encoders.second(actuation.time_ns, actuation)]
        return [*whole, *self._released(whole)]

    def _take(self, topic: str, sample: Sample) -> None:
        verdict = self._observer.take(sample)
        if not verdict.is_taken:
            self.health.count(f"{topic} refused")
            self.report("samples", Level.WARN, f"{topic} refused: {verdict.reason}")
        if self._start is not None and not self._observer.is_running:
            place = self._start
            variances = {"position_variance": START_VARIANCE, "heading_variance": HEADING_VARIANCE}
            self._observer.set_pose(place.x, place.y, place.heading, **variances)
        self._tell()

    # What it tells

    def _tell(self) -> None:
        """One estimate a period, at the newest sample."""
        if not self._observer.is_running:
            return
        now_ns = self._observer.filter.time_ns
        if now_ns // self._period_ns <= self._told_ns // self._period_ns:
            return
        self._told_ns = now_ns
        self._count += 1
        told = self._observer.estimate()
        self._odometry.publish(self._messages.odometry(told))
        self._sideslip.publish(Float64(data=float(told["sideslip"])))
        if self._tf is not None and self._count % self._tf_every == 0:
            self._tf.send(ns_to_stamp(now_ns), self._transforms(told))
        if isinstance(self._observer, VehicleObserver) and self._count % FORCES_EVERY == 0:
            self._forces.publish(forces_to_msg(self._observer.forces()))

    def _transforms(self, told: Any) -> list[FrameTransform]:
        """map to odom, and odom to base_link, which never jumps: attitudes of both differ by a turn about z alone."""
        map_frame, odom_frame, base_frame = self._frames
        x, y, z, yaw = told["odom"].tolist()
        qx, qy, qz, qw = told["attitude"].tolist()
        heading = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
        turn = heading - yaw
        cosine, sine = math.cos(turn), math.sin(turn)
        px, py, pz = told["position"].tolist()
        shift = (px - cosine * x + sine * y, py - sine * x - cosine * y, pz - z)
        half_cosine, half_sine = math.cos(0.5 * turn), math.sin(0.5 * turn)
        # odom_from_base = (map_from_odom)^-1 map_from_base: a turn by -turn about z, then the attitude.
        attitude = (
            half_cosine * qx + half_sine * qy,
            half_cosine * qy - half_sine * qx,
            half_cosine * qz - half_sine * qw,
            half_cosine * qw + half_sine * qz,
        )
        return [
            FrameTransform(map_frame, odom_frame, shift, (0.0, 0.0, half_sine, half_cosine)),
            FrameTransform(odom_frame, base_frame, (x, y, z), attitude),
        ]

    # Resets

    def _on_pose(self, message: PoseWithCovarianceStamped) -> None:
        """As RViz sends it."""
        if message.header.frame_id not in ("", self._frames[0]):
            words = f"initialpose refused: is in frame {message.header.frame_id!r}, must be in {self._frames[0]!r}"
            self.report("pose", Level.WARN, words)
            return
        place, spread = message.pose.pose.position, message.pose.covariance
        try:
            x, y, z, w = quaternion_from_msg(message.pose.pose.orientation).tolist()
        except ValueError as error:
            self.report("pose", Level.WARN, f"initialpose refused: {error}")
            return
        heading = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        variances = (float(max(spread[0], spread[7])), float(spread[35]))
        options = {"position_variance": variances[0], "heading_variance": variances[1]} if min(variances) > 0.0 else {}
        verdict = self._observer.set_pose(place.x, place.y, heading, **options)
        if verdict.is_taken:
            self.report("pose", Level.OK, f"told to be at x {place.x:.1f}, y {place.y:.1f} m")
        else:
            self.report("pose", Level.WARN, f"initialpose refused: {verdict.reason}")

    def _on_resets(self, message: UInt32) -> None:
        before, self._resets = self._resets, message.data
        if before is not None and message.data != before:
            self._begin_anew("as the simulation did")

    def _on_reset(self, request: Any, response: Any) -> Any:
        self._begin_anew("as asked")
        response.success, response.message = True, "begins anew"
        return response

    def _begin_anew(self, words: str) -> None:
        self.get_logger().info(f"begins anew, {words}")
        self._observer.reset()
        self._held.clear()
        self._told_ns = 0

    def publish_health(self) -> None:
        """Status, warnings, NIS, counts, latency."""
        found = self._observer.health()
        level = {ALIGNED: Level.OK, STARTING: Level.WARN, INVALID: Level.ERROR}.get(found.status, Level.WARN)
        self.report("status", level, found.status)
        self.report("warnings", Level.WARN if found.warnings else Level.OK, "; ".join(found.warnings) or "no warnings")
        if not found.refused:
            self.health.report("samples", Level.OK, "all samples are taken")
        busy, self._busy_s = self._busy_s, 0.0
        figures = {
            "status": found.status,
            **{f"nis {name}": f"{value:.2f}" for name, value in found.recent_nis.items()},
            **{f"used {name}": str(value) for name, value in found.used.items()},
            **{f"gated {name}": str(value) for name, value in found.gated.items()},
            **{f"refused {name}": str(value) for name, value in found.refused.items()},
            "resets": str(found.resets),
            "jump_m": f"{found.jump_m:.2f}",
            "restarts": str(found.restarts),
            "late_samples": str(found.replays),
            "busy_share": f"{busy:.3f}",
        }
        stamp = ns_to_stamp(self._told_ns)
        message = health_to_msg(self.health, self.get_fully_qualified_name(), stamp)
        message.status[0].values += [KeyValue(key=key, value=value) for key, value in figures.items()]
        self._diagnostics.publish(message)


def main() -> int:
    """Entry point."""
    return run_node(ObserverNode)


if __name__ == "__main__":
    raise SystemExit(main())
