"""Test an autonomy stack on a simulated off-road vehicle.

Names are imported when they are first used, so that `import terrain` loads no other room.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proving_ground.scenarios.lock_step import LockStep
    from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
    from proving_ground.scenarios.simulation import Command, Observation, Simulation
    from proving_ground.settings import SettingsError
    from vehicle_dynamics.pedals import Pedals

_HOMES = {
    "Command": "proving_ground.scenarios.simulation",
    "LockStep": "proving_ground.scenarios.lock_step",
    "Observation": "proving_ground.scenarios.simulation",
    "Pedals": "vehicle_dynamics.pedals",
    "Scenario": "proving_ground.scenarios.scenario",
    "SettingsError": "proving_ground.settings",
    "Simulation": "proving_ground.scenarios.simulation",
    "load_scenario": "proving_ground.scenarios.scenario",
    "scenario_file": "proving_ground.scenarios.scenario",
}

__all__ = [
    "Command",
    "LockStep",
    "Observation",
    "Pedals",
    "Scenario",
    "SettingsError",
    "Simulation",
    "load_scenario",
    "scenario_file",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
