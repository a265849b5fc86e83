"""Planning: time of its parts, D* Lite against A*, and 20 drives through seeded towns ([Cameron], scenario 1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.lidar_unit import lidar_unit
from benchmark.measure import cpu_time_us
from benchmark.town_pictures import draw_towns, words
from benchmark.town_runs import drive_figures, drive_on_truth
from planner.a_star import shortest
from planner.arcs import ArcPlanner, Target
from planner.dstar_lite import DStarLite
from planner.footprint import Footprint
from planner.grid_cost import BLOCKED, CHEAPEST, Costs
from planner.maps.distance import distance_field
from planner.maps.grid import OCCUPIED
from planner.maps.lidar_source import LidarSource
from planner.maps.local_map import LocalMap
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from planner.towns import path_on_truth, town
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from terrain.world import World
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.hmmwv import Hmmwv

SEEDS = range(20)
LONGEST_S = 500.0
PLANNERS = ("dstar_lite", "arcs")
MAP_CELLS, CHANGE_CELLS, CHANGES = 1000, 20, 30
SENSOR_CELLS = 40  # distance ahead of the vehicle at which a change is detected
STRIDE_CELLS = 5  # distance driven between two changes


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Figures; times are CPU times on one core. success and collisions are those of D* Lite with arcs."""
    car = Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
    footprint = Footprint.of(car.parameters, car.base_in_chassis)
    say("timing")
    figures: dict[str, Any] = _cycle(car, footprint) | _replanning()
    for planner in PLANNERS:
        settings = PlannerSettings(planner=planner)
        for seed in SEEDS:
            world = town(seed)
            cost, _ = path_on_truth(world, settings, footprint)
            begun = time.process_time()
            result = drive_on_truth(world, LONGEST_S, settings)
            say(f"{planner}, town {seed}: {words(result)}")
            figures[f"{planner}_{seed}"] = {"astar_m": cost} | drive_figures(result, time.process_time() - begun)
        figures |= _sums(planner, [figures[f"{planner}_{seed}"] for seed in SEEDS])
    return figures | {"success": figures["dstar_lite_reached"], "collisions": figures["dstar_lite_collisions"]}


def show(figures: Mapping[str, Any]) -> str:
    """Print the figures of this benchmark as tables."""
    f = figures
    times = text_table(
        ["one core, CPU time", "ms"],
        [
            [f"scan of 64 x 1024 ({f['scan_points']:.0f} returns) into the map", f"{f['scan_ms']:.2f}"],
            ["rolling map of 48 m from LIDAR", f"{f['map_ms']:.2f}"],
            ["the same from terrain truth", f"{f['truth_map_ms']:.2f}"],
            ["distance field of either", f"{f['distance_ms']:.2f}"],
            [f"{f['arcs']:.0f} arcs swept", f"{f['sweep_ms']:.2f}"],
            ["choice", f"{f['choice_ms']:.3f}"],
            ["a cycle: scan, rolling map, arcs, choice", f"{f['cycle_ms']:.2f}"],
            ["D* Lite, 1000 x 1000, after a change of 20 x 20: median", f"{f['dstar_ms']:.2f}"],
            [f"the same, worst of {2 * CHANGES}", f"{f['dstar_worst_ms']:.2f}"],
            ["A* in its place: median", f"{f['astar_ms']:.1f}"],
        ],
    )
    parts = [times]
    for planner in PLANNERS:
        rows = [_shown(seed, f[f"{planner}_{seed}"]) for seed in SEEDS]
        head = ["town", "A* [m]", "reached", "time [s]", "collisions", "kerb strikes", "top [m/s]", "plans", "CPU [s]"]
        total = (
            f"{planner}: {f[f'{planner}_reached']} of {len(SEEDS)} reached, {f[f'{planner}_collisions']} collisions, "
            f"{f[f'{planner}_kerb_strikes']} kerb strikes, at most {f[f'{planner}_top_mps']:.2f} m/s; A* solves "
            f"{f[f'{planner}_solvable']} of them"
        )
        parts.append(text_table(head, rows) + "\n" + total)
    return "\n\n".join(parts)


def draw(path: Path) -> None:
    """Write a picture of the towns and the paths driven through them by D* Lite with arcs."""
    draw_towns(path, SEEDS, lambda world: drive_on_truth(world, LONGEST_S))


def _sums(planner: str, rows: list[dict[str, float]]) -> dict[str, float]:
    sums = {f"{planner}_{key}": int(sum(row[key] for row in rows)) for key in ("reached", "collisions", "kerb_strikes")}
    return sums | {
        f"{planner}_top_mps": max(row["top_mps"] for row in rows),
        f"{planner}_solvable": sum(math.isfinite(row["astar_m"]) for row in rows),
    }


def _shown(seed: int, row: Mapping[str, float]) -> list[str]:
    return [
        str(seed), f"{row['astar_m']:.0f}", "yes" if row["reached"] else "no", f"{row['time_s']:.0f}",
        f"{row['collisions']:.0f}", f"{row['kerb_strikes']:.0f}", f"{row['top_mps']:.2f}", f"{row['plans']:.0f}",
        f"{row['cpu_s']:.0f}",
    ]  # fmt: skip


