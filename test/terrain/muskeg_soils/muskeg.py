"""A soil law from outside the suite: organic ground with a mat on top (Wong, Theory of Ground Vehicles)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from proving_ground.kernels.jit import kernel
from proving_ground.settings import setting
from terrain.soil import Bearing, Mobilised, Plate, Shear, SoilRecord
from terrain.soil_law import SoilLaw


@kernel
def _bearing(soil: SoilRecord, plate: Plate) -> Bearing:
    """p = k z + m z^2, with m four times the mat's stiffness over the plate's hydraulic diameter."""
    z, mat = max(plate.sinkage, 0.0), 4.0 * soil.mat / plate.width
    exponent = (soil.peat + 2.0 * mat * z) / (soil.peat + mat * z)
    return Bearing(soil.peat * z + mat * z * z, exponent, soil.elastic, 2e4, soil.cohesion, soil.friction)


@kernel
def _mobilised(soil: SoilRecord, shear: Shear) -> Mobilised:
    return Mobilised(-math.expm1(-shear.displacement / soil.length), soil.length)


@dataclass(frozen=True, kw_only=True)
class Muskeg(SoilLaw):
    """Peat under a mat."""

    bearing_kernel = staticmethod(_bearing)
    shear_kernel = staticmethod(_mobilised)

    peat_npm3: float = setting(..., "k_p: stiffness of the peat", unit="N/m^3", minimum=1e4, maximum=1e8)
    mat_npm3: float = setting(..., "m_m: strength of the mat", unit="N/m^3", minimum=0.0, maximum=1e8)
    cohesion_pa: float = setting(..., "Cohesion", unit="Pa", minimum=0.0, maximum=1e6)
    friction_deg: float = setting(..., "Angle of internal friction", unit="deg", minimum=0.0, maximum=60.0)

    def parameters(self) -> dict[str, float]:
        return {
            "peat": self.peat_npm3,
            "mat": self.mat_npm3,
            "cohesion": self.cohesion_pa,
            "friction": math.tan(math.radians(self.friction_deg)),
            "length": 0.03,  # [m]
            "elastic": 1e7,  # [Pa/m]
        }
