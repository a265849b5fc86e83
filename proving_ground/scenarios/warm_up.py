"""Compiles the kernels of a scenario's parts: each part warms up as its node does before it is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from planner.rehearsal import rehearse
from planner.scripted import Straight
from proving_ground.kernels.compilations import COMPILATIONS
from proving_ground.kernels.marks import set_compiled
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Driver, Scenario, load_scenario
from sensors.kinds import SENSOR_KINDS
from sensors.rig import warm_up
from vehicle_dynamics.control.helm import PERIOD_S

DRIVEN_S = 3 * PERIOD_S


class Compiled(NamedTuple):
    """Kernels of one part that were compiled now."""

    part: str
    kernels: int
    cpu_s: float


def compile_scenario(path: Path) -> Iterator[Compiled]:
    """Compile all kernels of a scenario's file that are not on disk yet; one result for each part that has some."""
    for part, prepare in _warm_ups(load_scenario(path)):
        count, cpu_s = len(COMPILATIONS.done), COMPILATIONS.cpu_s
        prepare()
        if len(COMPILATIONS.done) > count:
            yield Compiled(part, len(COMPILATIONS.done) - count, COMPILATIONS.cpu_s - cpu_s)
    set_compiled(path)


def _warm_ups(scenario: Scenario) -> Iterator[tuple[str, Callable[[], object]]]:
    if not scenario.driver.is_given:  # over ROS it is somebody else's
        scenario = replace(scenario, driver=Driver(straight=Straight()))
    made: list[LockStep] = []
    yield "vehicle", lambda: made.append(LockStep(replace(scenario, duration_s=DRIVEN_S)))
    (run,) = made
    if run.rig is not None:
        for name, item in run.parts.items():
            if item.part.node in SENSOR_KINDS:
                kind = SENSOR_KINDS[item.part.node]
                yield name, partial(warm_up, kind, item.settings, run.rig.seen, name)
    if run.observation is not None:
        yield "observer", run.observation.observer.warm_up
    if "planner" in run.parts and run.world is not None:
        yield "planner", partial(rehearse, run.parts["planner"].settings, run.vehicle, run.parameters, run.world)
    yield "drive", run.run
