"""True motion of a linkage that falls from rest ([Sanjurjo] Section 4.7), by two formulations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel
from proving_ground.settings import SettingsError
from state_observer.linkages.mechanism import Mechanism, Motion
from state_observer.multibody.constraints import Linkage
from state_observer.multibody.index3 import index3_step
from state_observer.multibody.matrix_r import trapezoidal_step

Array = NDArray[np.float64]

PENALTY = 1e9  # of the augmented Lagrangian, as in the authors' code


class Trajectory(NamedTuple):
    """Motions at t = step, 2 step, ...: one row each. The state at t = 0 is not kept."""

    q: Array
    qd: Array
    qdd: Array
    cranks: int

    @property
    def angles(self) -> Array:
        """Crank angles [rad], one row per time step."""
        return self.q[:, -self.cranks :]

    @property
    def rates(self) -> Array:
        """Crank rates [rad/s], one row per time step."""
        return self.qd[:, -self.cranks :]

    @property
    def accelerations(self) -> Array:
        """Crank accelerations [rad/s^2], one row per time step."""
        return self.qdd[:, -self.cranks :]


def fall(mechanism: Mechanism, step: float, steps: int, start: Motion | None = None) -> Trajectory:
    """Fall from rest (or another start) for steps of `step` [s], by matrix R and the trapezoidal rule."""
    motion = start or mechanism.motion(mechanism.start_angles, np.zeros(mechanism.degrees_of_freedom))
    return _trajectory(mechanism, motion, step, steps, 0.0)


def fall_by_index3(
    mechanism: Mechanism, step: float, steps: int, start: Motion | None = None, penalty: float = PENALTY
) -> Trajectory:
    """Fall from rest (or another start) by the index-3 augmented Lagrangian formulation in all coordinates."""
    motion = start or mechanism.motion(mechanism.start_angles, np.zeros(mechanism.degrees_of_freedom))
    return _trajectory(mechanism, motion, step, steps, penalty)


def _trajectory(mechanism: Mechanism, start: Motion, step: float, steps: int, penalty: float) -> Trajectory:
    if not step > 0.0 or steps < 1:
        raise SettingsError(f"step must be > 0 and steps >= 1, got {step} and {steps}")
    kept = np.empty((3, steps, mechanism.size))
    motion = Motion(*(part.copy() for part in start))
    done = _fall(mechanism.kernel, step, penalty, *motion, kept)
    if done < steps:
        raise SettingsError(f"the linkage's motion cannot be integrated beyond {done * step:g} s with step {step:g} s")
    q, qd, qdd = kept
    return Trajectory(q, qd, qdd, mechanism.degrees_of_freedom)


@kernel
def _fall(linkage: Linkage, step: float, penalty: float, q: Any, qd: Any, qdd: Any, kept: Any) -> int:
    """Number of completed steps; a penalty of 0 selects matrix R."""
    multipliers = np.zeros(q.size - linkage.cranks.size)
    for k in range(kept.shape[1]):
        if penalty > 0.0:
            if index3_step(linkage, linkage.force, step, penalty, q, qd, qdd, multipliers) < 0:
                return k
        elif not trapezoidal_step(linkage, linkage.force, step, q, qd, qdd):
            return k
        kept[0, k], kept[1, k], kept[2, k] = q, qd, qdd
    return int(kept.shape[1])
