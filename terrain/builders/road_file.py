"""Worlds from road files: a strip over a reference line (OpenCRG), with level ground beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from proving_ground.settings import setting
from terrain.builders.measured import file_beside
from terrain.elevation_map import HARD, Array
from terrain.formats.open_crg import load_crg
from terrain.limits import file_error
from terrain.road_strip import RoadStrip
from terrain.world import Site, World, WorldPose

FROM_ENDS_M = 5.0  # start and goal, at most a quarter of the length


@dataclass(frozen=True, kw_only=True)
class RoadFile:
    """A road strip from an OpenCRG file next to the world file; its options and modifiers have no effect."""

    file: str = setting(..., "Name of a file beside this one: .crg")
    resolution_m: float = setting(
        0.0, "Distance of the map's nodes; 0: the file's, at most 0.1 m", unit="m", minimum=0.0, maximum=10.0
    )
    margin_m: float = setting(
        3.0, "Width of the ground around the strip, at the heights of its edges", unit="m", minimum=0.0, maximum=1000.0
    )
    fill_gaps: bool = setting(False, "Take missing heights from their nearest neighbours")
    soil: str = setting(HARD, "Name of the soil")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        path = file_beside(site.folder, self.file)
        strip = load_crg(path)
        try:
            strip = strip.filled() if self.fill_gaps else strip
            ground = strip.to_map(self.resolution_m, self.margin_m, (self.soil,))
        except ValueError as error:
            raise file_error(path, error) from None
        ends = round(min(FROM_ENDS_M / strip.increment, 0.25 * len(strip.heights)))
        points = strip.points()
        return World(
            name=site.name,
            ground=ground,
            start=_pose(strip, points, ends),
            goal=_pose(strip, points, len(points) - 1 - ends),
            remarks=tuple(f"{path.name}: {name} has no effect" for name in strip.ignored),
        )


def _pose(strip: RoadStrip, points: Array, row: int) -> WorldPose:
    x, y = points[row].tolist()
    heading = strip.headings[min(row, len(strip.headings) - 1)]
    return WorldPose(x=x, y=y, heading=float(np.remainder(heading + math.pi, math.tau) - math.pi))
