"""Directions of a LIDAR's rays, and their occlusion by the vehicle itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensors.lidar.settings import ABSENT, FLASH, LidarSettings

Array = NDArray[np.float64]


class Beams(NamedTuple):
    """Ray directions (cos e cos a, cos e sin a, sin e) in the sensor's frame, for kernels."""

    azimuth_cosine: Array  # of each column
    azimuth_sine: Array
    elevation_cosine: Array  # of each ring
    elevation_sine: Array
    own_body: NDArray[np.float32]  # columns x rings: distance to the own body [m], infinite if not hit


def beams_of(settings: LidarSettings) -> Beams:
    """The rays of a LIDAR with these settings."""
    azimuths, elevations = np.array(settings.azimuths()), np.array(settings.elevations())
    beams = Beams(
        np.cos(azimuths),
        np.sin(azimuths),
        np.cos(elevations),
        np.sin(elevations),
        np.full((len(azimuths), len(elevations)), np.inf, np.float32),
    )
    if settings.own_body != ABSENT:
        mounting = settings.mounting()
        in_base = directions(beams) @ mounting.base_from_sensor.T
        for low, high in settings.boxes():
            distance = _box_distance(mounting.arm, in_base, low, high)
            np.minimum(beams.own_body, distance, out=beams.own_body, casting="same_kind")
    return beams


def directions(beams: Beams) -> Array:
    """Unit vectors in the sensor's frame: columns x rings x 3."""
    flat = beams.elevation_cosine[None, :]
    parts = (
        beams.azimuth_cosine[:, None] * flat,
        beams.azimuth_sine[:, None] * flat,
        np.broadcast_to(beams.elevation_sine, beams.own_body.shape),
    )
    return np.stack(parts, axis=-1)


def column_delays_ns(settings: LidarSettings, period_ns: int) -> NDArray[np.int64]:
    """Delay of each column after the first [ns]; 0 for all of a flash LIDAR."""
    columns = np.arange(settings.columns, dtype=np.int64)
    return columns * 0 if settings.kind == FLASH else columns * period_ns // settings.columns


def _box_distance(start: Array, ways: Array, low: tuple[float, ...], high: tuple[float, ...]) -> Array:
    """Distance at which rays from outside enter a box [m]; infinite if they miss. Slabs, after Kay and Kajiya 1986."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (np.array(low) - start) / ways, (np.array(high) - start) / ways
    enter = np.fmin(to_low, to_high).max(axis=-1)  # fmin: ignore 0/0 on a slab's face
    leave = np.fmax(to_low, to_high).min(axis=-1)
    return np.where((enter <= leave) & (enter >= 0.0), enter, np.inf)
