"""LIDAR: a scan of 64 x 1024 rays in a town of 300,000 triangles, against Embree alone with the same rays."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from benchmark.cloud_publish import publish_figures
from benchmark.lidar_unit import lidar_unit
from proving_ground.settings.text_table import text_table
from sensors.lidar.beams import beams_of, directions
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.lidar.settings import ABSENT, LidarSettings
from sensors.samples import LidarScan
from terrain.world import World
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion

WORLD, STEP = "urban", 6  # every sixth node: some 330,000 triangles
PRESET = "spinning_64"
TICK_NS = 10_000_000
TICKS = 10  # of a scan
REPEATS = 60
DRIVE_S, SPEED = 6.0, 10.0  # across the town, while the fine ground follows the vehicle


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Figures; CPU times of one core in milliseconds, the least of many."""
    # Without the vehicle's body all rays are traced, as in Embree alone.
    world, settings = (
        load_world(WORLD),
        lidar_unit(PRESET, own_body=ABSENT),
    )
    say("building the scene")
    scene = Scene.of(world, step=STEP)
    say("casting rays")
    scan_ms, embree_ms, scan = _scan_and_embree_ms(world, scene, settings)
    say("driving, with squares of ground that follow")
    moving = Scene.of(world)
    ticks = _tick_times_ms(world, moving, settings)
    figures = {
        "scan_ms": scan_ms,
        "embree_ms": embree_ms,
        "overhead_ratio": scan_ms / embree_ms,
        "triangles": scene.triangles,
        "rays": scan.ranges.size,
        "points": len(scan.points),
        "following_scan_ms": TICKS * float(np.median(ticks)),
        "following_longest_tick_ms": float(np.max(ticks)),
        "following_triangles": moving.triangles,
    }
    say("publishing")
    return figures | publish_figures(scan)


def show(figures: Mapping[str, float]) -> str:
    """The figures as a table."""
    f = figures
    rows = [
        [f"a scan of {f['rays']} rays, {f['triangles']} triangles: all of the sensor", f"{f['scan_ms']:.2f}"],
        ["the same rays in Embree alone", f"{f['embree_ms']:.2f}"],
        ["ratio", f"{f['overhead_ratio']:.2f}"],
        [f"a scan at {SPEED:g} m/s, fine ground that follows", f"{f['following_scan_ms']:.2f}"],
        ["longest tick of that (10 ms of a scan)", f"{f['following_longest_tick_ms']:.2f}"],
    ]
    rows += [
        ["cloud made and published", f"{f['publish_ms']:.3f}"],
        ["the same bytes published", f"{f['bare_publish_ms']:.3f}"],
    ]
    return text_table(["CPU time of one core", "ms"], rows)


def _scan_and_embree_ms(world: World, scene: Scene, settings: LidarSettings) -> tuple[float, float, LidarScan]:
    """Alternating scans, in tenths of which the least counts: other load can only add."""
    lidar, base = Lidar(settings, scene), _base(world, 0.0)
    (surface,) = scene.surfaces()
    origin = np.array(base.position) + settings.mounting().arm
    rays = np.ascontiguousarray(directions(beams_of(settings)).reshape(-1, 3), np.float32)
    starts = np.tile((origin - surface.origin).astype(np.float32), (len(rays), 1))
    tenths = np.linspace(0, len(rays), TICKS + 1).astype(int)
    times = np.empty((2, REPEATS, TICKS))
    scan: LidarScan | None = None
    lidar.update(0, base)
    for repeat in range(REPEATS):
        for tick in range(TICKS):
            begun = time.process_time()
            arrived = lidar.update((repeat * TICKS + tick + 1) * TICK_NS, base)
            times[0, repeat, tick] = time.process_time() - begun
            scan = arrived[-1] if arrived else scan
        for tick, (first, last) in enumerate(pairwise(tenths)):
            far = np.full(last - first, settings.max_range_m, np.float32)
            begun = time.process_time()
            surface.hits(starts[first:last], rays[first:last], far)
            times[1, repeat, tick] = time.process_time() - begun
    assert scan is not None
    scan_s, embree_s = times.min(axis=1).sum(axis=1)
    return 1e3 * float(scan_s), 1e3 * float(embree_s), scan


def _tick_times_ms(world: World, scene: Scene, settings: LidarSettings) -> list[float]:
    lidar = Lidar(settings, scene)
    lidar.update(0, _base(world, 0.0))  # builds what is around the start
    times = []
    for tick in range(1, round(DRIVE_S * 1e9) // TICK_NS):
        begun = time.process_time()
        lidar.update(tick * TICK_NS, _base(world, tick * TICK_NS * 1e-9 * SPEED))
        times.append(1e3 * (time.process_time() - begun))
    return times


def _base(world: World, distance: float) -> BaseMotion:
    """Pose at a distance [m] along x from the start."""
    x, y = world.start.x + distance, world.start.y
    zero = (0.0, 0.0, 0.0)
    return BaseMotion((x, y, float(world.ground.height_at(x, y))), (0.0, 0.0, 0.0, 1.0), zero, zero, zero, zero)
