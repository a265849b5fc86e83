"""Soils: pressure over sinkage (Bekker 1969) bounded by bearing capacity (Terzaghi 1943), shear over displacement
(Janosi and Hanamoto 1961), and hard ground for tyres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from proving_ground.kernels.jit import inlined
from proving_ground.settings import setting

RIGID, SOFT = 0, 1

SOIL = np.dtype(
    [
        ("kind", "i8"),  # RIGID or SOFT
        ("friction", "f8"),  # of hard ground
        ("cohesive_modulus", "f8"),  # k_c [N/m^(n+1)]
        ("frictional_modulus", "f8"),  # k_phi [N/m^(n+2)]
        ("exponent", "f8"),  # n
        ("cohesion", "f8"),  # c [Pa]
        ("tan_friction", "f8"),  # of the angle of internal friction
        ("shear_modulus", "f8"),  # K of Janosi and Hanamoto [m]
        ("elastic", "f8"),  # pressure per unloaded sinkage [Pa/m]
        ("damping", "f8"),  # pressure per speed of sinking [Pa s/m]
        # Bearing capacity: at the surface [Pa], per sinkage and per width [Pa/m]
        ("bearing", "f8"),
        ("bearing_per_depth", "f8"),
        ("bearing_per_width", "f8"),
        ("has_tyre", "i8"),  # 1: the tyre gives way in series with the soil; 0: all compliance is the soil's
    ]
)
SoilRecord: TypeAlias = Any


@inlined
def virgin_pressure(soil: SoilRecord, sinkage: float, width: float) -> float:
    """Pressure [Pa] under a plate of a width [m] pressed to a sinkage [m] for the first time."""
    if sinkage <= 0.0:
        return 0.0
    # Bekker: p = (k_c / b + k_phi) z^n
    stiffness = soil.cohesive_modulus / width + soil.frictional_modulus
    pressure = stiffness * sinkage if soil.exponent == 1.0 else stiffness * sinkage**soil.exponent
    # Terzaghi: q = c N_c + gamma z N_q + gamma b N_gamma / 2
    most = soil.bearing + soil.bearing_per_depth * sinkage + soil.bearing_per_width * width
    return float(min(pressure, most))


class Pressing(NamedTuple):
    """What the soil answers at a place."""

    pressure: float  # [Pa]
    slope: float  # of pressure over sinkage [Pa/m]


@inlined
def pressed(soil: SoilRecord, sinkage: float, deepest: float, width: float) -> Pressing:
    """Pressure at a sinkage where the soil was pressed to `deepest` before: elastic below that, virgin beyond [m]."""
    reached = max(sinkage, deepest)
    if reached <= 0.0:
        return Pressing(0.0, 0.0)
    top = virgin_pressure(soil, reached, width)
    if sinkage >= deepest:
        return Pressing(top, soil.exponent * top / reached)
    slope = unloading_stiffness(soil, top, deepest)
    return Pressing(max(top - slope * (deepest - sinkage), 0.0), slope)


@inlined
def unloading_stiffness(soil: SoilRecord, top: float, deepest: float) -> float:
    """Pressure per unloaded sinkage [Pa/m] from a pressure and depth; never so soft that unloading gives energy."""
    return float(max(soil.elastic, max(soil.exponent, 1.0) * top / deepest))


@inlined
def residual_depth(soil: SoilRecord, deepest: float, width: float) -> float:
    """Depth [m] of the rut that stays where the soil was pressed to `deepest`."""
    if deepest <= 0.0:
        return 0.0
    top = virgin_pressure(soil, deepest, width)
    return float(max(deepest - top / unloading_stiffness(soil, top, deepest), 0.0))


@inlined
def shear_share(soil: SoilRecord, displacement: float) -> float:
    """Share of the shear strength that a displacement [m] brings (Janosi and Hanamoto)."""
    return -math.expm1(-displacement / soil.shear_modulus)


@dataclass(frozen=True, kw_only=True)
class SoftSoil:
    """A soil that gives way."""

    cohesive_modulus: float = setting(..., "k_c of Bekker", unit="N/m^(n+1)", minimum=0.0, maximum=1e9)
    frictional_modulus: float = setting(..., "k_phi of Bekker", unit="N/m^(n+2)", minimum=0.0, maximum=1e12)
    exponent: float = setting(..., "n of Bekker", minimum=0.1, maximum=3.0)
    cohesion_pa: float = setting(..., "Cohesion", unit="Pa", minimum=0.0, maximum=1e7)
    friction_deg: float = setting(..., "Angle of internal friction", unit="deg", minimum=0.0, maximum=60.0)
    shear_modulus_m: float = setting(..., "K of Janosi and Hanamoto", unit="m", minimum=1e-4, maximum=1.0)
    elastic_pa_per_m: float = setting(..., "Pressure per unloaded sinkage", unit="Pa/m", minimum=1e4, maximum=1e12)
    damping_pa_s_per_m: float = setting(..., "Pressure per speed of sinking", unit="Pa s/m", minimum=0.0, maximum=1e7)
    unit_weight_npm3: float = setting(
        0.0, "Weight per volume, for the bearing capacity; 0: no bound", unit="N/m^3", minimum=0.0, maximum=1e5
    )
    has_tyre: bool = setting(True, "The tyre gives way too; else all compliance is the soil's, as in ROAMS")
    source: str = setting(..., "Where the numbers are from")

    def __post_init__(self) -> None:
        if self.cohesive_modulus + self.frictional_modulus <= 0.0:
            raise ValueError("frictional_modulus: must be above 0 where cohesive_modulus is not")

    def record(self) -> SoilRecord:
        """The kernel's view."""
        record = np.zeros(1, SOIL)
        angle = math.radians(self.friction_deg)
        record["kind"], record["has_tyre"] = SOFT, self.has_tyre
        record["cohesive_modulus"], record["frictional_modulus"] = self.cohesive_modulus, self.frictional_modulus
        record["exponent"], record["cohesion"] = self.exponent, self.cohesion_pa
        record["tan_friction"], record["shear_modulus"] = math.tan(angle), self.shear_modulus_m
        record["elastic"] = self.elastic_pa_per_m
        record["damping"] = self.damping_pa_s_per_m
        record["bearing"], record["bearing_per_depth"], record["bearing_per_width"] = self.bearing()
        return record[0]

    def bearing(self) -> tuple[float, float, float]:
        """Terzaghi's capacity of a strip: c N_c [Pa], gamma N_q and gamma N_gamma / 2 [Pa/m]; none without weight."""
        if self.unit_weight_npm3 == 0.0:
            return math.inf, 0.0, 0.0
        n_c, n_q, n_gamma = bearing_factors(math.radians(self.friction_deg))
        return self.cohesion_pa * n_c, self.unit_weight_npm3 * n_q, 0.5 * self.unit_weight_npm3 * n_gamma


def bearing_factors(angle: float) -> tuple[float, float, float]:
    """Terzaghi's N_c, N_q and N_gamma for an angle of internal friction [rad].

    N_q and N_c are Terzaghi's for a rough base (1943); N_gamma, which he gives in a chart, is Vesic's fit (1973).

    >>> [round(value, 2) for value in bearing_factors(0.0)]
    [5.71, 1.0, 0.0]
    """
    tangent = math.tan(angle)
    spiral = math.exp((0.75 * math.pi - 0.5 * angle) * tangent)
    n_q = spiral**2 / (2.0 * math.cos(0.25 * math.pi + 0.5 * angle) ** 2)
    n_c = 1.5 * math.pi + 1.0 if tangent == 0.0 else (n_q - 1.0) / tangent
    return n_c, n_q, 2.0 * (n_q + 1.0) * tangent


def hard_soil(friction: float) -> SoilRecord:
    """Ground that does not give way."""
    record = np.zeros(1, SOIL)
    record["kind"], record["friction"] = RIGID, friction
    return record[0]
