"""Worlds from measurements: any map file, survey points, and a real elevation model that comes with matplotlib."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from proving_ground.settings import setting
from terrain.elevation_map import HARD, ElevationMap
from terrain.formats.regular_file import check_is_file
from terrain.georeference import Georeference
from terrain.limits import check_grid_size
from terrain.map_files import MapFileOptions, load_map
from terrain.survey import INTERPOLATIONS, load_survey
from terrain.world import Site, World, WorldPose

START_SHARE = 0.4  # of the size, from the middle towards a corner
FAULT_FILE = "jacksboro_fault_dem.npz"
METRES_PER_DEGREE = 111_200.0  # of latitude


@dataclass(frozen=True, kw_only=True)
class MapFile:
    """A map from a file next to the world file."""

    file: str = setting(..., "Name of a file beside this one: .npz, .asc, .tif, .png, .obj, .ply or .stl")
    resolution_m: float = setting(
        0.0,
        "Distance of the map's nodes, for meshes and PNG; 0: the file gives it",
        unit="m",
        minimum=0.0,
        maximum=1000.0,
    )
    low_m: float = setting(0.0, "Height of black in a PNG", unit="m", minimum=-20_000.0, maximum=20_000.0)
    high_m: float = setting(0.0, "Height of white in a PNG", unit="m", minimum=-20_000.0, maximum=20_000.0)
    fill_gaps: bool = setting(False, "Take unknown heights from their nearest neighbours")
    centred: bool = setting(True, "Put the map's middle at x = y = 0")
    soil: str = setting(HARD, "Name of the soil, if the file has no soils")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        options = MapFileOptions(
            resolution_m=self.resolution_m or None, low_m=self.low_m, high_m=self.high_m, fill_gaps=self.fill_gaps
        )
        ground = load_map(file_beside(site.folder, self.file), options)
        if self.centred:
            ground = ground.centred()
        if ground.soils is None:
            ground = replace(ground, soil_names=(self.soil,))
        start, goal = _corners(ground)
        return World(name=site.name, ground=ground, start=start, goal=goal)


@dataclass(frozen=True, kw_only=True)
class SurveyFile:
    """Scattered points, bounded by their alpha shape; outside it the ground continues at the edge height."""

    file: str = setting(..., "CSV file beside this one: x_m, y_m, z_m or latitude_deg, longitude_deg, altitude_m")
    resolution_m: float = setting(0.5, "Distance of the map's nodes", unit="m", minimum=0.01, maximum=100.0)
    alpha_radius_m: float = setting(
        0.0, "Radius of the widest circle without a point; 0: chosen automatically", unit="m", minimum=0.0, maximum=1e5
    )
    interpolation: str = setting(
        "smooth", "Interpolation between points: Clough-Tocher, or flat triangles", choices=INTERPOLATIONS
    )
    soil: str = setting(HARD, "Name of the soil")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        survey = load_survey(file_beside(site.folder, self.file))
        surface = survey.surface(survey.outline(self.alpha_radius_m), self.resolution_m, self.interpolation)
        ground = surface.to_map(fill_gaps=True, soil_names=(self.soil,))
        # The two ends of the surveyed area, as far from its outline as possible.
        from scipy import ndimage  # slow to import, and seldom needed

        depth = ndimage.distance_transform_edt(np.pad(surface.known, 1))[1:-1, 1:-1]
        start = _node(ground, int(np.argmax(depth)))
        x, y = np.meshgrid(ground.node_x(), ground.node_y())
        far = np.where(depth > 0.5 * depth.max(), np.hypot(x - start.x, y - start.y), 0.0)
        goal = _node(ground, int(np.argmax(far)))
        heading = math.atan2(goal.y - start.y, goal.x - start.x)
        return World(
            name=site.name,
            ground=ground,
            start=WorldPose(x=start.x, y=start.y, heading=heading),
            goal=goal,
            surveyed=surface.known,
        )


@dataclass(frozen=True, kw_only=True)
class Fault:
    """The Jacksboro fault in Tennessee (SRTM, 3 arc seconds, in matplotlib's sample data), scaled down."""

    length_scale: float = setting(0.03, "Scale of horizontal lengths; 1 is 30 km", minimum=0.001, maximum=1.0)
    height_scale: float = setting(0.03, "Scale of heights; 1 is 700 m", minimum=0.0, maximum=1.0)
    resolution_m: float = setting(1.0, "Distance of the map's nodes", unit="m", minimum=0.05, maximum=100.0)
    soil: str = setting(HARD, "Name of the soil")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        from matplotlib.cbook import get_sample_data  # slow to import

        with np.load(get_sample_data(FAULT_FILE, asfileobj=False), allow_pickle=False) as data:
            elevation = data["elevation"][::-1].astype(np.float64)  # the file begins in the north
            south, north, west, east = (float(data[name]) for name in ("ymax", "ymin", "xmin", "xmax"))
        latitude, longitude = 0.5 * (south + north), 0.5 * (west + east)
        height = (north - south) * METRES_PER_DEGREE * self.length_scale
        width = (east - west) * METRES_PER_DEGREE * math.cos(math.radians(latitude)) * self.length_scale
        rows, columns = (int(size / self.resolution_m) + 1 for size in (height, width))
        check_grid_size(rows, columns)
        lowest = float(elevation.min())
        from scipy.interpolate import RectBivariateSpline  # slow to import, and seldom needed

        surface = RectBivariateSpline(*(np.linspace(0.0, 1.0, count) for count in elevation.shape), elevation - lowest)
        positions = (np.linspace(0.0, 1.0, count) for count in (rows, columns))
        ground = ElevationMap(
            heights=(self.height_scale * surface(*positions)).astype(np.float32),
            resolution=self.resolution_m,
            origin_x=-0.5 * (columns - 1) * self.resolution_m,
            origin_y=-0.5 * (rows - 1) * self.resolution_m,
            soil_names=(self.soil,),
            georeference=Georeference(latitude_deg=latitude, longitude_deg=longitude, altitude_m=lowest),
        )
        start, goal = _corners(ground)
        return World(name=site.name, ground=ground, start=start, goal=goal)


def file_beside(folder: Path, name: str) -> Path:
    """A file in a folder or below it; raises ValueError for a name that leaves it or is not a file name."""
    parts = PurePosixPath(name)
    if not name or parts.is_absolute() or ".." in parts.parts or "\\" in name or not name.isprintable():
        raise ValueError(f"file {name!r}: must be a name in the world's own folder")
    root, path = folder.resolve(), folder / parts
    try:
        target = path.resolve()
    except RuntimeError:  # a symlink loop, which the check below rejects
        target = root
    if not target.is_relative_to(root):
        raise ValueError(f"file {name!r}: is a link that leads out of the world's own folder")
    check_is_file(path)
    return path


def _node(ground: ElevationMap, number: int) -> WorldPose:
    row, column = divmod(number, ground.shape[1])
    return WorldPose(x=float(ground.node_x()[column]), y=float(ground.node_y()[row]))


def _corners(ground: ElevationMap) -> tuple[WorldPose, WorldPose]:
    """Poses towards the south-west and the north-east corner."""
    (left, right), (low, high) = ground.x_limits, ground.y_limits
    middle_x, middle_y = 0.5 * (left + right), 0.5 * (low + high)
    x, y = START_SHARE * (right - left), START_SHARE * (high - low)
    heading = math.atan2(y, x)
    return (
        WorldPose(x=middle_x - x, y=middle_y - y, heading=heading),
        WorldPose(x=middle_x + x, y=middle_y + y, heading=heading),
    )
