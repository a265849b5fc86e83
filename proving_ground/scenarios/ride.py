"""Ride figures of a run: absorbed power, weighted acceleration and peaks at the driver's seat."""

from __future__ import annotations

import numpy as np

from proving_ground.scenarios.channels import SEAT_ACCELERATIONS
from proving_ground.scenarios.lock_step import Run
from proving_ground.scenarios.vibration import (
    crest_factor,
    peak_acceleration,
    root_mean_square,
    total_of,
    vibration_dose,
    weighted,
)
from vehicle_dynamics.control.helm import PERIOD_S

GRAVITY = 9.81  # [m/s^2], for peaks in g
NOT_UNCOMFORTABLE_MPS2 = 0.315  # a_wv below which nobody complains, ISO 2631-1 Annex C


def ride_figures(run: Run) -> dict[str, float]:
    """Ride figures of a run by name with unit; empty for a ride that nobody complains about."""
    acceleration = np.column_stack([run.channels[name] for name in SEAT_ACCELERATIONS])
    by_axis = weighted(acceleration, PERIOD_S)
    total = root_mean_square(total_of(by_axis))
    if total < NOT_UNCOMFORTABLE_MPS2:
        return {}
    up = by_axis[:, 2]
    return {
        "seat_absorbed_power_w": float(run.channels["seat_absorbed_power_w"].mean()),
        "seat_weighted_acceleration_mps2": total,
        "seat_crest_factor": crest_factor(up),
        "seat_vibration_dose_mps1p75": vibration_dose(up, PERIOD_S),
        "seat_peak_acceleration_g": peak_acceleration(acceleration[:, 2], PERIOD_S) / GRAVITY,
    }
