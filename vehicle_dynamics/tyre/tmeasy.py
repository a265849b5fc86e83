"""TMeasy: steady-state tyre forces from slip and load, with combined slip and aligning torque (Rill 2013).

[Sanjurjo] Section 5.3.2.2. Forces on the tyre: x along the wheel's heading, y to the left. Slips are those of Eqs. 5.27
and 5.28: positive when they push forward and to the left.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from proving_ground.kernels.jit import inlined
from vehicle_dynamics.drive.drive_parameters import Tyre, TyreDirection

# The five parameters of a direction's characteristic, each at the nominal load and at twice that.
DIRECTION = np.dtype(
    [
        ("slope", "f8", 2),  # at zero slip [N]
        ("most", "f8", 2),  # largest force [N]
        ("most_slip", "f8", 2),  # where it is reached
        ("slide", "f8", 2),  # force of a sliding tyre [N]
        ("slide_slip", "f8", 2),  # above which it slides
    ]
)
TMEASY = np.dtype(
    [
        ("nominal_load", "f8"),  # [N]
        ("most_load", "f8"),  # [N]: beyond, forces do not grow
        ("reference_friction", "f8"),  # of the road on which the characteristics were measured
        ("longitudinal", DIRECTION),
        ("lateral", DIRECTION),
        ("is_linear", "i8"),  # 1: straight up to the largest force, which stays ([Sanjurjo], Fig. 5.8)
        ("trail", "f8", 2),  # pneumatic trail over length of the contact patch, at zero slip
        ("trail_zero", "f8", 2),  # lateral slip at which it vanishes
        ("trail_end", "f8", 2),  # lateral slip above which it stays zero
    ]
)
TmeasyRecord: TypeAlias = Any


class Characteristic(NamedTuple):
    """Force over slip: rises with the slope, reaches its maximum, falls to that of sliding."""

    slope: float  # [N]
    most: float  # [N]
    most_slip: float
    slide: float  # [N]
    slide_slip: float


class LoadedTyre(NamedTuple):
    """Both characteristics at a given load and friction, and what normalises slips when they are combined."""

    longitudinal: Characteristic
    lateral: Characteristic
    weight_x: float
    weight_y: float
    is_linear: bool


class SlipForce(NamedTuple):
    """Longitudinal and lateral tyre force at a slip."""

    x: float  # [N]
    y: float  # [N]
    per_slip: float  # F / s of the normalised, combined slip [N]; at zero slip its slope


@inlined
def tyre_at(tyre: TmeasyRecord, load: float, friction: float, stick: float = 0.0) -> LoadedTyre:
    """Characteristics at a load [N] and friction coefficient of the road.

    Friction scales forces and the slips where they occur, but not the slopes. stick is 1 for a contact that does not
    slide, which holds as much as the largest force, and 0 for one that slides.
    """
    scale = max(friction, 0.0) / tyre.reference_friction
    q = min(max(load, 0.0), tyre.most_load) / tyre.nominal_load
    x = _characteristic(tyre.longitudinal, q, scale, stick)
    y = _characteristic(tyre.lateral, q, scale, stick)
    # Both directions then reach their largest force at about the same normalised slip.
    stretch_x, stretch_y = _over(x.most, x.slope), _over(y.most, y.slope)
    weight_x = _over(x.most_slip, x.most_slip + y.most_slip) + _over(stretch_x, stretch_x + stretch_y)
    weight_y = _over(y.most_slip, x.most_slip + y.most_slip) + _over(stretch_y, stretch_x + stretch_y)
    return LoadedTyre(x, y, weight_x, weight_y, tyre.is_linear == 1)


@inlined
def combined_force(tyre: LoadedTyre, slip_x: float, slip_y: float) -> SlipForce:
    """Forces at normalised slips, which already have the weights in their denominators (Eqs. 5.27-5.31)."""
    x, y = tyre.longitudinal, tyre.lateral
    slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
    cosine, sine = (slip_x / slip, slip_y / slip) if slip > 0.0 else (1.0, 0.0)
    both = Characteristic(
        _mean(x.slope * tyre.weight_x, y.slope * tyre.weight_y, cosine, sine),
        _mean(x.most, y.most, cosine, sine),
        _mean(x.most_slip / tyre.weight_x, y.most_slip / tyre.weight_y, cosine, sine),
        _mean(x.slide, y.slide, cosine, sine),
        _mean(x.slide_slip / tyre.weight_x, y.slide_slip / tyre.weight_y, cosine, sine),
    )
    force = min(both.slope * slip, both.most) if tyre.is_linear else force_over_slip(both, slip)
    per_slip = force / slip if slip > 0.0 else both.slope
    return SlipForce(force * cosine, force * sine, per_slip)


@inlined
def force_over_slip(characteristic: Characteristic, slip: float) -> float:
    """Force [N] at a slip >= 0; zero for a wheel in the air."""
    c = characteristic
    if c.most <= 0.0:
        return 0.0
    if slip <= c.most_slip:
        share = slip / c.most_slip
        return c.most_slip * c.slope * share / (1.0 + share * (share + c.slope * c.most_slip / c.most - 2.0))
    if slip < c.slide_slip:
        share = (slip - c.most_slip) / (c.slide_slip - c.most_slip)
        return c.most - (c.most - c.slide) * share * share * (3.0 - 2.0 * share)
    return c.slide


@inlined
def pneumatic_trail(tyre: TmeasyRecord, load: float, slip_y: float, patch_length: float) -> float:
    """Distance [m] by which the lateral force acts behind the middle of the contact patch, negative beyond some slip.

    It is 0 at large slip. load [N]; slip_y: lateral slip; patch_length [m].
    """
    q = min(max(load, 0.0), tyre.most_load) / tyre.nominal_load
    start, zero, end = _linear(tyre.trail, q), _linear(tyre.trail_zero, q), _linear(tyre.trail_end, q)
    slip = abs(slip_y)
    share = 0.0
    if slip <= zero:
        s, w = slip / zero, zero / end
        share = start * ((1.0 - w) * (1.0 - s) + w * (1.0 - (3.0 - 2.0 * s) * s * s))
    elif slip < end:
        rest = (end - slip) / (end - zero)
        share = -start * (slip - zero) / zero * rest * rest
    return share * patch_length


@inlined
def bore_torque(tyre: LoadedTyre, slip_x: float, slip_y: float, bore_slip: float, bore_radius: float) -> float:
    """Torque [N m] about the contact normal of a patch that turns while it slips (Rill's three-dimensional slip).

    It has the sign of the bore slip -R_B omega_n / (r |Omega| + v_N) and is at most the largest force times the bore
    radius R_B [m]. A patch that slides fast in one direction hardly resists turning. Departs from Rill: turning does
    not reduce the longitudinal and lateral force.
    """
    slip = math.sqrt(slip_x * slip_x + slip_y * slip_y + bore_slip * bore_slip)
    each = math.sqrt(0.5) * slip  # parts of a turning patch slide in all directions: the mean of both characteristics
    return bore_radius * combined_force(tyre, each, each).per_slip * bore_slip


@inlined
def camber_slip(tyre: LoadedTyre, thrust: float) -> float:
    """Lateral slip at which a tyre that keeps its slope has this force [N]; adds to the slip of its motion."""
    slope = tyre.lateral.slope
    return thrust / slope if slope > 0.0 else 0.0


@inlined
def _characteristic(direction: Any, q: float, scale: float, stick: float) -> Characteristic:
    most, slide = _digressive(direction.most, q), _digressive(direction.slide, q)
    return Characteristic(
        _digressive(direction.slope, q),
        scale * most,
        scale * _linear(direction.most_slip, q),
        scale * (slide + stick * (most - slide)),
        scale * _linear(direction.slide_slip, q),
    )


@inlined
def _digressive(at: Any, q: float) -> float:
    """Parabola through zero and the values at one and two nominal loads."""
    return float(q * (2.0 * at[0] - 0.5 * at[1] - (at[0] - 0.5 * at[1]) * q))


@inlined
def _linear(at: Any, q: float) -> float:
    return float(at[0] + (at[1] - at[0]) * (q - 1.0))


@inlined
def _mean(x: float, y: float, cosine: float, sine: float) -> float:
    """Ellipse between the values of both directions."""
    return math.sqrt(x * x * cosine * cosine + y * y * sine * sine)


@inlined
def _over(a: float, b: float) -> float:
    return a / b if b > 0.0 else 0.5


def tmeasy_record(tyre: Tyre) -> TmeasyRecord:
    """Record for the kernel of a tyre."""
    record = np.zeros(1, TMEASY)
    record["nominal_load"], record["most_load"] = tyre.nominal_load_n, tyre.max_load_n
    record["reference_friction"] = tyre.reference_friction
    record["is_linear"] = tyre.characteristic == "linear"
    _fill(record["longitudinal"], tyre.longitudinal)
    _fill(record["lateral"], tyre.lateral)
    record["trail"], record["trail_zero"] = tyre.trail_over_length, tyre.trail_zero_slip
    record["trail_end"] = tyre.trail_end_slip
    return record[0]


def _fill(record: Any, direction: TyreDirection) -> None:
    record["slope"], record["most"], record["most_slip"] = direction.slope_n, direction.max_n, direction.max_slip
    record["slide"], record["slide_slip"] = direction.slide_n, direction.slide_slip
