"""A vehicle under drive-by-wire, in simulation time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from terrain.ground import FlatGround, GroundModel
from vehicle_dynamics.control.drive_by_wire import DriveByWire, DriveByWireSettings
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle import Vehicle


class Ride:
    """Repeats a command every period, or none."""

    def __init__(self, vehicle: Vehicle, ground: GroundModel | None = None, speed: float = 0.0) -> None:
        self.vehicle, self.ground = vehicle, ground or FlatGround()
        self.state = vehicle.start(self.ground, speed=speed)
        self.drive = DriveByWire(vehicle, DriveByWireSettings())
        self.pedals = Pedals()
        self.seen = vehicle.snapshot(self.state, self.pedals, self.ground)
        self.time = 0.0
        self.log: list[Pedals] = []

    @property
    def speed(self) -> float:
        return forward_speed(self.seen)

    def run(self, seconds: float, command: Callable[[DriveByWire, float], object] = lambda drive, now: None) -> None:
        steps = round(PERIOD_S / self.vehicle.step_s)
        for _ in range(round(seconds / PERIOD_S)):
            command(self.drive, self.time)
            self.pedals = self.drive.pedals(self.time, self.seen)
            self.log.append(self.pedals)
            assert self.vehicle.advance(self.state, self.pedals, self.ground, steps) == steps
            self.seen = self.vehicle.snapshot(self.state, self.pedals, self.ground)
            self.time += PERIOD_S


@pytest.fixture(scope="session")
def vehicle(parameters: VehicleParameters) -> Hmmwv:
    return Hmmwv(parameters)


@pytest.fixture
def ride(vehicle: Hmmwv) -> Callable[..., Ride]:
    return lambda *arguments, **options: Ride(vehicle, *arguments, **options)


@pytest.fixture
def ride_in() -> type[Ride]:
    """A ride in another vehicle."""
    return Ride
