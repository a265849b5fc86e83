"""The rolling map: a square of the world that moves with the vehicle, with the distance to obstacles."""

from __future__ import annotations

import numpy as np

from planner.maps.distance import distance_field
from planner.maps.grid import OCCUPIED, UNKNOWN, LocalGrid, Window
from planner.maps.source import ObstacleSource
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.saving.stateful import Stateful


class LocalMap(Stateful):
    """Queries its source at each update; what was seen before is kept by the source, if at all."""

    STATE = FIXED = ("_cells", "_heights", "_distance")

    def __init__(self, source: ObstacleSource, settings: PlannerSettings) -> None:
        self.source = source
        self._settings = settings
        count = Window.around(0.0, 0.0, settings.local_map_m, settings.map_resolution_m).rows
        self._cells = np.full((count, count), UNKNOWN, np.int8)
        self._heights = np.full((count, count), np.nan, np.float32)
        self._distance = np.zeros((count, count), np.float32)

    def update(self, time: float, pose: Pose) -> LocalGrid:
        """The map around a pose; the arrays are reused at the next update."""
        s = self._settings
        window = Window.around(pose.x, pose.y, s.local_map_m, s.map_resolution_m)
        stamp = self.source.look(time, pose, window, self._cells, self._heights)
        distance_field(self._cells, OCCUPIED, s.map_resolution_m, self._distance)
        by_sight = bool(getattr(self.source, "by_sight", False))
        return LocalGrid(window, self._cells, self._heights, self._distance, stamp, by_sight)
