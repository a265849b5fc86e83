"""Snow: pressure by its compaction between surface and ground, shear strength by CRREL's measurements.

Snow of a depth h and a density is compressed until its density is that of packed snow, at a sinkage z_m of a part of h:
p = k_m z / (1 - z / z_m) (Preston-Thomas, as used by Wong). Gross traction per area of contact is
0.851 s^0.823 in undisturbed snow under a pressure s [kPa] (CRREL 95-1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from proving_ground.kernels.jit import kernel
from proving_ground.settings import same_setting, setting
from terrain.bekker import Bekker, side_resistance
from terrain.soil import Bearing, Plate, SoilRecord
from terrain.soil_law import SoilLaw

PACKED = 500.0  # density of snow under a wheel, up to 210 kPa (CRREL 95-7) [kg/m^3]
STRENGTH, POWER = 851.0, 0.823  # traction [Pa] = STRENGTH (p / 1 kPa)^POWER
DEEPEST = 0.98  # share of the largest sinkage from which the pressure is continued by its slope
GRAVITY = 9.81


@kernel
def strength(pressure: float) -> float:
    """Largest shear stress [Pa] of undisturbed snow under a pressure [Pa]."""
    return float(STRENGTH * (pressure / 1000.0) ** POWER)


@kernel
def _bearing(soil: SoilRecord, plate: Plate) -> Bearing:
    """Pressure of snow that is compressed; a bearing_kernel of SoilLaw."""
    share = min(max(plate.depth / soil.most_sinkage, 0.0), DEEPEST)
    pressure, exponent = soil.stiffness * soil.most_sinkage * share / (1.0 - share), 1.0 / (1.0 - share)
    beyond = max(plate.depth / soil.most_sinkage - DEEPEST, 0.0) / DEEPEST
    pressure *= 1.0 + exponent * beyond
    # The tangent to the power law of strength over pressure.
    pressed = max(pressure, 1.0)
    most = strength(pressed)
    return Bearing(pressure, exponent, soil.elastic, soil.damping, (1.0 - POWER) * most, POWER * most / pressed)


@dataclass(frozen=True, kw_only=True)
class Snow(SoilLaw):
    """Settings of undisturbed snow on firm ground."""

    bearing_kernel = staticmethod(_bearing)
    shear_kernel = Bekker.shear_kernel  # Janosi and Hanamoto

    depth_m: float = setting(..., "Depth of the snow", unit="m", minimum=0.02, maximum=3.0)
    density_kgpm3: float = setting(..., "Density of the undisturbed snow", unit="kg/m^3", minimum=50.0, maximum=450.0)
    stiffness_pa_per_m: float = setting(
        4e4, "Pressure per sinkage at the surface, k_m", unit="Pa/m", minimum=1e3, maximum=1e7
    )
    shear_modulus_m: float = setting(
        0.015, "Shear deformation modulus K of Janosi and Hanamoto", unit="m", minimum=1e-4, maximum=1.0
    )
    elastic_pa_per_m: float = setting(1e7, "Pressure per unloaded sinkage", unit="Pa/m", minimum=1e4, maximum=1e12)
    damping_pa_s_per_m: float = setting(1e4, "Pressure per speed of sinking", unit="Pa s/m", minimum=0.0, maximum=1e7)
    flattens_tyre: bool = same_setting(Bekker, "flattens_tyre")
    vertical_flow: float = same_setting(Bekker, "vertical_flow")

    def parameters(self) -> dict[str, float]:
        """Parameters of the law's kernels, by name, in SI units."""
        return {
            "stiffness": self.stiffness_pa_per_m,
            "most_sinkage": self.depth_m * (1.0 - self.density_kgpm3 / PACKED),  # CRREL 95-7
            "shear_modulus": self.shear_modulus_m,
            "elastic": self.elastic_pa_per_m,
            "damping": self.damping_pa_s_per_m,
        }

    def side_resistance(self) -> tuple[float, float]:
        """Resistance to a wheel\'s side wall per length: per depth [N/m^2] and per squared depth [N/m^3]."""
        return side_resistance(0.0, math.radians(20.0), GRAVITY * self.density_kgpm3)
