"""The files that a campaign's runs are made of: all that its base names, and all that one of its choices may name."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from proving_ground.campaigns.campaign_file import ROOT_NAMES, Campaign
from proving_ground.campaigns.distributions import Choice
from proving_ground.scenarios.scenario import Scenario
from proving_ground.settings import SettingsError
from proving_ground.settings.share import is_path, share_file
from proving_ground.settings.yaml_file import read_yaml
from terrain.builders.measured import file_beside
from terrain.worlds import load_world_file, world_file
from vehicle_dynamics.vehicle_files import vehicle_file

WORLD = f"{ROOT_NAMES[1]}."
VEHICLE_KEY, WORLD_KEY, KIND_KEY = "vehicle.model", "world.named.name", "observer.kind"
OBSERVER_KEY, PLANNER_KEY = "observer.settings", "driver.to_goal.planner.planner"

Named = tuple[str, Path]  # what a file is for, in words; the file


def hashes_of_ingredients(campaign: Campaign, scenario: Scenario, folder: Path) -> dict[str, str]:
    """SHA-256 of each, by what it is for; folder: where the base's relative paths begin. Raises SettingsError."""
    found: dict[str, list[str]] = {}
    for what, path in _ingredients(campaign, scenario, folder):
        found.setdefault(what, []).append(hash_of(path))
    return {what: items[0] if len(items) == 1 else _hash_of_all(items) for what, items in found.items()}


def hash_of(path: Path) -> str:
    """SHA-256 of a file; raises SettingsError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    return digest.hexdigest()


def path_of_world(name: str, folder: Path) -> Path:
    """The file of a world that a scenario in a folder names."""
    return world_file(str(folder / name) if is_path(name) else name)


def _ingredients(campaign: Campaign, scenario: Scenario, folder: Path) -> Iterator[Named]:
    yield "vehicle", vehicle_file(scenario.vehicle.model, folder)
    for word in _words(campaign, VEHICLE_KEY):
        yield f"vehicle {word}", vehicle_file(word, folder)
    if scenario.world.named is not None:
        yield from _of_world("world", path_of_world(scenario.world.named.name, folder))
        for word in _words(campaign, WORLD_KEY):
            yield from _of_world(f"world {word}", path_of_world(word, folder))
        yield from _files_varied_in_world(campaign, path_of_world(scenario.world.named.name, folder))
    if scenario.reference:
        yield "reference", folder / scenario.reference
    yield from _of_observer(campaign, scenario, folder)
    if scenario.driver.to_goal is not None:
        for word in (scenario.driver.to_goal.planner.planner, *_words(campaign, PLANNER_KEY)):
            source = _source_of(word)
            if source is not None:
                yield f"planner {word}", source


def _of_world(what: str, path: Path) -> Iterator[Named]:
    """Its file, and the maps, surveys and meshes that lie beside it."""
    yield what, path
    settings = load_world_file(path)
    names = [getattr(settings.build.chosen(), "file", ""), *(item.file for item in settings.meshes)]
    for name in dict.fromkeys(filter(None, names)):
        yield f"world's {name}", _beside(path, name)


def _files_varied_in_world(campaign: Campaign, path: Path) -> Iterator[Named]:
    keys = {key for item in campaign.vary for key in item.keys if key.startswith(WORLD) and key.endswith(".file")}
    for key in sorted(keys):
        for word in _words(campaign, key):
            yield f"world's {word}", _beside(path, word)


def _beside(world: Path, name: str) -> Path:
    try:
        return file_beside(world.resolve().parent, name)
    except ValueError as error:
        raise SettingsError(f"{world}: {error}") from None


def _of_observer(campaign: Campaign, scenario: Scenario, folder: Path) -> Iterator[Named]:
    """Its settings, where they are not those of the suite, and the vehicle that its model is of."""
    if scenario.observer is None:
        return
    has_model = "vehicle" in (scenario.observer.kind, *_words(campaign, KIND_KEY))
    for word in dict.fromkeys((scenario.observer.settings, *_words(campaign, OBSERVER_KEY))):
        path = folder / word if word else share_file("config/observers/vehicle.yaml")
        if word:
            yield f"observer's {word}", path
        content = read_yaml(path).content if has_model else None
        model = content.get("vehicle") if isinstance(content, dict) else None
        if isinstance(model, str):
            yield f"observer's vehicle {model}", vehicle_file(model, folder)


def _source_of(planner: str) -> Path | None:
    """The source of a planner given as module:Class; None for the suite's own, and where it cannot be found."""
    module, colon, _ = planner.partition(":")
    try:
        found = importlib.util.find_spec(module) if colon else None
    except Exception:  # whatever a user's package does when it is imported; runs will tell
        return None
    is_file = found is not None and found.has_location and found.origin is not None
    return Path(found.origin) if is_file else None  # type: ignore[union-attr, arg-type]


def _words(campaign: Campaign, key: str) -> tuple[str, ...]:
    """All that a key may become."""
    given = (item.distribution for item in campaign.vary if key in item.keys)
    return tuple(word for item in given if isinstance(item, Choice) for word in item.words)


def _hash_of_all(hashes: list[str]) -> str:
    return hashlib.sha256("".join(sorted(set(hashes))).encode()).hexdigest()
