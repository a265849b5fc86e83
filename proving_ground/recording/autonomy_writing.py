"""Output of observer and planner of a lock-step run as messages in a bag, on the topics of their nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner.drive_to_goal import Status
from planner.figures import progress_figures
from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.diagnostics_codec import add_figures, fill_health
from proving_ground.interfaces.fields import set_stamp
from proving_ground.interfaces.frames import Frames
from proving_ground.interfaces.map_codec import fill_arcs, fill_local_grid, fill_path
from proving_ground.interfaces.motion_codec import (
    describe_forces,
    fill_estimate,
    fill_forces,
    new_transform,
    set_transform,
    share_stamp,
)
from proving_ground.interfaces.topic import Topic
from proving_ground.recording.types import empty
from proving_ground.ros_support.health import Health, Level
from proving_ground.scenarios.autonomy import Autonomy
from proving_ground.scenarios.observing import Observation
from proving_ground.settings.units import NS_PER_S
from state_observer.in_run import FORCES_EVERY
from state_observer.vehicle.figures import health_figures
from state_observer.vehicle.health import ALIGNED
from state_observer.vehicle.observer import VehicleObserver
from state_observer.vehicle.odometry_frames import odometry_frames

HEALTH_EVERY_NS = NS_PER_S
Write = Callable[[Topic, Any], None]


class ObserverWriting:
    """Writes estimates, frames and forces at the rates of the observer's node, and its health at 1 Hz."""

    def __init__(self, observation: Observation, write: Write, frames: Frames, tf_every: int) -> None:
        """tf_every: estimates per message on tf; 0 for none."""
        self._tf_every = tf_every
        self._observation, self._observer, self._write = observation, observation.observer, write
        self._estimate = empty(topics.ESTIMATE.type, frames.map_frame)
        self._estimate.child_frame_id = frames.base_frame
        self._tree = empty(topics.TRANSFORMS.type)
        pairs = ((frames.map_frame, frames.odom_frame), (frames.odom_frame, frames.base_frame))
        self._tree.transforms = [new_transform(empty, parent, child) for parent, child in pairs]
        share_stamp(self._tree.transforms)
        self._sideslip, self._forces = empty(topics.SIDESLIP.type), empty(topics.TYRE_FORCES.type)
        describe_forces(self._forces, len(joints.WHEELS), empty)
        self._written_ns = self._count = 0
        self._health = _HealthWriting("observer", write)

    def look(self, now_ns: int) -> None:
        """Call after all samples of an instant."""
        observer = self._observer
        found = observer.health()
        level = Level.OK if found.status == ALIGNED else Level.WARN
        self._health.look(now_ns, level, found.status, lambda: health_figures(found, found.rejected))
        estimate = self._observation.latest
        if estimate is None or int(estimate["time_ns"]) == self._written_ns:
            return
        self._written_ns, self._count = int(estimate["time_ns"]), self._count + 1
        fill_estimate(self._estimate, estimate)
        self._write(topics.ESTIMATE, self._estimate)
        self._sideslip.data = float(estimate["sideslip"])
        self._write(topics.SIDESLIP, self._sideslip)
        if self._tf_every and self._count % self._tf_every == 0:
            set_stamp(self._tree.transforms[0].header.stamp, self._written_ns)
            for link, placement in zip(self._tree.transforms, odometry_frames(estimate), strict=True):
                set_transform(link, *placement)
            self._write(topics.TRANSFORMS, self._tree)
        if isinstance(observer, VehicleObserver) and self._count % FORCES_EVERY == 0:
            fill_forces(self._forces, observer.forces())
            self._write(topics.TYRE_FORCES, self._forces)


class PlannerWriting:
    """Writes each plan with its arcs and local map, and the planner's health at 1 Hz."""

    def __init__(self, autonomy: Autonomy, write: Write, map_frame: str) -> None:
        self._autonomy, self._write = autonomy, write
        self._plan, self._grid = empty(topics.PLAN.type, map_frame), empty(topics.LOCAL_MAP.type, map_frame)
        self._arcs = empty(topics.ARCS.type)
        self._shown = 0  # plans
        self._health = _HealthWriting("planner", write)

    def look(self, now_ns: int) -> None:
        """Call after the planner has acted at an instant."""
        height = self._autonomy.height
        progress, plans = self._autonomy.progress, self._autonomy.core.plans
        level = Level.WARN if progress.status in (Status.FAILED, Status.BLOCKED, Status.EMERGENCY) else Level.OK
        self._health.look(now_ns, level, progress.words, lambda: progress_figures(progress, plans))
        if plans == self._shown:
            return
        self._shown = plans
        fill_path(self._plan, now_ns, progress.path, height, empty)
        self._write(topics.PLAN, self._plan)
        fill_arcs(self._arcs, self._plan.header, progress.arcs, height, empty)
        self._write(topics.ARCS, self._arcs)
        if progress.grid is not None:
            fill_local_grid(self._grid, now_ns, progress.grid)
            self._write(topics.LOCAL_MAP, self._grid)


class _HealthWriting:
    """Status of one node, once a second."""

    def __init__(self, node: str, write: Write) -> None:
        self._name, self._write = f"/{node}", write
        self._health, self._message = Health(), empty(topics.DIAGNOSTICS.type)
        self._due_ns = 0

    def look(self, now_ns: int, level: Level, words: str, figures: Callable[[], dict[str, str]]) -> None:
        """Write when a second has passed."""
        if now_ns < self._due_ns:
            return
        self._due_ns = now_ns + HEALTH_EVERY_NS
        self._health.report("status", level, words)
        fill_health(self._message, self._health, self._name, now_ns, empty)
        add_figures(self._message, figures(), empty)
        self._write(topics.DIAGNOSTICS, self._message)
