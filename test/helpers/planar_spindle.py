"""The papers' spindle and tie-rod loop ([Jain], section 5.3, Eqs. 31-32): a special case that checks wishbone.py.

Vectors are in the vertical arm's frame: z along the upright DF, x along the axes of the arms, E on the line DF.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SpindleLoop(NamedTuple):
    """Constants of the loop."""

    ek: Array  # from E to K at alpha = 0 [m]
    tie_length: float  # |KL| [m]
    branch: float  # +1 or -1: the sign before the arc cosine


class SpindleAngles(NamedTuple):
    """Generalised coordinates of the loop, or their rates."""

    alpha: float  # spindle about DF
    chi: float  # elevation of the tie rod, seen from the spindle
    zeta: float  # its azimuth


def rotation_about_upright(alpha: float) -> Array:
    """Eq. 31."""
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def spindle_angles(loop: SpindleLoop, el: Array) -> SpindleAngles:
    """Angles for the vector EL [m]; NaN where the loop cannot close.

    X as printed ends in EK(z) EK0(z); the rotation leaves EL(z) beside EK0(z).
    """
    ek = loop.ek
    a = el[0] * ek[0] + el[1] * ek[1]
    b = -el[0] * ek[1] + el[1] * ek[0]
    x = 0.5 * (el @ el + ek @ ek - loop.tie_length**2) - el[2] * ek[2]
    ratio = x / np.hypot(a, b)
    alpha = np.arctan2(b, a) + loop.branch * (np.arccos(ratio) if abs(ratio) <= 1.0 else np.nan)
    kl = rotation_about_upright(alpha).T @ el - ek  # in the spindle's frame
    chi = np.arctan2(kl[2], np.hypot(kl[0], kl[1]))
    return SpindleAngles(float(alpha), float(chi), float(np.arctan2(kl[1], kl[0])))


def spindle_rates(loop: SpindleLoop, el: Array, angles: SpindleAngles, carried: Array) -> SpindleAngles:
    """Rates of the angles that keep L in place when the upright arm gives it the velocity `carried` [m/s] (Eq. 32).

    Eq. 32 as printed has the velocity of E there. The arm rotates as it translates, so what counts is the velocity of
    its point at L: that of E and the arm's angular velocity x EL.
    """
    rotated = rotation_about_upright(angles.alpha)
    kl = el - rotated @ loop.ek
    up = np.array([0.0, 0.0, 1.0])
    lift = loop.tie_length * np.array(
        [-np.sin(angles.chi) * np.cos(angles.zeta), -np.sin(angles.chi) * np.sin(angles.zeta), np.cos(angles.chi)]
    )
    jacobian = np.column_stack([np.cross(up, el), rotated @ lift, np.cross(up, kl)])
    alpha, chi, zeta = (float(rate) for rate in -np.linalg.solve(jacobian, carried))
    return SpindleAngles(alpha, chi, zeta)
