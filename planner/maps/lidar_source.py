"""Obstacles seen by a LIDAR: the second obstacle source, updated scan by scan.

Each cell keeps the lowest and the highest recent hit. It is an obstacle when it is the end of a step
that the slope of the ground around does not explain (maps.step_judge), or too high over the vehicle's ground plane.
Anything higher over the ground than clear_height_m is ignored. Cells are free again when their ground is seen or
when rays go through them, and free where the wheels have been.

Poses may err in height and tilt: each scan is levelled on ground that it sees again (maps.levelling).

What no ray has hit is unknown. The global path treats unknown as free until it is seen; arcs are driven only so fast
that the vehicle can stop before it (by_sight). Ground that falls away hides what is behind: where both sides of such a
gap are seen, the drop is found by their heights (maps.drops).

A LIDAR on the roof does not see the ground beside the vehicle (with the HMMWV's mount: 6 m ahead, 11 m to the side,
20 m behind); it keeps what it saw on the way, but where it starts there may be a kerb that it never saw. And what is
unseen close ahead is not ground: from the mount's 2 m, ground that falls by the steepest drivable slope (25
degrees, 0.47 over run) shows from 2 / 0.47 = 4.3 m on, which is 2.4 m ahead of the bumper. So cells that were never
seen and are within blind_m of the body count as obstacles, except in a strip ahead of the first pose to drive out by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.footprint import Footprint
from planner.maps.drops import block_falls
from planner.maps.grid import UNKNOWN, Cells, Floats, Window
from planner.maps.height_grid import clear, height_grid
from planner.maps.levelling import fit_level, take_off
from planner.maps.scan_kernels import (
    BINS,
    Body,
    Room,
    Scale,
    SweepPoses,
    clear_passed,
    free_rectangle,
    gather_points,
    merge_cells,
    transform_points,
)
from planner.maps.source import Extent
from planner.maps.step_judge import Limits, block_unseen, judge
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.kernels.jit import kernel
from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from sensors.mounting import Mounting
from sensors.samples import LIDAR_POINT

Array = NDArray[np.float64]

KNOTS = 128  # poses in a sweep that is deskewed: 1 mm apart at 1 m/s and 0.1 s
MOST_RINGS = 1024
FURTHEST_M = 1e7
JUMP_S = 1.0  # time that goes back by more is a reset; by less, a late scan
OWN_BODY_M = 0.15  # around the footprint: points there are the vehicle's own
TRACK_M = 0.3  # half length of a wheel's contact with the ground
START_LATERAL_M = 0.5  # and this much beside the vehicle
ENTER_M = 8.0  # margin around the square, so that a window may be ahead of the scan


@dataclass(frozen=True, kw_only=True)
class LidarMapSettings:
    """Settings of the obstacle map from LIDAR; PlannerSettings defines what an obstacle is."""

    lidar_range_m: float = setting(
        30.0, "Longest range of LIDAR returns that are entered in the map", unit="m", minimum=5.0, maximum=100.0
    )
    clear_height_m: float = setting(
        2.6,
        "Height above the ground beyond which overhanging objects are no obstacles",
        unit="m",
        minimum=1.0,
        maximum=20.0,
    )
    clear_scans: int = setting(
        3, "Number of consecutive scans whose rays must pass through an occupied cell before it counts as free",
        minimum=1, maximum=100,
    )  # fmt: skip
    forget_s: float = setting(
        120.0, "Age beyond which LIDAR returns in the map are forgotten", unit="s", minimum=1.0, maximum=1e5
    )
    blind_m: float = setting(
        2.5, "Distance from the body within which unseen ground is an obstacle; 0: unseen ground is trusted", unit="m",
        minimum=0.0, maximum=20.0,
    )  # fmt: skip
    least_points: int = setting(
        50,
        "Fewest usable points of a scan; with fewer the LIDAR counts as blind and the map ages",
        minimum=1,
        maximum=100_000,
    )
    start_room_m: float = setting(
        8.0, "Length ahead of the bumper taken as free at the first scan, though unseen, to leave the blind area",
        unit="m", minimum=0.0, maximum=50.0,
    )  # fmt: skip
    keep_m: float = setting(
        15.0, "Distance from the vehicle within which returns older than forget_s are kept, too: the LIDAR "
        "may not see the ground there",
        unit="m", minimum=0.0, maximum=100.0,
    )  # fmt: skip


class LidarSource(Stateful):
    """Obstacles from LIDAR scans; implements maps.source.ObstacleSource."""

    STATE = (
        "_grid", "_cell_m", "_scan", "_begin", "_newest", "_eye", "_level", "rejected_scans", "rejected_points"
    )  # fmt: skip
    FIXED = ("_cell_m",)

    def __init__(
        self,
        settings: PlannerSettings,
        footprint: Footprint,
        mounting: Mounting,
        extent: Extent | None = None,
        map_settings: LidarMapSettings | None = None,
    ) -> None:
        """mounting: of the LIDAR in base_link; extent: where goals may be; beyond it all is obstacle."""
        self._settings, self._extent = settings, extent or Extent()
        self.map_settings = map_settings or LidarMapSettings()
        s, f = settings, footprint
        reach = max(self.map_settings.lidar_range_m, 0.5 * s.local_map_m) + ENTER_M
        self._grid = height_grid(math.ceil(2.0 * reach / s.map_resolution_m))
        self._cell_m = (s.map_resolution_m, self._grid.side)
        body = (f.rear - OWN_BODY_M, f.front + OWN_BODY_M, f.half_width + OWN_BODY_M)
        self._body = Body(*body, self.map_settings.clear_height_m)
        self._outline = (f.rear, f.front, f.half_width)
        self._tracks = (-TRACK_M, f.wheelbase + TRACK_M, f.half_track + 0.5 * s.map_resolution_m)
        self._way_out = (f.rear, f.front + self.map_settings.start_room_m, f.half_width + START_LATERAL_M)
        self._mounting = mounting
        self._limits = Limits(
            s.max_step_m, math.tan(math.radians(s.max_slope_deg)), s.max_height_m, -math.inf, self.map_settings.keep_m
        )
        self._room = _room(0, 1)
        self.rejected_scans = 0  # late, blind, or with an invalid pose
        self.rejected_points = 0  # that were not finite
        self.reset()

    def reset(self) -> None:
        """Clear everything that was seen."""
        clear(self._grid)
        self._scan = 0
        self._begin = 0.0
        self._newest = -math.inf
        self._eye = (0.0, 0.0)  # x and y of the sensor at the newest scan [m]
        self._level = np.zeros(3)  # offset of poses over the map: height [m], rise over run along x and y

    @property
    def by_sight(self) -> bool:
        """Whether unseen ground is not trusted."""
        return self.map_settings.blind_m > 0.0

    def extent(self) -> Extent:
        """The given extent; unbounded if none was given."""
        return self._extent

    def see(
        self, time: float, points: NDArray[np.void], pose: Pose, later: Pose | None = None, sweep: float = 0.1
    ) -> bool:
        """Add a scan of LIDAR_POINT (or with its x y z ring time); whether it was used, see rejected_scans.

        time [s] and pose of base_link: of the stamp. The scan must be deskewed (LidarSettings.deskew), unless
        `later` is the pose of base_link `sweep` [s] after the stamp: points are then placed by their own times. Time
        that goes back by more than a second resets the map; a scan late by less is rejected. Raises ValueError for
        points without these fields.
        """
        if time < self._newest - JUMP_S:
            self.reset()
        points = _as_lidar_points(points)
        rings = int(points["ring"].max(initial=0)) + 1
        is_placed = _is_finite_pose(pose) and (later is None or (_is_finite_pose(later) and sweep > 0.0))
        if not (is_placed and self._newest <= time < math.inf and rings <= MOST_RINGS):
            self.rejected_scans += 1
            return False
        if len(points) > len(self._room.cells) or rings > self._room.ray_range.shape[1]:
            self._room = _room(len(points), max(rings, self._room.ray_range.shape[1]))
        sweep_poses = self._sweep_poses(pose, later, sweep)
        self._scan += 1
        used = self._transform(points, sweep_poses)
        if used < self.map_settings.least_points:  # blind, whatever it sends: let the map age
            self.rejected_scans += 1
            return False
        is_first = self._newest == -math.inf
        if is_first:
            self._begin = time
        self._newest = time
        self._add_to_map(time - self._begin, used, sweep_poses, is_first)
        return True

    def _transform(self, points: NDArray[np.void], sweep_poses: SweepPoses) -> int:
        """Transform points into the scan buffer; returns the number of usable points."""
        columns = (points["x"], points["y"], points["z"], points["ring"], points["time"])
        used, rejected = transform_points(
            columns, sweep_poses, self._body, self._level, self._scale(), self._scan, self._grid, self._room
        )
        self.rejected_points += rejected
        return int(used)

    def _scale(self) -> Scale:
        return Scale(self._settings.map_resolution_m, self.map_settings.lidar_range_m)

    def _add_to_map(self, age: float, used: int, sweep_poses: SweepPoses, is_first: bool) -> None:
        m, side, grid, room = self.map_settings, self._settings.map_resolution_m, self._grid, self._room
        touched = room.touched[: gather_points(used, self._scan, m.clear_height_m, grid, room)]
        middle = (len(sweep_poses.origins) - 1) // 2
        x, y, z = (sweep_poses.origins[middle] + sweep_poses.world_from_base[middle] @ sweep_poses.arm).tolist()
        self._eye = (x, y)
        more = np.zeros(3)
        if fit_level(touched, (x, y), side, grid, more):
            take_off(touched, more, (x, y), side, grid)
            self._level += more
        merge_cells(touched, age, grid)
        eye = (x, y, z - float(self._level[0]))
        clear_passed(self._scan, age, eye, self._scale(), m.clear_scans, grid, room)
        base, rotation = sweep_poses.origins[-1], sweep_poses.world_from_base[-1]
        if is_first and m.blind_m > 0.0:
            free_rectangle(base, rotation, self._way_out, False, age, side, self._grid)
        free_rectangle(base, rotation, self._tracks, True, age, side, self._grid)

    def _sweep_poses(self, pose: Pose, later: Pose | None, sweep: float) -> SweepPoses:
        begin, rotation = _frame(pose)
        arm, base_from_sensor = self._mounting.arm, self._mounting.base_from_sensor
        if later is None:
            return SweepPoses(arm, base_from_sensor, begin[None], rotation[None], 0.0)
        end, end_rotation = _frame(later)
        origins, rotations = np.empty((KNOTS, 3)), np.empty((KNOTS, 3, 3))
        _between(begin, rotation, end, end_rotation, origins, rotations)
        return SweepPoses(arm, base_from_sensor, origins, rotations, (KNOTS - 1) / sweep)

    def look(self, time: float, pose: Pose, window: Window, cells: Cells, heights: Floats) -> float:
        """See ObstacleSource; raises ValueError for cells of another size than the settings'."""
        if abs(window.resolution - self._settings.map_resolution_m) > 1e-9:
            raise ValueError(
                f"window: cells must be of {self._settings.map_resolution_m:g} m, got {window.resolution:g}"
            )
        if self._newest == -math.inf:
            cells[:], heights[:] = UNKNOWN, np.nan
            return -math.inf
        e, (over, along, across) = self._extent, self._level.tolist()
        limits = self._limits._replace(since=time - self._begin - self.map_settings.forget_s)
        judge(
            self._grid, limits, (pose.x, pose.y, pose.z - over), (pose.slope_x - along, pose.slope_y - across),
            (window.column, window.row, window.resolution), (e.left, e.right, e.low, e.high), cells, heights,
        )  # fmt: skip
        if self.by_sight:
            block_falls(self._grid, self._limits.step, self._eye, (window.column, window.row, window.resolution), cells)
            block_unseen(
                (pose.x, pose.y), pose.heading, self._outline, self.map_settings.blind_m, window.resolution,
                (window.column, window.row), cells,
            )  # fmt: skip
        return self._newest


