"""Tuning of the filters, from config/observers/filters.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from proving_ground.settings import SettingsError, setting
from proving_ground.settings.nested import load_settings
from proving_ground.settings.share import share_file
from state_observer.filters.registry import check_filter_names
from state_observer.linkages.sensors import SENSOR_SETS

Row = TypeVar("Row")

ERRORS = ("low", "high")


@dataclass(frozen=True, kw_only=True)
class PlantNoiseRow:
    """Plant noise of some filters in some cases."""

    linkage: str = setting(..., "Name of a linkage")
    errors: tuple[str, ...] = setting(..., "Levels of modelling error", choices=ERRORS)
    sensors: tuple[str, ...] = setting(..., "Sets of sensors", choices=SENSOR_SETS)
    filters: tuple[str, ...] = setting(..., "Names of the filters that the row is for")
    psd: float = setting(..., "PSD of acceleration noise", unit="rad^2/s^3", minimum=0.0, maximum=1e6)

    def __post_init__(self) -> None:
        check_filter_names(self.filters)


@dataclass(frozen=True, kw_only=True)
class VarianceRow:
    """Initial variances of some filters."""

    linkage: str = setting(..., "Name of a linkage")
    sensors: tuple[str, ...] = setting(..., "Sets of sensors", choices=SENSOR_SETS)
    filters: tuple[str, ...] = setting(..., "Names of the filters that the row is for")
    angle: float = setting(..., "Initial variance of positions", unit="rad^2, m^2", minimum=1e-12, maximum=1e3)
    rate: float = setting(..., "Initial variance of velocities", unit="rad^2/s^2, m^2/s^2", minimum=1e-12, maximum=1e3)

    def __post_init__(self) -> None:
        check_filter_names(self.filters)


@dataclass(frozen=True, kw_only=True)
class ForceTuning:
    """Acceleration error of the forceEKF: a first-order shaping filter."""

    psd: float = setting(
        ..., "PSD of the noise that drives the acceleration error", unit="rad^2/s^5", minimum=0.0, maximum=1e9
    )
    initial_std: float = setting(
        ..., "Initial standard deviation of the acceleration error", unit="rad/s^2", minimum=1e-6, maximum=1e3
    )
    correlation_time_s: float = setting(
        ..., "Correlation time of the acceleration error", unit="s", minimum=1e-3, maximum=1e9
    )


@dataclass(frozen=True, kw_only=True)
class UnscentedTuning:
    """Parameters of the unscented transform."""

    alpha: float = setting(1e-3, "Spread of the sigma points", minimum=1e-6, maximum=1.0)
    beta: float = setting(
        2.0, "Parameter beta of the unscented transform; 2 for a normal distribution", minimum=0.0, maximum=10.0
    )
    kappa: float = setting(0.0, "Parameter kappa of the unscented transform, usually 0", minimum=0.0, maximum=10.0)


@dataclass(frozen=True, kw_only=True)
class SmoothTuning:
    """SCKF: constraints as measurements whose noise shrinks."""

    weakening: float = setting(
        0.1, "Initial weakening of the constraints, alpha~ of Eq. 3.106", minimum=1e-9, maximum=10.0
    )
    decay: float = setting(1.0, "Decay of the weakening per iteration, beta~ of Eq. 3.110", minimum=0.0, maximum=100.0)
    gap: float = setting(1e-3, "Norm of the constraints that ends iterations", minimum=1e-12, maximum=1.0)
    most_iterations: int = setting(200, "Largest number of iterations", minimum=1, maximum=10000)


@dataclass(frozen=True, kw_only=True)
class PerfectTuning:
    """Parameters of DIEKFpm, which treats constraints as perfect measurements."""

    variance: float = setting(1e-3, "Initial variance of the constraints' noise", minimum=1e-12, maximum=10.0)
    shrink: float = setting(
        1.0,
        "Exponent by which the constraints' noise shrinks per iteration, as exp(-shrink)",
        minimum=0.0,
        maximum=100.0,
    )
    gap: float = setting(1e-3, "Norm of the constraints that ends iterations", minimum=1e-12, maximum=1.0)
    most_iterations: int = setting(2000, "Largest number of iterations", minimum=1, maximum=10000)


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Parameters of all filters."""

    step_s: float = setting(..., "Time step of models and filters", unit="s", minimum=1e-5, maximum=0.1)
    sensor_std: float = setting(
        ..., "Standard deviation of every sensor's noise", unit="rad, rad/s", minimum=1e-9, maximum=10.0
    )
    plant_noise: tuple[PlantNoiseRow, ...]
    initial_variance: tuple[VarianceRow, ...]
    force: ForceTuning
    unscented: UnscentedTuning
    smooth: SmoothTuning
    perfect: PerfectTuning
    penalty: float = setting(..., "Penalty factor of the index-3 formulation", minimum=1.0, maximum=1e15)

    def plant_psd(self, linkage: str, errors: str, sensors: str, method: str) -> float:
        """Plant noise [rad^2/s^3] of one case; forceEKF has its own parameter."""
        rows = [
            row.psd
            for row in self.plant_noise
            if row.linkage == linkage and errors in row.errors and sensors in row.sensors and method in row.filters
        ]
        return _only(rows, f"plant_noise of {method} on {linkage} with {sensors}, {errors} error")

    def variances(self, linkage: str, sensors: str, method: str) -> tuple[float, float]:
        """Initial variances of positions and velocities."""
        rows = [
            (row.angle, row.rate)
            for row in self.initial_variance
            if row.linkage == linkage and sensors in row.sensors and method in row.filters
        ]
        return _only(rows, f"initial_variance of {method} on {linkage} with {sensors}")


def load_tuning(path: Path | None = None) -> Tuning:
    """Tuning from a YAML file; the default is config/observers/filters.yaml."""
    return load_settings(path or share_file("config/observers/filters.yaml"), Tuning)


def _only(rows: Sequence[Row], what: str) -> Row:
    if len(rows) != 1:
        raise SettingsError(f"{what}: must have one row, has {len(rows)}")
    return rows[0]
