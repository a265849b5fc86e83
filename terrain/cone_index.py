"""Soils by the strength that a cone penetrometer or the moisture tells: Bekker's numbers that belong together.

Sand is given by its cone index. Density, friction angle, moduli and shear displacement follow from it, between those of
the Land Locomotion Laboratory's loose sand (17 psi) and of Wong's LETE sand (328 psi). Fine-grained soils are given by
their rating cone index or by their moisture, and are undrained: cohesion alone, a twelfth of the cone index.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from proving_ground.settings import same_setting, setting
from terrain.bekker import Bekker, BekkerPlain
from terrain.soil import SoilRecord
from terrain.soil_law import SoilLaw

PSI_PA = 6894.757
SAND = "sand"
# ln RCI [psi] = a + b ln M for a moisture M by weight [%], by texture (Sullivan and Anderson 2000, SMSP II).
MOISTURE = {
    "loamy_sand": (12.542, -2.955),
    "silt": (11.936, -2.407),
    "loam": (15.506, -3.530),
    "clay": (13.686, -2.705),
    "organic": (12.189, -1.942),
}
LOOSE, DENSE = 17.0, 330.0  # cone index of the sands between which the others lie [psi]
CONE_RADIUS, CONE_HEIGHT = 0.01013, 0.0378  # of the WES cone [m]: 30 degrees, half a square inch
# Bearing capacity of undrained soil over its cohesion: of a deep cone, and of a plate at the surface (Skempton 1951).
CONE, PLATE = 12.0, 6.2
LOOSENED = 0.7  # stress that a rut's floor in sand bears without giving way, over what pressed it; c
LAYER = 0.1524  # [m]: depth over which the cone index is the mean, 6 inches
DEPTHS = 50  # of the mean


@dataclass(frozen=True, kw_only=True)
class ConeIndex(SoilLaw):
    """Settings of a soil by its cone index or its moisture."""

    bearing_kernel, shear_kernel = Bekker.bearing_kernel, Bekker.shear_kernel

    texture: str = setting(..., "Texture of the soil", choices=(SAND, *MOISTURE))
    cone_index_psi: float = setting(
        0.0, "Mean cone index of the upper 6 inches of sand, rating cone index of other soils; 0: from the moisture",
        unit="psi", minimum=0.0, maximum=750.0,
    )  # fmt: skip
    moisture_percent: float = setting(
        0.0, "Water over dry soil by weight; 0: not known", unit="%", minimum=0.0, maximum=200.0
    )
    flattens_tyre: bool = same_setting(Bekker, "flattens_tyre")
    largest_stress: tuple[float, float] = same_setting(Bekker, "largest_stress")
    slip_sinkage: float = same_setting(Bekker, "slip_sinkage")
    vertical_flow: float = same_setting(Bekker, "vertical_flow")
    firm_depth_m: float = same_setting(Bekker, "firm_depth_m")

    def __post_init__(self) -> None:
        if (self.cone_index_psi > 0.0) == (self.moisture_percent > 0.0):
            raise ValueError("cone_index_psi: exactly one of cone_index_psi and moisture_percent must be given")
        if self.texture == SAND and self.moisture_percent > 0.0:
            raise ValueError("moisture_percent: must be 0 for sand, whose strength depends on its density")
        if not LEAST_PSI <= self.index_psi() <= MOST_PSI:
            raise ValueError(f"cone index: must be {LEAST_PSI:g} to {MOST_PSI:g} psi, is {self.index_psi():.3g}")

    def index_psi(self) -> float:
        """Cone index [psi], given or from the moisture."""
        if self.cone_index_psi > 0.0:
            return self.cone_index_psi
        intercept, slope = MOISTURE[self.texture]
        return math.exp(intercept + slope * math.log(self.moisture_percent))

    def as_bekker(self) -> Bekker:
        """The same soil by Bekker's numbers."""
        index = self.index_psi()
        numbers, share = (_sand(index), 1.0) if self.texture == SAND else (_fine_grained(index), PLATE / CONE)
        loosened = LOOSENED if self.texture == SAND else 1.0
        modulus = share * index * PSI_PA / mean_cone_index(0.0, 1.0, numbers["exponent"])
        return Bekker(
            cohesive_modulus=0.0, frictional_modulus=modulus, **numbers, flattens_tyre=self.flattens_tyre,
            largest_stress=self.largest_stress, slip_sinkage=self.slip_sinkage, firm_depth_m=self.firm_depth_m,
            vertical_flow=self.vertical_flow, rut_firmness=loosened * self.rut_firmness,
            has_tyre=self.has_tyre, source=self.source,
        )  # fmt: skip

    def parameters(self) -> dict[str, float]:
        """Parameters of the law's kernels, by name, in SI units."""
        return self.as_bekker().parameters()

    def record(self) -> SoilRecord:
        """Record for kernels: that of the same soil by Bekker's numbers."""
        return self.as_bekker().record()


