"""The papers' planar suspension ([Jain], Eqs. 15-21, 25, 26, 28-30): the special case that checks wishbone.py.

Symbols are those of the paper; angles are absolute in the plane of the loop.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from proving_ground.kernels.jit import kernel


class FourBar(NamedTuple):
    """Lower arm AD, upright DF and upper arm FG over the ground line GA."""

    a: float  # |GA|
    b: float  # |AD|
    c: float  # |DF|
    d: float  # |FG|
    branch: float  # +1 or -1: the sign in Eq. 20


@kernel
def four_bar_angles(bar: FourBar, theta: float) -> tuple[float, float]:
    """theta_3 of the upright and theta_4 of the upper arm; NaN where the loop cannot close."""
    x = bar.a + bar.b * math.cos(theta)  # Eq. 17
    y = bar.b * math.sin(theta)
    gamma = math.atan2(y, x)  # Eq. 19
    ratio = (x * x + y * y + bar.d**2 - bar.c**2) / (2.0 * bar.d * math.sqrt(x * x + y * y))
    theta_4 = gamma + bar.branch * (math.acos(ratio) if abs(ratio) <= 1.0 else math.nan)  # Eq. 20
    theta_3 = math.atan2(y - bar.d * math.sin(theta_4), x - bar.d * math.cos(theta_4))  # Eq. 21
    return theta_3, theta_4


@kernel
def four_bar_rates(bar: FourBar, theta: float) -> tuple[float, float]:
    """p and q: rates of theta_3 and theta_4 per rate of theta (Eqs. 25, 26)."""
    theta_3, theta_4 = four_bar_angles(bar, theta)
    p = bar.b * math.sin(theta - theta_4) / (bar.c * math.sin(theta_3 - theta_4))
    q = bar.b * math.sin(theta - theta_3) / (bar.d * math.sin(theta_4 - theta_3))
    return p, q


@kernel
def four_bar_rate_changes(bar: FourBar, theta: float) -> tuple[float, float]:
    """Derivatives of p and q with respect to theta, from the quotients of Eqs. 25 and 26."""
    theta_3, theta_4 = four_bar_angles(bar, theta)
    p, q = four_bar_rates(bar, theta)
    sine, cosine = math.sin(theta_3 - theta_4), math.cos(theta_3 - theta_4)
    p_change = bar.b / bar.c * math.cos(theta - theta_4) * (1.0 - q) / sine - p * cosine / sine * (p - q)
    q_change = -bar.b / bar.d * math.cos(theta - theta_3) * (1.0 - p) / sine - q * cosine / sine * (p - q)
    return p_change, q_change


class ShockTriangle(NamedTuple):
    """The shock between B on the lower arm and J on the chassis, seen from the arm's pivot A."""

    x: float  # |AJ|
    y: float  # |AB|
    beta: float  # direction of J


@kernel
def shock_length_and_angle(shock: ShockTriangle, eta: float) -> tuple[float, float]:
    """Length z and direction gamma of BJ when AB points along eta (Eq. 28)."""
    across = shock.x * math.cos(shock.beta) - shock.y * math.cos(eta)
    up = shock.x * math.sin(shock.beta) - shock.y * math.sin(eta)
    return math.sqrt(across * across + up * up), math.atan2(up, across)


@kernel
def shock_rates(shock: ShockTriangle, eta: float) -> tuple[float, float]:
    """Rates of z and gamma per rate of eta (Eq. 29).

    Eq. 30 as printed divides the length rate by r, from "r-dot r = z-dot". Since r = z - const, r-dot is z-dot.
    """
    z, gamma = shock_length_and_angle(shock, eta)
    return shock.y * math.sin(eta - gamma), -shock.y * math.cos(eta - gamma) / z
