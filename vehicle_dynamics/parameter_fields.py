"""Common code of the vehicle parameter dataclasses: fields with units and bounds, and checks of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.table import MOST_TABLE_VALUES
from proving_ground.settings import setting


def mass(description: str) -> Any:
    """A mass [kg], above zero."""
    return setting(..., description, unit="kg", minimum=1e-6, maximum=1e6)


def point(description: str) -> Any:
    """A point of the chassis frame [m]."""
    return setting(..., description, unit="m", minimum=-100.0, maximum=100.0)


def moment(description: str) -> Any:
    """A moment of inertia [kg m^2]."""
    return setting(..., description, unit="kg m^2", minimum=0.0, maximum=1e7)


def length(description: str) -> Any:
    """A length [m], above zero."""
    return setting(..., description, unit="m", minimum=1e-6, maximum=100.0)


def damping_rate(description: str) -> Any:
    """A rate of damping [N s/m]."""
    return setting(..., description, unit="N s/m", minimum=0.0, maximum=1e7)


def check_curve(x_name: str, x: tuple[float, ...], y_name: str, y: tuple[float, ...]) -> None:
    """Raise ValueError unless y over x is a table that fits the kernels, with x increasing."""
    if not 2 <= len(x) <= MOST_TABLE_VALUES:
        raise ValueError(f"{x_name}: must have 2 to {MOST_TABLE_VALUES} values, got {len(x)}")
    if len(x) != len(y):
        raise ValueError(f"{y_name}: must have as many values as {x_name} ({len(x)}), got {len(y)}")
    if not np.all(np.diff(x) > 0.0):
        raise ValueError(f"{x_name}: must rise from value to value")


def check_table(x_name: str, x: tuple[float, ...], y_name: str, y: tuple[float, ...]) -> None:
    """Raise ValueError unless x rises, y has as many values, and both begin at 0."""
    check_curve(x_name, x, y_name, y)
    if x[0] != 0.0 or y[0] != 0.0:
        raise ValueError(f"{x_name}, {y_name}: must begin with 0, got {x[0]:g} and {y[0]:g}")
    if y[-1] < y[-2]:
        raise ValueError(f"{y_name}: must not fall at the end, beyond which the last slope is kept")
