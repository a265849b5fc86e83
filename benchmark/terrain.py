"""Wheels on soil: time of the contact and of the vehicle, cost of big maps, and trafficability for the HMMWV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmark.measure import cpu_time_us
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table
from terrain.elevation_map import ElevationMap
from terrain.ground import FlatGround, GroundModel
from terrain.soils_file import load_soils
from terrain.world_ground import SoilPlane, WorldGround
from terrain.worlds import load_world
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rig import Rig, mass_of

SOIL = "dry_sand"
STEPS = 1000
STEP_S = 0.001
SLOPES = (0.0, 0.1, 0.2, 0.3, 0.4)
GONE_M = 10.0  # within CLIMB_S: counts as "go"
CLIMB_S = 8.0
CHRONO_SOIL_RTF = (
    1.26  # Project Chrono 10.0.0-dev (7689fbc), deformable terrain, 2 ms, one idle core of another machine
)
PUSHING = Pedals(throttle=0.5)
LONGEST_PASS_S = 20.0  # that 10 m may take


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Figures; times in microseconds of CPU time, rtf is simulated over CPU time on one core."""
    car = Hmmwv.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
    say("compiling and timing")
    hard, soft = _step_us(car, FlatGround()), _step_us(car, SoilPlane(SOIL))
    small, big = (_step_us(car, _map(nodes)) for nodes in (200, 8000))
    soft_map, hills = _step_us(car, _map(200, SOIL)), _off_road_us(car)
    figures = {
        "hard_us": hard,
        "soil_us": soft,
        "contact_us": soft - hard,
        "soil_rtf": 1e6 * STEP_S / soft,
        "soil_map_us": soft_map,
        "soil_map_rtf": 1e6 * STEP_S / soft_map,
        "map_contact_us": soft_map - hard,
        "off_road_us": hills,
        "off_road_rtf": 1e6 * STEP_S / hills,
        "chrono_soil_rtf": CHRONO_SOIL_RTF,
        "small_map_us": small,
        "big_map_us": big,
        "big_map_ratio": big / small,
    }
    say("climbing")
    soils = [name for name, soil in load_soils().items() if soil.soft is not None]
    for name in soils:
        for slope in SLOPES:
            figures[f"climb_{name}_{round(100 * slope)}_m"] = _climbed(car, name, slope)
    say("two passes in one track")
    first, second = _two_passes(car)
    return figures | {"first_pass_j_per_m": first, "second_pass_j_per_m": second}


def show(figures: Mapping[str, float]) -> str:
    """Print the figures of this benchmark as tables."""
    f = figures
    times = text_table(
        ["1 ms step of the vehicle, one core", "us", "times real time"],
        [
            ["on hard ground", f"{f['hard_us']:.1f}", f"{1e3 / f['hard_us']:.0f}"],
            [f"on {SOIL}", f"{f['soil_us']:.1f}", f"{f['soil_rtf']:.0f}"],
            [f"on a map of {SOIL}", f"{f['soil_map_us']:.1f}", f"{f['soil_map_rtf']:.0f}"],
            ["in the world off_road, with its soils and trees", f"{f['off_road_us']:.1f}", f"{f['off_road_rtf']:.0f}"],
            ["on a hard map of 200 x 200 nodes", f"{f['small_map_us']:.1f}", f"{1e3 / f['small_map_us']:.0f}"],
            ["on a hard map of 8000 x 8000 nodes (4 km)", f"{f['big_map_us']:.1f}", f"{1e3 / f['big_map_us']:.0f}"],
            ["Project Chrono 10.0.0-dev, deformable terrain, 2 ms, another machine", "-", f"{CHRONO_SOIL_RTF}"],
        ],
    )
    soils = sorted({key[6:].rsplit("_", 2)[0] for key in f if key.startswith("climb_")})
    rows = []
    for name in soils:
        climbed = [f[f"climb_{name}_{round(100 * slope)}_m"] for slope in SLOPES]
        rows.append([name, *(f"go {way:.0f}" if way > GONE_M else f"no {way:.1f}" for way in climbed)])
    climbs = text_table(["soil", *(f"{slope:.0%}" for slope in SLOPES)], rows)
    notes = (
        f"Metres in {CLIMB_S:g} s at half throttle from rest. Soil adds {f['contact_us']:.1f} us to a step.\n"
        f"First pass {f['first_pass_j_per_m']:.0f} J/m, second in the same ruts {f['second_pass_j_per_m']:.0f} J/m."
    )
    return "\n\n".join([times, climbs, notes])


def _off_road_us(car: Hmmwv) -> float:
    world = load_world("off_road")
    return _step_us(car, WorldGround.of(world), x=world.start.x, y=world.start.y, heading=world.start.heading)


# Times the kernel alone, without the stepper around it.
def _step_us(car: Hmmwv, ground: GroundModel, **position: Any) -> float:
    state = car.start(ground, speed=3.0, **position)
    car.advance(state, PUSHING, ground, 10)  # compiles
    return cpu_time_us(lambda: car.advance(state, PUSHING, ground, STEPS), calls=1, repeats=8) / STEPS


def _map(nodes: int, soil: str = "hard") -> WorldGround:
    waves = 0.1 * np.sin(np.arange(nodes) * 0.1)
    heights = (waves[None, :] + waves[:, None]).astype(np.float32)
    edge = -0.25 * nodes
    return WorldGround(ElevationMap(heights=heights, resolution=0.5, origin_x=edge, origin_y=edge, soil_names=(soil,)))


def _climbed(car: Hmmwv, soil: str, slope: float) -> float:
    rig = Rig(car, SoilPlane(soil, slope))
    start = rig.position()
    rig.drive(PUSHING, CLIMB_S)
    return float(rig.position()[0] - start[0])


def _two_passes(car: Hmmwv) -> tuple[float, float]:
    rig, mass = Rig(car, SoilPlane(SOIL), speed=3.0), mass_of(car)
    first = _energy_per_metre(rig, mass)
    rig.return_to_start()
    return first, _energy_per_metre(rig, mass)


def _energy_per_metre(rig: Rig, mass: float) -> float:
    """Work of the axles over 10 m at about 3 m/s, less the gain in kinetic energy [J/m]."""
    start = rig.position()[0]

    def hold_speed(time: float, seen: SnapshotRecord) -> Pedals:
        return Pedals(throttle=min(max(0.5 + (3.0 - float(seen["velocity"][0])), 0.0), 1.0))

    last = rig.drive(hold_speed, LONGEST_PASS_S, until=lambda seen: bool(seen["position"][0] >= start + 10.0))
    spent = PERIOD_S * float((rig.series("drive_torque") * rig.series("spin_rate")).sum())
    gained = 0.5 * mass * (float(last["velocity"][0]) ** 2 - 9.0)
    return (spent - gained) / float(last["position"][0] - start)
