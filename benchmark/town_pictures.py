"""Pictures of drives through towns, and their results as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.town_runs import DriveResult
from planner.towns import town
from proving_ground.settings import SettingsError
from terrain.world import World

PICTURES = "PROVING_GROUND_PICTURES"  # environment: folder for pictures of failures; default: the current one
NEAR_M = 25.0  # around the end of a drive, in the picture's detail


def is_clean(result: DriveResult) -> bool:
    """Whether the vehicle reached the goal and hit nothing."""
    return result.reached and result.collisions + result.kerb_strikes == 0


def words(result: DriveResult) -> str:
    """The result of a drive in one line."""
    why = f" ({result.reason.value})" if result.reason.value else ""
    harm = f", {result.collisions} collisions, {result.kerb_strikes} kerb strikes"
    hit = harm if result.collisions + result.kerb_strikes else ""
    return f"{result.status.value}{why} after {result.time:.0f} s{hit}"


def picture_folder() -> Path:
    """Folder for pictures of failures; raises SettingsError when it does not exist."""
    folder = Path(os.environ.get(PICTURES, "."))
    if not folder.is_dir():
        raise SettingsError(f"{PICTURES}: there is no folder {folder}")
    return folder


def draw_drive(path: Path, seed: int, world: World, result: DriveResult) -> None:
    """The town with posts, start, goal and driven path, and a detail of its end; the title gives the result."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    figure = Figure(figsize=(16, 8.5), layout="constrained")
    whole, near = figure.subplots(1, 2)
    end = result.track[-1]
    for axis in (whole, near):
        _draw_town(axis, world, result, every=2, dot=3.0)
        axis.set_xlabel("x [m]")
        axis.set_ylabel("y [m]")
    near.annotate("", end[:2] + 4.0 * np.array([np.cos(end[2]), np.sin(end[2])]), end[:2], arrowprops={"color": "b"})
    near.set_xlim(end[0] - NEAR_M, end[0] + NEAR_M)
    near.set_ylim(end[1] - NEAR_M, end[1] + NEAR_M)
    near.set_title("where it ended")
    figure.suptitle(f"town {seed}: {words(result)}", color=_colour(result))
    figure.savefig(path)


def draw_towns(path: Path, seeds: Iterable[int], drive_through: Callable[[World], DriveResult]) -> None:
    """Twenty towns with posts, start, goal and path; those not reached or with a strike have a red title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(25, 20), layout="constrained")
    for seed, axis in zip(seeds, figure.subplots(4, 5).flat, strict=True):
        world = town(seed)
        result = drive_through(world)
        _draw_town(axis, world, result, every=5, dot=2.0)
        axis.set_title(f"town {seed}: {words(result)}", color=_colour(result))
    figure.savefig(path)


def _draw_town(axis: Any, world: World, result: DriveResult, every: int, dot: float) -> None:
    """every: stride over rows and columns of the heights; dot: size of a post [points]."""
    extent = (*world.ground.x_limits, *world.ground.y_limits)
    axis.imshow(world.ground.heights[::every, ::every], origin="lower", extent=extent, cmap="Greys", vmax=0.5)
    posts = np.array([(post.x, post.y) for post in world.obstacles.cylinders])
    axis.plot(*posts.T, "r.", markersize=dot)
    axis.plot(*result.track[:, :2].T, "b-")
    if world.goal is not None:
        axis.plot([world.start.x, world.goal.x], [world.start.y, world.goal.y], "k*")


def _colour(result: DriveResult) -> str:
    return "black" if is_clean(result) else "red"
