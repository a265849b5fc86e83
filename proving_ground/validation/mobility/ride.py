"""Test of the ride: natural modes of a standing vehicle, and the travel of its suspension."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.validation.mobility.figure import Figure
from proving_ground.validation.mobility.rig import Subject, pedestal
from proving_ground.validation.parts import Bound
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.rig import DRY, Array, Rig
from vehicle_dynamics.vehicle_state import ANGULAR_VELOCITY, ATTITUDE, POSITION, THETA, THETA_RATE, VELOCITY

HEIGHT, ROLL, PITCH, FIRST_ARM = 0, 1, 2, 3  # coordinates; the last are the four lower arms
COORDINATES = 7
RATES = [  # of the coordinates, by their index in the state
    VELOCITY.start + 2, ANGULAR_VELOCITY.start, ANGULAR_VELOCITY.start + 1, *range(THETA_RATE.start, THETA_RATE.stop),
]  # fmt: skip
SMALL = 1e-5  # [m, rad], and per second


class Mode(NamedTuple):
    """A damped oscillation."""

    hertz: float  # undamped
    damping: float  # ratio
    shape: NDArray[np.complex128]  # of the seven coordinates


class Modes(NamedTuple):
    """Oscillations of body and wheels."""

    bounce: Mode
    pitch: Mode
    hops: list[Mode]


def ride(subject: Subject) -> list[Figure]:
    """Frequencies and damping of small motions about rest, and how far wheels drop when the vehicle is raised."""
    vehicle = subject.vehicle()
    found = modes(vehicle)
    hops = [mode.hertz for mode in found.hops]
    return [
        Figure("bounce", found.bounce.hertz, Bound(1.3, 1.6), "Hz", "d"),
        Figure("pitch", found.pitch.hertz, Bound(1.3, 2.1), "Hz", "d"),
        Figure("wheel hop, lowest", min(hops), Bound(8.0, 11.0), "Hz", "d"),
        Figure("wheel hop, highest", max(hops), Bound(8.0, 11.0), "Hz", "d"),
        Figure("damping of bounce", found.bounce.damping, Bound(0.2, 0.45)),
        Figure("damping of pitch", found.pitch.damping, Bound(0.2, 0.45)),
        Figure("droop, least of the wheels", 1e3 * min(droop(vehicle)), Bound(least=75.0), "mm"),
    ]


def modes(vehicle: Hmmwv) -> Modes:
    """Modes of height, roll, pitch and lower arms about rest.

    From accelerations by central differences: a damper whose rates differ in both directions counts with their mean.
    """
    rest = vehicle.start(DRY)
    columns = []
    for index in range(2 * COORDINATES):
        ahead, behind = (_accelerations(vehicle, _moved(rest, index, sign * SMALL)) for sign in (1.0, -1.0))
        columns.append((ahead - behind) / (2.0 * SMALL))
    jacobian = np.column_stack(columns)
    stiffness, shapes = np.linalg.eig(jacobian[:, :COORDINATES])
    natural = [math.sqrt(max(-value.real, 0.0)) for value in stiffness]
    damped = _damped(jacobian)
    found = [
        Mode(frequency / (2.0 * math.pi), _damping(shape, damped), shape)
        for frequency, shape in zip(natural, shapes.T, strict=True)
    ]
    found.sort(key=lambda mode: mode.hertz)
    body, wheel = found[:3], found[3:]
    half = 0.5 * vehicle.wheelbase
    bounce = max(body, key=lambda mode: _share(mode, HEIGHT, 1.0, half))
    pitch = max((mode for mode in body if mode is not bounce), key=lambda mode: _share(mode, PITCH, half, half))
    return Modes(bounce, pitch, wheel)


def _damped(jacobian: Array) -> list[tuple[float, NDArray[np.complex128]]]:
    """Damping ratios and shapes of the damped oscillations."""
    system = np.zeros((2 * COORDINATES, 2 * COORDINATES))
    system[:COORDINATES, COORDINATES:] = np.eye(COORDINATES)
    system[COORDINATES:] = jacobian
    values, vectors = np.linalg.eig(system)
    return [
        (-value.real / abs(value), vector[:COORDINATES])
        for value, vector in zip(values, vectors.T, strict=True)
        if value.imag > 1e-6
    ]


def _damping(shape: Array, damped: list[tuple[float, NDArray[np.complex128]]]) -> float:
    """Damping ratio of the damped oscillation whose shape is nearest."""
    likeness = [abs(np.vdot(shape, other)) / (np.linalg.norm(shape) * np.linalg.norm(other)) for _, other in damped]
    return float(damped[int(np.argmax(likeness))][0])


def _share(mode: Mode, coordinate: int, scale: float, half: float) -> float:
    """Share of a coordinate in the body's motion at the axles."""
    motion = np.abs([mode.shape[HEIGHT], half * mode.shape[ROLL], half * mode.shape[PITCH]])
    return float(scale * abs(mode.shape[coordinate]) / motion.sum())


def _moved(rest: Array, index: int, amount: float) -> Array:
    """The state with one coordinate, or its rate, changed."""
    state: Array = rest.copy()
    coordinate = index % COORDINATES
    if index >= COORDINATES:
        state[RATES[coordinate]] += amount
    elif coordinate == HEIGHT:
        state[POSITION][2] += amount
    elif coordinate in (ROLL, PITCH):
        small = np.array([0.0, 0.0, 0.0, 1.0])
        small[coordinate - ROLL] = 0.5 * amount
        state[ATTITUDE] = _product(state[ATTITUDE], small)
    else:
        state[THETA][coordinate - FIRST_ARM] += amount
    return state


def _product(a: Array, b: Array) -> Array:
    """Product of two quaternions x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    product: Array = np.array([*vector, a[3] * b[3] - a[:3] @ b[:3]])
    return product


def _accelerations(vehicle: Hmmwv, state: Array) -> Array:
    """Accelerations of the coordinates [m/s^2, rad/s^2], with free wheels: change of the rates in one step."""
    after = state.copy()
    vehicle.advance(after, Pedals(selected=NEUTRAL), DRY, 1)
    change: Array = (after[RATES] - state[RATES]) / vehicle.step_s
    return change


def droop(vehicle: Hmmwv) -> list[float]:
    """Travel of each wheel relative to the chassis when the vehicle is raised on a lift [m]."""
    rig = Rig(vehicle)
    standing, (x, _, z) = rig.seen, rig.position().tolist()
    lift, belly = 1.5, float(vehicle.kernel.body.points[:, 2].min())
    rig.return_to_start(lift - belly - z)
    rig.replace_ground(pedestal(x, lift))
    raised = rig.drive(Pedals(brake=1.0), 3.0)
    if raised["load"].max() > 0.0:
        raise RuntimeError("a wheel still touches the ground")
    travel: list[float] = (standing["wheel_centre"][:, 2] - raised["wheel_centre"][:, 2]).tolist()
    return travel
