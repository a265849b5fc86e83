"""Reduced estimates for figures and pictures: 184 bytes instead of 1.4 kB."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Frames map and base_link, as in state_observer.vehicle.layout.ESTIMATE.
THIN_ESTIMATE = np.dtype(
    [
        ("time_ns", "i8"),
        ("position", "f8", 3),
        ("attitude", "f8", 4),
        ("velocity", "f8", 3),
        ("yaw_rate", "f8"),
        ("sideslip", "f8"),
        ("position_variance", "f8", 3),
        ("planar", "f8", (3, 3)),  # covariance of yaw, velocity longitudinal and lateral
        ("sideslip_variance", "f8"),
    ]
)
_PLANAR = [5, 6, 7]  # of an estimate's covariance


def thinned_estimates(rows: NDArray[np.void]) -> NDArray[np.void]:
    """Records of THIN_ESTIMATE from records of ESTIMATE."""
    thin = np.zeros(len(rows), THIN_ESTIMATE)
    for name in ("time_ns", "position", "attitude", "velocity", "sideslip", "sideslip_variance"):
        thin[name] = rows[name]
    thin["yaw_rate"] = rows["angular_velocity"][:, 2]
    covariance = rows["covariance"]
    thin["position_variance"] = np.diagonal(covariance, axis1=1, axis2=2)[:, :3]
    thin["planar"] = covariance[:, _PLANAR][:, :, _PLANAR]
    return thin
