"""What all filters share: what they know (Setup), what they remember (Memory), and how a run ended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from state_observer.linkages.sensors import Sensors
from state_observer.multibody.constraints import Linkage

Array = NDArray[np.float64]

METHODS = ("CEKF", "DEKF", "UKF-FE", "UKF-TR", "SCKF", "DIEKFpm", "errorEKF", "forceEKF")
CEKF, DEKF, UKF_FE, UKF_TR, SCKF, DIEKF_PM, ERROR_EKF, FORCE_EKF = range(8)
IN_ALL_COORDINATES = (SCKF, DIEKF_PM)
FUSED = (CEKF, SCKF, DIEKF_PM)  # one step is one piece: readings are part of it, not a stage after it

# How a step ended.
SOUND, NOT_POSITIVE, NO_MOTION = range(3)
ENDINGS = (
    "ran through",
    "covariance no longer positive definite",
    "the model's motion could not be computed",
)


class Options(NamedTuple):
    """Numbers of single filters."""

    as_released: bool  # reproduce the numerics of the authors' code where it departs from the text
    penalty: float  # of the index-3 formulation (errorEKF)
    solves_position: bool  # errorEKF: position problem after a correction instead of Eq. 3.119
    alpha: float  # of the unscented transform
    beta: float
    kappa: float
    weakening: float  # SCKF: alpha~ of Eq. 3.106
    decay: float  # SCKF: beta~ of Eq. 3.110
    perfect_variance: float  # DIEKFpm: noise of the perfect measurements
    shrink: float  # DIEKFpm: by exp(-shrink) per iteration
    gap: float  # SCKF, DIEKFpm: norm of the constraints at which iterations end
    most_iterations: int


class Setup(NamedTuple):
    """What a filter knows."""

    linkage: Linkage
    sensors: Sensors
    sensor_covariance: Array  # Sigma^S
    step: float  # [s]
    transition: Array  # f_x, constant (Eqs. 3.81, 3.101)
    plant_noise: Array  # Sigma^P of one step (Eq. 3.128)
    plant_psd: Array  # Sigma_c^P (Eq. 3.126)
    options: Options


class Memory(NamedTuple):
    """What a filter remembers; arrays that are changed in place. The state is named in observer.LinkageState."""

    state: Array  # z, zd; SCKF and DIEKFpm: q, qd; forceEKF: z, zd, force
    covariance: Array
    q: Array
    qd: Array
    qdd: Array
    multipliers: Array
    force: Array  # Q with what forceEKF adds
    innovation: Array
    innovation_covariance: Array
    sensitivity: Array  # h_x of the last correction
    points: Array  # UKF: sigma points after the step, one row each
    points_before: Array
    points_q: Array  # and their motions
    points_qd: Array
    gap: Array  # [0]: largest violated constraint after the last correction


def new_memory(method: int, setup: Setup, q: Array, qd: Array, qdd: Array, covariance: Array) -> Memory:
    """Memory of a filter that starts with this motion."""
    cranks, count = setup.linkage.cranks.size, setup.sensors.kinds.size
    if method in IN_ALL_COORDINATES:
        state = np.concatenate([q, qd])
    else:
        state = np.concatenate([q[-cranks:], qd[-cranks:], np.zeros(cranks if method == FORCE_EKF else 0)])
    points = 4 * cranks + 1 if method in (UKF_FE, UKF_TR) else 0
    return Memory(
        state=state,
        covariance=covariance.copy(),
        q=q.copy(),
        qd=qd.copy(),
        qdd=qdd.copy(),
        multipliers=np.zeros(q.size - cranks),
        force=setup.linkage.force.copy(),
        innovation=np.full(count, np.nan),
        innovation_covariance=np.full((count, count), np.nan),
        sensitivity=np.zeros((count, covariance.shape[0])),
        points=np.zeros((points, 2 * cranks)),
        points_before=np.zeros((points, 2 * cranks)),
        points_q=np.zeros((points, q.size)),
        points_qd=np.zeros((points, q.size)),
        gap=np.zeros(1),
    )
