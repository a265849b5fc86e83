"""A tyre at other pressures: the facts' tables, the laws, other pressures at each wheel, values out of range."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from proving_ground.settings.nested import build_nested, settings_from_text, settings_text
from proving_ground.settings.share import share_file
from state_observer.kinds import OBSERVER_KINDS
from state_observer.vehicle.constants import filter_constants
from terrain.ground import FlatGround
from vehicle_dynamics.attitude import rotation_from_quaternion
from vehicle_dynamics.drive.drive_parameters import Inflation, Tyre
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.tyre.contact import tyre_record, tyre_records
from vehicle_dynamics.tyre.inflation import inflated
from vehicle_dynamics.tyre.tmeasy import force_over_slip, tyre_at

PSI = 6894.757  # [Pa]
ROAD = FlatGround()
FILE = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
# The file's tyre is at 50 psi. Vertical stiffness [kN/m] over pressure [psi], from Ragheb's law.
STIFFNESS = {12: 193, 15: 210, 20: 239, 25: 268, 30: 296, 35: 325, 40: 354, 50: 411}
pressures = st.floats(30e3, 600e3)


def tyre(*pressure_pa: float, reference_pa: float = 50 * PSI, **laws: Any) -> Tyre:
    inflation = Inflation(pressure_pa=pressure_pa, reference_pressure_pa=reference_pa, **laws)
    return dataclasses.replace(FILE.tyre, inflation=inflation)


def vehicle(*pressure_pa: float, **laws: Any) -> VehicleParameters:
    return dataclasses.replace(FILE, tyre=tyre(*pressure_pa, **laws))


def numbers(item: Tyre) -> list[float]:
    """All numbers of a tyre, one after the other."""
    found = dataclasses.asdict(item)
    parts = [found.pop("longitudinal"), found.pop("lateral"), found.pop("inflation"), found]
    values = [value for part in parts for value in part.values() if not isinstance(value, str)]
    return [float(x) for value in values for x in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("psi", STIFFNESS)
def test_stiffness_over_pressure_is_that_of_the_table(psi: int) -> None:
    assert inflated(tyre(50 * PSI), psi * PSI).stiffness_npm == pytest.approx(1e3 * STIFFNESS[psi], rel=0.02)


def test_rolling_resistance_rises_as_the_facts_say() -> None:
    # From 0.015 at 30 psi to 0.025 at 20 psi.
    exponent = math.log(0.025 / 0.015) / math.log(30.0 / 20.0)
    at_30 = dataclasses.replace(
        tyre(30 * PSI, reference_pa=30 * PSI, rolling_exponent=exponent), rolling_resistance=0.015
    )

    assert inflated(at_30, 20 * PSI).rolling_resistance == pytest.approx(0.025, rel=1e-9)


@given(pressure=pressures)
def test_damping_ratio_stays(pressure: float) -> None:
    here, there = FILE.tyre, inflated(tyre(50 * PSI), pressure)

    assert there.damping_nspm**2 / there.stiffness_npm == pytest.approx(here.damping_nspm**2 / here.stiffness_npm)
    for k in range(2):
        ratio = here.deflection_damping_nspm[k] ** 2 / here.deflection_stiffness_npm[k]
        assert there.deflection_damping_nspm[k] ** 2 / there.deflection_stiffness_npm[k] == pytest.approx(ratio)


@given(pressure=pressures, slip=st.floats(0.0, 2.0))
def test_force_over_slip_is_stretched_along_slip(pressure: float, slip: float) -> None:
    before = tyre_at(tyre_record(FILE)["slip"], 8000.0, 0.8).lateral
    after = tyre_at(tyre_record(vehicle(pressure, slip_exponent=(0.0, 0.4)))["slip"], 8000.0, 0.8).lateral

    steeper = (pressure / (50 * PSI)) ** 0.4
    assert after.slope == pytest.approx(steeper * before.slope)
    assert after.most == before.most
    assert force_over_slip(after, slip / steeper) == pytest.approx(force_over_slip(before, slip), rel=1e-9)


@given(first=pressures, second=pressures)
def test_result_does_not_depend_on_the_pressures_before(first: float, second: float) -> None:
    direct = inflated(tyre(50 * PSI), second)
    by_stages = inflated(inflated(tyre(50 * PSI), first), second)

    assert_allclose(numbers(by_stages), numbers(direct), rtol=1e-12)


@given(pressure=pressures)
def test_reference_pressure_changes_no_bit(pressure: float) -> None:
    given_at = tyre(pressure, reference_pa=pressure)

    assert inflated(given_at, pressure) == given_at
    assert (tyre_records(dataclasses.replace(FILE, tyre=given_at)) == tyre_record(FILE)).all()


@given(pressure=pressures)
def test_straight_characteristic_can_be_stretched_to_its_limit(pressure: float) -> None:
    plain = FILE.tyre.lateral
    slopes = (plain.max_n[0] / plain.max_slip[0], plain.max_n[1] / plain.max_slip[1])
    straight = dataclasses.replace(plain, slope_n=slopes)

    softer = inflated(dataclasses.replace(tyre(50 * PSI), lateral=straight), pressure)

    assert softer.lateral.max_n == plain.max_n


@pytest.mark.parametrize(
    ("given_pa", "wheels"),
    [
        ((1e5,), [1e5, 1e5, 1e5, 1e5]),
        ((1e5, 2e5), [1e5, 1e5, 2e5, 2e5]),
        ((1e5, 1.5e5, 2e5, 2.5e5), [1e5, 1.5e5, 2e5, 2.5e5]),
    ],
)
def test_pressures_are_those_of_all_wheels_of_axles_or_of_each(
    given_pa: tuple[float, ...], wheels: list[float]
) -> None:
    records = tyre_records(vehicle(*given_pa))

    assert_allclose(records["stiffness"], [inflated(tyre(1e5), pressure).stiffness_npm for pressure in wheels])


def test_soft_tyres_of_an_axle_lower_that_axle() -> None:
    radius, cars = FILE.wheel.radius_m, [Hmmwv(FILE), Hmmwv(vehicle(20 * PSI, 30 * PSI))]
    heights = []
    for car in cars:
        seen = car.snapshot(car.start(ROAD), Pedals(), ROAD)
        up = rotation_from_quaternion(seen["attitude"])[2]
        heights.append(seen["wheel_centre"] @ up + seen["position"][2])
        # The rear wheels' camber is worth half a millimetre.
        assert_allclose(heights[-1], radius - seen["load"] / car.kernel.tyre["stiffness"], atol=5e-4)

    assert (heights[1][:2] < heights[0][:2] - 5e-3).all()
    assert (heights[1][:2] < heights[1][2:]).all()


def test_pressures_can_change_while_the_vehicle_drives() -> None:
    car, pedals = Hmmwv(vehicle(30 * PSI)), Pedals()
    state = car.start(ROAD, speed=10.0)
    high = car.snapshot(state, pedals, ROAD)["position"][2]

    car.kernel.tyre[:] = tyre_records(vehicle(15 * PSI))
    assert car.advance(state, pedals, ROAD, 3000) == 3000

    expected = Hmmwv(vehicle(15 * PSI)).start(ROAD)[2]
    assert expected < high - 5e-3
    assert state[2] == pytest.approx(expected, abs=2e-3)  # it still decelerates


def test_lower_front_pressure_makes_a_vehicle_understeer_more() -> None:
    def yaw_rate(*pressure_pa: float) -> float:
        car = Hmmwv(vehicle(*pressure_pa))
        state = car.start(ROAD, speed=15.0)
        assert car.advance(state, Pedals(steering=0.05, throttle=0.2), ROAD, 2000) == 2000
        return float(state[20] / np.hypot(state[15], state[16]))

    low_front, equal, low_rear = yaw_rate(20 * PSI, 30 * PSI), yaw_rate(30 * PSI), yaw_rate(30 * PSI, 20 * PSI)

    assert 0.0 < low_front < equal < low_rear


def test_observer_knows_the_cornering_stiffness_at_the_pressures() -> None:
    constants = []
    for parameters in (FILE, vehicle(20 * PSI, 50 * PSI)):
        model = Hmmwv(parameters)
        constants.append(filter_constants(OBSERVER_KINDS["vehicle"].load(), model, parameters)[0]["cornering"].copy())

    softer = (20.0 / 50.0) ** 0.3
    assert constants[1][0] == pytest.approx(softer * constants[0][0], rel=0.01)  # loads shift by a little
    assert constants[1][1] == pytest.approx(constants[0][1], rel=0.01)


@pytest.mark.parametrize("pressure", [0.0, -1e5, 20.0, 1e6, math.nan, math.inf])
def test_absurd_pressure_is_rejected_in_one_line(pressure: float) -> None:
    with pytest.raises(ValueError, match="pressure_pa: must be a list") as error:
        inflated(tyre(1e5), pressure)
    assert "\n" not in str(error.value)

    content = {"pressure_pa": [pressure], "reference_pressure_pa": 2e5}
    with pytest.raises(SettingsError, match="30000 to 600000") as from_file:
        build_nested(Inflation, content, "tyre.yaml")
    assert "\n" not in str(from_file.value)


@pytest.mark.parametrize("count", [0, 3, 5])
def test_wrong_number_of_pressures_is_rejected(count: int) -> None:
    with pytest.raises(ValueError, match="pressure_pa: must have 1, 2 or 4 values"):
        tyre(*[1e5] * count)


def test_tyre_without_a_reference_pressure_cannot_be_inflated() -> None:
    with pytest.raises(ValueError, match="inflation: missing"):
        inflated(FILE.tyre, 2e5)


def test_inflation_survives_a_round_trip_through_text() -> None:
    before = vehicle(1e5, 2e5, slip_exponent=(0.1, 0.2))

    assert settings_from_text(settings_text(before), VehicleParameters, "vehicle") == before
