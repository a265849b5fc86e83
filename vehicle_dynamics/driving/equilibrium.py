"""Equilibrium of a standing or rolling vehicle on any ground: a start without a drop.

Newton's method on the accelerations. Unknowns are height, roll and pitch of the chassis, the four lower-arm angles and,
standing, the tyre deflections along, across and in yaw that hold the vehicle on a slope; rolling, the spin of
the free wheels, with the deflection of steady rolling.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel
from terrain.ground import Ground, height_at
from terrain.ruts import rut_depth
from terrain.soil import RIGID
from vehicle_dynamics.attitude import quaternion_from_rpy
from vehicle_dynamics.drive.driveline import opened
from vehicle_dynamics.driving.balance import RATE
from vehicle_dynamics.driving.handle import balanced_rates, handle
from vehicle_dynamics.driving.model import DrivingVehicle, driving_workspace
from vehicle_dynamics.driving.state import DEFLECTION, DRIVING_SIZE, GEAR, MOVING_SIZE, SINCE_SHIFT, STUCK
from vehicle_dynamics.driving.stepping import ACROSS, ALONG, AXLE_MOMENT, LOAD
from vehicle_dynamics.rigid_steps import SEMI_IMPLICIT_EULER
from vehicle_dynamics.vehicle_state import ATTITUDE, POSITION, SPIN_RATE, THETA, VELOCITY

Array = NDArray[np.float64]

ROLLS_MPS = 0.01  # a start at a lower speed is one at rest
TOLERANCE = 1e-9  # [m/s^2, rad/s^2]
ENOUGH = 1e-4  # the kinks of tables can keep Newton from TOLERANCE; a start this close to equilibrium is enough
NEARLY = 0.5  # where nothing is better, as on the stepped floors of crossing ruts: the vehicle settles at once
MOST_ITERATIONS = 60
DIFFERENCE = 1e-7  # of unknowns, for the Jacobian
FIRST_ARM_ANGLE = -0.2  # [rad]
MOST_TILTED = 1.2  # [rad]: beyond, the vehicle does not stand on its wheels
UNBOUNDED = 1e9  # for soft soil, whose strength the contact model limits
LOWER = (0.02, 0.1, 0.06)  # [m]: further guesses, with the wheels deeper in the ground
SOFTER = (0.1, 0.2, 0.4, 0.7)
FRONT_AND_REAR = np.array([1.0, 1.0, -1.0, -1.0])


class NoEquilibriumError(ValueError):
    """The vehicle has no equilibrium at the requested pose and speed."""


@kernel
def ground_height(ground: Ground, x: float, y: float) -> float:
    """Height of the ground [m] at a point [m], at the bottom of a rut where there is one."""
    return height_at(ground, x, y) - rut_depth(ground.ruts, x, y)


def equilibrium(
    vehicle: DrivingVehicle, ground: Ground, x: float, y: float, heading: float, speed: float, gear: int = 1
) -> Array:
    """State (62) with the chassis origin over x, y [m], heading [rad] from x, rolling forward at speed [m/s].

    Raises NoEquilibriumError where there is none, as with a wheel over an abyss.
    """
    standing = _Balance(vehicle, ground, x, y, heading, 0.0)
    unknown, left = _solved(standing, standing.first_guess())
    if not left < ENOUGH:  # as in ruts: begin with soft tyres, whose wheels all reach the ground, then stiffen them
        tried = [(left, unknown)]
        for lower in LOWER:
            unknown = standing.first_guess(-lower)
            for share in SOFTER:
                softer = _Balance(_with_softer_tyres(vehicle, share), ground, x, y, heading, 0.0)
                unknown, _ = _solved(softer, unknown)
            unknown, left = _solved(standing, unknown)
            tried.append((left, unknown))
            if left < ENOUGH:
                break
        left, unknown = min(tried, key=lambda pair: pair[0])
    if not left < NEARLY:
        raise NoEquilibriumError(f"the vehicle finds no balance: {left:.2g} m/s^2 are left")
    if abs(speed) > ROLLS_MPS:
        rolling = _Balance(vehicle, ground, x, y, heading, speed)
        as_it_stands = np.concatenate([unknown[:7], rolling.first_guess()[7:]])
        found, left = _solved(rolling, as_it_stands)
        # In deep soil there is no steady rolling: start as at rest, and decelerate.
        return rolling.state(found if left < ENOUGH else as_it_stands, gear)
    standing.share_by_load()
    shared, left = _solved(standing, unknown)
    return standing.state(shared if left < ENOUGH else unknown, gear)


def _solved(balance: _Balance, unknown: Array) -> tuple[Array, float]:
    """Newton's method; the unknowns, and the largest residual acceleration: infinite for a vehicle on its side."""
    residual = balance.residual(unknown)
    for _ in range(MOST_ITERATIONS):
        if np.abs(residual).max() < TOLERANCE or not np.isfinite(residual).all():
            break
        jacobian = np.empty((len(residual), len(unknown)))
        for column, scale in enumerate(balance.scale):
            shifted = unknown.copy()
            shifted[column] += DIFFERENCE * scale
            jacobian[:, column] = (balance.residual(shifted) - residual) / (DIFFERENCE * scale)
        if not np.isfinite(jacobian).all():
            break
        step: Array = np.linalg.lstsq(jacobian, -residual, rcond=None)[0].astype(float)
        unknown, residual = balance.best_along(unknown, residual, step)
    tilted = np.abs(unknown[1:3]).max() > MOST_TILTED
    return unknown, math.inf if tilted else float(np.abs(residual).max())


def _with_softer_tyres(vehicle: DrivingVehicle, share: float) -> DrivingVehicle:
    """The vehicle with a share of its tyres' stiffness."""
    tyre = vehicle.tyre.copy()
    tyre["stiffness"] *= share
    return vehicle._replace(tyre=tyre)