def _room(points: int, rings: int) -> Room:
    return Room(
        np.empty(points, np.int32), np.empty(points, np.int32), np.empty(points, np.float32),
        np.empty(points, np.int32), np.zeros((BINS, rings), np.float32), np.zeros((BINS, rings), np.float32),
    )  # fmt: skip


def _is_finite_pose(pose: Pose) -> bool:
    return pose.is_finite and max(abs(pose.x), abs(pose.y), abs(pose.z)) < FURTHEST_M


def _as_lidar_points(points: NDArray[np.void]) -> NDArray[np.void]:
    """The points, or a copy in the layout that the kernels are compiled for; raises ValueError for other fields."""
    if points.dtype == LIDAR_POINT and points.ndim == 1 and points.flags.writeable and points.flags.aligned:
        return points
    missing = {"x", "y", "z", "ring", "time"} - set(points.dtype.names or ())
    if missing:
        raise ValueError(f"points: must have the fields x y z ring time, missing {' '.join(sorted(missing))}")
    copy = np.zeros(points.size, LIDAR_POINT)
    for name in ("x", "y", "z", "ring", "time"):
        copy[name] = points[name].ravel()
    return copy


def _frame(pose: Pose) -> tuple[Array, Array]:
    """Origin [m] and world_from_base (3 x 3) of a pose; heading and the slopes of its plane define all three axes."""
    up = np.array([-pose.slope_x, -pose.slope_y, 1.0])
    ahead_x, ahead_y = math.cos(pose.heading), math.sin(pose.heading)
    ahead = np.array([ahead_x, ahead_y, pose.slope_x * ahead_x + pose.slope_y * ahead_y])
    up /= np.linalg.norm(up)
    ahead /= np.linalg.norm(ahead)
    return np.array([pose.x, pose.y, pose.z]), np.stack([ahead, np.cross(up, ahead), up], axis=1)


