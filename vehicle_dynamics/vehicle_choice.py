"""The vehicle that a scenario or a node asks for."""

from __future__ import annotations

from typing import Protocol

from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.single_track import SingleTrack
from vehicle_dynamics.vehicle import Vehicle


class VehicleWish(Protocol):
    """What is asked for, in the words of their settings."""

    @property
    def fidelity(self) -> str: ...
    @property
    def powertrain(self) -> str: ...
    @property
    def integrator(self) -> str: ...
    @property
    def step_s(self) -> float: ...


def make_vehicle(wish: VehicleWish, parameters: VehicleParameters) -> Vehicle:
    """A vehicle with these numbers."""
    if wish.fidelity == "single_track":
        return SingleTrack(parameters, step_s=wish.step_s)
    return Hmmwv(parameters, powertrain=wish.powertrain, method=wish.integrator, step_s=wish.step_s)
