"""Open-loop steering inputs of [Bae] (J-turn, lane change), smooth to the second derivative."""

from __future__ import annotations

import math
from typing import NamedTuple

from proving_ground.kernels.jit import inlined

STRAIGHT, J_TURN, LANE_CHANGE = 0, 1, 2


class Manoeuvre(NamedTuple):
    """Driver input: a Pitman angle over time and a torque on all wheels."""

    kind: int = STRAIGHT
    amplitude: float = 0.0  # of the Pitman angle [rad]
    start: float = 0.5  # [s]
    duration: float = 1.0  # [s]
    drive_torque: float = 0.0  # on each wheel [N m]


class Steer(NamedTuple):
    """Pitman angle [rad] with its first and second time derivative."""

    angle: float
    rate: float
    acceleration: float


@inlined
def steer_at(manoeuvre: Manoeuvre, time: float) -> Steer:
    """J-turn: from zero to the amplitude, and held. Lane change: once to one side and once to the other."""
    m = manoeuvre
    s = (time - m.start) / m.duration
    if m.kind == STRAIGHT or s <= 0.0:
        return Steer(0.0, 0.0, 0.0)
    if s >= 1.0:
        return Steer(m.amplitude if m.kind == J_TURN else 0.0, 0.0, 0.0)
    # Quintic from 0 to 1 whose first two derivatives vanish at both ends.
    u = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    u1 = 30.0 * s * s * (1.0 - s) * (1.0 - s) / m.duration
    u2 = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / (m.duration * m.duration)
    if m.kind == J_TURN:
        return Steer(m.amplitude * u, m.amplitude * u1, m.amplitude * u2)
    cycle = 2.0 * math.pi
    sine, cosine = math.sin(cycle * u), math.cos(cycle * u)
    return Steer(
        m.amplitude * sine,
        m.amplitude * cycle * cosine * u1,
        m.amplitude * (cycle * cosine * u2 - (cycle * u1) ** 2 * sine),
    )