@kernel
def _between(begin: Array, rotation: Array, end: Array, end_rotation: Array, origins: Array, rotations: Array) -> None:
    """Interpolated poses at equal times: along a straight line, about a fixed axis (Rodrigues' formula)."""
    step = np.zeros((3, 3))  # from the first attitude to the last, in the world
    for i in range(3):
        for j in range(3):
            for k in range(3):
                step[i, j] += end_rotation[i, k] * rotation[j, k]
    axis = np.array([step[2, 1] - step[1, 2], step[0, 2] - step[2, 0], step[1, 0] - step[0, 1]])  # 2 sin(angle) long
    size = math.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    angle = math.atan2(0.5 * size, 0.5 * (step[0, 0] + step[1, 1] + step[2, 2] - 1.0))
    if size > 1e-12:
        axis /= size
    knots = len(origins)
    for knot in range(knots):
        share = knot / (knots - 1)
        sine, rest = math.sin(share * angle), 1.0 - math.cos(share * angle)
        for i in range(3):
            origins[knot, i] = begin[i] + share * (end[i] - begin[i])
        for column in range(3):
            x, y, z = rotation[0, column], rotation[1, column], rotation[2, column]
            dot = axis[0] * x + axis[1] * y + axis[2] * z
            # v + sin(a) k x v + (1 - cos(a)) (k (k.v) - v)
            rotations[knot, 0, column] = x + sine * (axis[1] * z - axis[2] * y) + rest * (axis[0] * dot - x)
            rotations[knot, 1, column] = y + sine * (axis[2] * x - axis[0] * z) + rest * (axis[1] * dot - y)
            rotations[knot, 2, column] = z + sine * (axis[0] * y - axis[1] * x) + rest * (axis[2] * dot - z)
