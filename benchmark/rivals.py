"""CPU time of the vehicle's forward dynamics with closed loops in other engines, in one run: Pinocchio and MuJoCo.

Each engine is called from Python, as ours is not; what the call itself costs is measured on a model of one body and
told beside it, to be taken off for a comparison with compiled code.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmark.rival_mujoco import MujocoRival
from benchmark.rival_pinocchio import PinocchioRival
from settings.share import share_file
from vehicle_dynamics.embedding import EmbeddedSystem
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tree import TreeState
from vehicle_dynamics.vehicle_mechanism import CORNERS, vehicle_mechanism

__all__ = ["MujocoRival", "PinocchioRival", "run"]


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Times per evaluation or step [us] and sizes of the HMMWV in motion."""
    mechanism = vehicle_mechanism(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml")))
    free = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
    state = _moving_state(EmbeddedSystem(mechanism, independent=free))
    pinocchio, mujoco = PinocchioRival(mechanism), MujocoRival(mechanism)
    say("Pinocchio")
    pinocchio.set_state(state)
    figures = pinocchio.times_us()
    say("MuJoCo")
    mujoco.set_state(state)
    figures |= mujoco.times_us()
    return figures | {"velocities": int(pinocchio.model.nv), "constraints": 3 * len(mechanism.cuts)}


def _moving_state(system: EmbeddedSystem) -> TreeState:
    random = np.random.default_rng(0)
    count = len(system.independent)
    coordinates = system.close(random.uniform(-0.2, 0.2, count))
    return system.state(coordinates, random.normal(size=count), random.normal(size=6))
