"""A soil law: a class of settings with two kernels, for the bearing of a plate and for shear.

A law of the suite is one module and one line in SOIL_LAWS. A user's law is named in a file of soils as
`law: my_package.my_module:MyLaw`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from proving_ground.settings import SettingsError, setting
from proving_ground.settings.named_class import named_class
from terrain.soil import BEARING, MOST_PARAMETERS, SHEAR, SOFT, SOIL, SoilRecord, plate_pressure

SOIL_LAWS = {
    "bekker": "terrain.bekker:Bekker",
    "bekker_plain": "terrain.bekker:BekkerPlain",
    "cone_index": "terrain.cone_index:ConeIndex",
    "snow": "terrain.snow:Snow",
}


@dataclass(frozen=True, kw_only=True)
class SoilLaw(ABC):
    """Settings common to all soft soils; a law adds its own settings and its kernels."""

    kind_key: ClassVar[str] = "law"  # in files
    bearing_kernel: ClassVar[Any]  # (soil, plate: Plate) -> Bearing; soil has the law's parameters by name
    shear_kernel: ClassVar[Any]  # (soil, shear: Shear) -> Mobilised

    has_tyre: bool = setting(True, "Whether the tyre deflects too; else all compliance is the soil's, as in ROAMS")
    flattens_tyre: bool = setting(False, "Whether a tyre flattens where the soil bears it; else a round rim sinks in")
    largest_stress: tuple[float, float] = setting(
        (0.0, 0.0), "Angle of the largest stress over that of entry: without slip, and more per slip (Wong and Reece)",
        minimum=0.0, maximum=0.8,
    )  # fmt: skip
    slip_sinkage: float = setting(
        0.0, "Growth of the sinkage with slip; 1.5 gives (1 + i) / (1 - i / 2) for a slip i", minimum=0.0, maximum=10.0
    )
    vertical_flow: float = setting(
        0.0, "Way of soil that gives way: 0 normal to the rim (Wong and Reece), 1 down; halfway, slip alone shears it",
        minimum=0.0, maximum=1.0,
    )  # fmt: skip
    rut_firmness: float = setting(
        1.0, "Stress that a rut's floor bears without giving way, over what pressed it; in cone_index's sand 0.7 of it",
        minimum=0.1, maximum=1.0,
    )  # fmt: skip
    source: str = setting(..., "Source of the values")

    @staticmethod
    def kind(name: str | None) -> type[SoilLaw]:
        """The law of a name in SOIL_LAWS or of module:Class; Bekker's where nothing is given."""
        found: type[SoilLaw] = named_class("law", SOIL_LAWS, "bekker" if name is None else str(name), SoilLaw)
        return found

    def kind_name(self) -> str:
        """Name of the law in files of soils."""
        path = f"{type(self).__module__}:{type(self).__name__}"
        return next((name for name, known in SOIL_LAWS.items() if known == path), path)

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Parameters of this soil for the law's kernels, by name."""

    def side_resistance(self) -> tuple[float, float]:
        """Resistance to a wheel\'s side wall per length: per depth [N/m^2] and per squared depth [N/m^3]."""
        return 0.0, 0.0

    def bow_resistance(self) -> tuple[float, float, float]:
        """Resistance to what a wheel pushes ahead: t, A, B of b (1 + t / tan(entry)) (A z + B z^2) for a sinkage z."""
        return 0.0, 0.0, 0.0

    def record(self) -> SoilRecord:
        """Record for kernels. Compiles the law's kernels, and raises SettingsError where they do not fit."""
        values = self.parameters()
        record = np.zeros(1, SOIL)
        own = record.view(_dtype(type(self).__name__, tuple(values)))
        for name, value in values.items():
            own[name] = value
        record["kind"], record["has_tyre"] = SOFT, self.has_tyre
        record["flattens"], record["forward"] = self.has_tyre and self.flattens_tyre, self.largest_stress
        record["slip_sinkage"], record["side"] = self.slip_sinkage, self.side_resistance()
        record["geometric"] = 1.0 - 2.0 * self.vertical_flow
        record["rut_firmness"] = self.rut_firmness
        record["bow"] = self.bow_resistance()
        try:
            record["bearing_kernel"] = BEARING.address(self.bearing_kernel, own[0])
            record["shear_kernel"] = SHEAR.address(self.shear_kernel, own[0])
        except (TypeError, AttributeError) as error:
            raise SettingsError(f"law {type(self).__name__}: {error}") from error
        return record[0]

    def pressure(self, sinkage: float, width: float, deepest: float = 0.0) -> float:
        """Normal pressure [Pa] under a plate at a sinkage [m], where the soil was pressed to `deepest` [m] before."""
        return float(plate_pressure(self.record(), sinkage, deepest, width))


def _dtype(law: str, names: tuple[str, ...]) -> np.dtype[np.void]:
    """SOIL as a law's kernels see it: its own parameters by name."""
    if len(names) > MOST_PARAMETERS:
        raise SettingsError(f"law {law}: must have at most {MOST_PARAMETERS} parameters, got {len(names)}")
    _, start = SOIL.fields["parameters"][:2]  # type: ignore[index]
    return np.dtype(
        {
            "names": list(names),
            "formats": ["f8"] * len(names),
            "offsets": [start + 8 * index for index in range(len(names))],
            "itemsize": SOIL.itemsize,
        }
    )
