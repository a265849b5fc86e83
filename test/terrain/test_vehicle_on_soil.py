"""The HMMWV on soils: standing, driving, climbing; softer soil is worse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from terrain.ruts import restore_ruts, rewind, save_ruts
from terrain.soils_file import load_soils
from terrain.world_ground import SoilPlane, WorldGround
from terrain.worlds import load_world, world_files
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals

PARKED = Pedals(brake=1.0)
SOILS = sorted(name for name, soil in load_soils().items() if soil.soft is not None)


@pytest.fixture(scope="module")
def car(vehicle_parameters: VehicleParameters) -> Hmmwv:
    return Hmmwv(vehicle_parameters)


@pytest.mark.parametrize("slope", [0.0, 0.1])
@pytest.mark.parametrize("soil", SOILS)
def test_parked_vehicle_stands_still(car: Hmmwv, soil: str, slope: float) -> None:
    ground = SoilPlane(soil, slope)
    state = car.start(ground)
    before = state.copy()

    assert car.advance(state, PARKED, ground, 2000) == 2000

    assert np.abs(state[15:29]).max() < 1e-6
    assert np.abs(state[:3] - before[:3]).max() < 1e-4
    loads = car.snapshot(state, PARKED, ground)["load"]
    assert loads.sum() == pytest.approx(2573.138 * 9.81 * np.cos(np.arctan(slope)), rel=0.01)


def test_sinkage_follows_the_stiffness_of_the_soil(car: Hmmwv) -> None:
    def sinkage(soil: str) -> float:
        ground = SoilPlane(soil)
        return float(car.snapshot(car.start(ground), PARKED, ground)["sinkage"].max())

    assert 0.0 < sinkage("chrono_hard") < sinkage("chrono_mid") < sinkage("chrono_soft")
    assert 0.0 < sinkage("lete_sand") < sinkage("dry_sand") < sinkage("loose_sand")
    assert 0.0 < sinkage("heavy_clay") < sinkage("clay") < sinkage("wet_clay")


def climbed(car: Hmmwv, soil: str, slope: float, seconds: float = 6.0) -> float:
    ground = SoilPlane(soil, slope)
    state = car.start(ground)
    begun = state[0]
    car.advance(state, Pedals(throttle=0.6), ground, round(1000 * seconds))
    return float(state[0] - begun)


@pytest.mark.parametrize("soil", SOILS)
def test_steeper_is_harder(car: Hmmwv, soil: str) -> None:
    """Go (10 m in 6 s), crawl (1 m) or no go: a steeper slope is never in a better class, and no faster if it goes."""
    distances = [climbed(car, soil, slope) for slope in (0.0, 0.1, 0.2, 0.3, 0.5)]
    classes = [(distance > 1.0) + (distance > 10.0) for distance in distances]

    assert all(after <= before for before, after in itertools.pairwise(classes))
    assert all(after < before for before, after in itertools.pairwise(distances) if before > 1.0)


def test_rear_wheels_follow_in_the_ruts_of_the_front_ones(car: Hmmwv) -> None:
    ground = SoilPlane("dry_sand")
    state = car.start(ground, speed=3.0)
    car.advance(state, Pedals(throttle=0.4), ground, 4000)

    ruts = ground.kernel().ruts
    depth = ruts.depth.copy()
    assert depth.max() > 0.02
    saved = save_ruts(ruts)
    ground.reset()
    assert ruts.depth.max() == 0.0
    restore_ruts(ruts, saved)
    assert ruts.depth.tobytes() == depth.tobytes()


def test_ruts_with_a_journal_can_be_taken_back(car: Hmmwv) -> None:
    ground = SoilPlane("dry_sand", journal=2**14)
    ruts = ground.kernel().ruts
    state = car.start(ground, speed=3.0)
    car.advance(state, Pedals(throttle=0.4), ground, 1000)
    before, changes = (ruts.keys.copy(), ruts.depth.copy()), int(ruts.changes[0])
    car.advance(state, Pedals(throttle=0.4), ground, 500)
    assert ruts.keys.tobytes() != before[0].tobytes()

    rewind(ruts, changes)

    assert (ruts.keys.tobytes(), ruts.depth.tobytes()) == (before[0].tobytes(), before[1].tobytes())


def test_second_pass_needs_less_power_than_the_first(car: Hmmwv) -> None:
    ground = SoilPlane("dry_sand")

    def work() -> float:
        """Energy [J] that the axles put in to advance 10 m at about 3 m/s, less the gain of kinetic energy."""
        state = car.start(ground, speed=3.0)
        begun, spent = state[0], 0.0
        speed = 3.0
        while state[0] < begun + 10.0:
            pedals = Pedals(throttle=min(max(0.5 + 1.0 * (3.0 - speed), 0.0), 1.0))
            car.advance(state, pedals, ground, 10)
            seen = car.snapshot(state, pedals, ground)
            spent += 0.01 * float(seen["drive_torque"] @ seen["spin_rate"])
            speed = float(seen["velocity"][0])
        return spent - 0.5 * 2573.0 * (speed**2 - 9.0)

    first = work()
    assert work() < 0.95 * first


@pytest.mark.parametrize("soil", SOILS)
def test_fast_and_rough_driving_stays_finite(car: Hmmwv, soil: str) -> None:
    ground = SoilPlane(soil)
    state = car.start(ground, speed=20.0)
    for steering, throttle, brake in ((0.5, 1.0, 0.0), (-0.5, 0.0, 1.0), (1.0, 1.0, 0.0)):
        assert car.advance(state, Pedals(steering, throttle, brake), ground, 1000) == 1000
    assert np.isfinite(state).all()
    assert state[2] > -0.6


@pytest.mark.parametrize("speed", [3.0, 10.0, 20.0])
@pytest.mark.parametrize("world", ["kerb", "washboard"])
def test_kerbs_and_waves_are_driven_over_at_any_speed(car: Hmmwv, world: str, speed: float) -> None:
    made = load_world(world)
    ground = WorldGround.of(made)
    state = car.start(ground, x=made.start.x, y=made.start.y, heading=made.start.heading, speed=speed)

    highest = state[2]
    for _ in range(300):
        assert car.advance(state, Pedals(throttle=0.3), ground, 10) == 10
        highest = max(highest, state[2])

    assert highest < 2.0  # not thrown up
    assert state[2] > 0.4
    assert state[0] > made.start.x + 2.0 * speed


def test_vehicle_can_start_in_every_world_of_the_suite(car: Hmmwv) -> None:
    for name in world_files():
        made = load_world(name)
        ground = WorldGround.of(made)
        state = car.start(ground, x=made.start.x, y=made.start.y, heading=made.start.heading)
        assert car.snapshot(state, PARKED, ground)["collision"] == 0.0
        assert car.advance(state, Pedals(throttle=0.3), ground, 1000) == 1000
