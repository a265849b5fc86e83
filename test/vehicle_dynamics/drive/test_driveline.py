"""Open differentials split torque, and the shafts' inertia acts as in Lagrange's equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vehicle_dynamics.drive.driveline import DrivelineConstants, driveline_constants, shaft_speed, wheel_torques
from vehicle_dynamics.parameters import VehicleParameters

WHEEL = 7.78782  # [kg m^2]


@pytest.fixture(scope="module")
def driveline(parameters: VehicleParameters) -> DrivelineConstants:
    return driveline_constants(parameters.driveline)


def test_without_inertia_every_wheel_gets_a_quarter_of_the_reduced_torque() -> None:
    free = DrivelineConstants(0.2, 0.0, 0.0)

    assert_allclose(wheel_torques(free, 100.0, 0.0, WHEEL, (0.0, 50.0, -70.0, 3.0)), 125.0)


def test_shaft_speed_is_the_mean_of_all_wheels(driveline: DrivelineConstants) -> None:
    assert shaft_speed(driveline, (10.0, 12.0, 9.0, 13.0)) == pytest.approx(55.0)


@pytest.mark.parametrize("seed", range(10))
def test_accelerations_are_those_of_lagranges_equations(
    driveline: DrivelineConstants, parameters: VehicleParameters, seed: int
) -> None:
    random = np.random.default_rng(seed)
    torque, extra, others = 500.0 * random.normal(), 3.0 * random.uniform(), 300.0 * random.normal(size=4)
    numbers = parameters.driveline
    # Kinetic energy of wheels, boxes, propeller shafts and drive shaft in the wheels' rates: its matrix.
    front, rear = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5])
    shaft = 0.5 * (front + rear) / numbers.bevel_ratio
    mass = WHEEL * np.eye(4) + (numbers.drive_shaft_inertia_kgm2 + extra) * np.outer(shaft, shaft)
    for axle in (front, rear):
        mass += numbers.differential_inertia_kgm2 * np.outer(axle, axle)
        mass += numbers.axle_shaft_inertia_kgm2 * np.outer(axle, axle) / numbers.bevel_ratio**2
    expected = np.linalg.solve(mass, shaft * torque + others)

    torques = np.array(wheel_torques(driveline, torque, extra, WHEEL, tuple(others)))

    assert_allclose((torques + others) / WHEEL, expected, rtol=1e-12, atol=1e-12)


def test_spinning_wheel_leaves_the_others_their_torque(driveline: DrivelineConstants) -> None:
    # One wheel in the air, three held by the ground: open differentials leave all with the same small torque.
    torques = wheel_torques(driveline, 100.0, 0.0, WHEEL, (0.0, -90.0, -90.0, -90.0))

    assert torques.front_left == torques.front_right
    assert torques.rear_left == torques.rear_right
