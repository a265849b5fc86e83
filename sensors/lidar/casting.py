"""Kernels around Embree: rays into a surface's coordinates, and hits back into the world in float64.

Rays come in groups of equal size with a common origin each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, kernel
from sensors.lidar.shapes import ShapeTable
from sensors.lidar.surface import Triangles

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]
Materials = NDArray[np.uint8]

DONE = -1.0
OVERLAP = 0.01  # [m] of a ray cast in both levels, because rounding may put it below the ground at their border
STRAY = 0.05  # [m] largest float64 correction of Embree; planes of sliver triangles are unreliable
UPRIGHT = 1e-6  # largest z of the normal on a cylinder's side


class Found(NamedTuple):
    """Hits of rays: range, cosine of incidence and material, one element per ray."""

    ranges: Floats  # [m], infinite without a hit
    cosines: Floats  # of the angle between ray and normal, 0 to 1
    materials: Materials


class Rays(NamedTuple):
    """Rays traversing the levels of a scene."""

    origins: Array  # one for each group [m]
    directions: Array  # unit
    far: float  # their end [m]
    travelled: Floats  # distance covered by each [m], or DONE


class Hits(NamedTuple):
    """Hits that Embree found on segments of rays."""

    distances: Floats  # from the segment's origin [m]
    primitives: Numbers
    geometries: Numbers  # below 0: no hit


class Segments(NamedTuple):
    """Parts of rays within a surface's bounds, as input for Embree; the first `count` are valid."""

    origins: Floats
    directions: Floats
    far: Floats  # length from there [m]; unchanged by Embree without a hit
    rays: Numbers  # index of the ray


@kernel
def enter(rays: Rays, bounds: Array, base: Array, out: Segments) -> int:
    """Fill the segments of rays that are not done and currently within bounds; returns their number."""
    origins, directions, far, travelled = rays
    count = 0
    left, low, right, high = bounds[0], bounds[1], bounds[2], bounds[3]
    is_bounded = right < math.inf
    shared = len(directions) // len(origins)
    for index in range(len(origins)):
        x, y, z = origins[index, 0], origins[index, 1], origins[index, 2]
        for ray in range(index * shared, (index + 1) * shared):
            begin = travelled[ray]
            if begin < 0.0:
                continue
            dx, dy, dz = directions[ray, 0], directions[ray, 1], directions[ray, 2]
            here_x, here_y = x + begin * dx, y + begin * dy
            end = far
            if is_bounded:
                if not (left <= here_x <= right and low <= here_y <= high):
                    continue
                if dx != 0.0:
                    end = min(end, ((right if dx > 0.0 else left) - x) / dx)
                if dy != 0.0:
                    end = min(end, ((high if dy > 0.0 else low) - y) / dy)
            out.origins[count, 0] = here_x - base[0]
            out.origins[count, 1] = here_y - base[1]
            out.origins[count, 2] = z + begin * dz - base[2]
            out.directions[count, 0] = dx
            out.directions[count, 1] = dy
            out.directions[count, 2] = dz
            out.far[count] = end - begin
            out.rays[count] = ray
            count += 1
    return count


@kernel
def leave(
    count: int,
    segments: Segments,
    hits: Hits,
    triangles: Triangles,
    shapes: ShapeTable,
    rays: Rays,
    out: Found,
) -> None:
    """Record the hits on segments, and mark the rays that continue beyond the bounds."""
    origins, directions, far, travelled = rays
    distances, primitives, geometries = hits
    shared = len(directions) // len(origins)
    index = 0
    for item in range(count):
        ray = segments.rays[item]
        while ray >= (index + 1) * shared:
            index += 1
        about = travelled[ray] + distances[item]
        if geometries[item] < 0:
            travelled[ray] = max(about - OVERLAP, 0.0) if about < far - OVERLAP else DONE
            continue
        row = triangles.starts[geometries[item]] + primitives[item]
        travelled[ray] = DONE
        x, y, z = origins[index, 0], origins[index, 1], origins[index, 2]
        dx, dy, dz = directions[ray, 0], directions[ray, 1], directions[ray, 2]
        nx, ny, nz = triangles.planes[row, 0], triangles.planes[row, 1], triangles.planes[row, 2]
        cosine = nx * dx + ny * dy + nz * dz
        distance = (triangles.planes[row, 3] - nx * x - ny * y - nz * z) / cosine
        material = 0  # soil
        if row >= triangles.ground:
            owner = triangles.owners[row - triangles.ground]
            material = shapes.material[owner]
            if shapes.round[owner, 2] > 0.0 and abs(nz) < UPRIGHT:
                distance, cosine = _round_side(shapes.round[owner], x, y, z, dx, dy, dz)
                about = distance  # do not compare with the prism: near its outline both are far apart
        if not abs(distance - about) <= STRAY:
            distance = about
        if distance <= far and distance < out.ranges[ray]:
            out.ranges[ray] = max(distance, 0.0)
            out.cosines[ray] = min(abs(cosine), 1.0)
            out.materials[ray] = material


@inlined
def _round_side(post: Array, x: float, y: float, z: float, dx: float, dy: float, dz: float) -> tuple[float, float]:
    """Distance and cosine where a ray that hits the inscribed prism hits the cylinder."""
    off_x, off_y = x - post[0], y - post[1]
    square = dx * dx + dy * dy
    half = (off_x * dx + off_y * dy) / square
    root = half * half - (off_x * off_x + off_y * off_y - post[2] * post[2]) / square
    distance = -half - math.sqrt(max(root, 0.0))
    if z + distance * dz > post[3]:  # above the rim: through the top
        return (post[3] - z) / dz, dz
    return distance, ((off_x + distance * dx) * dx + (off_y + distance * dy) * dy) / post[2]


@kernel
def meet_plane(
    height: float, slope_x: float, slope_y: float, origins: Array, directions: Array, far: float, out: Found
) -> None:
    """Record hits from above on the plane z = height + slope_x x + slope_y y, where out has no nearer hit.

    origins [m], directions: rays in the world; far: longest range [m].
    """
    steep = math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    shared = len(directions) // len(origins)
    for ray in range(len(directions)):
        x, y, z = origins[ray // shared]
        above = z - height - slope_x * x - slope_y * y
        sinking = slope_x * directions[ray, 0] + slope_y * directions[ray, 1] - directions[ray, 2]
        if above < 0.0 or sinking <= 0.0:
            continue
        distance = above / sinking
        if distance <= far and distance < out.ranges[ray]:
            out.ranges[ray], out.cosines[ray], out.materials[ray] = distance, sinking / steep, 0
