"""Constraint drift over 100 s: free flight on springs without dampers, semi-implicit Euler at 1 ms for all.

The embedded model has no constraint that could drift: its figure is the rounding of the closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmark.engine_mujoco import MujocoModel
from benchmark.engine_pinocchio import PinocchioModel
from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.multibody.augmented_run import Run, RunSettings, run_free, run_tree
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.run_loads import Springs, no_springs
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.wishbone import wishbone_pose
from vehicle_dynamics.vehicle_mechanism import CornerBuilder, vehicle_mechanism

SECONDS = 100.0
STEP = 1e-3  # [s]
STIFFNESS = 3e4  # of the springs on the lower arms [N m/rad]
STABILISATION = 100.0  # Baumgarte's alpha and beta [1/s]


def drifts_m(parameters: VehicleParameters, say: Callable[[str], None]) -> dict[str, float]:
    """Largest gap of any loop [m] by model: at any step for ours, at the end for other engines."""
    mechanism = vehicle_mechanism(parameters)
    free = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
    start = _start(EmbeddedSystem(mechanism, independent=free))
    springs = no_springs(mechanism)
    for corner in CORNERS:
        springs.stiffness[mechanism.coordinate_names.index(f"{corner}.lower_arm")] = STIFFNESS
    figures = {"ce": _embedded(parameters)}
    for name, alpha in (("", 0.0), ("_stabilised", STABILISATION)):
        for model, run in (("ta", run_tree), ("fa", run_free)):
            say(f"drift of {model.upper()}{name.replace('_', ', ')}")
            figures[f"{model}{name}"] = _augmented(run, start, springs, alpha)
    say("drift of MuJoCo")
    engine = MujocoModel(mechanism, gravity=(0.0, 0.0, 0.0), timestep_s=STEP)
    engine.set_springs({f"{corner}.lower_arm": STIFFNESS for corner in CORNERS})
    engine.set_state(start)
    engine.run(SECONDS)
    figures["mujoco"] = engine.violation_m()
    say("drift of Pinocchio")
    pinocchio = PinocchioModel(mechanism)
    pinocchio.set_state(start)
    coordinates = pinocchio.run(SECONDS, STEP, {f"{corner}.lower_arm": STIFFNESS for corner in CORNERS})
    figures["pinocchio"] = _gap(start, coordinates)
    return figures


def _start(system: EmbeddedSystem) -> TreeState:
    rates = {"lower_arm": (0.8, -0.5, 0.6, 0.7), "wheel": (20.0, 20.0, 20.0, 20.0)}
    values = [rates[name.split(".")[1]][CORNERS.index(name.split(".")[0])] for name in system.independent_names]
    return system.state(np.zeros(system.layout.count), np.array(values), np.array([0.1, -0.1, 0.2, 0.0, 0.0, 0.0]))


def _augmented(
    run: Callable[[TreeState, RunSettings, Springs], Run], start: TreeState, springs: Springs, alpha: float
) -> float:
    steps = round(SECONDS / STEP)
    settings = RunSettings(step=STEP, steps=steps, records=1, alpha=alpha, beta=alpha)
    worst = run(start, settings, springs).worst_error
    return worst if math.isfinite(worst) else float("inf")


def _embedded(parameters: VehicleParameters) -> float:
    """Gaps of the closed forms over the whole travel: the embedded model is always at one of these positions."""
    worst = 0.0
    for corner in CORNERS:
        g = CornerBuilder(parameters, corner).geometry
        for theta in np.linspace(-0.4, 0.6, 2001):
            pose = wishbone_pose(g, theta, tuple(g.tie_inner))
            upright = abs(math.dist(pose.upper_ball, pose.lower_ball) - g.upright_length)
            tie_rod = abs(math.dist(pose.tie_outer, g.tie_inner) - g.tie_length)
            worst = max(worst, upright, tie_rod)
    return worst


def _gap(start: TreeState, coordinates: np.ndarray) -> float:
    if not np.isfinite(coordinates).all():
        return float("inf")
    state = TreeState(start.layout, coordinates, np.zeros_like(coordinates), np.zeros(6))
    return max(float(np.linalg.norm(state.closure(cut)[0])) for cut in start.layout.mechanism.cuts)
