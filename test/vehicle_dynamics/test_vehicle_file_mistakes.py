"""Absurd vehicle files: one line each, with file, key and what is allowed."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from proving_ground.settings import SettingsError
from proving_ground.settings.nested import build_nested
from proving_ground.settings.share import share_file
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_files import vehicle_files

CONTENT: dict[str, Any] = yaml.safe_load(share_file("config/vehicles/hmmwv.yaml").read_text())
NAN = float("nan")

# Key, absurd value, key that the message names, and what it says is allowed.
MISTAKES: list[tuple[str, Any, str, str]] = [
    ("driveline.front.bias_ratio", -4.0, "driveline.front.bias_ratio", "from 1 to 100"),
    ("driveline.rear.bias_ratio", 0.5, "driveline.rear.bias_ratio", "from 1 to 100"),
    ("driveline.front.preload_nm", -1.0, "driveline.front.preload_nm", "from 0 to"),
    ("driveline.front.kind", "torsen", "driveline.front.kind", "one of open, torque_biasing, lockable, locked"),
    ("driveline.front.kind", "open", "driveline.front", "are for torque_biasing differentials, this one is open"),
    ("driveline.ranges.2.reduction", 0.0, "driveline.ranges.2.reduction", "from 0.1 to 20"),
    ("driveline.ranges.2.reduction", -2.62, "driveline.ranges.2.reduction", "from 0.1 to 20"),
    ("driveline.ranges.0.efficiency", 0.0, "driveline.ranges.0.efficiency", "from 0.1 to 1"),
    ("driveline.ranges.0.efficiency", 1.2, "driveline.ranges.0.efficiency", "from 0.1 to 1"),
    ("driveline.ranges.1.name", "H", "driveline", "ranges: names must differ, got H, H, L"),
    ("driveline.ranges.1.name", "", "driveline.ranges.1", "name: must not be empty"),
    ("driveline.ranges", [{"name": name} for name in "ABCDE"], "driveline", "at most 4"),
    ("driveline.hub_ratio", 0.05, "driveline", "hub_ratio: must be 0 (none) or at least 0.5"),
    ("driveline.hub_ratio", -1.92, "driveline.hub_ratio", "from 0 to 20"),
    ("driveline.bevel_ratio", 0.0, "driveline.bevel_ratio", "from 0.01 to 1"),
    ("brakes.force_over_pressure", [0.55, 0.65, 0.2], "brakes", "force_over_pressure: must add up to 1, got 1.4"),
    ("brakes.force_over_pressure", [-2.0, 0.0, 3.0], "brakes", "force must rise with the pressure"),
    ("brakes.force_over_pressure", [1.0], "brakes.force_over_pressure", "list of 3"),
    ("brakes.parking_torque_nm", -1.0, "brakes.parking_torque_nm", "from 0 to"),
    ("brakes.rear_knee", 1.5, "brakes.rear_knee", "from 0 to 1"),
    ("brakes.rear_slope", -0.1, "brakes.rear_slope", "from 0 to 1"),
    ("brakes.position", "middle", "brakes.position", "one of outboard, inboard"),
    ("tyre.inflation.pressure_pa", [0.0], "tyre.inflation.pressure_pa", "from 30000 to 600000"),
    ("tyre.inflation.pressure_pa", [1e6, 1e6], "tyre.inflation.pressure_pa", "from 30000 to 600000"),
    ("tyre.inflation.pressure_pa", [2e5] * 3, "tyre.inflation", "must have 1, 2 or 4 values, got 3"),
    ("tyre.rolling_deflection", 0.0, "tyre.rolling_deflection", "from 0.01 to 1"),
    ("powertrain.converter.upshift_rpm", [3350.0, 1000.0, 3350.0], "powertrain.converter", "must exceed downshift_rpm"),
    ("powertrain.converter.coast_upshift_rpm", [1400.0, 400.0, 1500.0], "powertrain.converter",
     "coast_upshift_rpm: must exceed coast_downshift_rpm"),
    ("powertrain.converter.downshift_rpm", [0.0, 2500.0, 2150.0], "powertrain.converter",
     "downshift_rpm: gear 2 would shift down at once after an upshift, which leaves 1999 rpm"),
    ("powertrain.converter.upshift_rpm", [3350.0], "powertrain.converter", "as many values as forward_ratios (3)"),
    ("powertrain.converter.upshift_rpm", 3350.0, "powertrain.converter.upshift_rpm", "must be a list"),
    ("powertrain.converter.engine_inertia_kgm2", 0.0, "powertrain.converter", "engine_inertia_kgm2: must be above 0"),
    ("powertrain.converter.idle_rpm", 9000.0, "powertrain.converter", "idle_rpm: must be below 3800"),
    ("powertrain.converter.idle_band_rpm", 900.0, "powertrain.converter", "must not exceed idle_rpm (677)"),
    ("powertrain.map.upshift_rpm", [3350.0, 1000.0, 3350.0], "powertrain.map", "must exceed downshift_rpm"),
    ("cargo.mass_kg", 2000.0, "cargo", "mass_kg: must not exceed max_kg (1134), got 2000"),
    ("cargo.mass_kg", -1.0, "cargo.mass_kg", "from 0 to"),
    ("cargo.size_m", [0.0, 1.0, 1.0], "cargo.size_m", "from 0.01 to"),
    ("front_suspension.spring.force_n", [0.0, 3000.0], "front_suspension.spring", "the vehicle needs 5.48 kN"),
    ("rear_suspension.spring.force_n", [0.0, 300.0], "rear_suspension.spring", "the vehicle needs 4.78 kN"),
    ("rear_suspension.spring.free_length_m", 0.14, "rear_suspension.spring", "carries"),
    ("chassis.mass_kg", 50_000.0, "front_suspension.spring", "kN per wheel at the bump stop, the vehicle needs 131 kN"),
    ("front_suspension.spring.force_n", [0.0, -10.0], "front_suspension.spring.force_n", "from 0 to"),
    ("front_suspension.stops.bump_below_length_m", 0.4, "front_suspension.stops", "must exceed bump_below_length_m"),
    ("front_suspension.bushing_nmprad", -1.0, "front_suspension.bushing_nmprad", "from 0 to"),
    ("front_suspension.damper.force_n", [-1.0, 0.0], "front_suspension.damper", "as many values as speed_mps (7)"),
    ("rear_suspension.hardpoints_left_m.wheel_centre", [2.0, 0.9, 0.0], "rear_suspension", "must be behind"),
]  # fmt: skip


def changed(key: str, value: Any) -> dict[str, Any]:
    """The M998's file with one value replaced, or added."""
    content: Any = copy.deepcopy(CONTENT)
    *parents, last = [int(part) if part.isdigit() else part for part in key.split(".")]
    section = content
    for part in parents:
        section = section[part]
    section[last] = value
    return content  # type: ignore[no-any-return]


