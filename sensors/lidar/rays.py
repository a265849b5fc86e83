"""Kernels of a LIDAR: rays of the moving sensor, readings of what they hit, and points.

Signal of a return, after the LIDAR equation for a rough surface (as in Hoefle and Pfeifer 2007, with 1/R^2):

    signal = reflectivity * cos(incidence) * (max_range / range)^2

A return is lost with probability exp(-signal / weak_signal): no photon of a Poisson process is counted.
Intensity is 255 * reflectivity * cos(incidence), and falls with 1/R^2 beyond full_intensity.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, kernel
from sensors.lidar.beams import Beams
from sensors.lidar.casting import Found
from sensors.lidar.shapes import TARGET

Array = NDArray[np.float64]
Floats = NDArray[np.float32]


class Pose(NamedTuple):
    """Pose of base_link in the world at a time."""

    time_ns: int
    position: Array  # [m]
    attitude: Array  # x, y, z, w


class Reading(NamedTuple):
    """Range limits and errors of a LIDAR for kernels; see LidarSettings."""

    least: float
    most: float
    noise: float
    resolution: float  # 0: no rounding
    steps: float  # one over the resolution
    strength: float  # one over weak_signal; infinite: no return is lost
    full_intensity: float
    reflectivity: Array  # by material
    bias: Array  # of each ring [m]
    is_body_seen: bool  # the own body is measured; otherwise rays that hit it are invalid


@inlined
def _slerp(attitude: Array, other: Array, share: float) -> tuple[float, float, float, float]:
    """Slerp (Shoemake 1985): along the shorter arc between unit quaternions."""
    dot = 0.0
    for item in range(4):
        dot += attitude[item] * other[item]
    sign = -1.0 if dot < 0.0 else 1.0
    angle = math.acos(min(abs(dot), 1.0))
    if angle < 1e-6:  # linear interpolation suffices
        first, second = 1.0 - share, share * sign
    else:
        first, second = (
            math.sin((1.0 - share) * angle) / math.sin(angle),
            sign * math.sin(share * angle) / math.sin(angle),
        )
    x, y = first * attitude[0] + second * other[0], first * attitude[1] + second * other[1]
    z, w = first * attitude[2] + second * other[2], first * attitude[3] + second * other[3]
    length = math.sqrt(x * x + y * y + z * z + w * w)
    return x / length, y / length, z / length, w / length


@kernel
def transform_columns(
    before: Pose,
    now: Pose,
    stamp_ns: int,
    delays_ns: NDArray[np.int64],
    arm: Array,
    base_from_sensor: Array,
    out: Array,
) -> None:
    """Rows of position (3) and world_from_sensor (9) for each delay after the stamp, between two poses of base_link."""
    for column in range(len(delays_ns)):
        share = 1.0
        if now.time_ns > before.time_ns:
            share = (stamp_ns - before.time_ns + delays_ns[column]) / (now.time_ns - before.time_ns)
        x, y, z, w = _slerp(before.attitude, now.attitude, share)
        rotation = (
            (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
            (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
            (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
        )
        for row in range(3):
            a, b, c = rotation[row]
            middle = before.position[row] + share * (now.position[row] - before.position[row])
            out[column, row] = middle + a * arm[0] + b * arm[1] + c * arm[2]
            for item in range(3):
                out[column, 3 + 3 * row + item] = (
                    a * base_from_sensor[0, item] + b * base_from_sensor[1, item] + c * base_from_sensor[2, item]
                )


@kernel
def aim(beams: Beams, first: int, positions: Array, directions: Array) -> None:
    """World directions of the rays of columns from `first` on, ring by ring, at their poses."""
    rings = len(beams.elevation_sine)
    for column in range(len(positions)):
        p = positions[column]
        ahead, left = beams.azimuth_cosine[first + column], beams.azimuth_sine[first + column]
        across = (p[3] * ahead + p[4] * left, p[6] * ahead + p[7] * left, p[9] * ahead + p[10] * left)
        for ring in range(rings):
            flat, up = beams.elevation_cosine[ring], beams.elevation_sine[ring]
            ray = column * rings + ring
            for axis in range(3):
                directions[ray, axis] = flat * across[axis] + up * p[5 + 3 * axis]


@kernel
def read(
    reading: Reading,
    beams: Beams,
    first: int,
    found: Found,
    normals: Floats,
    chances: Floats,
    ranges: Floats,
    intensities: Floats,
) -> None:
    """Ranges and intensities (columns x rings, from the first column on) of hits; rays without one as in REP 117.

    normals, chances: random numbers of each ray, standard normal and uniform in 0 to 1.
    """
    rings = len(beams.elevation_sine)
    ray = 0
    for column in range(first, first + len(found.ranges) // rings):
        for ring in range(rings):
            ranges[column, ring], intensities[column, ring] = _read_ray(
                reading, beams.own_body[column, ring], ring, found, ray, normals[ray], chances[ray]
            )
            ray += 1


@inlined
def _read_ray(
    reading: Reading, own_body: float, ring: int, found: Found, ray: int, normal: float, chance: float
) -> tuple[float, float]:
    true, cosine, material = found.ranges[ray], found.cosines[ray], found.materials[ray]
    if own_body <= true and own_body < math.inf:
        if not reading.is_body_seen:
            return math.nan, 0.0
        true, cosine, material = own_body, 1.0, np.uint8(TARGET)
    if true == math.inf:
        return math.inf, 0.0
    bright = reading.reflectivity[material] * cosine
    inverse = 1.0 / max(true, 1e-3)
    signal = bright * (reading.most * inverse) ** 2 * reading.strength
    # The exponential is rarely needed: exp(-x) < 1 / (1 + x).
    if chance * (1.0 + signal) < 1.0 and chance < math.exp(-signal):
        return math.inf, 0.0
    measured = true + reading.bias[ring] + reading.noise * normal
    if reading.resolution > 0.0:
        measured = math.floor(measured * reading.steps + 0.5) * reading.resolution
    fall = min(reading.full_intensity * inverse, 1.0)
    return limited(measured, reading.least, reading.most), 255.0 * bright * fall * fall


@inlined
def limited(measured: float, least: float, most: float) -> float:
    """A measured range [m]; minus infinity if below least, infinity if above most (REP 117); NaN stays."""
    if measured < least:
        return -math.inf
    return math.inf if measured > most else measured


@kernel
def limit_all(ranges: Floats, least: float, most: float) -> None:
    """Apply `limited` to all ranges [m], in place."""
    for column in range(ranges.shape[0]):
        for ring in range(ranges.shape[1]):
            ranges[column, ring] = limited(ranges[column, ring], least, most)


@kernel
def make_points(
    beams: Beams,
    ranges: Floats,
    intensities: Floats,
    delays_ns: NDArray[np.int64],
    positions: Array,
    is_deskewed: bool,
    floats: Floats,
    numbers: NDArray[np.uint16],
) -> int:
    """Fill the points of finite ranges, column by column; returns their number.

    delays_ns: of columns after the first; positions: rows of transform_columns, position and world_from_sensor.
    floats (x, y, z, intensity, -, time) and numbers (the same memory) are rows of LIDAR_POINT. Deskewed points are in
    the sensor's frame of the first column.
    """
    count = 0
    start = positions[0]
    for column in range(ranges.shape[0]):
        p = positions[column]
        time = delays_ns[column] * 1e-9
        for ring in range(ranges.shape[1]):
            distance = ranges[column, ring]
            if not abs(distance) < math.inf:
                continue
            flat = beams.elevation_cosine[ring] * distance
            x, y = flat * beams.azimuth_cosine[column], flat * beams.azimuth_sine[column]
            z = beams.elevation_sine[ring] * distance
            if is_deskewed:
                in_x = p[0] - start[0] + p[3] * x + p[4] * y + p[5] * z
                in_y = p[1] - start[1] + p[6] * x + p[7] * y + p[8] * z
                in_z = p[2] - start[2] + p[9] * x + p[10] * y + p[11] * z
                x = start[3] * in_x + start[6] * in_y + start[9] * in_z
                y = start[4] * in_x + start[7] * in_y + start[10] * in_z
                z = start[5] * in_x + start[8] * in_y + start[11] * in_z
            point = floats[count]
            point[0], point[1], point[2], point[3], point[5] = x, y, z, intensities[column, ring], time
            numbers[count, 8], numbers[count, 9] = ring, 0  # padding too: equal scans have equal bytes
            count += 1
    return count
