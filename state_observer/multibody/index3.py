"""Index-3 augmented Lagrangian formulation with velocity and acceleration projections ([Sanjurjo] Section 3.3.2).

Trapezoidal rule on all coordinates. (The section's title says "position and velocity projections"; it projects
velocities and accelerations.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import kernel, part
from state_observer.multibody.constraints import Linkage, constraint_jacobian, constraints, jacobian_rate
from state_observer.multibody.solve import cholesky, cholesky_solve, put, put_matrix

LAST_STEP = 1e-10  # [m, rad] length of the Newton step at which the iteration ends, as in the authors' code
MOST_ITERATIONS = 100


@kernel
def index3_step(
    linkage: Linkage, force: Any, step: float, penalty: float,
    q: Any, qd: Any, qdd: Any, multipliers: Any,
) -> int:  # fmt: skip
    """Advance q, qd and qdd in place by a step [s]; returns the number of iterations, -1 without convergence."""
    size, rows = q.size, multipliers.size
    scale = 0.25 * step * step
    velocity_star, acceleration_star = np.empty(size), np.empty(size)
    for i in range(size):
        velocity_star[i] = -(2.0 / step * q[i] + qd[i])  # Eq. 3.44
        acceleration_star[i] = -(q[i] / scale + 4.0 / step * qd[i] + qdd[i])  # Eq. 3.45
        q[i] += step * qd[i] + 0.5 * step * step * qdd[i]
    residual, jacobian = np.empty(rows), np.empty((rows, size))
    tangent = np.empty((size, size))
    right, change = np.empty(size), np.empty(size)
    iterations = -1
    constraints(linkage, q, residual)
    for iteration in range(1, MOST_ITERATIONS + 1):
        constraint_jacobian(linkage, q, jacobian)
        # Eq. 3.48. (3.46 prints Q_{k-1} outside the bracket; it is Q_{k+1}, scaled like all the rest.)
        for i in range(size):
            value = force[i]
            for j in range(size):
                value -= linkage.mass[i, j] * (q[j] / scale + acceleration_star[j])
            for r in range(rows):
                value -= jacobian[r, i] * (penalty * residual[r] + multipliers[r])
            right[i] = scale * value
        if not _tangent(linkage, jacobian, scale * penalty, tangent):
            return -1
        cholesky_solve(tangent, right, change)
        length = 0.0
        for i in range(size):
            q[i] += change[i]
            length += change[i] ** 2
        constraints(linkage, q, residual)
        for r in range(rows):
            multipliers[r] += penalty * residual[r]  # Eq. 3.43, in the same loop
        if not length < 1e12:  # NaN too
            return -1
        if length < LAST_STEP**2:
            iterations = iteration
            break
    for i in range(size):
        qd[i] = 2.0 / step * q[i] + velocity_star[i]
        qdd[i] = q[i] / scale + acceleration_star[i]
    # The tangent is one Newton step old, below 1e-10 m: negligible beside the projection residual (mass over penalty).
    _project(linkage, scale * penalty, jacobian, tangent, q, qd, qdd)
    return iterations


@part
def _tangent(linkage: Linkage, jacobian: Any, weight: float, tangent: Any) -> bool:
    """Cholesky factor of [Sanjurjo] Eq. 3.49, which is positive definite; bars have neither stiffness nor damping."""
    rows, size = jacobian.shape
    put_matrix(tangent, linkage.mass)
    for r in range(rows):
        for i in range(size):
            weighted = weight * jacobian[r, i]
            if weighted != 0.0:  # a bar depends on its own two points only
                for j in range(i + 1):
                    tangent[i, j] += weighted * jacobian[r, j]
    return cholesky(tangent, tangent)


@part
def _project(linkage: Linkage, weight: float, jacobian: Any, tangent: Any, q: Any, qd: Any, qdd: Any) -> None:
    """Velocities (Eq. 3.50) and accelerations (Eq. 3.51) that keep the constraints, nearest in the mass metric."""
    rows, size = jacobian.shape
    right, unprojected = np.empty(size), np.empty(size)
    put(unprojected, qdd)
    for i in range(size):
        right[i] = 0.0
        for j in range(size):
            right[i] += linkage.mass[i, j] * qd[j]
    cholesky_solve(tangent, right, qd)
    rate, even = np.empty((rows, size)), np.empty(rows)
    jacobian_rate(linkage, q, qd, False, rate)
    for r in range(rows):
        even[r] = 0.0
        for j in range(size):
            even[r] += rate[r, j] * qd[j]
    for i in range(size):
        right[i] = 0.0
        for j in range(size):
            right[i] += linkage.mass[i, j] * unprojected[j]
        for r in range(rows):
            right[i] -= weight * jacobian[r, i] * even[r]
    cholesky_solve(tangent, right, qdd)
