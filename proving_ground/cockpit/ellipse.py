"""The 95 % confidence ellipse of a position, from its covariance in the plane.

>>> half_axes, angle = confidence_ellipse(np.diag([4.0, 1.0]))
>>> [round(value, 2) for value in half_axes], round(abs(angle), 2)
([4.9, 2.45], 0.0)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CHI_SQUARE_95 = -2.0 * math.log(0.05)  # of two degrees of freedom, whose distribution is 1 - exp(-x / 2)
LARGEST_M = 1000.0  # half axes are clipped to this


def confidence_ellipse(covariance: Array) -> tuple[tuple[float, float], float]:
    """Half axes [m], the longer first, and the angle [rad] of the longer one from x.

    Raises ValueError for a matrix that is not a covariance.
    """
    if covariance.shape != (2, 2) or not np.isfinite(covariance).all():
        raise ValueError("covariance must be 2 x 2 and finite")
    symmetric = 0.5 * (covariance + covariance.T)
    values, axes = np.linalg.eigh(symmetric)
    if values[0] < -1e-6 * max(float(np.abs(symmetric).max()), 1e-12):
        raise ValueError("covariance is not positive semidefinite")
    small, large = (min(math.sqrt(CHI_SQUARE_95 * max(float(value), 0.0)), LARGEST_M) for value in values)
    return (large, small), math.atan2(float(axes[1, 1]), float(axes[0, 1]))
