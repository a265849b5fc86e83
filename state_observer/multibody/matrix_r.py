"""Forward dynamics by matrix R ([Sanjurjo] Section 3.3.3) and its integration in independent coordinates.

For positions and velocities that satisfy the constraints, Lagrange multipliers (with or without Baumgarte's terms), as
in the UKF of the authors' code, give the same accelerations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import kernel, part
from state_observer.multibody.constraints import Linkage
from state_observer.multibody.kinematics import (
    Projection,
    position_problem,
    projection,
    velocity_part,
    velocity_problem,
)
from state_observer.multibody.solve import solved

SETTLED = 1e-12  # [rad] change of an angle, or of a rate times the step, at which the fixed-point iteration ends
MOST_ITERATIONS = 100


@kernel
def reduced_mass(linkage: Linkage, at: Projection) -> Any:
    """R' M R ([Sanjurjo] Eq. 3.59)."""
    matrix_r = at.matrix_r
    size, cranks = matrix_r.shape
    half = np.zeros((size, cranks), matrix_r.dtype)
    for i in range(size):
        for j in range(size):
            mass = linkage.mass[i, j]
            if mass != 0.0:
                for c in range(cranks):
                    half[i, c] += mass * matrix_r[j, c]
    result = np.zeros((cranks, cranks), matrix_r.dtype)
    for a in range(cranks):
        for b in range(cranks):
            for i in range(size):
                result[a, b] += matrix_r[i, a] * half[i, b]
    return result


@part
def reduced_force(linkage: Linkage, at: Projection, force: Any, even: Any) -> Any:
    """R' (Q - M Rdot zd), with even = Rdot zd. [Sanjurjo] Eq. 3.62 lost the dot; 3.58, 3.59 have it as -S(...)."""
    size, cranks = at.matrix_r.shape
    result = np.zeros((cranks, 1), at.matrix_r.dtype)
    for i in range(size):
        value = force[i] + 0.0 * even[i]
        for j in range(size):
            value -= linkage.mass[i, j] * even[j]
        for c in range(cranks):
            result[c, 0] += at.matrix_r[i, c] * value
    return result


@kernel
def accelerate(linkage: Linkage, at: Projection, force: Any, q: Any, qd: Any, qdd: Any) -> None:
    """Accelerations of all coordinates under the force Q ([Sanjurjo] Eqs. 3.56, 3.62)."""
    velocity_part(linkage, at, q, qd, qdd)
    of_cranks = solved(reduced_mass(linkage, at), reduced_force(linkage, at, force, qdd))
    for i in range(q.size):
        for c in range(of_cranks.size):
            qdd[i] += at.matrix_r[i, c] * of_cranks[c, 0]


@kernel
def settle(linkage: Linkage, force: Any, angles: Any, rates: Any, q: Any, qd: Any, qdd: Any) -> bool:
    """Full motion for given cranks: q (its old value is the initial guess), qd and qdd. False without a solution."""
    points = q.size - angles.size
    for c in range(angles.size):
        q[points + c] = angles[c]
    if not position_problem(linkage, q):
        return False
    at = projection(linkage, q)
    velocity_problem(at, rates, qd)
    accelerate(linkage, at, force, q, qd, qdd)
    return True


@kernel
def trapezoidal_step(linkage: Linkage, force: Any, step: float, q: Any, qd: Any, qdd: Any) -> bool:
    """Advance a complete motion q, qd, qdd in place by a step [s] of the trapezoidal rule on z and zd (the cranks).

    By fixed-point iteration; False without convergence. force: Q, on all coordinates.
    """
    cranks = linkage.cranks.size
    points = q.size - cranks
    angles0, rates0, accelerations0 = np.empty(cranks), np.empty(cranks), np.empty(cranks)
    angles, rates = np.empty(cranks), np.empty(cranks)
    for c in range(cranks):
        angles0[c], rates0[c], accelerations0[c] = q[points + c], qd[points + c], qdd[points + c]
        rates[c] = rates0[c] + step * accelerations0[c]
        angles[c] = angles0[c] + 0.5 * step * (rates0[c] + rates[c])
    for _ in range(MOST_ITERATIONS):
        if not settle(linkage, force, angles, rates, q, qd, qdd):
            return False
        change = 0.0
        for c in range(cranks):
            rate = rates0[c] + 0.5 * step * (accelerations0[c] + qdd[points + c])
            angle = angles0[c] + 0.5 * step * (rates0[c] + rate)
            change = max(change, abs(angle - angles[c]), step * abs(rate - rates[c]))
            angles[c], rates[c] = angle, rate
        if change < SETTLED:
            return True
    return False


@kernel
def euler_step(linkage: Linkage, force: Any, step: float, q: Any, qd: Any, qdd: Any) -> bool:
    """One step of forward Euler on z and zd ([Sanjurjo] Eq. 3.80), in place; qdd is not updated."""
    cranks = linkage.cranks.size
    points = q.size - cranks
    rates = np.empty(cranks)
    for c in range(cranks):
        rates[c] = qd[points + c] + step * qdd[points + c]
        q[points + c] += step * qd[points + c]
    if not position_problem(linkage, q):
        return False
    velocity_problem(projection(linkage, q), rates, qd)
    return True
