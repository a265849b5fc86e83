"""A run of a campaign again, from the folder of its results: the same scenario to the bit."""

from __future__ import annotations

from pathlib import Path

from proving_ground.campaigns.kit import Kit, Prepared, load_kit, prepared
from proving_ground.campaigns.plan import Job, Plan
from proving_ground.campaigns.store import COPY, changed_files, load_made_of
from proving_ground.report.lock_step_run import Task
from proving_ground.scenarios.scenario import Scenario
from proving_ground.settings import SettingsError
from vehicle_dynamics.parameters import VehicleParameters


def scenario_of_run(folder: Path, number: int) -> tuple[Scenario, VehicleParameters]:
    """Scenario and vehicle of the run with a number in a campaign's folder; raises SettingsError.

    A varied world is in prepared_run only: a Scenario can only name a world.
    """
    kit, job = run_of(folder, number)
    ready = prepared(kit, job, with_world=False)
    return ready.scenario, ready.parameters


def prepared_run(folder: Path, number: int) -> Prepared:
    """Scenario, vehicle and world of a run, for LockStep(scenario, parameters=parameters, world=world).

    A run that began at a checkpoint then needs LockStep.restore(checkpoint, changed=True) too.
    """
    kit, job = run_of(folder, number)
    return prepared(kit, job)


def task_of_run(folder: Path, number: int) -> Task:
    """A run as a task for report.lock_step_run.perform, named after folder and number."""
    kit, job = run_of(folder, number)
    ready = prepared(kit, job)
    name = f"{folder.resolve().name}_run_{number}"
    varied = "".join(f"# {item.key}: {value}\n" for item, value in zip(kit.campaign.vary, job.values, strict=True))
    text = f"# Run {number} of the campaign in {folder}, with\n{varied}"
    path = kit.folder / f"{name}.yaml"
    return Task(path, ready.scenario, text, ready.world, ready.parameters, kit.checkpoint, is_changed=True)


def run_of(folder: Path, number: int) -> tuple[Kit, Job]:
    """The inputs of the run with a number in a campaign's folder; raises SettingsError if files have changed since."""
    made_of = load_made_of(folder)
    if not 0 <= number < made_of["runs"]:
        raise SettingsError(f"--run {number}: {folder} has runs 0 to {made_of['runs'] - 1}")
    kit = load_kit(folder / COPY, Path(made_of["folder"]))
    for what in changed_files(made_of["hashes"], kit.hashes):
        raise SettingsError(f"{folder}: the {what} file has changed since; run {number} cannot be repeated")
    return kit, Plan(kit.campaign, made_of["runs"]).job(number)
