"""Properties of a wheel on soft soil in any motion: no energy gained from soil, smooth loads, no jumps at borders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from terrain.elevation_map import ElevationMap
from terrain.ground import LEVEL, Ground, no_grid
from terrain.obstacle_contact import Obstacles, no_obstacles
from terrain.ruts import fresh_ruts
from terrain.soil import SOIL
from terrain.soil_law import SoilLaw
from terrain.soils_file import load_soils
from terrain.wheel import NO_DEFLECTION, SoilState
from terrain.wheel_rig import WheelRig
from terrain.world_ground import SoilPlane, WorldGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals

SOFT = {name: soil.soft for name, soil in load_soils().items() if soil.soft is not None}
COASTING = Pedals(selected=NEUTRAL)
MASS, GRAVITY, WHEEL_INERTIA = 2573.138, 9.81, 7.8
LOAD = 6300.0  # [N] of a wheel


@pytest.fixture(scope="module")
def car(vehicle_parameters: VehicleParameters) -> Hmmwv:
    return Hmmwv(vehicle_parameters)


class LoadedWheel:
    """A wheel under a constant load that is rolled to and fro, free to spin."""

    def __init__(self, tyre: Any, soil: SoilLaw) -> None:
        self._rig = WheelRig(tyre, soil)
        sinkage = self._rig.rolling(LOAD, slip=0.0).sinkage
        squeeze = LOAD / float(tyre["stiffness"])
        self._height, self._climb = self._rig.radius - sinkage - squeeze, 0.0
        self._memory, self._deflection, self._spin = SoilState(sinkage, 1.0, squeeze, 0.0), NO_DEFLECTION, 0.0

    def rolled(self, distance: float, step: float = 2e-4) -> float:
        """Work [J] needed to roll a distance [m] at 1 m/s, including the change of the wheel's height."""
        work, speed = 0.0, float(np.sign(distance))
        self._spin = speed / self._rig.radius
        height = self._height
        for _ in range(round(abs(distance) / step)):
            contact = self._rig.contact(
                height=self._height, speed=speed, climb=self._climb, spin=self._spin, soil_state=self._memory,
                before=self._deflection, elapsed=step, step=step,
            )  # fmt: skip
            work -= contact.force[0] * speed * step
            self._spin += step * contact.moment[1] / WHEEL_INERTIA
            self._climb = (self._climb + step * (contact.force[2] - LOAD) / 650.0) * np.exp(-8.0 * step)
            self._height += step * self._climb
            self._memory, self._deflection = contact.soil_state, contact.deflection
        return work - LOAD * (self._height - height)


@pytest.mark.parametrize("name", sorted(SOFT))
def test_rolling_to_and_fro_costs_energy_however_short_the_distance(tyre: Any, name: str) -> None:
    for distance in (0.02, 0.05, 0.1, 0.3):
        wheel = LoadedWheel(tyre, SOFT[name])
        spent = wheel.rolled(1.0)
        loops = [wheel.rolled(-distance) + wheel.rolled(distance) for _ in range(4)]

        # The energy stored in elastic soil comes back once: a small part of that spent on one metre.
        assert min(np.cumsum(loops)) > -0.04 * spent
        assert loops[-1] > -0.005 * spent
        if distance >= 0.3:
            assert min(loops) > 0.0


@pytest.mark.parametrize("speed", [5.0, 15.0, 25.0])
@pytest.mark.parametrize("name", sorted(SOFT))
def test_load_is_smooth_from_millisecond_to_millisecond(car: Hmmwv, name: str, speed: float) -> None:
    ground = SoilPlane(name)
    state = car.start(ground, speed=speed)
    loads = []
    for _ in range(2000):
        assert car.advance(state, COASTING, ground, 1) == 1
        loads.append(car.snapshot(state, COASTING, ground)["load"].copy())

    assert np.abs(np.diff(loads, axis=0)).mean() < 20.0  # [N]


