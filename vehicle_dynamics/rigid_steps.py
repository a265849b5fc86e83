"""Common code of integrators of the rigid bodies' state (29, see vehicle_state.py): its rates, and steps from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.rotation import Rotation, normalise, quaternion_rate, rotate_quaternion, to_world
from proving_ground.kernels.vector3 import three
from vehicle_dynamics.vehicle_state import STATE_SIZE

Array = NDArray[np.float64]

SEMI_IMPLICIT_EULER, RK4 = 0, 1


@inlined_part
def rigid_rate(rotation: Rotation, state: Array, accelerations: Array, rate: Array) -> None:
    """Time derivative of the state, from the accelerations (14) of forward_dynamics."""
    quaternion_rate(state[3:7], three(state, 18), True, rate[3:7])
    linear = to_world(rotation, three(accelerations, 3))
    for k in range(3):
        rate[k] = state[15 + k]
        rate[15 + k] = linear[k]
        rate[18 + k] = accelerations[k]
    for k in range(8):
        rate[7 + k] = state[21 + k]
        rate[21 + k] = accelerations[6 + k]


@inlined_part
def euler_update(state: Array, rate: Array, step: float) -> None:
    """Advance a state in place by a step [s] of semi-implicit Euler: positions with the new velocities."""
    for k in range(15, STATE_SIZE):
        state[k] += step * rate[k]
    for k in range(3):
        state[k] += step * state[15 + k]
    for k in range(8):
        state[7 + k] += step * state[21 + k]
    rotate_quaternion(state[3:7], (step * state[18], step * state[19], step * state[20]), state[3:7])


@inlined_part
def stage_state(state: Array, rate: Array, elapsed: float, out: Array) -> None:
    """State after `elapsed` [s] at a constant rate, into out: where a Runge-Kutta stage is evaluated."""
    for k in range(len(state)):
        out[k] = state[k] + elapsed * rate[k]


@inlined_part
def rk4_update(state: Array, rates: Array, step: float) -> None:
    """Classical Runge-Kutta of fourth order, from the rates (4 x state) of its stages."""
    for k in range(len(state)):
        state[k] += step / 6.0 * (rates[0, k] + 2.0 * (rates[1, k] + rates[2, k]) + rates[3, k])
    normalise(state[3:7])
