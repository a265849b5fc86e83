"""Drives through seeded towns in lock-step: the urban scenario with another world, start and seed."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.pose import pose_of
from planner.progress import Reason, Status
from planner.settings import PlannerSettings
from planner.to_goal import ToGoal
from planner.towns import StepWatch, town
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Driver, Scenario, load_scenario
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from terrain.world import World
from terrain.world_ground import WorldGround

TOWNS = 20
HOW_MANY = "PROVING_GROUND_TOWNS"  # environment: number of towns to drive through
TRACK_EVERY = 10  # periods


@dataclass(frozen=True, eq=False, kw_only=True)
class DriveResult:
    """Result of one drive through a town."""

    reached: bool
    status: Status
    reason: Reason
    time: float  # [s]
    collisions: int  # times that the body hit an obstacle
    kerb_strikes: int  # times that a wheel began to climb a step
    top_speed: float  # [m/s]
    plans: int
    track: NDArray[np.float64]  # n x 3: x, y, heading of base_link, every tenth of a second


def seeds() -> range:
    """Seeds of the towns to drive through; raises SettingsError for an invalid environment variable."""
    text = os.environ.get(HOW_MANY, str(TOWNS))
    if not text.isdecimal() or not 1 <= int(text) <= TOWNS:
        raise SettingsError(f"{HOW_MANY}: must be a whole number from 1 to {TOWNS}, got {text!r}")
    return range(int(text))


def scenario_of(
    world: World,
    longest: float,
    *,
    seed: int = 0,
    planner: PlannerSettings | None = None,
    model: str = "",
    **to_goal: Any,
) -> Scenario:
    """The urban scenario in another world, by LIDAR and observer, of a duration [s].

    model: another vehicle than the scenario's, by its name in config/vehicles.
    to_goal: sensing "terrain" and pose "truth" instead; what is then not needed is left out.
    """
    urban = load_scenario(share_file("config/scenarios/urban.yaml"))
    assert urban.driver.to_goal is not None
    if planner is not None:
        to_goal["planner"] = planner
    goal: ToGoal = replace(urban.driver.to_goal, **to_goal)
    needed = {"lidar"} if goal.sensing == "lidar" else set()
    needed |= {"imu", "gps", "encoders"} if goal.pose == "observer" else set()
    at = world.start
    return replace(
        urban,
        vehicle=replace(urban.vehicle, model=model or urban.vehicle.model),
        start=replace(urban.start, x_m=at.x, y_m=at.y, heading_deg=math.degrees(at.heading)),
        driver=Driver(to_goal=goal),
        sensors=tuple(choice for choice in urban.sensors if choice.kind in needed),
        observer=urban.observer if goal.pose == "observer" else None,
        seed=seed,
        duration_s=longest,
        criteria=(),
    )


def drive(scenario: Scenario, world: World) -> DriveResult:
    """Drive until the planner ends or time is up, and count what the vehicle hits."""
    runner, steps_on = LockStep(scenario, world=world), StepWatch(WorldGround.of(world))
    assert runner.autonomy is not None
    base = runner.vehicle.base_in_chassis
    top, track = 0.0, []
    while not runner.has_ended and not runner.autonomy.progress.status.is_over:
        period = runner.period
        seen = runner.look()
        runner.advance_to(period + 1)
        steps_on.look(seen)
        top = max(top, float(np.hypot(*seen["velocity"][:2])))
        if period % TRACK_EVERY == 0:
            pose = pose_of(seen, base)
            track.append((pose.x, pose.y, pose.heading))
    progress = runner.autonomy.progress
    return DriveResult(
        reached=progress.status is Status.ARRIVED,
        status=progress.status,
        reason=progress.reason,
        time=runner.time,
        collisions=runner.collisions,
        kerb_strikes=steps_on.count,
        top_speed=top,
        plans=runner.autonomy.core.plans,
        track=np.array(track),
    )


def drive_by_sensors(seed: int, longest: float, model: str = "") -> DriveResult:
    """Drive through the town of a seed by LIDAR and observer, for at most this time [s]."""
    world = town(seed)
    return drive(scenario_of(world, longest, seed=seed, model=model), world)


def drive_by_lidar(world: World, longest: float) -> DriveResult:
    """Drive by LIDAR with the true pose, for at most this time [s]."""
    return drive(scenario_of(world, longest, pose="truth"), world)


def drive_on_truth(
    world: World, longest: float, planner: PlannerSettings | None = None, model: str = ""
) -> DriveResult:
    """Drive with true obstacles and true pose, for at most this time [s]."""
    chosen = scenario_of(world, longest, sensing="terrain", pose="truth", planner=planner, model=model)
    return drive(chosen, world)


def drive_figures(result: DriveResult, seconds: float) -> dict[str, float]:
    """Figures of a drive for tables and pages; seconds: computing time."""
    return {
        "reached": int(result.reached),
        "time_s": result.time,
        "collisions": result.collisions,
        "kerb_strikes": result.kerb_strikes,
        "top_mps": result.top_speed,
        "plans": result.plans,
        "cpu_s": seconds,
    }
