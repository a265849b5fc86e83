"""Scene for ray casting: ground, obstacles and moving targets around a vehicle.

>>> scene = Scene.flat()
>>> scene.cast([[0.0, 0.0, 2.0]], [[0.6, 0.0, -0.8]], far=100.0).ranges.tolist()
[2.5]
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from embreex.rtcore import EmbreeDevice
from numpy.typing import ArrayLike, NDArray

from proving_ground.saving.stateful import Stateful
from sensors.lidar.casting import DONE, Found, Hits, Rays, Segments, enter, leave, meet_plane
from sensors.lidar.levels import PIECE_FACES, Level, levels_for
from sensors.lidar.rut_view import MARKS, mark_ruts, sink_into_ruts
from sensors.lidar.shapes import Shapes
from sensors.lidar.surface import Surface, built, finished
from sensors.lidar.targets import Target, meet_targets, target_table
from terrain.ground import GroundModel
from terrain.obstacles import Obstacles
from terrain.world import World

Array = NDArray[np.float64]

CELL_M = 0.2
REACH_M = 150.0
STEEPEST = 10.0  # slope of a plane


class Scene(Stateful):
    """Surroundings of one vehicle, which it follows; several vehicles may share a scene, but one each is faster.

    Results depend on origin, targets and ruts only, not on earlier calls.
    """

    STATE = ("_targets", "_marks", "_rutted")

    def __init__(
        self,
        shapes: Shapes,
        levels: Iterable[Level],
        *,
        plane: tuple[float, float, float] | None = None,
        ground: GroundModel | None = None,
    ) -> None:
        """Use `of`, `flat` or `of_plane`.

        levels: surfaces of the ground at several resolutions; plane: height [m], slope x, slope y of the ground in
        place of levels; ground: model with ruts of wheels, by which the levels' surface is lowered.
        """
        self._shapes, self._levels, self._plane = shapes, list(levels), plane
        # Obstacles outside all levels, built once.
        self._standing = _built_at_once(shapes, shapes.large() if self._levels else shapes.all())
        self._targets = target_table(())
        self._ground = None if ground is None else ground.kernel()
        self._marks = np.zeros(MARKS, np.uint8)
        self._rutted = 0
        self._segments = _segments(0)
        self._travelled = np.zeros(0, np.float32)
        self.update_ruts()

    @staticmethod
    def of(
        world: World,
        ground: GroundModel | None = None,
        *,
        step: int | None = None,
        cell_m: float = CELL_M,
        reach_m: float = REACH_M,
    ) -> Scene:
        """Scene of a world; ground: the one the vehicle drives on, to see its ruts.

        step: the whole map at once, with every step-th node. Otherwise squares around the vehicle, the finest of
        about cell_m, at least reach_m in all directions.
        """
        if step is not None and step < 1:
            raise ValueError(f"step: must be 1 or more, got {step}")
        if not (cell_m > 0.0 and 0.0 < reach_m < math.inf):
            raise ValueError(f"cell_m and reach_m: must be above 0, got {cell_m:g} and {reach_m:g}")
        shapes = Shapes(world.obstacles)
        return Scene(shapes, levels_for(world.ground, shapes, cell_m, reach_m, step), ground=ground)

    @staticmethod
    def flat(
        height: float = 0.0,
        slope_x: float = 0.0,
        slope_y: float = 0.0,
        *,
        obstacles: Obstacles | None = None,
        ground: GroundModel | None = None,
    ) -> Scene:
        """An infinite plane, level unless slopes (rise over run) are given, and obstacles on it."""
        if not (math.isfinite(height) and abs(slope_x) <= STEEPEST and abs(slope_y) <= STEEPEST):
            raise ValueError(
                f"plane: needs a height and slopes within {STEEPEST:g}, got {height}, {slope_x}, {slope_y}"
            )
        plane = (float(height), float(slope_x), float(slope_y))
        return Scene(Shapes(obstacles or Obstacles()), (), plane=plane, ground=ground)

    @staticmethod
    def of_plane(ground: GroundModel) -> Scene:
        """Scene of a ground without a world: its plane."""
        plane = ground.kernel().plane
        return Scene.flat(0.0, plane.slope_x, plane.slope_y, ground=ground)

    @property
    def triangles(self) -> int:
        """Number of triangles in memory."""
        return sum(map(len, self._levels)) + (0 if self._standing is None else len(self._standing))

    def set_targets(self, targets: Iterable[Target]) -> None:
        """Replace the moving targets by these, at their current poses."""
        self._targets = target_table(targets)

    @property
    def has_targets(self) -> bool:
        """Whether there are moving targets."""
        return len(self._targets) > 0

    def update_ruts(self) -> None:
        """Update the ruts from the ground."""
        if self._ground is not None and len(self._ground.ruts.keys) > 1:
            self._rutted = int(mark_ruts(self._ground.ruts, self._marks))

    def follow(self, x: float, y: float, velocity_x: float = 0.0, velocity_y: float = 0.0) -> None:
        """Follow the vehicle at a position [m] and velocity [m/s], world; takes at most about 20 ms unless it jumped.

        Call it often, as at every tick: a new square is built in many small pieces.
        """
        self._gather(x, y)
        for level in self._levels:
            if level.prepare(x, y, velocity_x, velocity_y):
                return  # one level at a time

    def cast(self, origins: ArrayLike, directions: ArrayLike, far: float) -> Found:
        """Hits of rays up to a distance [m].

        Origins [m] and unit directions are in the world, n x 3; one origin may serve all rays.
        Raises ValueError for invalid rays.
        """
        start, direction = (
            np.ascontiguousarray(np.atleast_2d(np.asarray(item, float))) for item in (origins, directions)
        )
        if start.shape[1:] != (3,) or direction.shape[1:] != (3,) or len(start) not in (1, len(direction)):
            raise ValueError(f"rays: must be n x 3 with one origin or n, got {start.shape} and {direction.shape}")
        if not (np.isfinite(start).all() and np.isfinite(direction).all() and 0.0 <= far < math.inf):
            raise ValueError("rays: must be finite")
        if not (np.abs(np.einsum("ij,ij->i", direction, direction) - 1.0) < 1e-6).all():
            raise ValueError("rays: directions must have length 1")
        if not len(direction):
            return _nothing(0)
        self._gather(float(start[0, 0]), float(start[0, 1]))
        return self.trace(start, direction, far)

    def is_blocked(self, origin: ArrayLike, directions: ArrayLike, far: float = REACH_M) -> NDArray[np.bool_]:
        """Whether rays from a position [m] in directions (n x 3, unit) hit anything; used for the sky view of a GPS."""
        return np.isfinite(self.cast(origin, directions, far).ranges)

    def trace(
        self,
        origins: Array,
        directions: Array,
        far: float,
        ages: Array | None = None,
        is_cast: NDArray[np.bool_] | None = None,
    ) -> Found:
        """Hits as `cast` finds them, without checks, of rays near the position of `follow`, equally many per origin.

        ages [s]: time of each origin's rays relative to that of the targets' poses; usually negative.
        is_cast: which rays to cast; results of the others are undefined.
        """
        count = len(directions)
        found = _nothing(count)
        if count > len(self._travelled):
            self._segments, self._travelled = _segments(count), np.zeros(count, np.float32)
        start = 0.0 if is_cast is None else np.where(is_cast, 0.0, DONE)
        self._travelled[:count] = start
        rays = Rays(origins, directions, far, self._travelled)
        for level in self._levels:
            self._trace_on(level.surface, rays, found)
        if self._levels:
            self._travelled[:count] = start
        self._trace_on(self._standing, rays, found)
        if self._plane is not None:
            meet_plane(*self._plane, origins, directions, far, found)
        if self._rutted and self._ground is not None:
            sink_into_ruts(self._ground, self._marks, origins, directions, far, found)
        if len(self._targets):
            meet_targets(
                self._targets, np.zeros(len(origins)) if ages is None else ages, origins, directions, far, found
            )
        return found

    def _trace_on(self, surface: Surface | None, rays: Rays, found: Found) -> None:
        if surface is None:
            return
        s = self._segments
        count = enter(rays, surface.bounds, surface.origin, s)
        if count == 0:
            return
        hits = Hits(*surface.hits(s.origins[:count], s.directions[:count], s.far[:count]))
        leave(count, s, hits, surface.triangles, self._shapes.table, rays, found)

    def _gather(self, x: float, y: float) -> None:
        """Move all levels to a position."""
        for level in self._levels:
            level.be_around(x, y)

    def surfaces(self) -> list[Surface]:
        """Current surfaces for Embree, finest first."""
        surfaces = [*(level.surface for level in self._levels), self._standing]
        return [surface for surface in surfaces if surface is not None]


def _built_at_once(shapes: Shapes, numbers: NDArray[np.intp]) -> Surface | None:
    everywhere = np.array([-math.inf, -math.inf, math.inf, math.inf])
    pieces = [shapes.mesh(part) for part in shapes.pieces(numbers, PIECE_FACES)]
    return finished(built(EmbreeDevice(), pieces, shapes.middle(), everywhere))


def _nothing(count: int) -> Found:
    return Found(np.full(count, np.inf, np.float32), np.zeros(count, np.float32), np.zeros(count, np.uint8))


def _segments(count: int) -> Segments:
    return Segments(
        np.empty((count, 3), np.float32),
        np.empty((count, 3), np.float32),
        np.empty(count, np.float32),
        np.empty(count, np.int32),
    )
