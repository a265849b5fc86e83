"""A single wheel on a test bench over soil, at a height or under a load, at a given slip: for studies and tests."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from proving_ground.kernels.jit import kernel
from terrain.contact_plane import SAMPLES, contact_plane
from terrain.ground import LEVEL, Array, Ground, no_grid
from terrain.obstacle_contact import no_obstacles
from terrain.ruts import Ruts, no_ruts, press
from terrain.soil import SOIL
from terrain.soil_contact import CAVING, soil_contact
from terrain.soil_law import SoilLaw
from terrain.wheel import (
    NO_DEFLECTION,
    UNLOADED_SOIL,
    ContactState,
    ContactStep,
    Deflection,
    SoilState,
    WheelContact,
    WheelMotionInWorld,
)

RUT_CELLS = 10  # to either side of the wheel
LONG = 1e6  # [s]: long enough to be steady


@kernel
def _probe(
    tyre: Any, ground: Ground, wheel: WheelMotionInWorld, before: ContactState, span: ContactStep, scratch: Array
) -> WheelContact:
    t = tyre[0]
    plane = contact_plane(ground, wheel.centre, wheel.axis, t.radius, t.width, before.soil_state.squeeze, scratch)
    return soil_contact(t, ground, plane, wheel, before, span, scratch)


@kernel
def _press(ruts: Ruts, x: float, y: float, depth: float) -> None:
    press(ruts, x, y, depth)


@dataclass(frozen=True)
class Rolling:
    """A wheel that rolls steadily."""

    slip: float  # 1 - v / (r omega)
    sinkage: float  # [m]
    load: float  # [N]
    drawbar_pull: float  # forward force, less what the soil resists [N]
    side_force: float  # to the left [N]
    torque: float  # that the soil needs from the axle [N m]


class WheelRig:
    """One wheel of a vehicle's tyre record on level soil."""

    def __init__(self, tyre: np.ndarray[Any, Any], soil: SoilLaw, ruts: Ruts | None = None) -> None:
        self._tyre = np.atleast_1d(tyre)
        self.radius, self.width = float(self._tyre["radius"][0]), float(self._tyre["width"][0])
        soils = np.array([soil.record()], dtype=SOIL)
        self._ground = Ground(LEVEL, no_grid(), soils, ruts or no_ruts(), no_obstacles())
        self._scratch, self._slip_sinkage = np.zeros(SAMPLES), soil.slip_sinkage

    def contact(
        self,
        *,
        height: float,
        speed: float = 0.0,
        side_speed: float = 0.0,
        climb: float = 0.0,
        spin: float = 0.0,
        x: float = 0.0,
        soil_state: SoilState = UNLOADED_SOIL,
        before: Deflection = NO_DEFLECTION,
        elapsed: float = LONG,
        step: float = 0.0,
    ) -> WheelContact:
        """Contact of a wheel with its centre at a height [m], moving forward, left and up [m/s], spinning [rad/s]."""
        wheel = WheelMotionInWorld((x, 0.0, height), (0.0, 1.0, 0.0), (speed, side_speed, climb), (0.0, 0.0, 0.0), spin)
        state, span = ContactState(before, soil_state), ContactStep(elapsed, step, True)
        found: WheelContact = _probe(self._tyre, self._ground, wheel, state, span, self._scratch)
        return found

    def rolling(self, load: float, slip: float, side_slip: float = 0.0, speed: float = 1.0) -> Rolling:
        """Steady state under a load [N] at a slip 1 - v / (r omega) below 1, rolling forward at speed [m/s].

        r is the rolling radius. side_slip: sideways speed over forward speed, to the right.
        """
        slid = speed * math.hypot(slip / (1.0 - slip), side_slip)
        dug = self._slip_sinkage * slid / (speed + CAVING * slid)
        low, high = 0.0, 0.95 * self.radius
        for _ in range(60):
            sinkage = 0.5 * (low + high)
            state = SoilState(sinkage, 1.0, 0.0, dug)
            contact = functools.partial(
                self.contact, height=self.radius - sinkage, speed=speed, side_speed=-side_slip * speed, soil_state=state
            )
            spin = speed / self.radius
            rim = speed / (1.0 - contact(spin=spin).slip_along)
            found = contact(spin=spin * speed / (rim * (1.0 - slip)))
            low, high = (sinkage, high) if found.force[2] < load else (low, sinkage)
        return Rolling(slip, sinkage, found.force[2], found.force[0], found.force[1], -found.moment[1])

    def leave_rut(self, depth: float) -> None:
        """Leave a rut of a depth [m] all along the wheel's way."""
        ruts = self._ground.ruts
        size = 1.0 / ruts.inverse
        for row in range(-RUT_CELLS, RUT_CELLS):
            for column in range(-RUT_CELLS, RUT_CELLS):
                _press(ruts, (column + 0.5) * size, (row + 0.5) * size, depth)

    def towed(self, load: float, side_slip: float = 0.0) -> Rolling:
        """Steady state of a wheel that no torque drives, under a load [N]."""
        low, high = -0.8, 0.5
        for _ in range(30):
            slip = 0.5 * (low + high)
            found = self.rolling(load, slip, side_slip)
            low, high = (slip, high) if found.torque < 0.0 else (low, slip)
        return found
