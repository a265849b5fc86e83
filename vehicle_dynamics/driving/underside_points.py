"""Points all over a body's underside, from the few contact points of its file."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

Array = NDArray[np.float64]

ALONG, ACROSS = 0.2, 0.3  # [m]: most between points


def underside(points: Array) -> Array:
    """Points all over the underside of the convex hull of contact points (n x 3), chassis axes [m].

    Contact points that span no volume are the underside themselves.
    """
    try:
        planes = ConvexHull(points).equations
    except (QhullError, ValueError):
        return points
    down, outline = planes[planes[:, 2] < -1e-9], ConvexHull(points[:, :2]).equations
    low, high = points.min(axis=0), points.max(axis=0)
    x, y = (
        np.linspace(first, last, max(math.ceil((last - first) / most), 1) + 1)
        for first, last, most in zip(low[:2], high[:2], (ALONG, ACROSS), strict=True)
    )
    flat = np.column_stack([item.ravel() for item in np.meshgrid(x, y)])
    flat = flat[(flat @ outline[:, :2].T + outline[:, 2] <= 1e-9).all(axis=1)]
    # On a plane a x + b y + c z + d = 0 of the lower hull z = -(a x + b y + d) / c; the hull is the highest of them.
    heights = (-(flat @ down[:, :2].T + down[:, 3]) / down[:, 2]).max(axis=1)
    return np.column_stack([flat, heights])
