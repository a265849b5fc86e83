"""Encoders and gyroscopes on a linkage and their derivatives ([Sanjurjo] Sections 3.5, 4.4 and 4.5)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from state_observer.linkages.mechanism import Mechanism
from state_observer.multibody.constraints import IntArray, Linkage, point_of, rate_of
from state_observer.multibody.kinematics import Projection, velocity_by_position

Array = NDArray[np.float64]

ENCODER, CRANK_GYRO, BAR_GYRO = range(3)
SENSOR_SETS = ("encoder", "coupler_gyro", "crank_gyro")


class Sensors(NamedTuple):
    """A set of sensors for kernels: kind of each, and the crank or bar that carries it."""

    kinds: IntArray
    indices: IntArray


def sensor_set(mechanism: Mechanism, name: str) -> Sensors:
    """Sensors by a name in SENSOR_SETS: an encoder or gyroscope on each crank, or a gyroscope on each coupler."""
    if name not in SENSOR_SETS:
        raise SettingsError(f"sensors {name}: {close_name(name, SENSOR_SETS)}")
    if name == "coupler_gyro":
        bars = [mechanism.parameters.bar_index(bar) for bar in mechanism.parameters.couplers]
        return Sensors(np.full(len(bars), BAR_GYRO), np.array(bars, dtype=np.int64))
    kind = ENCODER if name == "encoder" else CRANK_GYRO
    count = mechanism.degrees_of_freedom
    return Sensors(np.full(count, kind), np.arange(count))


@kernel
def measure(linkage: Linkage, sensors: Sensors, q: Any, qd: Any, out: Any) -> None:
    """h(q, qd): angles [rad] and angular rates [rad/s], without noise."""
    points = q.size - linkage.cranks.size
    for s in range(sensors.kinds.size):
        index = sensors.indices[s]
        if sensors.kinds[s] == ENCODER:
            out[s] = q[points + index]
        elif sensors.kinds[s] == CRANK_GYRO:
            out[s] = qd[points + index]
        else:
            dx, dy, vx, vy = _bar(linkage, q, qd, index)
            out[s] = (dx * vy - dy * vx) / linkage.lengths[index] ** 2  # Eq. 4.14


@kernel
def measurement_jacobian(linkage: Linkage, sensors: Sensors, q: Any, qd: Any, by_q: Any, by_qd: Any) -> None:
    """h_q and h_qd, [Sanjurjo] Eqs. 4.4 to 4.16.

    As printed, Eq. 4.6 lacks one of its 16 columns, and Eq. 4.8 is 1 x 5 "in independent coordinates": in dependent
    ones it is 1 x 10, the 1 last.
    """
    points = q.size - linkage.cranks.size
    by_q[:] = 0.0
    by_qd[:] = 0.0
    for s in range(sensors.kinds.size):
        index = sensors.indices[s]
        if sensors.kinds[s] == ENCODER:
            by_q[s, points + index] = 1.0
        elif sensors.kinds[s] == CRANK_GYRO:
            by_qd[s, points + index] = 1.0
        else:
            dx, dy, vx, vy = _bar(linkage, q, qd, index)
            scale = 1.0 / linkage.lengths[index] ** 2  # constant: the length is a constraint, not a coordinate
            for end, sign in ((0, -scale), (1, scale)):
                point = linkage.ends[index, end]
                if point >= 0:
                    by_q[s, 2 * point] = sign * vy  # Eq. 4.15
                    by_q[s, 2 * point + 1] = -sign * vx
                    by_qd[s, 2 * point] = -sign * dy  # Eq. 4.16
                    by_qd[s, 2 * point + 1] = sign * dx


@kernel
def independent_jacobian(linkage: Linkage, sensors: Sensors, at: Projection, q: Any, qd: Any, diagonal: bool) -> Any:
    """h_x = [h_z, h_zd] ([Sanjurjo] Eqs. 3.120, 3.121, 3.125, 4.18).

    `diagonal` keeps only the part of dqd/dz due to each angle's own rate, as the authors' code of 2017 does: identical
    for one degree of freedom, incomplete for the five-bar's couplers.
    """
    cranks, count = linkage.cranks.size, sensors.kinds.size
    result = np.zeros((count, 2 * cranks), q.dtype)
    is_on_bars = False
    for s in range(count):
        if sensors.kinds[s] == ENCODER:
            result[s, sensors.indices[s]] = 1.0  # Eqs. 4.3, 4.5
        elif sensors.kinds[s] == CRANK_GYRO:
            result[s, cranks + sensors.indices[s]] = 1.0  # Eqs. 4.7, 4.9
        else:
            is_on_bars = True
    if not is_on_bars:
        return result
    by_q, by_qd = np.empty((count, q.size), q.dtype), np.empty((count, q.size), q.dtype)
    measurement_jacobian(linkage, sensors, q, qd, by_q, by_qd)
    by_position = velocity_by_position(linkage, at, q, qd)
    if diagonal and cranks > 1:
        own = np.empty_like(q)
        for c in range(cranks):
            for i in range(q.size):
                own[i] = at.matrix_r[i, c] * qd[q.size - cranks + c]
            by_own = velocity_by_position(linkage, at, q, own)
            for i in range(q.size):
                by_position[i, c] = by_own[i, c]
    for s in range(count):
        if sensors.kinds[s] != BAR_GYRO:
            continue
        for c in range(cranks):
            for i in range(q.size):
                result[s, c] += by_q[s, i] * at.matrix_r[i, c] + by_qd[s, i] * by_position[i, c]
                result[s, cranks + c] += by_qd[s, i] * at.matrix_r[i, c]
    return result


@kernel
def readings_along(linkage: Linkage, sensors: Sensors, q: Any, qd: Any, out: Any) -> None:
    """Perfect readings of a trajectory, one row per motion."""
    for k in range(q.shape[0]):
        measure(linkage, sensors, q[k], qd[k], out[k])


@part
def _bar(linkage: Linkage, q: Any, qd: Any, bar: int) -> Any:
    """Vector from a bar's start to its end, and its rate ([Sanjurjo] Eqs. 4.11 to 4.13, times the length)."""
    x0, y0 = point_of(linkage, q, linkage.ends[bar, 0])
    x1, y1 = point_of(linkage, q, linkage.ends[bar, 1])
    u0, v0 = rate_of(qd, linkage.ends[bar, 0])
    u1, v1 = rate_of(qd, linkage.ends[bar, 1])
    return x1 - x0, y1 - y0, u1 - u0, v1 - v0
