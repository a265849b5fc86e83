"""A lock-step run as a bag, on the topics that a launch of the same scenario records.

Stamps are the samples' own times, log times their times of arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.frames import Frames
from proving_ground.interfaces.map_codec import fill_grid, fill_shapes
from proving_ground.interfaces.motion_codec import fill_command, fill_pedals
from proving_ground.interfaces.topic import Topic
from proving_ground.kernels.vector3 import vector
from proving_ground.recording.autonomy_writing import ObserverWriting, PlannerWriting
from proving_ground.recording.sensor_writing import SensorWriting
from proving_ground.recording.types import empty, to_rosbags
from proving_ground.recording.writing import Sink
from proving_ground.scenarios.lock_step import LockStep
from sensors.kinds import SeenWorld
from sensors.rig import SensorRig
from terrain.map_messages import occupancy, shapes
from terrain.node_settings import TerrainNodeSettings
from terrain.surroundings import SiteSettings, Surroundings
from terrain.world import World
from vehicle_dynamics.control.drive_by_wire import Order
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle_messages import VehicleMessages


class Recording:
    """Writes a run into a bag or another sink.

    `watch` its runner, pass `sample` to it as its listener, `finish` at its end.
    """

    def __init__(self, bag: Sink) -> None:
        self._bag, self._now_ns = bag, 0
        self._sensors: SensorWriting | None = None

    def watch(self, runner: LockStep, start_ns: int) -> None:
        """Write fixed data now, and the runner's instants from now on."""
        self._now_ns = self._start_ns = start_ns
        base = vector(runner.vehicle.base_in_chassis)
        nothing = SeenWorld(Surroundings(SiteSettings()))
        rig = runner.rig or SensorRig({}, start_ns=start_ns, base_in_chassis=base, seen=nothing)
        runner.on_instant = self._instant
        parts = {name: item.settings for name, item in runner.parts.items()}
        settings: VehicleNodeSettings = parts["vehicle"]
        self._sensors = SensorWriting(rig, self._write, {name: parts[name] for name in rig.sensors})
        self._sensors.write_fixed(start_ns)
        self._vehicle = VehicleMessages(
            empty,
            runner.vehicle,
            runner.parameters,
            settings.frames,
            has_base=settings.publishes_base,
            has_body=settings.publish_body_tf,
            ruts=runner.ground.kernel().ruts,
        )
        self._write_fixed(start_ns)
        if runner.world is not None:
            self._write_world(runner.world, parts["terrain"])
        self._schedule, self._runner = settings.schedule(), runner
        self._orders = _OrderWriting(self._write, parts.get("planner", settings).frames)
        observation, autonomy = runner.observation, runner.autonomy
        self._observer: ObserverWriting | None = None
        if observation is not None:
            own = parts["observer"]
            self._observer = ObserverWriting(observation, self._write, own.frames, own.tf_every)
        self._planner: PlannerWriting | None = None
        if autonomy is not None:
            self._planner = PlannerWriting(autonomy, self._write, parts["planner"].frames.map_frame)
        self._has_begun = False

    def sample(self, name: str, sample: Any) -> None:
        """Write a sample that arrives; LockStep's listener."""
        assert self._sensors is not None
        self._sensors.write(name, sample)

    def finish(self) -> None:
        """Write the results of the last instant."""
        if not self._has_begun:
            return
        self._orders.look(self._now_ns, *self._runner.order)
        if self._observer is not None:
            self._observer.look(self._now_ns)
        if self._planner is not None:
            self._planner.look(self._now_ns)

    def _write(self, topic: Topic, message: Any) -> None:
        self._bag.write(topic.absolute, message, self._now_ns, to_rosbags(topic.qos))

    def _write_fixed(self, time_ns: int) -> None:
        self._write(*self._vehicle.description)
        transforms = empty(topics.FIXED_TRANSFORMS.type)
        transforms.transforms = self._vehicle.fixed_frames(time_ns)
        self._write(topics.FIXED_TRANSFORMS, transforms)
        self._write(topics.RESETS, empty(topics.RESETS.type))

    def _write_world(self, world: World, settings: TerrainNodeSettings) -> None:
        found = occupancy(world, settings)
        grid, markers = empty(topics.MAP.type, settings.frames.map_frame), empty(topics.MARKERS.type)
        fill_grid(grid, found.cells, found.resolution, found.x, found.y)
        fill_shapes(markers, grid.header, shapes(world), empty)
        self._write(topics.MAP, grid)
        self._write(topics.MARKERS, markers)

    def _instant(self, time_ns: int, seen: SnapshotRecord) -> None:
        self.finish()  # observer and planner come after the sensors: at the instant before
        self._now_ns, self._has_begun = time_ns, True
        due = self._schedule.due((time_ns - self._start_ns) // self._schedule.step_ns)
        if "clock" in due:
            self._write(*self._vehicle.clock(time_ns))
        for topic, message in self._vehicle.at(time_ns, due, seen):
            self._write(topic, message)


class _OrderWriting:
    """The driver's commands, on the topic of its node."""

    def __init__(self, write: Callable[[Topic, Any], None], frames: Frames) -> None:
        self._write, self._written = write, 0
        self._pedals, self._command = empty(topics.PEDALS.type), empty(topics.CMD_VEL.type, frames.base_frame)

    def look(self, time_ns: int, count: int, order: Order | None) -> None:
        """Call after the driver has acted; count: number of commands given."""
        if count == self._written or order is None:
            return
        self._written = count
        if isinstance(order, Pedals):
            fill_pedals(self._pedals, time_ns, order)
            self._write(topics.PEDALS, self._pedals)
        else:
            fill_command(self._command, time_ns, *order)
            self._write(topics.CMD_VEL, self._command)