class _Balance:
    """The equations at one pose."""

    def __init__(
        self, vehicle: DrivingVehicle, ground: Ground, x: float, y: float, heading: float, speed: float
    ) -> None:
        # Locked differentials would leave the equations of the wheels' spins singular.
        vehicle = vehicle._replace(driveline=opened(vehicle.driveline))
        self._vehicle, self._ground = vehicle, ground
        self._x, self._y, self._heading, self._speed = x, y, heading, speed
        self._rolls = abs(speed) > ROLLS_MPS
        self._work = driving_workspace(vehicle)
        self._handle = handle(vehicle, self._work, SEMI_IMPLICIT_EULER)
        self._state = np.zeros(DRIVING_SIZE)
        self._share = np.ones(4)  # of each tyre in holding a standing vehicle
        self._ahead = np.array([np.cos(heading), np.sin(heading), 0.0])  # along the ground
        # Metres, radians; deflections in centimetres, spins as they are.
        self.scale = np.concatenate([np.ones(7), np.ones(4) if self._rolls else np.full(3, 0.01)])

    def first_guess(self, lift: float = 0.0) -> Array:
        """State on the plane under the wheels, raised by lift [m]; undeflected tyres, or spins without slip."""
        corners = self._vehicle.bodies.corners["geometry"]["wheel_centre"]
        cosine, sine = np.cos(self._heading), np.sin(self._heading)
        along, across = corners[:, 0], corners[:, 1]
        heights = [
            ground_height(self._ground, self._x + cosine * a - sine * b, self._y + sine * a + cosine * b)
            for a, b in zip(along, across, strict=True)
        ]
        level, rise_along, rise_across = np.linalg.lstsq(
            np.column_stack([np.ones(4), along, across]), heights, rcond=None
        )[0]
        radius = float(self._vehicle.tyre["radius"][0])
        up = (radius + 0.1) / np.sqrt(1.0 / (1.0 + rise_along**2 + rise_across**2))
        pitch = -np.arctan(rise_along)
        self._ahead = np.array([cosine, sine, rise_along]) * np.cos(pitch)
        roll = np.arctan(rise_across * np.cos(pitch))
        rest = np.full(4, self._speed / (0.99 * radius)) if self._rolls else np.zeros(3)
        return np.concatenate([[level + up + lift, roll, pitch], np.full(4, FIRST_ARM_ANGLE), rest])

    def share_by_load(self) -> None:
        """Distribute the holding force of a standing vehicle over the tyres by load."""
        loads = self._work.tyre[:, LOAD]
        if loads.mean() > 0.0:  # else it is resting on its belly
            self._share = loads / loads.mean()

    def residual(self, unknown: Array) -> Array:
        """Accelerations that vanish in equilibrium."""
        rate = self._evaluate(unknown)
        vertical = [rate[17], rate[18], rate[19], *rate[21:25]]
        return np.array([*vertical, *(rate[25:29] if self._rolls else (rate[15], rate[16], rate[20]))])

    def best_along(self, unknown: Array, residual: Array, step: Array) -> tuple[Array, Array]:
        """The first of ever shorter steps that reduces the residual; the shortest when none does."""
        size = np.linalg.norm(residual)
        largest = np.abs(step[:7]).max()
        share = min(1.0, 0.2 / largest) if largest > 0.0 else 1.0
        for _ in range(12):
            tried = unknown + share * step
            left = self.residual(tried)
            if np.isfinite(left).all() and np.linalg.norm(left) < size:
                return tried, left
            share *= 0.5
        return (tried, left) if np.isfinite(left).all() else (unknown, residual)

    def state(self, unknown: Array, gear: int) -> Array:
        """The whole state; brakes and tyres as the equilibrium needs them."""
        self._evaluate(unknown)
        state: Array = self._state.copy()
        if self._rolls:
            state[DEFLECTION] = self._work.tyre[:, [ALONG, ACROSS]].ravel()
        else:
            state[DEFLECTION] = self._held(state[DEFLECTION])
            state[STUCK] = -self._work.tyre[:, AXLE_MOMENT] / self._vehicle.brakes.stiffness
        state[GEAR], state[SINCE_SHIFT] = gear, 10.0
        return state

    def _held(self, deflection: Array) -> Array:
        """The deflection that friction can hold; where it cannot hold the vehicle, it slides at once."""
        wanted = deflection.reshape(4, 2) * self._vehicle.tyre["carcass_stiffness"]
        grip = float(self._ground.soils["friction"].max()) if self._ground.soils["kind"][0] == RIGID else UNBOUNDED
        most = grip * self._work.tyre[:, LOAD]
        share = np.minimum(1.0, most / np.maximum(np.hypot(wanted[:, 0], wanted[:, 1]), 1e-9))
        held: Array = (deflection.reshape(4, 2) * share[:, None]).ravel()
        return held

    def _evaluate(self, unknown: Array) -> Array:
        moving = self._state[:MOVING_SIZE]
        height, roll, pitch = unknown[:3]
        moving[POSITION] = self._x, self._y, height
        moving[ATTITUDE] = quaternion_from_rpy(roll, pitch, self._heading)
        moving[THETA] = unknown[3:7]
        if self._rolls:
            moving[SPIN_RATE] = unknown[7:]
            moving[VELOCITY] = self._speed * self._ahead
        else:
            along, across, yaw = unknown[7:]
            sideways = across + yaw * FRONT_AND_REAR
            moving[DEFLECTION] = np.column_stack([self._share * along, self._share * sideways]).ravel()
        balanced_rates(self._handle, self._ground, self._state, self._rolls)
        rate: Array = self._work.rates[RATE]
        return rate
