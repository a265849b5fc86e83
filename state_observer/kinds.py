"""Observers by name. A new one is a module with its ObserverKind and a line here or in a package's metadata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proving_ground.settings.nested import load_settings
from proving_ground.settings.registry import Registry
from proving_ground.settings.share import share_file
from state_observer.vehicle.observer import BasicObserver, InsObserver, VehicleObserver
from state_observer.vehicle.settings import InsSettings, ObserverSettings, VehicleObserverSettings
from terrain.ground import GroundModel


@dataclass(frozen=True)
class ObserverKind:
    """A kind of observer: its settings, default file and how to make one."""

    name: str
    description: str
    settings: type[ObserverSettings]
    file: str  # default settings: a path, or a name below the share directory
    make: Callable[[Any, GroundModel], BasicObserver]  # from settings and the ground its model drives on
    uses_actuation: bool = True  # pedals and steering

    def load(self, path: Path | None = None) -> Any:
        """Settings from a YAML file, by default `file`; paths in it are relative to it. Raises SettingsError."""
        path = path or (Path(self.file) if Path(self.file).is_absolute() else share_file(self.file))
        loaded = load_settings(path, self.settings)
        return loaded.found_from(path.parent)


VEHICLE = ObserverKind(
    name="vehicle",
    description="errorEKF around a multibody model of the vehicle",
    settings=VehicleObserverSettings,
    file="config/observers/vehicle.yaml",
    make=lambda settings, ground: VehicleObserver(settings, ground=ground),
)
INS = ObserverKind(
    name="ins",
    description="Strapdown INS with wheels",
    settings=InsSettings,
    file="config/observers/vehicle_ins.yaml",
    make=lambda settings, ground: InsObserver(settings),
    uses_actuation=False,
)
OBSERVER_KINDS: Registry[ObserverKind] = Registry("proving_ground.observers", VEHICLE, INS)
