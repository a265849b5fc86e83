"""A LIDAR on a vehicle: spinning or flash, with errors and faults."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings.units import NS_PER_S
from sensors.faults import FREEZE, Fault
from sensors.lidar.beams import beams_of, column_delays_ns
from sensors.lidar.rays import Pose, Reading, aim, limit_all, make_points, read, transform_columns
from sensors.lidar.scene import Scene
from sensors.lidar.settings import SEEN, LidarSettings
from sensors.mounting import require_motion
from sensors.samples import LIDAR_POINT, LidarScan
from sensors.sensor import Sensor
from sensors.streams import stream
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]
Floats = NDArray[np.float32]

LONGEST_GAP_NS = NS_PER_S  # between truths: after a longer one the vehicle was moved, not driven


class Lidar(Sensor[LidarSettings, LidarScan]):
    """Fires the columns that are due at every update, from the sensor's pose at their time.

    A sweep begins at each whole period since 1970 and is sent after its last ray.
    """

    STATE = ("_noise", "_chance", "_before", "_last", "_stamp_ns", "_shot", "_ranges", "_intensities", "_positions")
    FIXED = ("_ranges", "_intensities", "_positions")

    def __init__(
        self,
        settings: LidarSettings,
        scene: Scene,
        *,
        seed: int = 0,
        name: str = "lidar",
        faults: Iterable[Fault] = (),
        start_ns: int = 0,
    ) -> None:
        """scene: the world that rays are cast on; further arguments as of sensors.sensor.Sensor."""
        super().__init__(settings, seed=seed, name=name, faults=faults, start_ns=start_ns)
        self.scene = scene
        self._beams = beams_of(settings)
        is_free = np.isinf(self._beams.own_body)
        self._is_free = None if is_free.all() else is_free
        self._period_ns = self._sampler.period_ns
        self._delays_ns = column_delays_ns(settings, self._period_ns)
        self._positions = np.zeros((settings.columns, 12))
        self._intensities = np.zeros(self._beams.own_body.shape, np.float32)
        self._work = _Workspace(0)
        self._before: Pose | None = None
        self._restart()

    def change(self, settings: LidarSettings) -> None:
        """Change settings while running: limits, errors, faults and deskewing; beams and mount stay."""
        super().change(settings)
        s = settings
        beam_errors = stream(self.seed, self.name, "beams").normal(size=s.rings)
        reflectivity = (s.soil_reflectivity, s.building_reflectivity, s.tree_reflectivity, s.target_reflectivity)
        self._reading = Reading(
            s.min_range_m,
            s.max_range_m,
            s.range_noise_m,
            s.range_resolution_m,
            _inverse(s.range_resolution_m),
            _inverse(s.weak_signal),
            s.full_intensity_m,
            np.array(reflectivity),
            s.range_bias_m * beam_errors,
            s.own_body == SEEN,
        )

    def reset(self) -> None:
        """Return to the initial state, random generators included."""
        super().reset()
        self._restart()

    def update(self, time_ns: int, base: BaseMotion) -> list[LidarScan]:
        """Process the truth at a time, in order of time; returns scans that have arrived by then.

        A sweep is abandoned if time goes back or more than a second passes between two truths.
        Raises ValueError for a motion that is not finite.
        """
        require_motion(base)
        attitude = np.array(base.attitude, float) / math.hypot(*base.attitude)
        now = Pose(time_ns, np.array(base.position, float), attitude)
        if self._before is None or not 0 <= time_ns - self._before.time_ns <= LONGEST_GAP_NS:
            self._before = now
            self._start_sweep(-(-time_ns // self._period_ns) * self._period_ns)
        self._follow(self._before, now)
        self._shoot(self._before, now)
        self._before = now
        return self.arrived(time_ns)

    def next_arrival_ns(self, now_ns: int) -> int:
        """Earliest time at which another scan can arrive: a sweep is sent with its last ray."""
        return self._delivery.next_ns(self._stamp_ns + int(self._delays_ns[-1]))

    def _restart(self) -> None:
        self._noise = stream(self.seed, self.name, "noise")
        self._chance = stream(self.seed, self.name, "returns")
        self._before = None
        # Ranges and points of the last scan, for the freeze fault; raw, because copies of points lose their padding.
        self._last: tuple[Floats, NDArray[np.uint8]] | None = None
        self._start_sweep(0)

    def _follow(self, before: Pose, now: Pose) -> None:
        passed = (now.time_ns - before.time_ns) / NS_PER_S
        (from_x, from_y, _), (x, y, _) = before.position.tolist(), now.position.tolist()
        velocity = ((x - from_x) / passed, (y - from_y) / passed) if passed > 0.0 else (0.0, 0.0)
        self.scene.follow(x, y, *velocity)

    def _start_sweep(self, stamp_ns: int) -> None:
        self._stamp_ns, self._shot = stamp_ns, 0
        self._ranges = np.zeros(self._beams.own_body.shape, np.float32)  # new, because it is handed out

    def _shoot(self, before: Pose, now: Pose) -> None:
        """Fire all columns that are due."""
        while now.time_ns >= self._stamp_ns:
            last = int(np.searchsorted(self._delays_ns, now.time_ns - self._stamp_ns, "right"))
            if last > self._shot:
                self.scene.update_ruts()
                self._shoot_columns(before, now, self._shot, last)
                self._shot = last
            if last < len(self._delays_ns):
                return
            self._finish_sweep()

    def _shoot_columns(self, before: Pose, now: Pose, first: int, last: int) -> None:
        positions = self._positions[first:last]
        arm, rotation = self.mounting.arm, self.mounting.base_from_sensor
        transform_columns(before, now, self._stamp_ns, self._delays_ns[first:last], arm, rotation, positions)
        rings = self._beams.own_body.shape[1]
        count = (last - first) * rings
        if count > len(self._work.normals):
            self._work = _Workspace(count)
        work = self._work.cut(count)
        aim(self._beams, first, positions, work.directions)
        ages = None
        if self.scene.has_targets:
            late_ns = self._stamp_ns + self._delays_ns[first:last] - now.time_ns
            ages = late_ns / NS_PER_S
        is_cast = None if self._is_free is None else self._is_free[first:last].ravel()
        origins = np.ascontiguousarray(positions[:, :3])  # else one column alone would be of another type in kernels
        found = self.scene.trace(origins, work.directions, self._reading.most, ages, is_cast)
        # Always drawn, so that no setting changes later random numbers.
        self._noise.standard_normal(out=work.normals, dtype=np.float32)
        self._chance.random(out=work.chances, dtype=np.float32)
        read(self._reading, self._beams, first, found, work.normals, work.chances, self._ranges, self._intensities)

    def _finish_sweep(self) -> None:
        stamp_ns, ranges = self._stamp_ns, self._distorted_ranges()
        points = np.empty(ranges.size, LIDAR_POINT)
        floats = points.view(np.float32).reshape(-1, 6)
        numbers = points.view(np.uint16).reshape(-1, 12)
        is_deskewed = self.settings.deskew
        count = make_points(
            self._beams, ranges, self._intensities, self._delays_ns, self._positions, is_deskewed, floats, numbers
        )
        if self._last is None or not any(fault.kind == FREEZE for fault in self.faults_at(stamp_ns)):
            self._last = ranges, points[:count].view(np.uint8)
        ranges, raw = self._last
        scan = LidarScan(stamp_ns, ranges.T, raw.view(LIDAR_POINT))
        # It is sent with its last ray; faults refer to its stamp.
        self._delivery.send(stamp_ns + int(self._delays_ns[-1]), self.seconds(stamp_ns), scan)
        self._start_sweep(stamp_ns + self._period_ns)

    def _distorted_ranges(self) -> Floats:
        reading: Any = self._ranges.reshape(-1, 1)
        wrong: Any = self.distorted(self._stamp_ns, reading)
        if wrong is reading:
            return self._ranges
        ranges: Floats = wrong.astype(np.float32).reshape(self._ranges.shape)
        limit_all(ranges, self._reading.least, self._reading.most)
        return ranges


def _inverse(value: float) -> float:
    return 1.0 / value if value > 0.0 else math.inf


class _Workspace:
    """Reusable arrays for a number of rays."""

    def __init__(self, count: int) -> None:
        self.directions = np.empty((count, 3))
        self.normals, self.chances = np.empty(count, np.float32), np.empty(count, np.float32)

    def cut(self, count: int) -> _Workspace:
        """Views of the first `count` rays."""
        part = _Workspace.__new__(_Workspace)
        part.directions = self.directions[:count]
        part.normals, part.chances = self.normals[:count], self.chances[:count]
        return part
