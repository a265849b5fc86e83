"""Open differentials split torque, and the shafts' inertia acts as in Lagrange's equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vehicle_dynamics.drive.drive_parameters import Driveline, TransferRange
from vehicle_dynamics.drive.driveline import (
    DrivelineConstants,
    ShaftLoad,
    driveline_constants,
    shaft_reaction,
    shaft_speed,
    through_case,
    wheel_torques,
)
from vehicle_dynamics.parameters import VehicleParameters

WHEEL = 7.78782  # [kg m^2]
STEP = 1e-3  # [s]
AT_REST = (0.0, 0.0, 0.0, 0.0)


def torques_of(
    driveline: DrivelineConstants, torque: float, extra: float, others: tuple[float, float, float, float]
) -> np.ndarray:
    """Torques of wheels at rest in the first range, without locks."""
    return np.array(wheel_torques(driveline, ShaftLoad(torque, extra, 0, 0), WHEEL, AT_REST, others, STEP))


@pytest.fixture(scope="module")
def driveline(parameters: VehicleParameters) -> DrivelineConstants:
    return driveline_constants(parameters.driveline)


def test_without_inertia_every_wheel_gets_a_quarter_of_the_reduced_torque() -> None:
    shafts = {f"{name}_inertia_kgm2": 0.0 for name in ("drive_shaft", "axle_shaft", "differential")}
    free = driveline_constants(Driveline(bevel_ratio=0.2, **shafts))

    assert_allclose(torques_of(free, 100.0, 0.0, (0.0, 50.0, -70.0, 3.0)), 125.0)


def test_shaft_speed_is_the_mean_of_all_wheels(driveline: DrivelineConstants) -> None:
    assert shaft_speed(driveline, (10.0, 12.0, 9.0, 13.0)) == pytest.approx(55.0)


@pytest.mark.parametrize("seed", range(10))
def test_accelerations_are_those_of_lagranges_equations(
    driveline: DrivelineConstants, parameters: VehicleParameters, seed: int
) -> None:
    random = np.random.default_rng(seed)
    torque, extra, others = 500.0 * random.normal(), 3.0 * random.uniform(), 300.0 * random.normal(size=4)
    shafts = parameters.driveline
    # Kinetic energy of wheels, boxes, propeller shafts and drive shaft in the wheels' rates: its matrix.
    front, rear = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5])
    shaft = 0.5 * (front + rear) / shafts.bevel_ratio
    mass = WHEEL * np.eye(4) + (shafts.drive_shaft_inertia_kgm2 + extra) * np.outer(shaft, shaft)
    for axle in (front, rear):
        mass += shafts.differential_inertia_kgm2 * np.outer(axle, axle)
        mass += shafts.axle_shaft_inertia_kgm2 * np.outer(axle, axle) / shafts.bevel_ratio**2
    expected = np.linalg.solve(mass, shaft * torque + others)

    torques = torques_of(driveline, torque, extra, tuple(others))

    assert_allclose((torques + others) / WHEEL, expected, rtol=1e-12, atol=1e-12)


def test_spinning_wheel_leaves_the_others_their_torque(driveline: DrivelineConstants) -> None:
    # One wheel in the air, three held by the ground: open differentials leave all with the same small torque.
    torques = torques_of(driveline, 100.0, 0.0, (0.0, -90.0, -90.0, -90.0))

    assert torques[0] == torques[1]
    assert torques[2] == torques[3]


def test_half_shafts_react_on_the_chassis_backwards_and_geared_hubs_forwards() -> None:
    assert shaft_reaction(0.0) == -1.0
    assert shaft_reaction(1.92) == pytest.approx(0.52, abs=1e-3)  # mobility facts, 2.5


@pytest.fixture(scope="module")
def two_speed() -> DrivelineConstants:
    ranges = (
        TransferRange(name="H", reduction=1.0, efficiency=0.9),
        TransferRange(name="L", reduction=2.5, efficiency=0.8),
    )
    shafts = {f"{name}_inertia_kgm2": 0.1 for name in ("drive_shaft", "axle_shaft", "differential")}
    return driveline_constants(Driveline(bevel_ratio=0.2, ranges=ranges, **shafts))


def test_low_range_multiplies_the_driving_torque_by_reduction_and_efficiency(two_speed: DrivelineConstants) -> None:
    assert through_case(two_speed, 0, 100.0, 0.0, 1.0)[0] == pytest.approx(90.0)
    assert through_case(two_speed, 1, 100.0, 0.0, 1.0)[0] == pytest.approx(200.0)
    assert through_case(two_speed, 1, -100.0, 0.0, -1.0)[0] == pytest.approx(-200.0)  # reverse drives too


@pytest.mark.parametrize("forward", [1.0, -1.0])
@pytest.mark.parametrize("index", [0, 1])
def test_losses_of_the_case_add_to_engine_braking(two_speed: DrivelineConstants, index: int, forward: float) -> None:
    chosen = two_speed.ranges[index]
    speed = forward * 30.0  # of the propeller shafts [rad/s]

    for torque in (80.0, -80.0):
        given = torque * chosen.reduction * speed  # power at the gearbox
        arrived = through_case(two_speed, index, torque, 0.0, forward)[0] * speed

        assert arrived < given  # power is lost whichever way it flows
        source, sink = (given, arrived) if given > 0.0 else (-arrived, -given)
        assert sink == pytest.approx(chosen.efficiency * source)


def test_inertia_before_the_case_counts_with_the_square_of_the_reduction(two_speed: DrivelineConstants) -> None:
    _, inertia = through_case(two_speed, 1, 0.0, 0.08, 1.0)

    speed = 7.0  # kinetic energy is the same on either side
    assert 0.5 * inertia * speed**2 == pytest.approx(0.5 * 0.08 * (2.5 * speed) ** 2)
