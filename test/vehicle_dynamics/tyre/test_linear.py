"""The linear characteristic: straight up to the largest force, which stays ([Sanjurjo], Fig. 5.8)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from terrain.ground import FlatGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.tyre.tmeasy import combined_force, tmeasy_record, tyre_at

NOMINAL = 8562.826609  # [N]
FRICTION = 0.8


def linear(parameters: VehicleParameters) -> VehicleParameters:
    return dataclasses.replace(parameters, tyre=dataclasses.replace(parameters.tyre, characteristic="linear"))


@pytest.fixture(scope="module")
def straight(parameters: VehicleParameters) -> Any:
    return tmeasy_record(linear(parameters).tyre)


@pytest.fixture(scope="module")
def curved(parameters: VehicleParameters) -> Any:
    return tmeasy_record(parameters.tyre)


def force(tyre: Any, slip_x: float, slip_y: float, load: float = NOMINAL) -> tuple[float, float]:
    """Force at slips that are not yet normalised [N]."""
    loaded = tyre_at(tyre, load, FRICTION)
    found = combined_force(loaded, slip_x / loaded.weight_x, slip_y / loaded.weight_y)
    return found.x, found.y


@pytest.mark.parametrize("load", [2000.0, NOMINAL, 2.0 * NOMINAL, 1e6])
def test_force_is_slope_times_slip_up_to_the_largest_and_stays_there(straight: Any, load: float) -> None:
    loaded = tyre_at(straight, load, FRICTION)
    for axis, curve in enumerate((loaded.longitudinal, loaded.lateral)):
        knee = curve.most / curve.slope
        for slip in (0.1 * knee, 0.5 * knee, 0.99 * knee):
            slips = (slip, 0.0) if axis == 0 else (0.0, slip)
            assert force(straight, *slips, load)[axis] == pytest.approx(curve.slope * slip, rel=1e-12)
        for slip in (1.01 * knee, 3.0 * knee, 100.0):
            slips = (slip, 0.0) if axis == 0 else (0.0, slip)
            assert force(straight, *slips, load)[axis] == pytest.approx(curve.most, rel=1e-12)


def test_small_slips_give_the_forces_of_the_full_curve(straight: Any, curved: Any) -> None:
    for slips in ((1e-5, 0.0), (0.0, -1e-5), (1e-5, 1e-5)):
        # The full curve bends by slip over slip of the largest force: 1e-4 here.
        assert_allclose(force(straight, *slips), force(curved, *slips), rtol=1e-3)


@pytest.mark.parametrize("angle", np.linspace(0.0, 2.0 * math.pi, 9))
def test_combined_force_stays_within_the_ellipse_and_points_with_the_slip(straight: Any, angle: float) -> None:
    loaded = tyre_at(straight, NOMINAL, FRICTION)
    found = combined_force(loaded, 5.0 * math.cos(angle), 5.0 * math.sin(angle))

    size = math.hypot(found.x, found.y)
    assert size <= max(loaded.longitudinal.most, loaded.lateral.most) * (1.0 + 1e-12)
    assert size >= min(loaded.longitudinal.most, loaded.lateral.most) * (1.0 - 1e-12)
    assert_allclose([found.x / size, found.y / size], [math.cos(angle), math.sin(angle)], atol=1e-12)


def test_no_slip_has_the_slope_for_its_relaxation(straight: Any) -> None:
    loaded = tyre_at(straight, NOMINAL, FRICTION)
    at_rest = combined_force(loaded, 0.0, 0.0)

    assert (at_rest.x, at_rest.y) == (0.0, 0.0)
    assert at_rest.per_slip == pytest.approx(loaded.longitudinal.slope * loaded.weight_x, rel=1e-12)


def test_wheel_in_the_air_has_no_force(straight: Any) -> None:
    for slips in ((0.0, 0.0), (0.1, 0.2), (5.0, -3.0)):
        assert force(straight, *slips, load=0.0) == (0.0, 0.0)


def test_vehicle_on_linear_tyres_brakes_harder_and_turns_alike_when_gentle(parameters: VehicleParameters) -> None:
    road = FlatGround()
    stops, yaw_rates = [], []
    for car in (Hmmwv(linear(parameters)), Hmmwv(parameters)):
        state = car.start(road, speed=15.0)
        car.advance(state, Pedals(brake=1.0), road, 6_000)
        stops.append(state[0])
        state = car.start(road, speed=10.0)
        car.advance(state, Pedals(steering=0.03), road, 2_000)
        yaw_rates.append(state[20])

    # Locked wheels slide with the largest force, not with that of sliding, which is half of it.
    assert stops[0] < 0.7 * stops[1]
    assert yaw_rates[0] == pytest.approx(yaw_rates[1], rel=0.05)
