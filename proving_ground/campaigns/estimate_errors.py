"""How far an observer of a run was off the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.scenarios.lock_step import Run
from state_observer.vehicle.health import Health
from state_observer.vehicle.track import Track, errors
from state_observer.vehicle.trial import Drive
from vehicle_dynamics.stepper import CONTROL_NS

Array = NDArray[np.float64]

SETTLED_S = 5.0  # from then on errors count
MOVES_MPS = 0.5  # slower, sideslip means nothing


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
    """The truth as errors are taken against: base_link's motion every 10 ms; base: its place in the chassis [m]."""
    history = run.history
    attitude = Rotation.from_quat(history["attitude"])
    turn = history["turn"].copy()
    at_origin = attitude.inv().apply(history["velocity"])
    moving = np.hypot(at_origin[:, 0], at_origin[:, 1]) > MOVES_MPS
    slip = np.arctan2(at_origin[:, 1], np.abs(at_origin[:, 0]))
    ticks = np.round(run.time / (CONTROL_NS * 1e-9)).astype(np.int64)
    return Drive(
        start_ns + CONTROL_NS * ticks,
        history,
        base,
        history["position"] + attitude.apply(base),
        run.channels["yaw_rad"],
        at_origin + np.cross(turn, base),
        turn,
        np.where(moving, slip, 0.0),
    )
