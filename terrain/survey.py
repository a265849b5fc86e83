"""Surveys: scattered measured points to a surface within an alpha shape ([Sanjurjo], section 5.4 and App. A 3.2.1).

[Sanjurjo] interpolates by natural neighbours. No small library does that for our Python (MetPy does, but needs pandas,
xarray and pint), so this uses scipy's Clough-Tocher scheme on the same Delaunay triangulation: smooth like
natural neighbours, through all points, and exact on planes. `linear` uses the triangles themselves.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from proving_ground.interfaces.geodesy import Geodetic, TangentPlane
from proving_ground.settings import SettingsError
from terrain.alpha_shape import AlphaShape, alpha_shape
from terrain.elevation_map import Array
from terrain.georeference import Georeference
from terrain.limits import LARGEST_COORDINATE, SURVEY_LIMIT, check_grid_size, file_error
from terrain.mesh import Mesh
from terrain.raw_grid import RawGrid

LOCAL = ("x_m", "y_m", "z_m")
GEODETIC = ("latitude_deg", "longitude_deg", "altitude_m")
INTERPOLATIONS = ("smooth", "linear")


@dataclass(frozen=True, eq=False)
class Survey:
    """Measured points in world axes, east, north and up [m]."""

    points: Array  # n x 3
    georeference: Georeference | None = None

    def __post_init__(self) -> None:
        if self.points.ndim != 2 or self.points.shape[1:] != (3,):
            raise ValueError("points: must be n x 3")
        if not 3 <= len(self.points) <= SURVEY_LIMIT:
            raise ValueError(f"points: must be 3 to {SURVEY_LIMIT}, got {len(self.points)}")
        if not (np.abs(self.points) <= LARGEST_COORDINATE).all():
            raise ValueError(f"points: must be within {LARGEST_COORDINATE:g} m of 0")

    def outline(self, radius: float = 0.0) -> AlphaShape:
        """Outline of the surveyed area; a radius [m] of 0 is chosen automatically."""
        return alpha_shape(self.points[:, :2], radius)

    def surface(self, outline: AlphaShape, resolution: float, interpolation: str = "smooth") -> RawGrid:
        """Heights [m] at nodes of a resolution [m], unknown outside the outline; interpolation: smooth or linear."""
        low, high = self.points[:, :2].min(axis=0), self.points[:, :2].max(axis=0)
        columns, rows = (int(count) + 1 for count in np.ceil((high - low) / resolution))
        check_grid_size(rows, columns)
        from scipy.interpolate import CloughTocher2DInterpolator, LinearNDInterpolator  # slow to import

        kinds = {"smooth": CloughTocher2DInterpolator, "linear": LinearNDInterpolator}
        heights_at = kinds[interpolation](outline.triangulation, self.points[:, 2])
        x = low[0] + np.arange(columns) * resolution
        heights = np.full((rows, columns), np.nan, np.float32)
        for row in range(rows):
            y = np.full(columns, low[1] + row * resolution)
            inside = outline.covers(x, y)
            heights[row, inside] = heights_at(x[inside] - outline.centre[0], y[inside] - outline.centre[1])
        return RawGrid(
            heights=heights,
            resolution=resolution,
            origin_x=float(low[0]),
            origin_y=float(low[1]),
            georeference=self.georeference,
        )


def surface_mesh(surface: RawGrid) -> Mesh:
    """Triangles between the known nodes of a surface, [Sanjurjo]'s last step; Delaunay, for the nodes are regular."""
    x = surface.origin_x + np.arange(surface.heights.shape[1]) * surface.resolution
    y = surface.origin_y + np.arange(surface.heights.shape[0]) * surface.resolution
    known = surface.known
    number = np.cumsum(known.ravel(), dtype=np.int32).reshape(known.shape) - 1
    corners = [(slice(0, -1), slice(0, -1)), (slice(0, -1), slice(1, None)),
               (slice(1, None), slice(0, -1)), (slice(1, None), slice(1, None))]  # fmt: skip
    faces = []
    for a, b, c in ((0, 1, 3), (0, 3, 2)):
        whole = known[corners[a]] & known[corners[b]] & known[corners[c]]
        faces.append(np.stack([number[corners[corner]][whole] for corner in (a, b, c)], axis=-1))
    rows, columns = np.nonzero(known)
    vertices = np.column_stack((x[columns], y[rows], surface.heights[rows, columns].astype(np.float64)))
    return Mesh(vertices, np.concatenate(faces).astype(np.int32))


def load_survey(path: Path) -> Survey:
    """Points of a CSV file with the columns x_m, y_m, z_m or latitude_deg, longitude_deg, altitude_m.

    Lines that begin with # are comments. Degrees become metres east, north and up of the centre of the points.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.reader(line for line in file if not line.startswith("#"))
            header = tuple(name.strip() for name in next(rows, ()))
            if set(header) not in (set(LOCAL), set(GEODETIC)):
                known = f"{', '.join(LOCAL)} or {', '.join(GEODETIC)}"
                raise ValueError(f"columns must be {known}, got {', '.join(header)[:100]}")
            columns = LOCAL if "x_m" in header else GEODETIC
            values = _values(rows, len(header))[:, [header.index(name) for name in columns]]
        return Survey(values) if columns == LOCAL else _from_degrees(values)
    except SettingsError:
        raise
    except UnicodeDecodeError:
        raise file_error(path, "is not a text file") from None
    except OSError as error:
        raise file_error(path, error.strerror or error) from None
    except (ValueError, csv.Error) as error:
        raise file_error(path, error) from None


def _values(rows: object, width: int) -> Array:
    values: list[list[float]] = []
    for number, row in enumerate(rows, start=1):  # type: ignore[arg-type, var-annotated]
        try:
            values.append([float(word) for word in row])
        except ValueError:
            raise ValueError(f"point {number}: '{', '.join(row)[:60]}' is not {width} numbers") from None
        if len(values[-1]) != width or not np.isfinite(values[-1]).all():
            raise ValueError(f"point {number}: '{', '.join(row)[:60]}' is not {width} finite numbers")
        if number > SURVEY_LIMIT:
            raise ValueError(f"has more than {SURVEY_LIMIT} points")
    return np.array(values).reshape(-1, width)


def _from_degrees(values: Array) -> Survey:
    if not len(values):
        raise ValueError("has no points")
    if not ((np.abs(values[:, 0]) <= 90.0) & (np.abs(values[:, 1]) <= 360.0)).all():
        raise ValueError("latitudes must be from -90 to 90 and longitudes from -180 to 360; are the columns swapped?")
    if (np.ptp(values[:, :2], axis=0) > 1.0).any():
        raise ValueError("spans more than one degree, too much for one plane; are the columns right?")
    latitude, longitude, altitude = (float(value) for value in values.mean(axis=0))
    points = TangentPlane(Geodetic(latitude, longitude, altitude)).enu_from_geodetic(values)
    return Survey(points, Georeference(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude))
