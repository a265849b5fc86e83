"""Soil after Bekker (1969): pressure as a power of sinkage, bounded by Terzaghi's bearing capacity (1943); shear over
displacement after Janosi and Hanamoto (1961).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from proving_ground.kernels.jit import kernel
from proving_ground.settings import setting
from terrain.soil import Bearing, Mobilised, Plate, Shear, SoilRecord
from terrain.soil_law import SoilLaw


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
def _mobilised(soil: SoilRecord, shear: Shear) -> Mobilised:
    """Share of the shear strength by Janosi and Hanamoto; a shear_kernel of SoilLaw."""
    return Mobilised(-math.expm1(-shear.displacement / soil.shear_modulus), soil.shear_modulus)


@dataclass(frozen=True, kw_only=True)
class Bekker(SoilLaw):
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
