"""Spring with stops, and shock absorber, of one suspension: their generalised force on the lower-arm angle.

Both act between a point of the chassis and a point of the lower arm. That point runs on a circle, so the squared length
is k0 + k1 cos(theta) + k2 sin(theta): no vectors are needed.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, kernel
from proving_ground.kernels.table import TABLE, fill_table, table_integral, table_value
from proving_ground.kernels.vector3 import Vector3, add_scaled, cross, dot, sub
from vehicle_dynamics.parameters import Suspension

STRUT = np.dtype(
    [
        ("spring_square", "f8", 3),  # k0, k1, k2 of the spring's squared length [m^2]
        ("spring_free", "f8"),  # [m]
        ("is_captured", "i8"),  # 1: pulls when it is longer than free
        ("spring", TABLE),  # force [N] over compression [m]
        ("bump_below", "f8"),  # spring length [m]
        ("rebound_above", "f8"),  # spring length [m]
        ("stop", TABLE),  # force [N] over penetration [m]
        ("shock_square", "f8", 3),
        ("middle_from", "f8"),  # shock length [m]
        ("middle_to", "f8"),  # shock length [m]
        ("compression", "f8"),  # damping rates [N s/m], in the middle of the stroke and outside
        ("rebound", "f8"),
        ("outer_compression", "f8"),
        ("outer_rebound", "f8"),
        ("damper", TABLE),  # resistance [N] over speed [m/s] in the middle, in place of its rates; empty: none
    ]
)
StrutRecord: TypeAlias = Any


@inlined
def spring_force(strut: StrutRecord, length: float) -> float:
    """Force [N] that pushes the ends of the spring apart, stops included."""
    compression = strut.spring_free - length
    force = 0.0
    if compression > 0.0 or strut.is_captured == 1:
        force = math.copysign(table_value(strut.spring, abs(compression)), compression)
    if length < strut.bump_below:
        force += table_value(strut.stop, strut.bump_below - length)
    elif length > strut.rebound_above:
        force -= table_value(strut.stop, length - strut.rebound_above)
    return force


@inlined
def damper_force(strut: StrutRecord, length: float, rate: float) -> float:
    """Force [N] that pushes the ends of the shock apart; rate [m/s] is positive when it grows longer."""
    if strut.middle_from <= length <= strut.middle_to:
        if strut.damper.count > 0:
            return float(-table_value(strut.damper, rate))
        damping = strut.rebound if rate > 0.0 else strut.compression
    else:
        damping = strut.outer_rebound if rate > 0.0 else strut.outer_compression
    return float(-damping * rate)


@inlined
def length_and_slope(square: NDArray[np.float64], cosine: float, sine: float) -> tuple[float, float]:
    """Length [m] of a strut and its change per theta [m/rad], at cosine and sine of theta.

    square (3): coefficients of the squared length, [0] + [1] cos(theta) + [2] sin(theta).
    """
    length = math.sqrt(square[0] + square[1] * cosine + square[2] * sine)
    return length, 0.5 * (square[2] * cosine - square[1] * sine) / length


@inlined
def strut_moment(strut: StrutRecord, cos_theta: float, sin_theta: float, theta_rate: float) -> float:
    """Generalised force of spring, stops and damper on theta [N m]: force times change of length."""
    spring_length, spring_slope = length_and_slope(strut.spring_square, cos_theta, sin_theta)
    shock_length, shock_slope = length_and_slope(strut.shock_square, cos_theta, sin_theta)
    push = damper_force(strut, shock_length, shock_slope * theta_rate)
    return spring_force(strut, spring_length) * spring_slope + push * shock_slope


@kernel
def spring_energy(strut: StrutRecord, cos_theta: float, sin_theta: float) -> float:
    """Energy [J] in spring and stops at cosine and sine of theta, zero at the free length."""
    length, _ = length_and_slope(strut.spring_square, cos_theta, sin_theta)
    compression, energy = strut.spring_free - length, 0.0
    if compression > 0.0 or strut.is_captured == 1:
        energy = table_integral(strut.spring, abs(compression))
    if length < strut.bump_below:
        energy += table_integral(strut.stop, strut.bump_below - length)
    elif length > strut.rebound_above:
        energy += table_integral(strut.stop, length - strut.rebound_above)
    return energy


def strut_record(suspension: Suspension, pivot: Vector3, axis: Vector3) -> StrutRecord:
    """Record for the kernel of a left suspension's springs and dampers; the other side's is the same.

    pivot and axis [m, unit] are those of the lower arm, positive rotation raises the wheel.
    """
    points, spring, stops, damper = (
        suspension.hardpoints_left_m, suspension.spring, suspension.stops, suspension.damper,
    )  # fmt: skip
    record = np.recarray(1, STRUT)
    record["spring_square"] = _square(pivot, axis, points.spring_lower_arm, points.spring_chassis)
    record["spring_free"], record["is_captured"] = spring.free_length_m, spring.is_captured
    fill_table(record["spring"], spring.compression_m, spring.force_n)
    record["bump_below"], record["rebound_above"] = stops.bump_below_length_m, stops.rebound_above_length_m
    fill_table(record["stop"], stops.penetration_m, stops.force_n)
    record["shock_square"] = _square(pivot, axis, points.shock_lower_arm, points.shock_chassis)
    record["middle_from"], record["middle_to"] = damper.middle_from_length_m, damper.middle_to_length_m
    record["compression"], record["rebound"] = damper.compression_nspm, damper.rebound_nspm
    record["outer_compression"] = damper.outer_compression_nspm
    record["outer_rebound"] = damper.outer_rebound_nspm
    fill_table(record["damper"], damper.speed_mps, damper.force_n)
    return record[0]


def _square(pivot: Vector3, axis: Vector3, moving: Vector3, fixed: Vector3) -> tuple[float, float, float]:
    """k0, k1, k2 of |P - Q|^2 with P on a circle about the axis."""
    centre = add_scaled(pivot, dot(sub(moving, pivot), axis), axis)
    radius, reach = sub(moving, centre), sub(fixed, centre)
    constant = dot(radius, radius) + dot(reach, reach)
    return constant, -2.0 * dot(radius, reach), -2.0 * dot(cross(axis, radius), reach)
