"""Vehicles, grounds and drivers that the mobility tests share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from terrain.ground import Ground, Plane, grid_of
from terrain.obstacle_contact import no_obstacles
from terrain.ruts import no_ruts
from terrain.soil import SOIL, hard_soil
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed, heading
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rig import Array
from vehicle_dynamics.vehicle_files import vehicle_file

Change = Callable[[VehicleParameters], VehicleParameters]

MODEL = "hmmwv"
PAYLOADS_KG = {"2573 kg": 0.0, "3493 kg": 920.0}  # by the mass of the whole vehicle: test weight, gross weight
TEST_KG, GROSS_KG = PAYLOADS_KG.values()
HIGH, HIGH_LOCKED, LOW = 0, 1, 2  # ranges of the transfer case: H, H/L, L
KMPH, MPH = 1.0 / 3.6, 0.44704  # [m/s]
RPM = math.pi / 30.0  # [rad/s]
CELL_M = 0.05  # of grounds made of cells


@dataclass(frozen=True, eq=False)
class CellGround:
    """A plane that rises along x, with heights and frictions by cell: frictions of 0.8 where `icy` is 0."""

    heights: NDArray[np.float32]
    origin: tuple[float, float]
    slope: float = 0.0
    icy: NDArray[np.uint8] | None = None  # 1: the second friction
    frictions: tuple[float, float] = (0.8, 0.1)

    def kernel(self) -> Ground:
        """The ground in the form that kernels use."""
        return self._kernel

    @functools.cached_property
    def _kernel(self) -> Ground:
        grid = grid_of(self.heights, self.icy, *self.origin, CELL_M)
        soils = np.array([hard_soil(friction) for friction in self.frictions], dtype=SOIL)
        return Ground(Plane(self.slope, 0.0, 0.0, 1.0, 0.0), grid, soils, no_ruts(), no_obstacles())


def pedestal(x: float, height: float) -> CellGround:
    """Level ground with a block under the middle of a vehicle at x [m], narrower than its track."""
    count = round(12.0 / CELL_M)
    heights = np.zeros((count, count), np.float32)
    along = -6.0 + CELL_M * np.arange(count)
    heights[np.ix_(np.abs(along) < 0.6, np.abs(along) < 1.9)] = height
    return CellGround(heights, (x - 6.0, -6.0))


@dataclass(frozen=True)
class Subject:
    """The vehicle under test: a file of config/vehicles, and a change of its parameters."""

    model: str = MODEL
    change: Change | None = None

    def parameters(self, payload_kg: float = 0.0) -> VehicleParameters:
        """Parameters of the vehicle with a payload [kg]."""
        parameters = VehicleParameters.from_yaml(vehicle_file(self.model)).loaded(payload_kg)
        return self.change(parameters) if self.change else parameters

    def vehicle(self, payload_kg: float = 0.0) -> Hmmwv:
        """The vehicle with a payload [kg]."""
        return Hmmwv(self.parameters(payload_kg))


def smooth(values: Array, seconds: float) -> Array:
    """Running mean over a time [s] of a series with one value each PERIOD_S."""
    count = round(seconds / PERIOD_S)
    mean: Array = np.convolve(values, np.full(count, 1.0 / count), "valid")
    return mean


def circle_radius(points: Array) -> float:
    """Radius [m] of the circle through points (n x 2) [m], by least squares."""
    x, y = points.T
    solution = np.linalg.lstsq(np.column_stack([2 * x, 2 * y, np.ones(len(x))]), x * x + y * y, rcond=None)[0]
    return float(math.sqrt(solution[2] + solution[0] ** 2 + solution[1] ** 2))


class SpeedHold:
    """Throttle and brake for a speed [m/s], as a test driver holds it: proportional and integral."""

    def __init__(self, wanted: float, transfer_range: int = HIGH) -> None:
        self.wanted, self._total, self._range = wanted, 0.0, transfer_range

    def pedals(self, seen: SnapshotRecord, steering: float = 0.0) -> Pedals:
        """Pedals for the present speed, with the given steering."""
        error = self.wanted - forward_speed(seen)
        asked = 0.8 * error + self._total
        if -1.0 < asked < 1.0:
            self._total += 0.4 * error * PERIOD_S
        return Pedals(steering, max(asked, 0.0), min(max(-asked, 0.0), 1.0), transfer_range=self._range)


def straight(x: float) -> float:
    """The line y = 0, for a LineDriver."""
    return 0.0


class LineDriver:
    """Steers along a line y(x), with its curvature ahead and so that distance from it fades as a damped oscillation."""

    def __init__(
        self,
        vehicle: Hmmwv,
        line: Callable[[float], float],
        *,
        bandwidth: float = 2.0,
        lag_s: float = 0.25,
        understeer: float = 0.0,
        integral: float = 0.0,
    ) -> None:
        """bandwidth [rad/s]; lag_s: how far ahead the curvature is taken; understeer: further steering [s^2/m^2]."""
        self._vehicle, self._line, self._bandwidth = vehicle, line, bandwidth
        self._lag, self._understeer, self._integral = lag_s, understeer, integral
        self._total = 0.0

    def steering(self, seen: SnapshotRecord) -> float:
        """Steering from -1 to 1."""
        speed = max(forward_speed(seen), 1.0)
        x, y = seen["position"][:2].tolist()
        rise, at = self._line(x + 0.5) - self._line(x - 0.5), x + self._lag * speed
        bend = self._line(at + 1.0) - 2.0 * self._line(at) + self._line(at - 1.0)
        off = y - self._line(x)
        leaving = speed * math.sin(heading(seen) - math.atan(rise))
        self._total += self._integral * off * PERIOD_S
        back = self._bandwidth * (self._bandwidth * off + 2.0 * leaving) / max(speed * speed, 4.0)
        curvature = (bend - back - self._total) * (1.0 + self._understeer * speed * speed)
        return self._vehicle.steering_for(curvature)
