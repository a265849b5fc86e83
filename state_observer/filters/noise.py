"""Plant noise ([Sanjurjo] Section 3.6.1): white noise on the accelerations, discretised by Van Loan's method."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]


def van_loan(dynamics: Array, psd: Array, step: float) -> tuple[Array, Array]:
    """Transition matrix and noise covariance of one step of dx = A x + w, w white with this PSD ([Sanjurjo] Eq. 3.127).

    Van Loan (1978): the exponential of [[-A, W], [0, A']] holds both.
    """
    size = dynamics.shape[0]
    block = np.block([[-dynamics, psd], [np.zeros_like(psd), dynamics.T]]) * step
    exponential = scipy.linalg.expm(block)
    transition = exponential[size:, size:].T
    noise = transition @ exponential[:size, size:]
    return transition, 0.5 * (noise + noise.T)


def acceleration_psd(psd: float, size: int) -> Array:
    """Sigma_c^P: noise on the accelerations alone ([Sanjurjo] Eq. 3.126), for `size` coordinates."""
    result = np.zeros((2 * size, 2 * size))
    result[size:, size:] = psd * np.eye(size)
    return result


def double_integrator(size: int) -> Array:
    """A of positions and velocities without accelerations; its transition matrix is f_x (Eqs. 3.81, 3.101)."""
    result = np.zeros((2 * size, 2 * size))
    result[:size, size:] = np.eye(size)
    return result


def shaped_acceleration(size: int, psd: float, correlation_time: float) -> tuple[Array, Array]:
    """A and PSD of [position, velocity, acceleration] errors whose accelerations are coloured noise.

    The shaping filter is d(a)/dt = -a / correlation_time + w; infinity makes it a random walk.
    """
    dynamics, noise = np.zeros((3 * size, 3 * size)), np.zeros((3 * size, 3 * size))
    dynamics[: 2 * size, size:] = np.eye(2 * size)
    dynamics[2 * size :, 2 * size :] = -np.eye(size) / correlation_time
    noise[2 * size :, 2 * size :] = psd * np.eye(size)
    return dynamics, noise
