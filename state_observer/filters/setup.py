"""Shared by all filters: constants (Setup), state (FilterState), and how a run ended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from state_observer.linkages.sensors import Sensors
from state_observer.multibody.constraints import Linkage

Array = NDArray[np.float64]

# How a step ended.
SOUND, NOT_POSITIVE, NO_MOTION = range(3)
ENDINGS = (
    "completed",
    "covariance no longer positive definite",
    "the model's motion could not be computed",
)


class Options(NamedTuple):
    """Parameters of individual filters for kernels; each filter uses its own."""

    as_released: bool  # reproduce the numerics of the authors' code where it departs from the text
    penalty: float  # penalty factor of the index-3 formulation (errorEKF)
    solves_position: bool  # errorEKF: solve the position problem after a correction instead of Eq. 3.119
    alpha: float  # unscented transform
    beta: float
    kappa: float
    weakening: float  # SCKF: alpha~ of Eq. 3.106
    decay: float  # SCKF: beta~ of Eq. 3.110
    perfect_variance: float  # DIEKFpm: noise of the perfect measurements
    shrink: float  # DIEKFpm: that noise shrinks by exp(-shrink) per iteration
    gap: float  # SCKF, DIEKFpm: norm of the constraints at which iterations end
    most_iterations: int


class Setup(NamedTuple):
    """Constants of a filter for kernels: linkage, sensors, noise and step."""

    linkage: Linkage
    sensors: Sensors
    sensor_covariance: Array  # Sigma^S
    step: float  # [s]
    transition: Array  # f_x, constant (Eqs. 3.81, 3.101)
    plant_noise: Array  # Sigma^P of one step (Eq. 3.128)
    plant_psd: Array  # Sigma_c^P (Eq. 3.126)
    options: Options


class FilterState(NamedTuple):
    """State of a filter: arrays updated in place. See observer.LinkageState for the estimate by name."""

    state: Array  # z, zd; SCKF and DIEKFpm: q, qd; forceEKF: z, zd, force
    covariance: Array
    q: Array
    qd: Array
    qdd: Array
    multipliers: Array
    force: Array  # Q plus the force that forceEKF adds
    innovation: Array
    innovation_covariance: Array
    sensitivity: Array  # h_x of the last correction
    points: Array  # UKF: sigma points after the step, one row each
    points_before: Array
    points_q: Array  # and their coordinates
    points_qd: Array
    gap: Array  # [0]: largest violated constraint after the last correction
