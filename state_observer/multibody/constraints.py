"""Constraints of a planar linkage of bars in mixed coordinates ([Sanjurjo] Eqs. 4.1, 4.2) and their derivatives.

Coordinates q: x and y of every moving point, then the angles of the cranks, which are the degrees of freedom z.
Constraints Phi: one length per bar, then one line per angle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

SINE_BELOW = 0.7  # |sin(theta)| up to which Eq. 4.2 uses the sine: the line that cuts the crank's circle more steeply


class Linkage(NamedTuple):
    """A linkage of uniform bars, for kernels."""

    ends: IntArray  # per bar: its two points; point p moves, -1 - p is pivot p
    lengths: Array  # per bar [m]
    cranks: IntArray  # per angle: its bar, which starts at a pivot
    pivots: Array  # x, y of the fixed points [m]
    mass: Array  # M, constant in these coordinates [kg]; zero for angles
    force: Array  # Q, the weight [N]


@part
def point_of(linkage: Linkage, q: Any, point: int) -> Any:
    """x and y of a moving point or pivot."""
    if point >= 0:
        return q[2 * point], q[2 * point + 1]
    zero = 0.0 * q[0]  # of q's type
    return linkage.pivots[-1 - point, 0] + zero, linkage.pivots[-1 - point, 1] + zero


@part
def rate_of(qd: Any, point: int) -> Any:
    """Velocity of a point of the linkage, from the natural coordinates' rates."""
    if point >= 0:
        return qd[2 * point], qd[2 * point + 1]
    return 0.0 * qd[0], 0.0 * qd[0]


@kernel
def constraints(linkage: Linkage, q: Any, out: Any) -> None:
    """Phi(q), [Sanjurjo] Eq. 4.1: lengths in m^2, angle lines in m."""
    bars, cranks = linkage.lengths.size, linkage.cranks.size
    for b in range(bars):
        x0, y0 = point_of(linkage, q, linkage.ends[b, 0])
        x1, y1 = point_of(linkage, q, linkage.ends[b, 1])
        out[b] = (x1 - x0) ** 2 + (y1 - y0) ** 2 - linkage.lengths[b] ** 2
    for c in range(cranks):
        bar, theta = linkage.cranks[c], q[q.size - cranks + c]
        x0, y0 = point_of(linkage, q, linkage.ends[bar, 0])
        x1, y1 = point_of(linkage, q, linkage.ends[bar, 1])
        sine = np.sin(theta)
        if abs(sine) < SINE_BELOW:
            out[bars + c] = y1 - y0 - linkage.lengths[bar] * sine
        else:
            out[bars + c] = x1 - x0 - linkage.lengths[bar] * np.cos(theta)


@kernel
def constraint_jacobian(linkage: Linkage, q: Any, out: Any) -> None:
    """Phi_q, the derivative of the constraints with respect to the coordinates."""
    bars, cranks = linkage.lengths.size, linkage.cranks.size
    out[:] = 0.0
    for b in range(bars):
        first, last = linkage.ends[b, 0], linkage.ends[b, 1]
        x0, y0 = point_of(linkage, q, first)
        x1, y1 = point_of(linkage, q, last)
        _bar_row(out, b, first, last, 2.0 * (x1 - x0), 2.0 * (y1 - y0))
    for c in range(cranks):
        bar, column = linkage.cranks[c], q.size - cranks + c
        tip = linkage.ends[bar, 1]
        sine = np.sin(q[column])
        if abs(sine) < SINE_BELOW:
            out[bars + c, 2 * tip + 1] = 1.0
            out[bars + c, column] = -linkage.lengths[bar] * np.cos(q[column])
        else:
            out[bars + c, 2 * tip] = 1.0
            out[bars + c, column] = linkage.lengths[bar] * sine


@kernel
def jacobian_rate(linkage: Linkage, q: Any, qd: Any, swapped: bool, out: Any) -> None:
    """d/dt Phi_q for velocities qd; also d(Phi_q qd)/dq, because Phi_q is linear in its own derivatives.

    `swapped` exchanges sine and cosine of the angle lines, as the authors' five-bar does where Phi_q qd is
    differentiated; only to reproduce their dependent-coordinate filters.
    """
    bars, cranks = linkage.lengths.size, linkage.cranks.size
    out[:] = 0.0
    for b in range(bars):
        first, last = linkage.ends[b, 0], linkage.ends[b, 1]
        x0, y0 = rate_of(qd, first)
        x1, y1 = rate_of(qd, last)
        _bar_row(out, b, first, last, 2.0 * (x1 - x0), 2.0 * (y1 - y0))
    for c in range(cranks):
        bar, column = linkage.cranks[c], q.size - cranks + c
        sine = np.sin(q[column])
        takes_sine = (abs(sine) < SINE_BELOW) != swapped
        slope = sine if takes_sine else np.cos(q[column])
        out[bars + c, column] = linkage.lengths[bar] * slope * qd[column]


@part
def _bar_row(out: Any, row: int, first: int, last: int, x: Any, y: Any) -> None:
    if first >= 0:
        out[row, 2 * first] = -x
        out[row, 2 * first + 1] = -y
    if last >= 0:
        out[row, 2 * last] = x
        out[row, 2 * last + 1] = y
