"""Soil after Bekker (1969): pressure as a power of sinkage, bounded by Terzaghi's bearing capacity (1943); shear over
displacement after Janosi and Hanamoto (1961).

`BekkerPlain` is that and no more, as in other simulations of deformable terrain: a round rim sinks into it. `Bekker` is
the soil of the suite: tyres flatten on it, slip digs into it, side walls push it aside, and firm ground may lie below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from proving_ground.kernels.jit import kernel
from proving_ground.settings import same_setting, setting
from terrain.soil import Bearing, Mobilised, Plate, Shear, SoilRecord
from terrain.soil_law import SoilLaw

# Angle of the largest stress over that of entry, c_1 and c_2 of Wong and Reece (1967): their compact sand.
LARGEST_STRESS = (0.43, 0.32)
SLIP_SINKAGE = 1.5  # Lyasko (2010)
LOCAL_SHEAR = 2.0 / 3.0  # Terzaghi's reduction where soil fails by local shear


@kernel
def _bearing(soil: SoilRecord, plate: Plate) -> Bearing:
    """Pressure of Bekker's law under a plate, bounded by Terzaghi; a bearing_kernel of SoilLaw."""
    pressure = 0.0
    if plate.sinkage > 0.0:
        # Bekker: p = (k_c / b + k_phi) z^n
        stiffness = soil.cohesive_modulus / plate.width + soil.frictional_modulus
        power = plate.sinkage if soil.exponent == 1.0 else plate.sinkage**soil.exponent
        # Terzaghi: q = c N_c + gamma z N_q + gamma b N_gamma / 2
        most = soil.bearing + soil.bearing_per_depth * plate.sinkage + soil.bearing_per_width * plate.width
        pressure = min(stiffness * power, most)
    return Bearing(pressure, soil.exponent, soil.elastic, soil.damping, soil.cohesion, soil.tan_friction)


@kernel
def _layered_bearing(soil: SoilRecord, plate: Plate) -> Bearing:
    """The same over firm ground at a depth H: p / (1 - (z/H)^4), which no load presses through; a bearing_kernel."""
    found = _bearing(soil, plate)
    if soil.firm_depth == 0.0 or plate.sinkage <= 0.0:
        return found
    share = min(plate.depth / soil.firm_depth, DEEPEST)
    fourth = share**4
    stiffer = 1.0 / (1.0 - fourth)
    # Beyond, as steeply as there: pressure per sinkage stays finite.
    beyond = max(plate.depth / soil.firm_depth - DEEPEST, 0.0) / DEEPEST
    exponent = found.exponent + 4.0 * fourth * stiffer
    pressure = found.pressure * stiffer * (1.0 + exponent * beyond)
    return Bearing(pressure, exponent, found.elastic, found.damping, found.cohesion, found.friction)


@kernel
def _mobilised(soil: SoilRecord, shear: Shear) -> Mobilised:
    """Share of the shear strength by Janosi and Hanamoto; a shear_kernel of SoilLaw."""
    return Mobilised(-math.expm1(-shear.displacement / soil.shear_modulus), soil.shear_modulus)


DEEPEST = 0.98  # sinkage over the depth of firm ground from which the pressure is continued by its slope


