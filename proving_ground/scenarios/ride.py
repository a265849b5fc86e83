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
from vehicle_dynamics.parameters import GRAVITY

NOT_UNCOMFORTABLE_MPS2 = 0.315  # weighted acceleration below which nobody complains, ISO 2631-1 Annex C


def ride_figures(run: Run) -> dict[str, float]:
    """Ride figures of a run by name with unit; empty where the ground shakes nobody: a manoeuvre is not a vibration."""
    acceleration = np.column_stack([run.channels[name] for name in SEAT_ACCELERATIONS])
    by_axis = weighted(acceleration, PERIOD_S)
    up = by_axis[:, 2]
    if root_mean_square(up) < NOT_UNCOMFORTABLE_MPS2:
        return {}
    return {
        "seat_absorbed_power_w": float(run.channels["seat_absorbed_power_w"].mean()),
        "seat_weighted_acceleration_mps2": root_mean_square(total_of(by_axis)),
        "seat_crest_factor": crest_factor(up),
        "seat_vibration_dose_mps1p75": vibration_dose(up, PERIOD_S),
        "seat_peak_acceleration_g": peak_acceleration(acceleration[:, 2], PERIOD_S) / GRAVITY,
    }
