"""Drives through seeded towns by sensors alone, in lock-step: the LIDAR sees, the observer tells where the vehicle is.

It is the urban scenario with another world, start and seed.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace

import numpy as np

from planner.drive_to_goal import Status
from planner.pose import pose_of
from planner.town_drive import DriveResult, StepWatch, town
from proving_ground.scenarios.autonomy import Autonomy
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, load_scenario
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from terrain.world import World
from terrain.world_ground import WorldGround
from vehicle_dynamics.control.helm import PERIOD_S

TOWNS = 20
HOW_MANY = "PROVING_GROUND_TOWNS"  # environment: drive through the first so many
TRACK_EVERY = 10  # periods


def seeds() -> range:
    """Of the towns to drive through; raises SettingsError for an environment that makes no sense."""
    text = os.environ.get(HOW_MANY, str(TOWNS))
    if not text.isdecimal() or not 1 <= int(text) <= TOWNS:
        raise SettingsError(f"{HOW_MANY}: must be a whole number from 1 to {TOWNS}, got {text!r}")
    return range(int(text))


def scenario_of(seed: int, world: World, longest: float) -> Scenario:
    """The urban scenario in another town; at most so long [s]."""
    urban = load_scenario(share_file("config/scenarios/urban.yaml"))
    at = world.start
    start = replace(urban.start, x_m=at.x, y_m=at.y, heading_deg=math.degrees(at.heading))
    return replace(urban, start=start, seed=seed, duration_s=longest, criteria=())


class TownRun(LockStep):
    """A run that ends with the drive, and counts what the vehicle hits on the way."""

    def __init__(self, seed: int, world: World, longest: float) -> None:
        super().__init__(scenario_of(seed, world, longest), world=world)
        self._steps_on = StepWatch(WorldGround.of(world))

    def drive(self) -> DriveResult:
        """To the driver's end, or that of the time."""
        driver = self._driver
        assert isinstance(driver, Autonomy)
        collisions, was_touching, top, track = 0, False, 0.0, []
        while self._period < self._periods and self._diverged_at is None:
            period = self._period
            self.advance_to(period + 1)
            seen = self._history[period]
            self._steps_on.look(seen)
            is_touching = bool(seen["collision"] > 0.0)
            collisions += is_touching and not was_touching
            was_touching = is_touching
            top = max(top, float(np.hypot(*seen["velocity"][:2])))
            if period % TRACK_EVERY == 0:
                pose = pose_of(seen, self.vehicle.base_in_chassis)
                track.append((pose.x, pose.y, pose.heading))
            if driver.progress.status in (Status.ARRIVED, Status.FAILED):
                break
        return DriveResult(
            reached=driver.progress.status is Status.ARRIVED,
            status=driver.progress.status,
            reason=driver.progress.reason,
            time=self._period * PERIOD_S,
            collisions=collisions,
            kerb_strikes=self._steps_on.count,
            top_speed=top,
            plans=driver.core.plans,
            track=np.array(track),
        )


def drive_by_sensors(seed: int, longest: float) -> DriveResult:
    """Through a town, at most so long [s]."""
    return TownRun(seed, town(seed), longest).drive()


def drive_figures(result: DriveResult, seconds: float) -> dict[str, float]:
    """What tables and pages show of a drive; seconds: of computing."""
    return {
        "reached": int(result.reached),
        "time_s": result.time,
        "collisions": result.collisions,
        "kerb_strikes": result.kerb_strikes,
        "top_mps": result.top_speed,
        "plans": result.plans,
        "cpu_s": seconds,
    }
