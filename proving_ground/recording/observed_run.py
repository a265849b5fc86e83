"""The run of an observed bag: what the scenario beside the bag says about vehicle, encoders and ground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from proving_ground.recording.observe_settings import Settings
from proving_ground.recording.run_vehicle import scenario_of_run
from proving_ground.scenarios.choices import ObserverChoice
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import load_scenario
from state_observer.node_settings import KnownEncoders, ObserverNodeSettings
from terrain.ground import FlatGround, GroundModel
from terrain.surroundings import Surroundings
from terrain.world_ground import JOURNAL
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE


class ObservedRun(NamedTuple):
    """What is known about the run of a bag. None: encoders as in the observer's settings, level ground."""

    vehicle: str = DEFAULT_VEHICLE
    encoders: KnownEncoders | None = None
    there: Surroundings | None = None

    def informed(self, settings: Settings) -> Settings:
        """Settings of the observer with the parameters of the run's encoders."""
        known = self.encoders
        if known is None:
            return settings
        return settings.measured_by(known.wheel_pulses, known.knows_direction, known.full_brake_pressure_pa)

    def ground(self) -> GroundModel:
        """A ground for a model, without ruts."""
        return self.there.fresh_ground(JOURNAL) if self.there is not None else FlatGround()


def observed_run(bag: Path, say: Callable[[str], None]) -> ObservedRun:
    """The run of a bag; without a scenario beside it nothing is known, of one without the sensors only the vehicle.

    Raises SettingsError if the scenario cannot be read: the bag may be of any vehicle.
    """
    path = scenario_of_run(bag)
    if path is None:
        return ObservedRun()
    scenario = load_scenario(path)
    vehicle = scenario.vehicle.model
    try:
        choice = scenario.observer or ObserverChoice(knows_start=False)
        settings: ObserverNodeSettings = compiled(replace(scenario, observer=choice))["observer"].settings
        there = Surroundings(settings)
    except ValueError as error:
        say(f"scenario: encoders and ground not used: {error}")
        return ObservedRun(vehicle)
    say(f"scenario: encoders and ground as in {path.name}")
    return ObservedRun(vehicle, settings.encoders, there)
