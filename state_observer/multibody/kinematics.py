"""Position, velocity and acceleration problems ([Sanjurjo] Section 3.3.1) and matrix R (Section 3.3.3).

D of Eq. 3.52 picks the crank angles, so Eq. 3.54 needs only the square block of Phi_q that belongs to the points:
one factorisation of it serves R, S and all three problems.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from proving_ground.kernels.jit import kernel, part
from state_observer.multibody.constraints import Linkage, constraint_jacobian, constraints, jacobian_rate, point_of
from state_observer.multibody.solve import back_substitute, factor, put_matrix

# Newton's method converges quadratically: after a step below this one only rounding is left.
LAST_NEWTON_STEP = 1e-8
MOST_NEWTON_STEPS = 50


class Projection(NamedTuple):
    """A linkage at one position: the factors of its Jacobian, and matrix R."""

    factors: Any
    order: Any
    matrix_r: Any  # dq/dz, one column per degree of freedom
    is_regular: bool


@kernel
def projection(linkage: Linkage, q: Any) -> Projection:
    """R at a position ([Sanjurjo] Eq. 3.54); its column i is the velocity when only angle i moves, at 1 rad/s."""
    cranks = linkage.cranks.size
    points = q.size - cranks
    whole = np.empty((points, q.size), q.dtype)
    constraint_jacobian(linkage, q, whole)
    factors = np.empty((points, points), q.dtype)
    put_matrix(factors, whole)
    order = np.empty(points, np.int64)
    is_regular = factor(factors, order)
    matrix_r = np.zeros((q.size, cranks), q.dtype)
    for c in range(cranks):
        back_substitute(factors, order, whole[:, points + c], matrix_r[:, c])
        for i in range(points):
            matrix_r[i, c] = -matrix_r[i, c]
        matrix_r[points + c, c] = 1.0
    return Projection(factors, order, matrix_r, is_regular)


@part
def times_s(at: Projection, right: Any, out: Any) -> None:
    """S right (Eq. 3.54): motion of the points that gives the constraints this rate with the cranks fixed."""
    points = right.size
    back_substitute(at.factors, at.order, right, out)
    for i in range(points, out.size):
        out[i] = 0.0


@kernel
def position_problem(linkage: Linkage, q: Any) -> bool:
    """Move the points of q until the constraints hold, cranks fixed ([Sanjurjo] Eq. 3.38); False without a solution.

    Crank tips are set from their angles before Newton starts: one line of Eq. 4.2 alone also has a solution on the
    other side of the pivot, which a poor initial guess would find.
    """
    points = q.size - linkage.cranks.size
    for c in range(linkage.cranks.size):
        bar = linkage.cranks[c]
        x, y = point_of(linkage, q, linkage.ends[bar, 0])
        tip, theta = linkage.ends[bar, 1], q[points + c]
        q[2 * tip] = x + linkage.lengths[bar] * np.cos(theta)
        q[2 * tip + 1] = y + linkage.lengths[bar] * np.sin(theta)
    whole = np.empty((points, q.size), q.dtype)
    residual = np.empty(points, q.dtype)
    step = np.empty(points, q.dtype)
    order = np.empty(points, np.int64)
    factors = np.empty((points, points), q.dtype)
    for _ in range(MOST_NEWTON_STEPS):
        constraints(linkage, q, residual)
        constraint_jacobian(linkage, q, whole)
        put_matrix(factors, whole)
        if not factor(factors, order):
            return False
        back_substitute(factors, order, residual, step)
        largest = 0.0
        for i in range(points):
            q[i] -= step[i]
            largest = max(largest, abs(step[i]))
        if not largest < 1e6:  # NaN too
            return False
        if largest < LAST_NEWTON_STEP:
            return True
    return False


@kernel
def velocity_problem(at: Projection, rates: Any, qd: Any) -> None:
    """Velocities of all coordinates from those of the cranks ([Sanjurjo] Eqs. 3.39, 3.60)."""
    for i in range(qd.size):
        value = 0.0 * rates[0]
        for c in range(rates.size):
            value += at.matrix_r[i, c] * rates[c]
        qd[i] = value


@part
def velocity_part(linkage: Linkage, at: Projection, q: Any, qd: Any, out: Any) -> None:
    """Accelerations at constant crank rates: -S Phidot_q qd, which is Rdot zd ([Sanjurjo] Eqs. 3.56, 3.61).

    Eq. 3.40 prints two dots on Phi_q; it has one, as Eq. 3.55 shows.
    """
    points = q.size - linkage.cranks.size
    rate = np.empty((points, q.size), q.dtype)
    jacobian_rate(linkage, q, qd, False, rate)
    right = np.empty(points, q.dtype)
    for i in range(points):
        value = 0.0 * q[0]
        for j in range(q.size):
            value -= rate[i, j] * qd[j]
        right[i] = value
    times_s(at, right, out)


@kernel
def acceleration_problem(linkage: Linkage, at: Projection, q: Any, qd: Any, accelerations: Any, qdd: Any) -> None:
    """Accelerations of all coordinates from those of the cranks ([Sanjurjo] Eq. 3.56)."""
    velocity_part(linkage, at, q, qd, qdd)
    for i in range(q.size):
        for c in range(accelerations.size):
            qdd[i] += at.matrix_r[i, c] * accelerations[c]


@kernel
def velocity_by_position(linkage: Linkage, at: Projection, q: Any, qd: Any) -> Any:
    """dqd/dz = -S Phidot_q R (Eq. 3.125); for qd = R w this is also the derivative of R along w, i.e. Rdot."""
    cranks = linkage.cranks.size
    points = q.size - cranks
    rate = np.empty((points, q.size), q.dtype)
    jacobian_rate(linkage, q, qd, False, rate)
    result = np.zeros((q.size, cranks), q.dtype)
    right = np.empty(points, q.dtype)
    for c in range(cranks):
        for i in range(points):
            value = 0.0 * q[0]
            for j in range(q.size):
                value -= rate[i, j] * at.matrix_r[j, c]
            right[i] = value
        back_substitute(at.factors, at.order, right, result[:, c])
    return result


@kernel
def constraint_gap(linkage: Linkage, q: Any) -> float:
    """Largest violation of a constraint [m^2 for lengths, m for angles]."""
    residual = np.empty(q.size - linkage.cranks.size)
    constraints(linkage, q, residual)
    largest = 0.0
    for value in residual:
        largest = max(largest, abs(value))
    return largest
