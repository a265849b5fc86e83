"""The LIDAR that benchmarks put on the HMMWV."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from proving_ground.settings.nested import load_preset
from sensors.lidar.settings import LidarSettings
from vehicle_dynamics.vehicle_choice import VehicleChoice


def lidar_unit(preset: str, **changes: Any) -> LidarSettings:
    """A preset at the LIDAR mount of the vehicle's file, with further changes."""
    settings = load_preset(LidarSettings, preset).fitted("lidar", VehicleChoice().parameters().equipment)
    return replace(settings, **changes)
