"""Small worlds of walls and posts, and a vehicle that obeys at once: for tests of planning."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from planner.drive_to_goal import DriveToGoal, Progress
from planner.footprint import Footprint
from planner.maps.grid import UNKNOWN, Cells, Floats, Window
from planner.maps.source import Extent
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from terrain.elevation_map import ElevationMap
from terrain.obstacles import Box, Cylinder, Obstacles
from terrain.world import World

STEP_S = 0.1
TRUCK = Footprint(front=3.9, rear=-0.65, half_width=1.07, wheelbase=3.3, half_track=0.91, centre_height=0.8)


def yard(*obstacles: Box | Cylinder, size: float = 100.0) -> World:
    """Level ground of the given side [m] around x = y = 0, with obstacles on it."""
    count = round(size) + 1
    ground = ElevationMap(
        heights=np.zeros((count, count), np.float32), resolution=1.0, origin_x=-0.5 * size, origin_y=-0.5 * size
    )
    boxes = tuple(item for item in obstacles if isinstance(item, Box))
    cylinders = tuple(item for item in obstacles if isinstance(item, Cylinder))
    return World(name="yard", ground=ground, obstacles=Obstacles(boxes=boxes, cylinders=cylinders))


def wall(x: float, y: float, to_x: float, to_y: float) -> Box:
    """A wall from point to point along x or along y [m], 0.4 m thick."""
    return Box(
        x=0.5 * (x + to_x), y=0.5 * (y + to_y), length=abs(to_x - x) + 0.4, width=abs(to_y - y) + 0.4, height=2.0
    )


def post(x: float, y: float, radius: float = 0.3) -> Cylinder:
    return Cylinder(x=x, y=y, radius=radius, height=1.2)


U_TRAP = (wall(15.0, -8.0, 15.0, 8.0), wall(3.0, 8.0, 15.0, 8.0), wall(3.0, -8.0, 15.0, -8.0))
CAGE = (
    wall(-4.0, -4.0, 7.0, -4.0),
    wall(-4.0, 4.0, 7.0, 4.0),
    wall(-4.0, -4.0, -4.0, 4.0),
    wall(7.0, -4.0, 7.0, 4.0),
)


class SilentSource:
    """A source whose last data have a given time."""

    stamp = -math.inf

    def extent(self) -> Extent:
        """Unbounded."""
        return Extent()

    def look(self, time: float, pose: Pose, window: Window, cells: Cells, heights: Floats) -> float:
        """Report all cells as unknown."""
        cells[:], heights[:] = UNKNOWN, np.nan
        return self.stamp


@dataclass
class Drive:
    """A drive of a vehicle that follows speed and curvature at once."""

    world: World
    settings: PlannerSettings = field(default_factory=lambda: PlannerSettings(max_curvature_1pm=0.14))
    pose: Pose = field(default_factory=lambda: Pose(0.0, 0.0))
    time: float = 0.0
    speed: float = 0.0
    least_distance: float = np.inf  # least clearance of the footprint so far [m]
    top_speed: float = 0.0

    def __post_init__(self) -> None:
        self.core = DriveToGoal(self.settings, TRUCK, TerrainTruth(self.world, self.settings))
        self.progress: Progress = self.core.update(self.time, self.pose, 0.0)

    def run(self, seconds: float, until_rest: bool = True) -> Progress:
        """Drive on for a time, or until the driver is at rest for good."""
        end = self.time + seconds
        while self.time < end:
            self.progress = self.core.update(self.time, self.pose, self.speed)
            self.speed = self.progress.speed
            self.top_speed = max(self.top_speed, abs(self.speed))
            self.pose = self.pose.moved(self.speed, self.progress.curvature, STEP_S)
            self.time += STEP_S
            self._measure()
            if until_rest and self.progress.is_at_rest:
                break
        return self.progress

    def _measure(self) -> None:
        along, across = np.meshgrid(
            np.linspace(TRUCK.rear, TRUCK.front, 12), np.linspace(-TRUCK.half_width, TRUCK.half_width, 6)
        )
        cosine, sine = np.cos(self.pose.heading), np.sin(self.pose.heading)
        x = self.pose.x + cosine * along - sine * across
        y = self.pose.y + sine * along + cosine * across
        self.least_distance = min(self.least_distance, float(self.world.obstacles.distance(x, y).min()))


def is_standing(drive: Drive) -> bool:
    """Whether the vehicle is at rest, and commanded to be."""
    return drive.progress.speed == 0.0 and drive.speed == 0.0
