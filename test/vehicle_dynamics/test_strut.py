"""Springs and dampers: forces follow from energies, dampers only take energy. Bushings: driving/test_reactions.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import Spring, Suspension, VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.suspension.arm_motion_ratios import arm_motion_ratios
from vehicle_dynamics.suspension.strut import (
    damper_force,
    length_and_slope,
    spring_energy,
    spring_force,
    strut_record,
)
from vehicle_dynamics.vehicle_mechanism import CornerBuilder
from vehicle_dynamics.vehicle_state import THETA

ROAD = FlatGround()
M998 = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
CHRONO = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
AXLES = {
    f"{name}.{axle}": getattr(vehicle, f"{axle}_suspension")
    for name, vehicle in (("chrono", CHRONO), ("m998", M998))
    for axle in ("front", "rear")
}


def record_of(suspension: Suspension) -> Any:
    geometry = suspension.hardpoints_left_m.hardpoints().geometry()
    return strut_record(suspension, geometry.lower_pivot, geometry.lower_axis)


STRUTS = {name: record_of(suspension) for name, suspension in AXLES.items()}


@pytest.mark.parametrize("name", AXLES)
def test_spring_force_is_the_slope_of_its_energy(name: str) -> None:
    strut, small = STRUTS[name], 1e-6
    for theta in np.linspace(-0.4, 0.5, 181):
        length, slope = length_and_slope(strut["spring_square"], np.cos(theta), np.sin(theta))
        low, high = (spring_energy(strut, np.cos(angle), np.sin(angle)) for angle in (theta - small, theta + small))
        moment = spring_force(strut, length) * slope

        # At the kinks of the tables a difference over 2e-6 rad mixes two slopes: of up to 1e7 N/m at the stops.
        assert -(high - low) / (2.0 * small) == pytest.approx(moment, abs=1.0 + 1e-4 * abs(moment))


@given(excess=st.floats(0.0, 0.3))
def test_a_loose_spring_does_not_pull(excess: float) -> None:
    suspension = M998.front_suspension
    strut = STRUTS["m998.front"]
    length = suspension.spring.free_length_m + excess
    stops = suspension.stops

    beyond = max(length - stops.rebound_above_length_m, 0.0)
    expected = -float(np.interp(beyond, stops.penetration_m, stops.force_n)) if beyond <= 0.06 else None

    force = spring_force(strut, length)
    assert force <= 0.0
    if expected is not None:
        assert force == pytest.approx(expected, abs=1e-6)


@given(excess=st.floats(1e-3, 0.3))
def test_a_captured_spring_pulls_as_it_pushes(excess: float) -> None:
    stops = replace(CHRONO.front_suspension.stops, bump_below_length_m=1e-3, rebound_above_length_m=90.0)
    strut = record_of(replace(CHRONO.front_suspension, stops=stops))
    free = CHRONO.front_suspension.spring.free_length_m

    assert spring_force(strut, free + excess) == pytest.approx(-spring_force(strut, free - excess))


@given(length=st.floats(0.2, 0.55), rate=st.floats(-20.0, 20.0))
@pytest.mark.parametrize("name", AXLES)
def test_dampers_only_take_energy(name: str, length: float, rate: float) -> None:
    assert damper_force(STRUTS[name], length, rate) * rate <= 0.0


@pytest.mark.parametrize("name", ["m998.front", "m998.rear"])
def test_damper_table_holds_in_the_middle_of_the_stroke_and_rates_outside(name: str) -> None:
    strut, damper = STRUTS[name], AXLES[name].damper
    middle = 0.5 * (damper.middle_from_length_m + damper.middle_to_length_m)
    for rate in np.linspace(-0.33, 0.33, 67):
        table = float(np.interp(rate, damper.speed_mps, damper.force_n))
        outer = damper.outer_rebound_nspm if rate > 0.0 else damper.outer_compression_nspm

        assert damper_force(strut, middle, float(rate)) == pytest.approx(-table, abs=1e-9)
        assert damper_force(strut, damper.middle_to_length_m + 0.01, float(rate)) == pytest.approx(-outer * rate)


def test_a_table_of_constant_rates_is_the_same_damper() -> None:
    damper = CHRONO.front_suspension.damper
    speeds = (-1.0, 0.0, 1.0)
    forces = (-damper.compression_nspm, 0.0, damper.rebound_nspm)
    table = record_of(replace(CHRONO.front_suspension, damper=replace(damper, speed_mps=speeds, force_n=forces)))
    middle = 0.5 * (damper.middle_from_length_m + damper.middle_to_length_m)

    for rate in np.linspace(-4.0, 4.0, 41):
        assert damper_force(table, middle, rate) == pytest.approx(damper_force(STRUTS["chrono.front"], middle, rate))


@pytest.mark.parametrize(
    ("speeds", "forces", "words"),
    [
        ((-1.0, 0.0, 1.0), (100.0, 0.0, 100.0), "sign of the speed"),
        ((-1.0, 0.5, 1.0), (-100.0, 100.0, 200.0), "0 at rest"),
        ((-1.0, 0.0, 1.0, 2.0), (-100.0, 0.0, 300.0, 100.0), "must not fall at its ends"),
        ((-2.0, -1.0, 0.0, 1.0), (-100.0, -300.0, 0.0, 100.0), "must not fall at its ends"),
    ],
)
def test_a_damper_table_that_would_give_energy_is_rejected(
    speeds: tuple[float, ...], forces: tuple[float, ...], words: str
) -> None:
    """The last slopes are kept beyond the table: one that falls would push along with the motion at some speed."""
    with pytest.raises(ValueError, match=words):
        replace(CHRONO.front_suspension.damper, speed_mps=speeds, force_n=forces)


def test_a_spring_table_that_falls_at_its_end_is_rejected() -> None:
    with pytest.raises(ValueError, match="must not fall at the end"):
        Spring(free_length_m=0.3, compression_m=(0.0, 0.1, 0.2), force_n=(0.0, 5e3, 1e3))


@pytest.mark.parametrize("axle", ["front", "rear"])
def test_motion_ratios_at_design_are_those_of_the_kernel(axle: str) -> None:
    car, small = Hmmwv(M998), 1e-5
    seen = []
    for angle in (-small, small):
        state = car.start(ROAD)
        state[THETA] = angle
        seen.append(car.snapshot(state, Pedals(), ROAD))
    index = 0 if axle == "front" else 2
    builder = CornerBuilder(M998, f"{axle}_left")
    points = builder.suspension.hardpoints_left_m

    rise, change = arm_motion_ratios(points.hardpoints(), points.spring_chassis, points.spring_lower_arm)

    heights = [item["wheel_centre"][index, 2] for item in seen]
    lengths = [item["spring_compression"][index] for item in seen]
    assert rise == pytest.approx((heights[1] - heights[0]) / (2.0 * small), rel=1e-6)
    assert change == pytest.approx((lengths[1] - lengths[0]) / (2.0 * small), rel=1e-6)


def test_the_default_rolling_deflection_changes_no_bit() -> None:
    def drive(parameters: VehicleParameters) -> np.ndarray:
        car = Hmmwv(parameters)
        state = car.start(ROAD, speed=6.0)
        assert car.advance(state, Pedals(throttle=0.5, steering=0.3), ROAD, 500) == 500
        return state

    explicit = replace(CHRONO, tyre=replace(CHRONO.tyre, rolling_deflection=1.0 / 3.0))

    assert_array_equal(drive(CHRONO), drive(explicit))
    assert float(Hmmwv(CHRONO).kernel.tyre["rolling_divisor"][0]) == 3.0  # as the code before had it


@pytest.mark.parametrize("share", [0.1, 1.0 / 3.0, 0.625, 1.0])
def test_a_rolling_wheel_turns_with_the_radius_of_its_rolling_deflection(share: float) -> None:
    tyre = replace(CHRONO.tyre, rolling_deflection=share, rolling_resistance=0.0)
    car = Hmmwv(replace(CHRONO, tyre=tyre))
    state = car.start(ROAD, speed=10.0)
    seen = car.snapshot(state, Pedals(selected=NEUTRAL), ROAD)

    deflection = seen["load"] / tyre.stiffness_npm
    radius = car.wheel_radius - share * deflection

    # Toe-in of a degree and camber change the speed along the wheel by 2e-4, the load's direction its radius by less.
    assert seen["spin_rate"] == pytest.approx(10.0 / radius, rel=1e-3)
