"""Data that every worker of a campaign needs, read once by the driver; and the scenario of a run made from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.campaigns.campaign_file import ROOT_NAMES, Campaign, load_campaign
from proving_ground.campaigns.host import code_fingerprint
from proving_ground.campaigns.ingredients import hash_of, hashes_of_ingredients
from proving_ground.campaigns.overrides import Change, altered, value_at
from proving_ground.campaigns.plan import Job
from proving_ground.scenarios.checkpoint import Origin, fingerprint, read_checkpoint, require_fit
from proving_ground.scenarios.metrics import load_reference
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.settings import SettingsError
from proving_ground.settings.named_files import named_or_path
from proving_ground.settings.yaml_file import read_yaml
from terrain.world import World
from terrain.worlds import WorldFile, build_world, load_world, load_world_file, world_file
from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]

VEHICLE, WORLD = (f"{name}." for name in ROOT_NAMES)


@dataclass(frozen=True)
class Kit:
    """Inputs of one campaign; sent to each worker once."""

    campaign: Campaign
    scenario: Scenario  # the base
    parameters: VehicleParameters  # of the base's vehicle
    world_file: WorldFile | None  # of the base's world, where inputs vary it
    world_path: Path | None
    world: World | None  # otherwise
    folder: Path  # base of relative paths
    reference: dict[str, Array] | None
    checkpoint: bytes | None  # of the base, from which runs go on
    code: str  # fingerprint of the code that made it
    hashes: dict[str, str]  # of all inputs, by name

    @property
    def digest(self) -> str:
        """Hash of all input files of the campaign, 16 hexadecimal digits."""
        return hashlib.sha256(repr(sorted(self.hashes.items())).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Prepared:
    """A run with its values filled in."""

    scenario: Scenario
    parameters: VehicleParameters
    world: World | None


def load_kit(path: Path, folder: Path | None = None) -> Kit:
    """The kit of a campaign file, checked; folder: base of its relative paths if not its own. Raises SettingsError."""
    campaign = load_campaign(path)
    base = _base_file(campaign.base, folder or path.parent)
    scenario = load_scenario(base)
    parameters = scenario.vehicle.parameters()
    named, varies_world = scenario.world.named, _varies(campaign, WORLD)
    settings, world_path, world = None, None, None
    if named is not None:
        world_path = world_file(named.name)
        if varies_world:
            settings = load_world_file(world_path)
        elif not _varies(campaign, "world."):
            world = load_world(str(world_path))
    elif varies_world:
        raise SettingsError(f"{path}: vary: {WORLD}...: the base has no named world whose file could vary")
    reference = load_reference(scenario)
    checkpoint = (folder or path.parent) / campaign.checkpoint if campaign.checkpoint else None
    hashes = {"campaign": hash_of(path), "base": hash_of(base)}
    hashes |= {"checkpoint": hash_of(checkpoint)} if checkpoint is not None else {}
    kit = Kit(
        campaign, scenario, parameters, settings, world_path, world, base.parent, reference,
        _checkpoint(checkpoint, scenario, parameters), code_fingerprint(), hashes,
    )  # fmt: skip
    _check_keys(kit, path)
    return replace(kit, hashes=hashes | hashes_of_ingredients(campaign, scenario, base.parent))


def _checkpoint(path: Path | None, scenario: Scenario, parameters: VehicleParameters) -> bytes | None:
    """The checkpoint in a file; raises SettingsError unless it is one of the base."""
    if path is None:
        return None
    data = read_checkpoint(path)
    hashes = fingerprint(compiled(scenario, parameters), parameters, scenario.world.load())
    try:
        require_fit(data, Origin(scenario.duration_s, scenario.seed, hashes))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None
    return data


def prepared(kit: Kit, job: Job, with_world: bool = True) -> Prepared:
    """The run of a job; raises SettingsError when its values make no valid scenario.

    with_world: False where only the checks matter and the world need not be built.
    """
    changes = _changes(kit.campaign, job)
    of_scenario = {key: change for key, change in changes.items() if not key.startswith((VEHICLE, WORLD))}
    of_scenario.setdefault("seed", Change(job.seed))
    scenario = altered(kit.scenario, of_scenario).found_from(kit.folder)
    parameters = kit.parameters
    if scenario.vehicle.model != kit.scenario.vehicle.model:
        parameters = scenario.vehicle.parameters()
    parameters = altered(parameters, _below(changes, VEHICLE), VEHICLE[:-1])
    return Prepared(scenario, parameters, _world(kit, scenario, _below(changes, WORLD), with_world))


def _world(kit: Kit, scenario: Scenario, changes: dict[str, Change], with_world: bool) -> World | None:
    if kit.world_file is None or kit.world_path is None:
        return kit.world or (scenario.world.load() if with_world else None)
    settings = altered(kit.world_file, changes, WORLD[:-1])
    return build_world(kit.world_path, settings) if with_world else None


def check_jobs(kit: Kit, jobs: Sequence[Job]) -> None:
    """Raise SettingsError for the first run whose values make no valid scenario."""
    for job in jobs:
        try:
            prepared(kit, job, with_world=False)
        except SettingsError as error:
            names = (item.called for item in kit.campaign.vary)
            values = ", ".join(f"{name} = {value}" for name, value in zip(names, job.values, strict=True))
            raise SettingsError(f"run {job.number} ({values}): {error}") from None


def _check_keys(kit: Kit, path: Path) -> None:
    """Every key must exist in the base, and hold a number where it is scaled; errors name its line in the file."""
    file = read_yaml(path)
    for index, item in enumerate(kit.campaign.vary):
        for key in item.keys:
            position = ("vary", index, "key" if key == item.key else "also")
            try:
                value = _base_value(kit, key)
            except SettingsError as error:
                raise file.error(position, f"vary.{index}: {error}") from None
            if item.scale and not _is_number(value):
                raise file.error(position, f"vary.{index}: {key}: is not a number and cannot be scaled")


def _base_value(kit: Kit, key: str) -> Any:
    for prefix, settings in ((VEHICLE, kit.parameters), (WORLD, kit.world_file)):
        if key.startswith(prefix):
            try:
                return value_at(settings, key.removeprefix(prefix))
            except SettingsError as error:
                raise SettingsError(f"{prefix}{error}") from None
    return value_at(kit.scenario, key)


def _is_number(value: Any) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return all(isinstance(item, int | float) and not isinstance(item, bool) for item in values)


def _changes(campaign: Campaign, job: Job) -> dict[str, Change]:
    items = zip(campaign.vary, job.values, strict=True)
    return {key: Change(value, item.scale) for item, value in items for key in item.keys}


def _below(changes: dict[str, Change], prefix: str) -> dict[str, Change]:
    return {key.removeprefix(prefix): change for key, change in changes.items() if key.startswith(prefix)}


def _varies(campaign: Campaign, prefix: str) -> bool:
    return any(key.startswith(prefix) for item in campaign.vary for key in item.keys)


def _base_file(name: str, folder: Path) -> Path:
    return scenario_file(named_or_path(name, folder))
