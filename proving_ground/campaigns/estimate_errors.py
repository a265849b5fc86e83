"""Errors of an observer's estimates against the truth of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.lock_step import Run
from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.drive import Drive
from state_observer.vehicle.health import Health
from state_observer.vehicle.track import Track, errors

Array = NDArray[np.float64]

SETTLED_S = 5.0  # errors count from then on


def estimate_errors(run: Run, base_in_chassis: Array, start_ns: int, health: Health) -> dict[str, float]:
    """Root mean squares by name with unit, and the mean NEES of x, y, yaw; empty where there is no estimate."""
    if run.estimates is None or not len(run.estimates):
        return {}
    track = Track(run.estimates, {}, health)
    off = errors(track, truth_of(run, base_in_chassis, start_ns)).after(SETTLED_S)
    if not len(off.seconds):
        return {}
    return {
        "position_rmse_m": off.horizontal_rmse,
        "yaw_rmse_deg": float(np.degrees(off.yaw_rmse)),
        "speed_rmse_mps": off.speed_rmse,
        "sideslip_rmse_deg": float(np.degrees(off.sideslip_rmse)),
        "nees": float(off.nees().mean()),
    }


def truth_of(run: Run, base: Array, start_ns: int) -> Drive:
    """The truth that errors are computed against; base: position of base_link in the chassis [m]."""
    return Drive.of(start_ns + round(run.time[0] * NS_PER_S), run.history, base)