@dataclass(frozen=True, kw_only=True)
class BekkerPlain(SoilLaw):
    """Settings of a soil by Bekker's law."""

    bearing_kernel = staticmethod(_bearing)
    shear_kernel = staticmethod(_mobilised)

    cohesive_modulus: float = setting(..., "Cohesive modulus k_c of Bekker", unit="N/m^(n+1)", minimum=0.0, maximum=1e9)
    frictional_modulus: float = setting(
        ..., "Frictional modulus k_phi of Bekker", unit="N/m^(n+2)", minimum=0.0, maximum=1e12
    )
    exponent: float = setting(..., "Sinkage exponent n of Bekker", minimum=0.1, maximum=3.0)
    cohesion_pa: float = setting(..., "Cohesion of the soil", unit="Pa", minimum=0.0, maximum=1e7)
    friction_deg: float = setting(..., "Angle of internal friction", unit="deg", minimum=0.0, maximum=60.0)
    shear_modulus_m: float = setting(
        ..., "Shear deformation modulus K of Janosi and Hanamoto", unit="m", minimum=1e-4, maximum=1.0
    )
    elastic_pa_per_m: float = setting(..., "Pressure per unloaded sinkage", unit="Pa/m", minimum=1e4, maximum=1e12)
    damping_pa_s_per_m: float = setting(..., "Pressure per speed of sinking", unit="Pa s/m", minimum=0.0, maximum=1e7)
    unit_weight_npm3: float = setting(
        0.0, "Weight per volume, for the bearing capacity; 0: no bound", unit="N/m^3", minimum=0.0, maximum=1e5
    )

    def __post_init__(self) -> None:
        if self.cohesive_modulus + self.frictional_modulus <= 0.0:
            raise ValueError("frictional_modulus: must be above 0 where cohesive_modulus is not")

    def parameters(self) -> dict[str, float]:
        """Parameters of the law's kernels, by name, in SI units."""
        surface, per_depth, per_width = self.capacity()
        return {
            "cohesive_modulus": self.cohesive_modulus,  # k_c [N/m^(n+1)]
            "frictional_modulus": self.frictional_modulus,  # k_phi [N/m^(n+2)]
            "exponent": self.exponent,  # n
            "cohesion": self.cohesion_pa,  # c [Pa]
            "tan_friction": math.tan(math.radians(self.friction_deg)),
            "shear_modulus": self.shear_modulus_m,  # K [m]
            "elastic": self.elastic_pa_per_m,
            "damping": self.damping_pa_s_per_m,
            "bearing": surface,
            "bearing_per_depth": per_depth,
            "bearing_per_width": per_width,
        }

    def capacity(self) -> tuple[float, float, float]:
        """Terms of Terzaghi's bearing capacity of a strip: c N_c [Pa], gamma N_q and gamma N_gamma / 2 [Pa/m].

        They are infinite, 0 and 0 for a unit weight of 0, which means no bound.
        """
        if self.unit_weight_npm3 == 0.0:
            return math.inf, 0.0, 0.0
        n_c, n_q, n_gamma = bearing_factors(math.radians(self.friction_deg))
        return self.cohesion_pa * n_c, self.unit_weight_npm3 * n_q, 0.5 * self.unit_weight_npm3 * n_gamma


@dataclass(frozen=True, kw_only=True)
class Bekker(BekkerPlain):
    """Settings of a soil by Bekker's law that tyres flatten on, that slip digs into, and that lies on firm ground."""

    bearing_kernel = staticmethod(_layered_bearing)

    flattens_tyre: bool = same_setting(SoilLaw, "flattens_tyre", default=True)
    largest_stress: tuple[float, float] = same_setting(SoilLaw, "largest_stress", default=LARGEST_STRESS)
    slip_sinkage: float = same_setting(SoilLaw, "slip_sinkage", default=SLIP_SINKAGE)
    vertical_flow: float = same_setting(SoilLaw, "vertical_flow", default=0.5)
    firm_depth_m: float = setting(
        0.0, "Depth of firm ground below; 0: there is no such ground", unit="m", minimum=0.0, maximum=10.0
    )

    bow_share: float = setting(
        1.0, "Share of Bekker's resistance of the soil that is pushed ahead; 0: none is", minimum=0.0, maximum=2.0
    )

    def parameters(self) -> dict[str, float]:
        """Parameters of the law's kernels, by name, in SI units."""
        return super().parameters() | {"firm_depth": self.firm_depth_m}

    def side_resistance(self) -> tuple[float, float]:
        """Resistance to a wheel\'s side wall per length: per depth [N/m^2] and per squared depth [N/m^3]."""
        return side_resistance(self.cohesion_pa, math.radians(self.friction_deg), self.unit_weight_npm3)

    def bow_resistance(self) -> tuple[float, float, float]:
        """As SoilLaw's, by Bekker (1969): a wedge that fails by local shear, with 2/3 of its strength."""
        tangent = LOCAL_SHEAR * math.tan(math.radians(self.friction_deg))
        n_c, _, n_gamma = bearing_factors(math.atan(tangent))
        level = 1.0 / (1.0 + tangent * tangent)  # cosine of the angle, squared
        per_weight = (2.0 * n_gamma / tangent + 1.0) * level if tangent > 0.0 else 1.0
        share = 0.5 * self.bow_share
        per_depth = 2.0 * LOCAL_SHEAR * self.cohesion_pa * (n_c - tangent) * level
        return tangent, share * per_depth, share * self.unit_weight_npm3 * per_weight


def side_resistance(cohesion: float, friction: float, unit_weight: float) -> tuple[float, float]:
    """Resistance to an upright wall per length (Hegedus 1960), per depth [N/m^2] and per squared depth [N/m^3].

    R_b = D_1 (c h + gamma h^2 D_2 / 2) for a wall of depth h; cohesion in Pa, friction angle in rad, weight in N/m^3.
    Without friction, D_2 / D_1 tends to 1, as for a wall in clay.
    """
    destruction = 0.25 * math.pi - 0.5 * friction  # angle of the failing wedge
    cotangent = 1.0 / math.tan(destruction)
    first = cotangent + math.tan(destruction + friction)
    second = cotangent + (cotangent * cotangent * math.tan(friction))
    return first * cohesion, 0.5 * first * unit_weight * second


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
