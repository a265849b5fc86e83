"""The files that a campaign's runs are made of: all that its base names, and all that one of its choices may name."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from proving_ground.campaigns.campaign_file import ROOT_NAMES, Campaign
from proving_ground.campaigns.distributions import Choice
from proving_ground.campaigns.overrides import Change, altered
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import Scenario
from proving_ground.settings import SettingsError
from state_observer.kinds import OBSERVER_KINDS
from state_observer.node_settings import ObserverNodeSettings
from terrain.soils_file import split_soil
from terrain.worlds import WorldFile, files_beside, load_world_file, world_file
from vehicle_dynamics.vehicle_files import vehicle_file

WORLD = f"{ROOT_NAMES[1]}."
PATH_KEYS = (
    "vehicle.model", "world.named.name", "world.field.soil", "observer.kind", "observer.settings",
    "driver.to_goal.planner.planner",
)  # fmt: skip

SINGLE = ("vehicle", "world")  # a scenario has one of each, whatever its file is called

Named = tuple[str, Path]  # purpose of the file, in words; the file


def hashes_of_ingredients(campaign: Campaign, scenario: Scenario, folder: Path) -> dict[str, str]:
    """SHA-256 of each file, by purpose; folder: base of the scenario's relative paths. Raises SettingsError."""
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


def _ingredients(campaign: Campaign, scenario: Scenario, folder: Path) -> Iterator[Named]:
    """Files of the base, and of the base with each file that a choice may name instead."""
    own = list(_of_scenario(scenario))
    yield from own
    for key in PATH_KEYS:
        for word in _words(campaign, key):
            chosen = altered(scenario, {key: Change(word)}).found_from(folder)
            for what, path in _of_scenario(chosen):
                if (what, path) not in own:
                    yield f"{what} {word}" if what in SINGLE else what, path
    if scenario.world.named is not None:
        varied = _varied_in_world(campaign, world_file(scenario.world.named.name))
        yield from (item for item in varied if item not in own)


def _of_scenario(scenario: Scenario) -> Iterator[Named]:
    """Files that the parts of its run are made of."""
    parts = {name: item.settings for name, item in compiled(scenario).items()}
    yield "vehicle", vehicle_file(parts["vehicle"].vehicle.model)
    if parts["vehicle"].world:
        yield from _of_world("world", world_file(parts["vehicle"].world))
    soils, _ = split_soil(parts["vehicle"].ground.soil)
    if soils:
        yield f"soils {Path(soils).name}", Path(soils)
    if scenario.reference:
        yield "reference", Path(scenario.reference)
    if "observer" in parts:
        yield from _of_observer(parts["observer"])
    if "planner" in parts:
        source = _source_of(parts["planner"].planner)
        if source is not None:
            yield f"planner {parts['planner'].planner}", source


def _of_world(what: str, path: Path) -> Iterator[Named]:
    """The world's file, and the maps, surveys, meshes and soils beside it."""
    yield what, path
    yield from _named_in(path, load_world_file(path))


def _varied_in_world(campaign: Campaign, path: Path) -> Iterator[Named]:
    """Files of the world with each word that a choice may put into it."""
    settings = load_world_file(path)
    keys = {key for item in campaign.vary for key in item.keys if key.startswith(WORLD)}
    for key in sorted(keys):
        for word in _words(campaign, key):
            yield from _named_in(path, altered(settings, {key.removeprefix(WORLD): Change(word)}, ROOT_NAMES[1]))


def _named_in(path: Path, settings: WorldFile) -> Iterator[Named]:
    for name, file in files_beside(path, settings).items():
        yield f"world's {name}", file


def _of_observer(settings: ObserverNodeSettings) -> Iterator[Named]:
    """The observer's settings, unless they are those of the suite, and the vehicle of its model."""
    path = Path(settings.observer_file) if settings.observer_file else None
    if path is not None:
        yield f"observer's {path.name}", path
    model = getattr(OBSERVER_KINDS[settings.kind].load(path), "vehicle", "")
    if model:
        yield f"observer's vehicle {Path(model).name}", vehicle_file(model)


def _source_of(planner: str) -> Path | None:
    """The source of a planner given as module:Class; None for the suite's own, and where it cannot be found."""
    module, colon, _ = planner.partition(":")
    try:
        found = importlib.util.find_spec(module) if colon else None
    except Exception:  # whatever a user's package does when it is imported; the runs will show it
        return None
    is_file = found is not None and found.has_location and found.origin is not None
    return Path(found.origin) if is_file else None  # type: ignore[union-attr, arg-type]


def _words(campaign: Campaign, key: str) -> tuple[str, ...]:
    """All words that a key may become."""
    given = (item.distribution for item in campaign.vary if key in item.keys)
    return tuple(word for item in given if isinstance(item, Choice) for word in item.words)


def _hash_of_all(hashes: list[str]) -> str:
    return hashlib.sha256("".join(sorted(set(hashes))).encode()).hexdigest()
