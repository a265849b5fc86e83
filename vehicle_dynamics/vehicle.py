"""Interface of every vehicle, whatever its fidelity; runner, node and observer use only this."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from terrain.ground import GroundModel
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals

Array = NDArray[np.float64]


class RollingStart(NamedTuple):
    """Pose and speed of a vehicle at its start."""

    x: float  # of base_link [m]
    y: float
    heading: float  # [rad]
    speed: float  # ahead [m/s]
    gear: int  # 0 picks one by speed


class PedalAuthority(NamedTuple):
    """Authority of a vehicle's pedals, known to drivers: acceleration per pedal travel at small speed [m/s^2]."""

    brake: float  # of a brake that is pressed lightly
    throttle: float


class Vehicle(Protocol):
    """A vehicle whose whole state is a flat array: a copy of it is a checkpoint, to the bit.

    One object serves one thread: it has its own work arrays.
    """

    parameters: VehicleParameters
    step_s: float  # time step [s]
    wheel_radius: float  # unloaded [m]
    wheelbase: float  # at rest [m]
    understeer: float  # steering over that of the path grows by this times the squared speed [s^2/m^2]
    base_in_chassis: Array  # base_link's origin: on the ground under the rear axle at static ride [m]
    pedal_authority: PedalAuthority

    def start(
        self,
        ground: GroundModel,
        *,
        x: float = 0.0,
        y: float = 0.0,
        heading: float = 0.0,
        speed: float = 0.0,
        gear: int = 0,
    ) -> Array:
        """State in equilibrium with base_link at a pose [m, rad], rolling forward at speed [m/s]; gear 0 picks one."""
        numbers = (x, y, heading, speed)
        if not all(math.isfinite(value) for value in numbers):
            raise ValueError(f"start: x, y, heading and speed must be finite, got {numbers}")
        return self._started(ground, RollingStart(x, y, heading, speed, gear))

    def _started(self, ground: GroundModel, at: RollingStart) -> Array:
        """State for `start`; all values are finite."""
        ...

    def advance(self, state: Array, pedals: Pedals, ground: GroundModel, steps: int) -> int:
        """Advance the state in place; returns the steps made, fewer than requested when the motion diverged."""
        ...

    def snapshot(self, state: Array, pedals: Pedals, ground: GroundModel) -> SnapshotRecord:
        """Snapshot of the present state; the record belongs to the caller."""
        ...

    def adapt(self, payload_kg: float | None, pressures_pa: tuple[float | None, ...]) -> None:
        """Go on with another payload [kg] and other tyre pressures [Pa]; None: those of the vehicle's file.

        The state stays as it is, and so does base_link. Raises ValueError if the vehicle cannot have them.
        """
        if payload_kg is not None or any(pressure is not None for pressure in pressures_pa):
            raise ValueError("the vehicle has neither payload nor tyre pressures")

    def steering_for(self, curvature: float) -> float:
        """Steering wheel, -1 to 1, at which a slowly rolling vehicle follows a curvature [1/m], left positive."""
        ...

    def curvature_at(self, steering: float) -> float:
        """Path curvature [1/m] at a steering position, -1 to 1; the inverse of steering_for."""
        ...
