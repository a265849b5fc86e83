"""The scripted driver of a run: its settings, and its construction."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.kinds import SCRIPT_NODE
from planner.scripted import ScriptedDriver
from proving_ground.interfaces.synchrony import sync_with
from proving_ground.kernels.vector3 import vector
from proving_ground.scenarios.scenario import Driver
from proving_ground.settings import SettingsError, setting
from proving_ground.settings.nested import settings_from_text
from proving_ground.settings.one_of import one_of
from terrain.surroundings import SiteSettings, Surroundings
from vehicle_dynamics.control.helm import Helm
from vehicle_dynamics.control.levers import VehicleLevers
from vehicle_dynamics.start import Start
from vehicle_dynamics.vehicle import Vehicle
from vehicle_dynamics.vehicle_choice import VehicleChoice


@dataclass(frozen=True, kw_only=True)
class ScriptSettings(SiteSettings):
    """Settings of a scripted driver as a part of a run: script, vehicle, start and ground."""

    driver: str = setting(
        "{straight: {}}", "Scripted driver as YAML text, like the `driver` section of a scenario file", read_only=True
    )
    vehicle: VehicleChoice = field(default_factory=VehicleChoice)
    start: Start = field(default_factory=Start)
    sync_with: tuple[str, ...] = sync_with()

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = self.chosen().kind
        if kind is None or kind.node != SCRIPT_NODE:
            what = f"{kind.name} is not a script; start the {kind.node} node instead" if kind else "give one"
            raise ValueError(f"driver: {what}")

    def chosen(self) -> Driver:
        """The driver that the text describes; raises SettingsError."""
        return settings_from_text(self.driver, Driver, "driver")


def make_script(settings: ScriptSettings, vehicle: Vehicle, there: Surroundings) -> ScriptedDriver:
    """The driver, for its node and for lock-step; raises SettingsError for levers that the vehicle does not have."""
    origin, base = settings.start.origin(there.world), vector(vehicle.base_in_chassis)
    name, script = one_of(settings.chosen())
    try:
        return ScriptedDriver(script, Helm(vehicle), origin, base, VehicleLevers.of(vehicle.parameters))
    except ValueError as error:
        raise SettingsError(f"driver.{name}.{error}") from None