@pytest.mark.parametrize("name", sorted(SOFT))
def test_vehicle_that_coasts_to_a_stop_does_not_roll_back(car: Hmmwv, name: str) -> None:
    ground = SoilPlane(name)
    state = car.start(ground, speed=3.0)
    speeds = []
    for _ in range(500):
        assert car.advance(state, COASTING, ground, 20) == 20
        speeds.append(state[15])

    assert min(speeds) > -0.12 * 3.0  # energy stored in elastic soil and springs
    assert abs(speeds[-1]) < 1.5  # heavy clay is nearly a road


def two_soils(first: str, second: str) -> WorldGround:
    """Level ground; the second soil from x = 0 on."""
    x = -20.0 + 0.1 * np.arange(1001)
    soils = np.zeros((41, len(x)), np.uint8)
    soils[:, x > 0.0] = 1
    heights = np.zeros(soils.shape, np.float32)
    names = (first, second)
    return WorldGround(
        ElevationMap(heights=heights, resolution=0.1, origin_x=-20.0, origin_y=-2.0, soils=soils, soil_names=names)
    )


def energy(state: Any) -> float:
    """Energy of the vehicle as one body with spinning wheels [J]."""
    moving = 0.5 * MASS * float(state[15:18] @ state[15:18]) + 0.5 * WHEEL_INERTIA * float(state[25:29] @ state[25:29])
    return float(moving + MASS * GRAVITY * float(state[2]) + 300.0 * state[18] ** 2 + 1250.0 * state[19] ** 2)


@pytest.mark.parametrize(
    ("first", "second"), [("dry_sand", "hard"), ("clay", "hard"), ("chrono_soft", "hard"), ("hard", "dry_sand")]
)
def test_border_of_hard_ground_is_a_kerb_and_not_a_catapult(car: Hmmwv, first: str, second: str) -> None:
    ground = two_soils(first, second)
    state = car.start(ground, x=-6.0, speed=8.0)
    begun = energy(state)
    lower, loads = state[2], []
    highest = lower
    for _ in range(2500):
        assert car.advance(state, COASTING, ground, 1) == 1
        assert energy(state) < begun + 1.0
        highest = max(highest, state[2])
        loads.append(car.snapshot(state, COASTING, ground)["load"].max())

    assert highest < 0.587 + 0.25  # ride height on hard ground, plus the bounce over a kerb
    assert max(loads) < 100e3
    assert state[0] > 0.0


@pytest.mark.parametrize(("first", "second"), [("clay", "lete_sand"), ("chrono_soft", "chrono_mid")])
def test_wheel_climbs_out_of_soft_soil_onto_firm_soil(car: Hmmwv, first: str, second: str) -> None:
    pedals = Pedals(throttle=0.6)
    plane, ground = SoilPlane(second), two_soils(first, second)
    steady = car.start(plane, speed=9.0)
    car.advance(steady, pedals, plane, 3000)
    expected = car.snapshot(steady, pedals, plane)["sinkage"][0]

    state = car.start(ground, x=-6.0, speed=9.0)
    deepest, sinkages = 0.0, []
    while state[0] < 20.0:
        assert car.advance(state, pedals, ground, 10) == 10
        sinkage = car.snapshot(state, pedals, ground)["sinkage"][0]
        deepest = max(deepest, sinkage)
        if state[0] > 10.0:
            sinkages.append(sinkage)

    assert deepest > 1.3 * expected
    assert np.mean(sinkages) == pytest.approx(expected, rel=0.5)


def test_ten_passes_make_a_rut_that_settles(car: Hmmwv) -> None:
    ground = SoilPlane("dry_sand")
    depths = []
    for _ in range(10):
        state, speed = car.start(ground, speed=3.0), 3.0
        sinkages = []
        while state[0] < 12.0:
            pedals = Pedals(throttle=min(max(0.5 + 3.0 - speed, 0.0), 1.0))
            assert car.advance(state, pedals, ground, 10) == 10
            seen = car.snapshot(state, pedals, ground)
            speed = float(seen["velocity"][0])
            if state[0] > 7.0:
                sinkages.append(seen["sinkage"][0])
        depths.append(float(np.mean(sinkages)))

    growth = np.diff(depths)
    assert np.all(growth > 0.0)
    assert growth[-3:].mean() < 0.3 * growth[0]
    # Multi-pass sinkage z_1 n^(1/a): a is 2 to 3 in loose soil, more in firm soil. Each pass is two wheels.
    assert depths[-1] < depths[0] * 19.0 ** (1.0 / 2.0)


