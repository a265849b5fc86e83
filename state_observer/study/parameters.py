"""Parameters of the study, from config/observers/study.yaml."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from proving_ground.settings import setting
from proving_ground.settings.nested import load_settings
from proving_ground.settings.share import share_file
from proving_ground.settings.units import LARGEST_SEED
from state_observer.filters.registry import check_filter_names
from state_observer.filters.tuning import ERRORS
from state_observer.linkages.sensors import SENSOR_SETS


class Case(NamedTuple):
    """One run of the study: linkage, sensors, model error, rate and filter."""

    linkage: str
    sensors: str
    error: str
    rate_hz: int
    method: str


@dataclass(frozen=True, kw_only=True)
class ModelError:
    """Modelling error of the filters."""

    name: str = setting(..., "Level of the modelling error, by which rows of the tuning are found", choices=ERRORS)
    gravity_mps2: float = setting(..., "Error added to the gravity", unit="m/s^2", minimum=-10.0, maximum=10.0)
    start_angle_rad: float = setting(
        ..., "Error added to each crank's angle at the start", unit="rad", minimum=-3.2, maximum=3.2
    )


@dataclass(frozen=True, kw_only=True)
class StudyParameters:
    """Linkages x sensors x errors x rates x filters, each for some seconds."""

    linkages: tuple[str, ...] = setting(..., "Names of linkages in config/observers")
    sensors: tuple[str, ...] = setting(..., "Sets of sensors", choices=SENSOR_SETS)
    rates_hz: tuple[int, ...] = setting(..., "Readings of the sensors per second", unit="Hz", minimum=1, maximum=100000)
    filters: tuple[str, ...] = setting(..., "Names of the filters that are compared")
    duration_s: float = setting(..., "Duration of each run", unit="s", minimum=0.01, maximum=1e4)
    noise_seed: int = setting(..., "Seed of the sensors' noise", minimum=0, maximum=LARGEST_SEED)
    true_gravity_mps2: float = setting(
        ..., "True gravitational acceleration, negative is down", unit="m/s^2", minimum=-100.0, maximum=100.0
    )
    errors: tuple[ModelError, ...]

    def __post_init__(self) -> None:
        check_filter_names(self.filters)
        if "errorEKF" not in self.filters:
            raise ValueError("filters: must include errorEKF, the baseline of the cost comparison")
        if [error.name for error in self.errors].count("high") != 1:
            raise ValueError("errors: must include high, which the pictures of single runs show")

    def cases(self) -> list[Case]:
        """All combinations of linkage, sensors, model error, rate and filter that the study runs."""
        names = [error.name for error in self.errors]
        parts = (self.linkages, self.sensors, names, self.rates_hz, self.filters)
        return [Case(*case) for case in itertools.product(*parts)]

    def error(self, name: str) -> ModelError:
        """The error with this name."""
        return next(error for error in self.errors if error.name == name)


def load_study(path: Path | None = None) -> StudyParameters:
    """Study from a YAML file; the default is config/observers/study.yaml."""
    return load_settings(path or share_file("config/observers/study.yaml"), StudyParameters)
