"""Figures of a run that a campaign keeps beside statistics of channels; their names are in figure_names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.footprint import Footprint
from planner.towns import StepWatch
from proving_ground.campaigns.campaign_file import Metric
from proving_ground.campaigns.estimate_errors import estimate_errors
from proving_ground.interfaces.joints import CORNERS
from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.handling import handling_figures
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.metrics import PLAIN
from proving_ground.scenarios.scenario import Scenario
from terrain.world import World
from terrain.world_ground import WorldGround
from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]

PUSHING_NM = 50.0  # drive torque above which the engine drives


@dataclass(frozen=True)
class Drive:
    """A finished run, with all that figures need of it."""

    scenario: Scenario
    parameters: VehicleParameters
    world: World | None
    runner: LockStep
    run: Run


def kept_metrics(metrics: Sequence[Metric], drive: Drive) -> dict[str, float | None]:
    """Metrics by name; None where a run does not have one or it is not finite."""
    figures = _figures({metric.figure for metric in metrics if metric.figure}, drive)
    found = {}
    for metric in metrics:
        value = figures.get(metric.figure) if metric.figure else _statistic(metric, drive.run.channels)
        found[metric.called] = value if value is not None and math.isfinite(value) else None
    return found


def _statistic(metric: Metric, channels: Channels) -> float | None:
    time, values = channels["time_s"], channels[metric.channel]
    part = values[(time >= metric.from_s - 1e-9) & (time <= metric.to_s + 1e-9)]
    if not len(part):
        return None
    if metric.statistic == "peak":
        return float(np.abs(part).max())
    if metric.statistic == "rms":
        return float(np.sqrt(np.mean(part**2)))
    return float(PLAIN[metric.statistic](part))


def _figures(wanted: set[str], drive: Drive) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for names, compute in _GROUPS:
        if wanted & set(names):
            found |= compute(drive)
    return found


def _load_transfer(drive: Drive) -> dict[str, float | None]:
    loads = {corner: drive.run.channels[f"wheel_load_n.{corner}"] for corner in CORNERS}
    left, right = (
        np.sum([load for corner, load in loads.items() if corner.endswith(side)], axis=0) for side in ("left", "right")
    )
    both = left + right
    grounded = both > 1.0  # [N]: no load transfer in the air
    if not np.any(grounded):
        return {}
    share = np.abs(left - right)[grounded] / both[grounded]
    return {"rollover_margin": 1.0 - float(share.max())}


def _lane(drive: Drive) -> dict[str, float | None]:
    """Lanes are as wide as their centre lines are apart; they begin at the start of the run, along its heading."""
    change, start, channels = drive.scenario.driver.lane_change, drive.scenario.start, drive.run.channels
    if change is None:
        return {}
    heading = math.radians(start.heading_deg)
    lateral = math.cos(heading) * (channels["y_m"] - start.y_m) - math.sin(heading) * (channels["x_m"] - start.x_m)
    time, side = channels["time_s"], math.copysign(1.0, change.offset_m)
    lane = abs(change.offset_m)
    half_width = Footprint.of(drive.parameters, drive.runner.vehicle.base_in_chassis).half_width
    across = side * lateral  # towards the other lane
    room = np.minimum(across + 0.5 * lane, 1.5 * lane - across) - half_width
    gone = [_smooth((time - begin) / change.lasting_s) for begin in (change.change_at_s, change.back_at_s)]
    path = lane * (gone[0] - gone[1])
    return {"lane_margin_m": float(room.min()), "path_error_m": float(np.abs(across - path).max())}


def _smooth(share: Array) -> Array:
    """Quintic from 0 to 1 with zero speed and acceleration at both ends, which the driver follows."""
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s**3 * (10.0 + s * (6.0 * s - 15.0)))


def _goal(drive: Drive) -> dict[str, float | None]:
    to_goal, world = drive.scenario.driver.to_goal, drive.world
    if to_goal is None or world is None:
        return {}
    goal = (to_goal.goal.x_m, to_goal.goal.y_m) if to_goal.goal is not None else None
    if goal is None and world.goal is not None:
        goal = (world.goal.x, world.goal.y)
    if goal is None:
        return {}
    channels = drive.run.channels
    away = np.hypot(channels["x_m"] - goal[0], channels["y_m"] - goal[1])
    there = np.flatnonzero(away <= to_goal.planner.arrival_m)
    arrival = float(channels["time_s"][there[0]]) if len(there) else None
    return {"goal_distance_m": float(away[-1]), "arrival_s": arrival}


def _contact(drive: Drive) -> dict[str, float | None]:
    touching = drive.run.channels["collision_n"] > 0.0
    return {"collisions": float(touching[0]) + float(np.sum(touching[1:] & ~touching[:-1]))}


def _steps(drive: Drive) -> dict[str, float | None]:
    if drive.world is None:
        return {}
    watch = StepWatch(WorldGround.of(drive.world))
    for seen in drive.run.history:
        watch.look(seen)
    return {"kerb_strikes": float(watch.count)}


def _travel(drive: Drive) -> dict[str, float | None]:
    channels, heading = drive.run.channels, math.radians(drive.scenario.start.heading_deg)
    x, y = (float(channels[name][-1] - channels[name][0]) for name in ("x_m", "y_m"))
    distance = math.cos(heading) * x + math.sin(heading) * y
    sinkage = max(float(channels[f"sinkage_m.{corner}"].max()) for corner in CORNERS)
    slip = np.concatenate([channels[f"slip_along.{corner}"] for corner in CORNERS])
    pushing = np.concatenate([channels[f"drive_torque_nm.{corner}"] for corner in CORNERS]) > PUSHING_NM
    mean_slip = float(np.mean(np.clip(slip[pushing], -1.0, 1.0))) if pushing.any() else None
    return {"distance_m": distance, "deepest_sinkage_m": sinkage, "wheel_slip": mean_slip}


def _estimate(drive: Drive) -> dict[str, float | None]:
    observation = drive.runner.observation
    if observation is None:
        return {}
    base, start_ns = np.asarray(drive.runner.vehicle.base_in_chassis), drive.scenario.start.time_ns()
    return dict(estimate_errors(drive.run, base, start_ns, observation.observer.health()))


def _handling(drive: Drive) -> dict[str, float | None]:
    return dict(handling_figures(drive.scenario, drive.run))


_GROUPS: tuple[tuple[tuple[str, ...], Callable[[Drive], dict[str, float | None]]], ...] = (
    (("rollover_margin",), _load_transfer),
    (("lane_margin_m", "path_error_m"), _lane),
    (("goal_distance_m", "arrival_s"), _goal),
    (("collisions",), _contact),
    (("kerb_strikes",), _steps),
    (("distance_m", "deepest_sinkage_m", "wheel_slip"), _travel),
    (("position_rmse_m", "yaw_rmse_deg", "speed_rmse_mps", "sideslip_rmse_deg", "nees"), _estimate),
    (
        (
            "understeer_gradient_degpmps2",
            "turning_radius_outer_front_wheel_m",
            "turning_radius_rear_axle_m",
            "speed_drift_mps",
        ),
        _handling,
    ),
)