LEAST_PSI, MOST_PSI = 2.0, 750.0


def cone_index_of(soil: SoilLaw) -> float:
    """Cone index [psi] of a soil by its cone index or by Bekker's numbers; NaN of another."""
    if isinstance(soil, ConeIndex):
        return soil.index_psi()
    if isinstance(soil, BekkerPlain):
        return mean_cone_index(soil.cohesive_modulus, soil.frictional_modulus, soil.exponent) / PSI_PA
    return math.nan


def bekker_of(soil: SoilLaw) -> BekkerPlain | None:
    """A soil by Bekker's numbers; None for one that has none."""
    if isinstance(soil, ConeIndex):
        return soil.as_bekker()
    return soil if isinstance(soil, BekkerPlain) else None


def _sand(index: float) -> dict[str, float]:
    """Numbers of dry sand of a cone index [psi]."""
    dense = math.log(index / LOOSE) / math.log(DENSE / LOOSE)
    return {
        "exponent": min(max(1.1 - 0.3 * dense, 0.7), 1.1),
        "cohesion_pa": 1000.0,
        "friction_deg": min(max(28.0 + 11.0 * dense, 26.0), 42.0),
        "shear_modulus_m": min(max(0.032 - 0.020 * dense, 0.01), 0.035),
        "elastic_pa_per_m": 1.4e7 * (index / LOOSE) ** 0.4,
        "damping_pa_s_per_m": 30000.0,
        "unit_weight_npm3": min(max(15000.0 + 2500.0 * dense, 14000.0), 18500.0),
    }


def _fine_grained(index: float) -> dict[str, float]:
    """Numbers of an undrained fine-grained soil of a rating cone index [psi]."""
    return {
        "bow_share": 0.0,  # published resistances are met without
        "exponent": 0.4,
        "cohesion_pa": index * PSI_PA / CONE,
        "friction_deg": 0.0,
        "shear_modulus_m": 0.008,
        "elastic_pa_per_m": 5e5 * index,
        "damping_pa_s_per_m": 30000.0,
        "unit_weight_npm3": 17500.0,
    }


def mean_cone_index(cohesive_modulus: float, frictional_modulus: float, exponent: float) -> float:
    """Mean resistance [Pa] of the WES cone in the upper 6 inches, from Bekker's pressure over its surface.

    At a depth z of its base, with rings of the cone as plates whose smaller side is their radius:
    CI = (k_c / (r h)) [(z+h)^(n+1) - z^(n+1)] / (n+1)
       + (2 k_phi / h^2) {[(z+h)^(n+2) - z^(n+2)] / ((n+1)(n+2)) - h z^(n+1) / (n+1)}.
    """
    r, h, n = CONE_RADIUS, CONE_HEIGHT, exponent
    total = 0.0
    for k in range(DEPTHS):
        z = LAYER * (k + 0.5) / DEPTHS
        first = ((z + h) ** (n + 1.0) - z ** (n + 1.0)) / (n + 1.0)
        second = ((z + h) ** (n + 2.0) - z ** (n + 2.0)) / ((n + 1.0) * (n + 2.0)) - h * z ** (n + 1.0) / (n + 1.0)
        total += cohesive_modulus / (r * h) * first + 2.0 * frictional_modulus / (h * h) * second
    return total / DEPTHS