def _cycle(car: Hmmwv, footprint: Footprint) -> dict[str, float]:
    """Times of the parts of one plan, in a town: the map from a scan of 64 x 1024, and from terrain truth."""
    settings, world = PlannerSettings().fitted(car.parameters.equipment), town(0)
    pose = Pose(world.start.x, world.start.y, heading=world.start.heading)
    unit, points = _scan(world)
    source = LidarSource(settings, footprint, unit.mounting())
    local, truth = LocalMap(source, settings), LocalMap(TerrainTruth(world, settings), settings)
    arcs = ArcPlanner(settings, footprint)
    ahead = Target(pose.x + 9.0 * math.cos(pose.heading), pose.y + 9.0 * math.sin(pose.heading))
    source.see(0.0, points, pose)
    grid = local.update(0.0, pose)
    out = np.empty_like(grid.distance)

    def see() -> object:
        return source.see(0.0, points, pose)

    def choose() -> object:
        return arcs.choose(ahead, 0.0)

    def cycle() -> None:
        see()
        arcs.sweep(pose, local.update(0.0, pose))
        choose()

    cycle()
    truth.update(0.0, pose)
    calls: dict[str, Callable[[], object]] = {
        "scan_ms": see,
        "map_ms": lambda: local.update(0.0, pose),
        "truth_map_ms": lambda: truth.update(0.0, pose),
        "distance_ms": lambda: distance_field(grid.cells, OCCUPIED, settings.map_resolution_m, out),
        "sweep_ms": lambda: arcs.sweep(pose, grid),
        "choice_ms": choose,
        "cycle_ms": cycle,
    }
    times = {name: 1e-3 * cpu_time_us(call, 20, 20) for name, call in calls.items()}
    return times | {"scan_points": len(points), "arcs": len(arcs.fan.cost)}


def _scan(world: World) -> tuple[LidarSettings, NDArray[np.void]]:
    """A LIDAR of 64 beams and 1024 columns, and its scan at the world's start."""
    unit = lidar_unit(
        "spinning_64",
        columns=1024,
        deskew=True,
    )
    start, zero = world.start, (0.0, 0.0, 0.0)
    attitude = (0.0, 0.0, math.sin(0.5 * start.heading), math.cos(0.5 * start.heading))
    base = BaseMotion((start.x, start.y, 0.0), attitude, zero, zero, zero, zero)
    lidar = Lidar(unit, Scene.of(world))
    lidar.update(0, base)
    period_ns = round(1e9 * PERIOD_S)
    return unit, next(scan for tick in range(1, 12) for scan in lidar.update(tick * period_ns, base)).points


def _replanning() -> dict[str, float]:
    """A driving vehicle repeatedly meets a block somewhere within sensor range, which then disappears."""
    random = np.random.default_rng(2)
    costs = _random_map(random)
    start, goal = (20, 20), (MAP_CELLS - 20, MAP_CELLS - 20)
    search = DStarLite(costs, start, goal)
    search.repair()
    _repair(search, np.array([start]))  # compiles
    shortest(costs, start, goal)
    repairs, searches = [], []
    for _ in range(CHANGES):
        row, column = search.path(STRIDE_CELLS + 1)[-1].tolist()
        search.move_to((row, column))
        angle, away = random.uniform(0.0, 2.0 * np.pi), random.uniform(CHANGE_CELLS, SENSOR_CELLS)
        middle = np.rint([row + away * np.sin(angle), column + away * np.cos(angle)]).astype(int)
        cells = np.argwhere(np.ones((CHANGE_CELLS, CHANGE_CELLS), bool)) + middle - CHANGE_CELLS // 2
        is_inside = ((cells >= 0) & (cells < MAP_CELLS)).all(axis=1)
        cells = cells[is_inside]
        before = costs[tuple(cells.T)]
        for new in (np.full(len(cells), BLOCKED, np.int32), before):  # the block appears, and disappears
            costs[tuple(cells.T)] = new
            repairs.append(_cpu_ms(partial(_repair, search, cells)))
            searches.append(_cpu_ms(partial(shortest, costs, (row, column), goal)))
    return {
        "dstar_ms": float(np.median(repairs)),
        "dstar_worst_ms": max(repairs),
        "astar_ms": float(np.median(searches)),
    }


def _repair(search: DStarLite, cells: NDArray[np.int64]) -> None:
    search.changed(cells)
    search.repair()


def _random_map(random: np.random.Generator) -> Costs:
    costs = np.full((MAP_CELLS, MAP_CELLS), CHEAPEST, np.int32)
    for row, column, height, width in zip(
        *random.integers(0, MAP_CELLS, (2, 300)), *random.integers(3, 40, (2, 300)), strict=True
    ):
        costs[row : row + height, column : column + width] = BLOCKED
    costs[:40, :40], costs[-40:, -40:] = CHEAPEST, CHEAPEST
    return costs


def _cpu_ms(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return 1e3 * (time.process_time() - begun)
