"""Driving by sensors alone: 20 seeded towns (seed 002, scenario 1) with LIDAR and observer in the loop, in lock-step.

And the time of the obstacle map from LIDAR. Towns that were not reached, or in which something was hit, get a picture
each. The environment may say PROVING_GROUND_TOWNS=3 for the first three, and PROVING_GROUND_PICTURES=folder.

`drive_by_lidar` is a drive with the true pose, or with errors that are asked for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.lidar_unit import lidar_unit
from benchmark.measure import cpu_time_us
from benchmark.town_pictures import draw_drive, is_clean, picture_folder, words
from benchmark.town_runs import drive_by_sensors, drive_figures, seeds
from planner.drive_to_goal import DriveToGoal, Progress
from planner.footprint import Footprint
from planner.maps.lidar_source import LidarSource
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.pose import Pose, pose_of
from planner.pose_history import PoseHistory
from planner.settings import PlannerSettings
from planner.town_drive import DriveResult, drive_with, town
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.streams import stream
from terrain.world import World
from vehicle_dynamics.base_motion import BaseMotion, base_motion
from vehicle_dynamics.control.helm import PERIOD_S, Helm
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.pedals import Pedals

LONGEST_S = 500.0
PRESET = "spinning_32"
TIMED_PRESETS = ("spinning_16", "spinning_32", "spinning_64")
PERIOD_NS = round(1e9 * PERIOD_S)
MEMORY_S = 20.0  # of errors of the pose


@dataclass(frozen=True, kw_only=True)
class PoseErrors:
    """Standard deviations of a pose that wanders (Gauss-Markov, with a memory of 20 s)."""

    level_m: float = 0.0  # in x and in y
    height_m: float = 0.0
    heading_deg: float = 0.0
    tilt_deg: float = 0.0  # of the ground plane along x and along y


class WanderingPose:
    """A true pose with errors, asked every PERIOD_S."""

    def __init__(self, errors: PoseErrors, seed: int) -> None:
        turn, tilt = math.radians(errors.heading_deg), math.radians(errors.tilt_deg)
        self._sizes = np.array([errors.level_m, errors.level_m, errors.height_m, turn, tilt, tilt])
        self._random = stream(seed, "pose", "errors")
        self._now = self._sizes * self._random.normal(size=6)

    def of(self, true: Pose) -> Pose:
        """What is believed."""
        keep = math.exp(-PERIOD_S / MEMORY_S)
        self._now = keep * self._now + math.sqrt(1.0 - keep * keep) * self._sizes * self._random.normal(size=6)
        return Pose(*(np.array(true) + self._now).tolist())


class LidarDriver:
    """Drive-to-goal by a LIDAR whose scans are put straight, with its helm; implements town_drive.TownDriver."""

    def __init__(
        self,
        vehicle: Hmmwv,
        world: World,
        settings: PlannerSettings,
        unit: LidarSettings,
        wander: WanderingPose,
        seed: int,
    ) -> None:
        x, y, z = vehicle.base_in_chassis.tolist()
        self._base, self._helm, self._wander = (x, y, z), Helm(vehicle), wander
        self._lidar = Lidar(unit, Scene.of(world), seed=seed)
        footprint = Footprint.of(vehicle.parameters, vehicle.base_in_chassis)
        extent = Extent(*world.ground.x_limits, *world.ground.y_limits)
        self._source = LidarSource(settings, footprint, unit.mounting(), extent)
        self._poses = PoseHistory()
        self.core = DriveToGoal(settings, footprint, self._source)
        self.progress: Progress | None = None

    def act(self, time: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for the next 10 ms."""
        now_ns = round(1e9 * time)
        pose = self._wander.of(pose_of(seen, np.array(self._base)))
        self._poses.note(now_ns, pose)
        for scan in self._lidar.update(now_ns, base_motion(seen, self._base)):
            self._source.see(1e-9 * scan.time_ns, scan.points, self._poses.at(scan.time_ns))
        self.progress = self.core.update(time, pose, forward_speed(seen))
        return self._helm.pedals(seen, self.progress.speed, self.progress.curvature)


