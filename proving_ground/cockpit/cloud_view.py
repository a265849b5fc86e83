"""LIDAR clouds for the page: thinned, deskewed by the poses of their sweep, coloured by height."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.cockpit.tracks import Poses
from proving_ground.recording.figures import rotated

Array = NDArray[np.float64]

# From below the vehicle to above its roof: dark blue over green and yellow to red, as in height maps.
HEIGHTS_M = (-0.5, 0.1, 0.6, 1.5, 3.5, 8.0)
COLOURS = np.array(
    [(52, 62, 150), (38, 130, 180), (60, 186, 140), (236, 206, 70), (236, 120, 40), (190, 30, 60)], float
)


class Mount(NamedTuple):
    """Pose of a sensor in base_link."""

    position: Array  # [m]
    rotation: Array  # quaternion x y z w


class CloudView(NamedTuple):
    """Points relative to an anchor, so that single precision is enough."""

    anchor: Array  # [m], world
    points: NDArray[np.float32]  # n x 3 [m], from the anchor
    colours: NDArray[np.uint8]  # n x 3


def cloud_view(points: NDArray[np.void], time_ns: int, mount: Mount, poses: Poses, most: int) -> CloudView:
    """View of a structured array with x, y, z [m] and optionally time [s] since the stamp, in the sensor's frame.

    Points that are not finite are left out. Raises ValueError when coordinates or poses are missing.
    """
    names = points.dtype.names or ()
    if not {"x", "y", "z"} <= set(names):
        raise ValueError("cloud has no x, y, z")
    flat = points.reshape(-1)
    positions = np.column_stack([flat[name] for name in "xyz"]).astype(np.float64)
    sound = np.flatnonzero(np.isfinite(positions).all(axis=1))
    sound = sound[:: max(-(-len(sound) // most), 1)]
    seen = rotated(mount.rotation, positions[sound]) + mount.position
    delays = np.nan_to_num(flat["time"][sound].astype(np.float64)) if "time" in names else np.zeros(len(sound))
    position, rotation = poses.at(time_ns + np.rint(np.clip(delays, -1.0, 1.0) * 1e9).astype(np.int64))
    anchor = poses.at(np.array([time_ns]))[0][0]
    world = rotated(rotation, seen) + (position - anchor)
    return CloudView(anchor, world.astype(np.float32), height_colours(world[:, 2]))


def height_colours(heights: Array) -> NDArray[np.uint8]:
    """Colours (n x 3) of heights [m] above the vehicle's ground."""
    return np.column_stack([np.interp(heights, HEIGHTS_M, channel) for channel in COLOURS.T]).astype(np.uint8)
