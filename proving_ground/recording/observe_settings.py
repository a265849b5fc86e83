"""Options of `proving-ground observe`, and settings of either observer, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from proving_ground.settings import SettingsError
from proving_ground.settings.named_files import is_path
from state_observer.kinds import OBSERVER_KINDS
from state_observer.vehicle.settings import ObserverSettings

Triple = tuple[float, float, float]
Settings = ObserverSettings


@dataclass(frozen=True)
class Request:
    """Options of `proving-ground observe`."""

    bag: Path
    observer: str = ""  # vehicle, ins, a YAML file; empty: what the bag has data for
    topics: dict[str, str] = field(default_factory=dict)  # by role
    wheel_names: tuple[str, ...] = ()  # empty: the suite's
    pedal_names: tuple[str, ...] = ()
    datum: Triple | None = None  # latitude, longitude [deg], altitude [m]
    gps_at: Triple | None = None  # in base_link [m]
    imu_at: Triple | None = None
    out: Path | None = None
    tune: tuple[str, ...] | None = None  # parameters; empty: the usual ones; None: no tuning
    with_pictures: bool = True


def split_names(option: str, text: str | None, count: int) -> tuple[str, ...]:
    """The names in a text separated by commas; none for None. Raises SettingsError, with the option, unless `count`."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != count or not all(names):
        raise SettingsError(f"{option} {text}: must be {count} names separated by commas")
    return names


def load_either(name: str) -> Settings:
    """Settings of a kind of observer by its name, or from a YAML file: the kind whose keys they are."""
    if name in OBSERVER_KINDS:
        loaded: Settings = OBSERVER_KINDS[name].load()
        return loaded
    if not is_path(name):
        raise SettingsError(f"--observer {name}: must be {', '.join(OBSERVER_KINDS)} or a YAML file")
    path = Path(name)
    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        values = None  # loading reports what is wrong
    kind = max(OBSERVER_KINDS.values(), key=lambda kind: _known_keys(values, kind.settings))
    found: Settings = kind.load(path)
    return found


def _known_keys(values: Any, settings_type: Any) -> int:
    """Number of keys of a file, nested ones included, that a settings type has."""
    if not isinstance(values, dict):
        return 0
    hints = get_type_hints(settings_type)
    names = {item.name for item in fields(settings_type)}
    found = names & set(values)
    nested = (name for name in found if is_dataclass(hints[name]))
    return len(found) + sum(_known_keys(values[name], hints[name]) for name in nested)


def settings_text(settings: Settings) -> str:
    """YAML that `load_either` reads back."""
    values = {key: value for key, value in _plain(asdict(settings)).items() if value is not None}
    text: str = yaml.safe_dump(values, sort_keys=False)
    return f"# Written by `proving-ground observe --tune`.\n{text}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