def drive_by_lidar(
    vehicle: Hmmwv,
    world: World,
    settings: PlannerSettings,
    *,
    longest: float = 300.0,
    lidar_settings: LidarSettings | None = None,
    errors: PoseErrors | None = None,
    seed: int = 0,
) -> DriveResult:
    """As town_drive.drive, at most so long [s], with obstacles from a LIDAR."""
    unit = lidar_settings or lidar_unit(PRESET, deskew=True)
    wander = WanderingPose(errors or PoseErrors(), seed)
    return drive_with(LidarDriver(vehicle, world, settings, unit, wander, seed), vehicle, world, longest)


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Figures; times are CPU times on one core."""
    car = Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
    towns, pictures = seeds(), picture_folder()
    say("timing")
    figures: dict[str, Any] = _times(Footprint.of(car.parameters, car.base_in_chassis))
    for seed in towns:
        begun = time.process_time()
        result = drive_by_sensors(seed, LONGEST_S)
        say(f"town {seed}: {words(result)}, at most {result.top_speed:.2f} m/s")
        figures[f"town_{seed}"] = drive_figures(result, time.process_time() - begun)
        if not is_clean(result):
            path = pictures / f"planner_lidar_town_{seed}.png"
            draw_drive(path, seed, town(seed), result)
            say(f"town {seed}: picture in {path}")
    rows = [figures[f"town_{seed}"] for seed in towns]
    sums = {key: int(sum(row[key] for row in rows)) for key in ("reached", "collisions", "kerb_strikes")}
    return figures | sums | {"towns": len(rows), "top_mps": max(row["top_mps"] for row in rows)}


def show(figures: Mapping[str, Any]) -> str:
    """As tables for people."""
    f = figures
    times = [
        [preset, f"{f[preset]['points']:.0f}", f"{f[preset]['see_ms']:.2f}", f"{f[preset]['look_ms']:.2f}"]
        for preset in TIMED_PRESETS
    ]
    rows = [_shown(seed, f[f"town_{seed}"]) for seed in range(f["towns"])]
    head = ["town", "reached", "time [s]", "collisions", "kerb strikes", "top [m/s]", "plans", "CPU [s]"]
    total = (
        f"{f['reached']} of {f['towns']} reached, {f['collisions']} collisions, {f['kerb_strikes']} kerb strikes, "
        f"at most {f['top_mps']:.2f} m/s"
    )
    table = text_table(["LIDAR", "points", "a scan into the map, CPU [ms]", "rolling map of 48 m [ms]"], times)
    return f"{table}\n\n{text_table(head, rows)}\n{total}"


def draw(path: Path) -> None:
    """The first town and the way driven through it."""
    seed = seeds()[0]
    draw_drive(path, seed, town(seed), drive_by_sensors(seed, LONGEST_S))


def _times(footprint: Footprint) -> dict[str, dict[str, float]]:
    """Of one scan in a town and of one look, for each unit."""
    world, settings = town(0), PlannerSettings(max_curvature_1pm=0.14)
    start, zero = world.start, (0.0, 0.0, 0.0)
    attitude = (0.0, 0.0, math.sin(0.5 * start.heading), math.cos(0.5 * start.heading))
    base = BaseMotion((start.x, start.y, 0.0), attitude, zero, zero, zero, zero)
    pose = Pose(start.x, start.y, heading=start.heading)
    found = {}
    for preset in TIMED_PRESETS:
        unit = lidar_unit(preset, deskew=True)
        lidar = Lidar(unit, Scene.of(world))
        lidar.update(0, base)
        points = next(scan for tick in range(1, 12) for scan in lidar.update(tick * PERIOD_NS, base)).points
        source = LidarSource(settings, footprint, unit.mounting())
        local = LocalMap(source, settings)
        source.see(0.0, points, pose)
        grid = local.update(0.0, pose)

        def see(source: LidarSource = source, points: Any = points) -> None:
            source.see(0.0, points, pose)

        def look(source: LidarSource = source, grid: Any = grid) -> None:
            source.look(0.0, pose, grid.window, grid.cells, grid.heights)

        found[preset] = {
            "points": len(points),
            "see_ms": 1e-3 * cpu_time_us(see, 5, 20),
            "look_ms": 1e-3 * cpu_time_us(look, 5, 20),
        }
    return found


def _shown(seed: int, row: Mapping[str, float]) -> list[str]:
    return [
        str(seed), "yes" if row["reached"] else "no", f"{row['time_s']:.0f}", f"{row['collisions']:.0f}",
        f"{row['kerb_strikes']:.0f}", f"{row['top_mps']:.2f}", f"{row['plans']:.0f}", f"{row['cpu_s']:.0f}",
    ]  # fmt: skip
