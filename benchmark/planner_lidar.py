"""Driving by sensors alone: 20 seeded towns ([Cameron], scenario 1) with LIDAR and observer in the loop, in lock-step.

And the time of the obstacle map from LIDAR. Towns whose goal was not reached, or with a collision, get a picture
each. Set PROVING_GROUND_TOWNS=3 for the first three, and PROVING_GROUND_PICTURES=folder for the pictures.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmark.lidar_unit import lidar_unit
from benchmark.measure import cpu_time_us
from benchmark.town_pictures import draw_drive, is_clean, picture_folder, words
from benchmark.town_runs import drive_by_sensors, drive_figures, seeds
from planner.footprint import Footprint
from planner.maps.lidar_source import LidarSource
from planner.maps.local_map import LocalMap
from planner.pose import Pose
from planner.settings import PlannerSettings
from planner.towns import town
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.hmmwv import Hmmwv

LONGEST_S = 500.0
TIMED_PRESETS = ("spinning_16", "spinning_32", "spinning_64")
PERIOD_NS = round(1e9 * PERIOD_S)


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Figures; times are CPU times on one core."""
    car = Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
    towns, pictures = seeds(), picture_folder()
    say("timing")
    figures: dict[str, Any] = _times(Footprint.of(car.parameters, car.base_in_chassis))
    for seed in towns:
        begun = time.process_time()
        result = drive_by_sensors(seed, LONGEST_S)
        say(f"town {seed}: {words(result)}, at most {result.top_speed:.2f} m/s")
        figures[f"town_{seed}"] = drive_figures(result, time.process_time() - begun)
        if not is_clean(result):
            path = pictures / f"planner_lidar_town_{seed}.png"
            draw_drive(path, seed, town(seed), result)
            say(f"town {seed}: picture in {path}")
    rows = [figures[f"town_{seed}"] for seed in towns]
    sums = {key: int(sum(row[key] for row in rows)) for key in ("reached", "collisions", "kerb_strikes")}
    return figures | sums | {"towns": len(rows), "top_mps": max(row["top_mps"] for row in rows)}


def show(figures: Mapping[str, Any]) -> str:
    """Print the figures of this benchmark as tables."""
    f = figures
    times = [
        [preset, f"{f[preset]['points']:.0f}", f"{f[preset]['see_ms']:.2f}", f"{f[preset]['look_ms']:.2f}"]
        for preset in TIMED_PRESETS
    ]
    rows = [_shown(seed, f[f"town_{seed}"]) for seed in range(f["towns"])]
    head = ["town", "reached", "time [s]", "collisions", "kerb strikes", "top [m/s]", "plans", "CPU [s]"]
    total = (
        f"{f['reached']} of {f['towns']} reached, {f['collisions']} collisions, {f['kerb_strikes']} kerb strikes, "
        f"at most {f['top_mps']:.2f} m/s"
    )
    table = text_table(["LIDAR", "points", "a scan into the map, CPU [ms]", "rolling map of 48 m [ms]"], times)
    return f"{table}\n\n{text_table(head, rows)}\n{total}"


def draw(path: Path) -> None:
    """Write a picture of the first town and the path driven through it."""
    seed = seeds()[0]
    draw_drive(path, seed, town(seed), drive_by_sensors(seed, LONGEST_S))


def _times(footprint: Footprint) -> dict[str, dict[str, float]]:
    """Times of one scan in a town and of one map update, for each unit."""
    world, settings = town(0), PlannerSettings()
    start, zero = world.start, (0.0, 0.0, 0.0)
    attitude = (0.0, 0.0, math.sin(0.5 * start.heading), math.cos(0.5 * start.heading))
    base = BaseMotion((start.x, start.y, 0.0), attitude, zero, zero, zero, zero)
    pose = Pose(start.x, start.y, heading=start.heading)
    found = {}
    for preset in TIMED_PRESETS:
        unit = lidar_unit(preset, deskew=True)
        lidar = Lidar(unit, Scene.of(world))
        lidar.update(0, base)
        points = next(scan for tick in range(1, 12) for scan in lidar.update(tick * PERIOD_NS, base)).points
        source = LidarSource(settings, footprint, unit.mounting())
        local = LocalMap(source, settings)
        source.see(0.0, points, pose)
        grid = local.update(0.0, pose)

        def see(source: LidarSource = source, points: Any = points) -> None:
            source.see(0.0, points, pose)

        def look(source: LidarSource = source, grid: Any = grid) -> None:
            source.look(0.0, pose, grid.window, grid.cells, grid.heights)

        found[preset] = {
            "points": len(points),
            "see_ms": 1e-3 * cpu_time_us(see, 5, 20),
            "look_ms": 1e-3 * cpu_time_us(look, 5, 20),
        }
    return found


def _shown(seed: int, row: Mapping[str, float]) -> list[str]:
    return [
        str(seed), "yes" if row["reached"] else "no", f"{row['time_s']:.0f}", f"{row['collisions']:.0f}",
        f"{row['kerb_strikes']:.0f}", f"{row['top_mps']:.2f}", f"{row['plans']:.0f}", f"{row['cpu_s']:.0f}",
    ]  # fmt: skip
