"""config/soils.yaml: soils by name, hard or soft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import SettingsError, setting
from proving_ground.settings.fields import close_name
from proving_ground.settings.nested import load_named
from proving_ground.settings.one_of import one_of
from proving_ground.settings.share import share_file
from terrain.soil import SOIL, SoftSoil, hard_soil


@dataclass(frozen=True, kw_only=True)
class HardSoil:
    """Ground that does not give way."""

    friction: float = setting(..., "Coefficient", minimum=0.01, maximum=2.0)
    source: str = setting(..., "Where the number is from")

    def record(self) -> Any:
        """The kernel's view."""
        return hard_soil(self.friction)


@dataclass(frozen=True, kw_only=True)
class Soil:
    """Exactly one of the two."""

    hard: HardSoil | None = None
    soft: SoftSoil | None = None

    def __post_init__(self) -> None:
        one_of(self)

    def record(self) -> Any:
        """The kernel's view."""
        return one_of(self)[1].record()


def load_soils() -> dict[str, Soil]:
    """All soils by name; raises SettingsError with file, line and key."""
    return load_named(share_file("config/soils.yaml"), Soil)


def soil_table(names: Sequence[str]) -> NDArray[np.void]:
    """Records of soils in the order of their names, as kernels take them."""
    known = load_soils()
    for name in names:
        if name not in known:
            raise SettingsError(f"soil {name}: {close_name(name, known)}")
    return np.array([known[name].record() for name in names], dtype=SOIL)
