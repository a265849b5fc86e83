"""Heights as measured: unmeasured nodes are unknown, and stay so until filled on request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain.elevation_map import ElevationMap, Heights, check_placing
from terrain.georeference import Georeference
from terrain.limits import check_grid_size


@dataclass(frozen=True, eq=False, kw_only=True)
class RawGrid:
    """Heights [m] with NaN where unknown; nodes as in ElevationMap."""

    heights: Heights
    resolution: float  # [m]
    origin_x: float = 0.0  # of node [0, 0] [m]
    origin_y: float = 0.0
    georeference: Georeference | None = None

    def __post_init__(self) -> None:
        check_placing(self.resolution, self.origin_x, self.origin_y)
        if self.heights.ndim != 2:
            raise ValueError("heights: must be an array of rows and columns")
        check_grid_size(*self.heights.shape)
        object.__setattr__(self, "heights", np.ascontiguousarray(self.heights, np.float32))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Nodes whose height is known."""
        return ~np.isnan(self.heights)

    @property
    def unknown_count(self) -> int:
        """Number of nodes whose height is unknown."""
        return int(np.count_nonzero(np.isnan(self.heights)))

    def filled(self, reach: float = np.inf) -> RawGrid:
        """Replace unknown heights by those of the nearest known nodes, as far as the reach [m]."""
        unknown = np.isnan(self.heights)
        if unknown.all():
            raise ValueError("no height is known; there is nothing to fill from")
        if not unknown.any():
            return self
        from scipy import ndimage  # slow to import, and seldom needed

        steps, nearest = ndimage.distance_transform_edt(unknown, return_indices=True)
        heights = self.heights[tuple(nearest)]
        heights[steps * self.resolution > reach] = np.nan
        return replace(self, heights=heights)

    def to_map(self, fill_gaps: bool = False, **soils: Any) -> ElevationMap:
        """A map to drive on; raises ValueError with count and first position where a height is unknown."""
        grid = self.filled() if fill_gaps else self
        count = grid.unknown_count
        if count:
            row, column = (int(i) for i in np.unravel_index(np.argmin(grid.known), grid.heights.shape))
            x, y = grid.origin_x + column * grid.resolution, grid.origin_y + row * grid.resolution
            raise ValueError(
                f"{count} of {grid.heights.size} heights are unknown, the first at x {x:g}, y {y:g} m; "
                "fill_gaps takes them from their nearest neighbours"
            )
        return ElevationMap(
            heights=grid.heights,
            resolution=grid.resolution,
            origin_x=grid.origin_x,
            origin_y=grid.origin_y,
            georeference=grid.georeference,
            **soils,
        )
