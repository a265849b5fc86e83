"""TMeasy's steady-state forces: the curve's own parameters, symmetry, loads, friction, combined slip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.settings.share import share_file
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.tmeasy import (
    combined_force,
    force_over_slip,
    pneumatic_trail,
    tmeasy_record,
    tyre_at,
)

NOMINAL = 8562.826609  # [N]


@pytest.fixture(scope="module")
def tyre() -> Any:
    return tmeasy_record(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml")).tyre)


@pytest.mark.parametrize(
    ("direction", "parameters"),
    [
        ("longitudinal", [(152216.2309, 7703.546959, 0.10811, 3954.570213, 0.66667)]),
        ("lateral", [(63376.04858, 6497.130318, 0.33167, 5846.355496, 1.0296)]),
    ],
)
def test_curve_passes_through_its_parameters(tyre: Any, direction: str, parameters: Any) -> None:
    curve = getattr(tyre_at(tyre, NOMINAL, 0.8), direction)
    slope, most, most_slip, slide, slide_slip = parameters[0]

    step = 1e-7
    assert force_over_slip(curve, step) / step == pytest.approx(slope, rel=1e-4)
    assert force_over_slip(curve, most_slip) == pytest.approx(most, rel=1e-12)
    slips = np.linspace(0.0, 2.0, 20001)
    forces = np.array([force_over_slip(curve, slip) for slip in slips])
    assert most * (1.0 - 1e-6) < forces.max() <= most
    assert slips[forces.argmax()] == pytest.approx(most_slip, abs=1e-4)
    assert_allclose(forces[slips >= slide_slip], slide, rtol=1e-12)
    assert np.abs(np.diff(forces)).max() < slope * 1.01e-4  # no jump


def test_forces_grow_less_than_the_load_and_pass_through_both_given_loads(tyre: Any) -> None:
    at_twice = tyre_at(tyre, 2.0 * NOMINAL, 0.8).lateral
    assert at_twice.most == pytest.approx(12438.01942)
    assert at_twice.most_slip == pytest.approx(0.33216)
    loads = np.linspace(500.0, 2.0 * NOMINAL, 50)
    grip = [tyre_at(tyre, load, 0.8).longitudinal.most / load for load in loads]
    assert np.all(np.diff(grip) < 0.0)
    beyond = [tyre_at(tyre, load, 0.8) for load in (29969.89313, 1e6)]
    assert beyond[0] == beyond[1]


def test_friction_scales_forces_and_slips_and_leaves_slopes(tyre: Any) -> None:
    dry, ice = tyre_at(tyre, NOMINAL, 0.8).lateral, tyre_at(tyre, NOMINAL, 0.2).lateral

    assert ice.slope == dry.slope
    assert_allclose(np.array(ice[1:]) / np.array(dry[1:]), 0.25)


@pytest.mark.parametrize("angle", np.linspace(0.0, 2.0 * np.pi, 17))
def test_combined_force_points_along_the_slip_and_lies_between_both_directions(tyre: Any, angle: float) -> None:
    loaded = tyre_at(tyre, NOMINAL, 0.8)
    for slip in (0.01, 0.1, 0.5, 3.0):
        force = combined_force(loaded, slip * np.cos(angle), slip * np.sin(angle))
        size = np.hypot(force.x, force.y)
        alone = [combined_force(loaded, slip, 0.0).x, combined_force(loaded, 0.0, slip).y]

        assert_allclose([force.x, force.y], size * np.array([np.cos(angle), np.sin(angle)]), atol=1e-9)
        assert min(alone) * 0.999 <= size <= max(alone) * 1.001
        assert force.per_slip * slip == pytest.approx(size)


def test_pure_slips_give_the_directions_own_curves(tyre: Any) -> None:
    loaded = tyre_at(tyre, NOMINAL, 0.8)
    for slip in (-0.5, -0.05, 0.02, 0.3, 1.5):
        # A slip's denominator contains the weight: the normalised slip is the slip over the weight.
        x = combined_force(loaded, slip / loaded.weight_x, 0.0)
        y = combined_force(loaded, 0.0, slip / loaded.weight_y)
        assert x.x == pytest.approx(np.sign(slip) * force_over_slip(loaded.longitudinal, abs(slip)), rel=1e-12)
        assert y.y == pytest.approx(np.sign(slip) * force_over_slip(loaded.lateral, abs(slip)), rel=1e-12)


def test_no_slip_has_the_slope_and_no_force(tyre: Any) -> None:
    loaded = tyre_at(tyre, NOMINAL, 0.8)
    force = combined_force(loaded, 0.0, 0.0)

    assert (force.x, force.y) == (0.0, 0.0)
    assert force.per_slip == pytest.approx(loaded.longitudinal.slope * loaded.weight_x)


def test_wheel_in_the_air_has_no_force(tyre: Any) -> None:
    loaded = tyre_at(tyre, 0.0, 0.8)
    for slips in ((0.0, 0.0), (0.1, 0.2), (5.0, -3.0)):
        force = combined_force(loaded, *slips)
        assert np.isfinite(force).all()
        assert (force.x, force.y) == (0.0, 0.0)


def test_trail_falls_changes_sign_and_ends(tyre: Any) -> None:
    length = 0.2
    trails = np.array([pneumatic_trail(tyre, NOMINAL, slip, length) for slip in np.linspace(0.0, 1.2, 1201)])

    assert trails[0] == pytest.approx(0.178 * length)
    assert trails[365] == pytest.approx(0.0, abs=1e-4)
    assert trails[500] < 0.0
    assert_allclose(trails[1030:], 0.0, atol=1e-12)
    assert np.abs(np.diff(trails)).max() < 2e-4