@pytest.mark.parametrize("speed", [0.0, 3.0])
@pytest.mark.parametrize("name", ["dry_sand", "sandy_loam", "chrono_mid", "roams", "clay"])
def test_start_in_ruts_is_in_equilibrium(car: Hmmwv, name: str, speed: float) -> None:
    ground = SoilPlane(name)
    for _ in range(2):
        state = car.start(ground, speed=3.0)
        car.advance(state, Pedals(throttle=0.5), ground, 2000)
    for x in (1.0, 2.3):
        state = car.start(ground, x=x, speed=speed)
        seen = car.snapshot(state, COASTING, ground)

        assert abs(seen["acceleration"][2]) < 1.0
        assert seen["load"].min() > 0.15 * MASS * GRAVITY  # shear carries part of it in deep soil


class OneSoil:
    """A level plane of a soil that is in no file."""

    def __init__(self, soil: SoilLaw) -> None:
        soils = np.array([soil.record()], dtype=SOIL)
        self._kernel = Ground(LEVEL, no_grid(), soils, fresh_ruts(2**12, 0.1), no_obstacles())

    def kernel(self) -> Ground:
        return self._kernel


@pytest.mark.parametrize("modulus", [1e8, 1e10, 1e12])
def test_rigid_wheels_on_stiff_soil_roll_as_on_rigid_ground(car: Hmmwv, modulus: float) -> None:
    stiff = replace(SOFT["roams"], frictional_modulus=modulus, elastic_pa_per_m=1e12)
    ground = OneSoil(stiff)
    seen = car.snapshot(car.start(ground), COASTING, ground)
    state = car.start(ground, speed=5.0)
    loads = []
    for _ in range(1000):
        assert car.advance(state, COASTING, ground, 1) == 1
        loads.append(car.snapshot(state, COASTING, ground)["load"].sum())

    assert 0.0 <= seen["sinkage"].max() < 3.0 * (2e6 / modulus) ** 0.5
    assert seen["load"].sum() == pytest.approx(MASS * GRAVITY, rel=1e-3)
    assert np.std(loads) < 0.03 * MASS * GRAVITY  # the rear wheels roll into the ruts of the front ones
    # It is slowed only by the tyre's own rolling resistance and air drag.
    assert state[15] > 5.0 - 0.25 - 2.0 * (1e7 / modulus) ** 0.5
    # A line contact grips little at small slip: Janosi's shear needs a distance to build up.
    assert state[25] * car.wheel_radius == pytest.approx(state[15], rel=0.1)


def with_step(height: float) -> WorldGround:
    """Hard level ground with a step up at x = 5 m."""
    x = -20.0 + 0.05 * np.arange(1001)
    heights = np.zeros((81, len(x)), np.float32)
    heights[:, x > 5.0] = height
    return WorldGround(ElevationMap(heights=heights, resolution=0.05, origin_x=-20.0, origin_y=-2.0))


@pytest.mark.parametrize("speed", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("height", [0.15, 0.2, 0.3, 0.5])
def test_steps_never_add_energy(car: Hmmwv, height: float, speed: float) -> None:
    ground = with_step(height)
    state = car.start(ground, speed=speed)
    begun = energy(state)
    for _ in range(800):
        assert car.advance(state, COASTING, ground, 10) == 10
        assert energy(state) < begun + 1.0


def test_little_energy_is_left_to_rebound_after_a_crash(car: Hmmwv) -> None:
    wall = np.array([(22.0, 0.0, 0.0, 2.0, 20.0, 3.0, 1.0, 0.0)])
    pad = ElevationMap(heights=np.zeros((3, 3), np.float32), resolution=100.0, origin_x=-100.0, origin_y=-100.0)
    ground = WorldGround(pad, Obstacles(wall, np.zeros((0, 5))))
    state = car.start(ground, speed=15.0)
    speeds = []
    for _ in range(300):
        assert car.advance(state, COASTING, ground, 10) == 10
        speeds.append(state[15])

    assert min(speeds) < 0.0  # it hit the wall
    assert min(speeds) > -0.15 * 15.0