def message(folder: Path, content: dict[str, Any]) -> str:
    """Error message for a file with this content."""
    path = folder / "absurd.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(SettingsError) as caught:
        VehicleParameters.from_yaml(path)
    words = str(caught.value)
    assert words.startswith(f"{path}:")
    assert "\n" not in words
    return words


def test_the_file_itself_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "fine.yaml"
    path.write_text(yaml.safe_dump(CONTENT))

    assert VehicleParameters.from_yaml(path).driveline.hub_ratio == 1.92


@pytest.mark.parametrize(("key", "value", "named", "allowed"), MISTAKES, ids=[f"{key}={v}" for key, v, *_ in MISTAKES])
def test_an_absurd_value_is_named_with_what_is_allowed(
    tmp_path: Path, key: str, value: Any, named: str, allowed: str
) -> None:
    words = message(tmp_path, changed(key, value))

    assert f": {named}" in words
    assert allowed in words


def numbers(content: Any, key: str = "") -> list[str]:
    """Keys of all numbers of a file, those within lists by index."""
    if isinstance(content, dict):
        return [found for name, item in content.items() for found in numbers(item, f"{key}.{name}".lstrip("."))]
    if isinstance(content, list):
        return [found for index, item in enumerate(content) for found in numbers(item, f"{key}.{index}")]
    return [key] if isinstance(content, int | float) and not isinstance(content, bool) else []


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
def test_no_number_of_the_file_may_be_nan_or_infinite(bad: float) -> None:
    keys = numbers(CONTENT)
    assert len(keys) > 400
    for key in keys:
        with pytest.raises(SettingsError) as caught:
            build_nested(VehicleParameters, changed(key, bad), "absurd.yaml")
        named = ".".join(part for part in key.split(".") if not part.isdigit())
        said = ".".join(part for part in str(caught.value).split(": ")[1].split(".") if not part.isdigit())
        assert said == named


@pytest.mark.parametrize("path", vehicle_files().values(), ids=vehicle_files())
def test_shipped_vehicles_are_valid(path: Path) -> None:
    assert VehicleParameters.from_yaml(path).name
