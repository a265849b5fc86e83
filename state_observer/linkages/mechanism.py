"""A linkage assembled from its parameters, for simulations and filters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import SettingsError
from state_observer.linkages.parameters import LinkageParameters, load_linkage
from state_observer.multibody.constraints import Linkage
from state_observer.multibody.kinematics import constraint_gap, position_problem
from state_observer.multibody.matrix_r import settle

Array = NDArray[np.float64]

LONGEST_TURN = 0.1  # [rad] largest crank step that keeps the branch
ASSEMBLED = 1e-9  # [m^2] largest gap of an assembled linkage


class Motion(NamedTuple):
    """Position, velocity and acceleration of all coordinates."""

    q: Array
    qd: Array
    qdd: Array


class Mechanism:
    """A linkage under gravity [m/s^2, negative is down]."""

    def __init__(self, parameters: LinkageParameters, gravity: float) -> None:
        if not np.isfinite(gravity):
            raise SettingsError(f"gravity must be finite, got {gravity}")
        self.parameters = parameters
        self.gravity = gravity
        self.kernel = _kernel(parameters, gravity)
        self.degrees_of_freedom = len(parameters.cranks)
        self.size = self.kernel.force.size
        self._assembled = self._assemble()

    @classmethod
    def named(cls, name: str, gravity: float) -> Mechanism:
        """A linkage of config/observers by name, or of a YAML file by path."""
        return cls(load_linkage(name), gravity)

    @property
    def start_angles(self) -> Array:
        """Angles of the cranks in the assembled linkage [rad]."""
        angles: Array = self._assembled[self.size - self.degrees_of_freedom :].copy()
        return angles

    def motion(self, angles: Array, rates: Array, near: Array | None = None) -> Motion:
        """Full motion for given angles [rad] and rates [rad/s] of the cranks.

        near: coordinates on the branch wanted, by default those of the assembled linkage.
        """
        q = (self._assembled if near is None else near).copy()
        qd, qdd = np.zeros(self.size), np.zeros(self.size)
        angles, rates = np.asarray(angles, dtype=float), np.asarray(rates, dtype=float)
        cranks = q[self.size - self.degrees_of_freedom :]
        change = angles - cranks
        legs = int(np.ceil(np.abs(change).max() / LONGEST_TURN)) if np.all(np.isfinite(change)) else 1
        for _ in range(legs - 1):  # in small steps, to stay on the branch
            cranks += change / legs
            position_problem(self.kernel, q)
        if not settle(self.kernel, self.kernel.force, angles, rates, q, qd, qdd):
            raise SettingsError(f"the linkage cannot be assembled with its cranks at {angles.tolist()} rad")
        return Motion(q, qd, qdd)

    def energy(self, motion: Motion) -> float:
        """Kinetic and potential energy [J]; weight is constant in these coordinates."""
        return float(0.5 * motion.qd @ self.kernel.mass @ motion.qd - self.kernel.force @ motion.q)

    def _assemble(self) -> Array:
        parameters = self.parameters
        guess = [value for point in parameters.points for value in (point.x_m, point.y_m)]
        q = np.array(guess + [crank.start_angle_rad for crank in parameters.cranks])
        if not position_problem(self.kernel, q) or constraint_gap(self.kernel, q) > ASSEMBLED:
            raise SettingsError(
                "the linkage cannot be assembled: no position of its points near the given ones fits the lengths "
                f"{[bar.length_m for bar in parameters.bars]} m"
            )
        return q


def _kernel(parameters: LinkageParameters, gravity: float) -> Linkage:
    indices = {point.name: i for i, point in enumerate(parameters.points)}
    indices |= {pivot.name: -1 - i for i, pivot in enumerate(parameters.pivots)}
    ends = np.array([[indices[bar.start], indices[bar.end]] for bar in parameters.bars])
    size = 2 * len(parameters.points) + len(parameters.cranks)
    mass, force = np.zeros((size, size)), np.zeros(size)
    for bar, (start, end) in zip(parameters.bars, ends.tolist(), strict=True):
        # A uniform bar between two points: velocity is linear along it, so M is (m/6) [2 1; 1 2] per axis.
        for one in (start, end):
            if one < 0:
                continue
            force[2 * one + 1] += 0.5 * bar.mass_kg * gravity
            for other in (start, end):
                if other >= 0:
                    share = bar.mass_kg / (3.0 if one == other else 6.0)
                    mass[2 * one, 2 * other] += share
                    mass[2 * one + 1, 2 * other + 1] += share
    return Linkage(
        ends=ends,
        lengths=np.array([bar.length_m for bar in parameters.bars]),
        cranks=np.array([parameters.bar_index(crank.bar) for crank in parameters.cranks]),
        pivots=np.array([[pivot.x_m, pivot.y_m] for pivot in parameters.pivots]),
        mass=mass,
        force=force,
    )
