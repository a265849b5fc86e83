"""The record of a run in lock-step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proving_ground.report.run_record import ORIGIN, Event, RunRecord, Timing, Vector, in_order, missing_events
from proving_ground.report.versions import versions
from proving_ground.report.watching import WatchedLockStep
from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.estimates import thinned_estimates
from proving_ground.scenarios.gaps import Gap, missing_text
from proving_ground.scenarios.lock_step import Run
from proving_ground.scenarios.metrics import Finding
from proving_ground.scenarios.scenario import Scenario
from proving_ground.settings.named_files import is_path
from sensors.rig import SensorFault
from state_observer.vehicle.observer import BasicObserver, VehicleObserver
from terrain.world import World
from vehicle_dynamics.conditions import ALL
from vehicle_dynamics.control.actuators import ActuatorFault

Array = NDArray[np.float64]

APART_S = 1.0  # contacts closer together than this are one collision
OBSERVER = "the observer"
FOR_EVER_S = 1e5  # a longer fault lasts to the end


def record_from_run(
    path: Path,
    text: str,
    scenario: Scenario,
    world: World | None,
    runner: WatchedLockStep,
    run: Run,
    *,
    reference: Channels | None,
    findings: Sequence[Finding],
    figures: dict[str, float],
    passed: bool | None,
    timing: Timing,
    silent: Sequence[Gap] = (),
) -> RunRecord:
    """The record of a lock-step run; path: of the scenario's file; text: its content; world: of scenario.world.load.

    silent: gaps in which the observer should have estimated.
    """
    base = runner.vehicle.base_in_chassis
    observation = runner.observation
    events = [*fault_events(scenario), *change_events(scenario), *runner.watch.events, *collision_events(run.channels)]
    events += missing_events(silent, OBSERVER)
    remarks = [missing_text(silent, OBSERVER)] if silent else []
    if run.diverged_at is not None:
        events.append(Event(run.diverged_at, "end", "the motion diverged"))
    return RunRecord(
        name=path.stem,
        description=scenario.description,
        passed=passed,
        diverged_at_s=run.diverged_at,
        findings=tuple(finding.plain() for finding in findings),
        figures=figures,
        seed=scenario.seed,
        timing=timing,
        versions=versions(),
        scenario=text,
        channels=run.channels,
        reference=reference,
        start_ns=scenario.start.time_ns(),
        estimates=thinned_estimates(run.estimates) if run.estimates is not None else None,
        innovations=runner.watch.innovations(),
        centre_in_base_m=_vector(run.centre_of_mass - base),
        sideslip_at_m=sideslip_point(observation.observer) if observation is not None else ORIGIN,
        world=world_name(scenario, path.parent),
        goal=goal_of(scenario, world),
        events=in_order(events),
        remarks=tuple(remarks),
    )


def fault_events(scenario: Scenario) -> list[Event]:
    """Faults of sensors and actuators in the scenario; those that begin after its end are left out."""
    events = []
    for fault in scenario.faults:
        if fault.start_s < scenario.duration_s:
            value = f", {fault.value:g}" if fault.value else ""
            left = scenario.duration_s - fault.start_s
            length = left if fault.length_s > FOR_EVER_S else min(fault.length_s, left)
            words = f"{getattr(fault, fault.known_by)}: {fault.kind}{_channel_words(fault)}{value}"
            events.append(Event(fault.start_s, "fault", words, length))
    return events


def change_events(scenario: Scenario) -> list[Event]:
    """Changes of friction, payload and tyre pressures in the scenario; those after its end are left out."""
    events = []
    for change in scenario.changes:
        if change.at_s < scenario.duration_s:
            wheels = "" if change.wheels == ALL else f" of {change.wheels}"
            events.append(Event(change.at_s, "change", f"{change.what}{wheels}: {change.value:g}"))
    return events


def _channel_words(fault: SensorFault | ActuatorFault) -> str:
    return f" of {fault.channel}" if isinstance(fault, SensorFault) and fault.channel else ""


def collision_events(channels: Channels) -> list[Event]:
    """Contacts with obstacles; one event for each."""
    if "collision_n" not in channels:
        return []
    time, push = channels["time_s"], channels["collision_n"]
    hit = np.flatnonzero(push > 0.0)
    if not len(hit):
        return []
    bouts = np.split(hit, np.flatnonzero(np.diff(time[hit]) > APART_S) + 1)
    return [
        Event(float(time[bout[0]]), "collision", f"pushed by an obstacle with up to {push[bout].max() / 1e3:.3g} kN")
        for bout in bouts
    ]


def sideslip_point(observer: BasicObserver) -> Vector:
    """The point of base_link whose sideslip the observer estimates [m]."""
    if isinstance(observer, VehicleObserver):
        return _vector(-observer.ekf.model.base_in_chassis)
    return float(observer.filter.constants["middle"][0]), 0.0, 0.0  # type: ignore[attr-defined]


def world_name(scenario: Scenario, folder: Path) -> str:
    """Name for terrain.worlds.load_world, independent of the working directory; empty: a plane."""
    if scenario.world.named is None:
        return ""
    name = scenario.world.named.name
    return str((folder / name).resolve()) if is_path(name) else name


def goal_of(scenario: Scenario, world: World | None) -> tuple[float, float] | None:
    """Goal of the run, x and y [m]; world: what scenario.world.load gave."""
    if scenario.driver.to_goal is None:
        return None
    goal = scenario.driver.to_goal.goal
    if goal is not None:
        return goal.x_m, goal.y_m
    return (world.goal.x, world.goal.y) if world is not None and world.goal is not None else None


def _vector(values: Array) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z
