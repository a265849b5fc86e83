"""Files of soils by name, hard or soft: config/soils.yaml, and users' own as FILE.yaml:NAME."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import SettingsError, same_setting, setting
from proving_ground.settings.fields import close_name
from proving_ground.settings.nested import load_named
from proving_ground.settings.one_of import one_of
from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from terrain.soil import SOIL, hard_soil
from terrain.soil_law import SoilLaw


@dataclass(frozen=True, kw_only=True)
class HardSoil:
    """Settings of ground that does not yield."""

    friction: float = same_setting(FlatGround, "friction", default=..., read_only=False)
    source: str = setting(..., "Source of the value")

    def record(self) -> Any:
        """The soil as a record for kernels."""
        return hard_soil(self.friction)


@dataclass(frozen=True, kw_only=True)
class Soil:
    """Hard or soft: exactly one of the two."""

    hard: HardSoil | None = None
    soft: SoilLaw | None = None

    def __post_init__(self) -> None:
        one_of(self)

    def record(self) -> Any:
        """The soil as a record for kernels."""
        return one_of(self)[1].record()


def load_soils(path: Path | None = None) -> dict[str, Soil]:
    """All soils of a file by name, by default of config/soils.yaml; raises SettingsError with file, line and key."""
    return load_named(path or share_file("config/soils.yaml"), Soil)


def soil_table(names: Sequence[str]) -> NDArray[np.void]:
    """Records of soils in the order of their names, in the form that kernels use."""
    files = {file: load_soils(Path(file) if file else None) for file in {split_soil(name)[0] for name in names}}
    return np.array([_soil(files, name).record() for name in names], dtype=SOIL)


def soil_of(name: str) -> Soil:
    """A soil by its name, or by FILE.yaml:NAME; raises SettingsError for an unknown one."""
    file = split_soil(name)[0]
    return _soil({file: load_soils(Path(file) if file else None)}, name)


def split_soil(name: str) -> tuple[str, str]:
    """File and name of a soil; no file for one of config/soils.yaml."""
    file, _, soil = name.rpartition(":")
    return file, soil


def soil_found_from(name: str, folder: Path) -> str:
    """A soil's name; the path of its file, if it has one, made absolute from the folder of the file that names it."""
    file, soil = split_soil(name)
    return f"{(folder / file).resolve()}:{soil}" if file else name


def _soil(files: dict[str, dict[str, Soil]], name: str) -> Soil:
    file, soil = split_soil(name)
    if soil not in files[file]:
        raise SettingsError(f"soil {name}: {close_name(soil, files[file])}")
    return files[file][soil]
