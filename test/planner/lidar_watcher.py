"""A LIDAR that watches scenes with known answers, and the obstacle map that it feeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from planner.footprint import Footprint
from planner.maps.grid import LocalGrid
from planner.maps.lidar_source import LidarMapSettings, LidarSource
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.settings.nested import load_preset
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from terrain.elevation_map import ElevationMap
from terrain.obstacles import Obstacles
from terrain.world import World
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.vehicle_choice import VehicleChoice

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)
TRUCK = Footprint(front=3.9, rear=-0.65, half_width=1.07, wheelbase=3.3, half_track=0.91, centre_height=0.8)
HMMWV = VehicleChoice().parameters().equipment
UNIT = replace(load_preset(LidarSettings, "spinning_32").fitted("lidar", HMMWV), deskew=True)
FEW_POINTS = LidarMapSettings(least_points=1)  # for tests with single points
BY_SIGHT = LidarMapSettings(blind_m=0.01)  # drops are searched for, the blind area is left alone
TICK_S = 0.01
ZERO = (0.0, 0.0, 0.0)
Path = Callable[[float], Pose]  # base_link at a time
STANDING = Pose(0.0, 0.0)


def base_of(pose: Pose) -> BaseMotion:
    """base_link at a pose, computed independently of the map's code."""
    along = pose.slope_x * math.cos(pose.heading) + pose.slope_y * math.sin(pose.heading)
    flat = Rotation.from_euler("ZY", [pose.heading, -math.atan(along)])
    normal = np.array([-pose.slope_x, -pose.slope_y, 1.0])
    left = flat.apply([0.0, 1.0, 0.0])
    up = flat.apply([0.0, 0.0, 1.0])
    roll = math.atan2(-normal @ left, normal @ up)
    attitude = (flat * Rotation.from_euler("X", roll)).as_quat()
    return BaseMotion((pose.x, pose.y, pose.z), tuple(attitude.tolist()), ZERO, ZERO, ZERO, ZERO)


class Watcher:
    """A LIDAR on a path through a scene, and the map that it feeds."""

    def __init__(
        self,
        scene: Scene,
        unit: LidarSettings = UNIT,
        settings: LidarMapSettings | None = None,
        extent: Extent | None = None,
    ) -> None:
        self.scene, self.unit = scene, unit
        self.lidar = Lidar(unit, scene, seed=3)
        self.source = LidarSource(DEFAULT, TRUCK, unit.mounting(), extent, settings or LidarMapSettings(blind_m=0.0))
        self.ticks = 0

    def watch(
        self, seconds: float, path: Path = lambda _: STANDING, believed: Callable[[float, Pose], Pose] | None = None
    ) -> LocalGrid:
        """Go on along a path for a time; the map at its end. believed: the estimate for a true pose at a time."""
        for _ in range(round(seconds / TICK_S)):
            pose = path(self.ticks * TICK_S)
            for scan in self.lidar.update(round(1e9 * TICK_S) * self.ticks, base_of(pose)):
                stamp = 1e-9 * scan.time_ns
                later = None if self.unit.deskew else path(stamp + 0.1)
                pose = path(stamp) if believed is None else believed(stamp, path(stamp))
                assert self.source.see(stamp, scan.points, pose, later)
            self.ticks += 1
        return self.map_at(path(self.ticks * TICK_S))

    def map_at(self, pose: Pose) -> LocalGrid:
        return LocalMap(self.source, DEFAULT).update(self.ticks * TICK_S, pose)


def world_of(height: Callable[[np.ndarray, np.ndarray], object], obstacles: Obstacles | None = None) -> World:
    """A world of 80 m whose ground is a function of x and y."""
    positions = -30.03 + 0.1 * np.arange(800)
    x, y = np.meshgrid(positions, positions)
    heights = np.broadcast_to(height(x, y), x.shape).astype(np.float32)
    ground = ElevationMap(heights=heights, resolution=0.1, origin_x=positions[0], origin_y=positions[0])
    return World(name="test", ground=ground, obstacles=obstacles or Obstacles())


def ahead(speed: float = 4.0, x: float = 0.0, y: float = 0.0, heading: float = 0.0) -> Path:
    """Straight ahead on level ground."""
    return lambda time: Pose(
        x + speed * time * math.cos(heading), y + speed * time * math.sin(heading), heading=heading
    )


def part_of(values: np.ndarray, grid: LocalGrid, left: float, right: float, low: float, high: float) -> np.ndarray:
    """Values of a map in a rectangle [m]."""
    row, column = grid.window.cell(left, low)
    last_row, last_column = grid.window.cell(right, high)
    return values[row : last_row + 1, column : last_column + 1]


def part(grid: LocalGrid, left: float, right: float, low: float, high: float) -> np.ndarray:
    """Cells of a rectangle [m]."""
    return part_of(grid.cells, grid, left, right, low, high)
