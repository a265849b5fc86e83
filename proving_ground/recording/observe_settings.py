"""What `proving-ground observe` is asked for, and settings of either observer, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from proving_ground.settings import SettingsError
from state_observer.vehicle.settings import (
    InsNoise,
    InsSettings,
    ModelNoise,
    VehicleObserverSettings,
    load_ins,
    load_observer,
)

Place = tuple[float, float, float]
Settings = VehicleObserverSettings | InsSettings


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    bag: Path
    observer: str = ""  # vehicle, ins, a YAML file; none: what the bag is enough for
    topics: dict[str, str] = field(default_factory=dict)  # by role
    wheel_names: tuple[str, ...] = ()  # none: the suite's
    pedal_names: tuple[str, ...] = ()
    datum: Place | None = None  # latitude, longitude [deg], altitude [m]
    gps_at: Place | None = None  # in base_link [m]
    imu_at: Place | None = None
    out: Path | None = None
    tune: tuple[str, ...] | None = None  # parameters; empty: the usual ones; None: no tuning
    with_pictures: bool = True


def split_names(option: str, text: str | None, count: int) -> tuple[str, ...]:
    """Names with commas between; none: the suite's. Raises SettingsError for too many or too few."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != count or not all(names):
        raise SettingsError(f"{option} {text}: must be {count} names with commas between")
    return names


def load_either(name: str) -> Settings:
    """`vehicle`, `ins`, or a YAML file of either: keys that only one has tell which."""
    if name == "vehicle":
        return load_observer()
    if name == "ins":
        return load_ins()
    path = Path(name)
    if not name.endswith((".yaml", ".yml")):
        raise SettingsError(f"--observer {name}: must be vehicle, ins or a YAML file")
    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        return load_observer(path)  # which says what is wrong
    keys = set(values) if isinstance(values, dict) else set()
    noise = values.get("noise") if keys else None
    keys |= {f"noise.{key}" for key in noise} if isinstance(noise, dict) else set()
    of_ins = {item.name for item in fields(InsSettings)} | {f"noise.{item.name}" for item in fields(InsNoise)}
    of_vehicle = {item.name for item in fields(VehicleObserverSettings)}
    of_vehicle |= {f"noise.{item.name}" for item in fields(ModelNoise)}
    is_ins = len(keys & (of_ins - of_vehicle)) > len(keys & (of_vehicle - of_ins))
    return load_ins(path) if is_ins else load_observer(path)


def settings_text(settings: Settings) -> str:
    """YAML that `load_either` reads back."""
    values = {key: value for key, value in _plain(asdict(settings)).items() if value is not None}
    text: str = yaml.safe_dump(values, sort_keys=False)
    return f"# Written by `proving-ground observe --tune`.\n{text}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
