"""The whole vehicle: mass and centre of mass as in the data, and all formulations agree on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.interfaces.joints import CORNERS
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from vehicle_dynamics.multibody.augmented import solve_augmented
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import aggregates
from vehicle_dynamics.multibody.spatial import point_velocity
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.wishbone import wishbone_acceleration, wishbone_pose, wishbone_velocity
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

HMMWV = share_file("config/vehicles/hmmwv_chrono.yaml")
AT_REST = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def system() -> EmbeddedSystem:
    free = [f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel")]
    return EmbeddedSystem(vehicle_mechanism(VehicleParameters.from_yaml(HMMWV)), independent=tuple(free))


def random_state(system: EmbeddedSystem, seed: int) -> TreeState:
    """Travel from rebound to bump, wheels at any angle, high rates."""
    random = np.random.default_rng(seed)
    angles = np.where([name.endswith("wheel") for name in system.independent_names], np.pi, 0.3)
    coordinates = system.close(random.uniform(-angles, angles))
    return system.state(coordinates, 3.0 * random.normal(size=8), random.normal(size=6))


def test_mass_and_centre_are_those_of_the_data(system: EmbeddedSystem) -> None:
    mechanism = system.layout.mechanism
    masses = [mechanism.root_mass, *(body.mass for body in mechanism.bodies)]
    centres = np.array([mechanism.root_centre, *(body.centre for body in mechanism.bodies)])

    assert sum(masses) == pytest.approx(2573.138, abs=1e-9)
    assert_allclose(masses @ centres / sum(masses), (0.047925, 0.000155, 0.168936), atol=5e-7)


def test_vehicle_has_fourteen_degrees_of_freedom_in_four_aggregates_and_four_wheels(system: EmbeddedSystem) -> None:
    groups = aggregates(system.layout.mechanism)

    assert [len(members) for _, members in groups] == [7, 1] * 4
    assert system.layout.count + 6 == 50
    assert sum(len(cut.directions) for cut in system.layout.mechanism.cuts) == 36
    assert len(system.independent) + 6 == 14


@pytest.mark.parametrize("seed", range(20))
def test_embedding_and_lagrange_multipliers_agree_on_the_vehicle(system: EmbeddedSystem, seed: int) -> None:
    state = random_state(system, seed)
    random = np.random.default_rng(1000 + seed)
    body_forces = 1e3 * random.normal(size=(33, 6))
    coordinate_forces = 1e2 * random.normal(size=system.layout.count)

    embedded = system.forward_dynamics(state, body_forces, coordinate_forces, root_is_held=False)
    augmented = solve_augmented(state, body_forces, coordinate_forces, root_is_held=False)

    assert_allclose(embedded.root, augmented.root, atol=1e-10 * np.abs(augmented.root).max())
    assert_allclose(embedded.coordinates, augmented.coordinates, atol=1e-10 * np.abs(augmented.coordinates).max())


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("seed", range(5))
def test_closed_form_kinematics_are_the_numerical_ones(system: EmbeddedSystem, corner: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    coordinates = system.close(random.uniform(-0.3, 0.3, 8))
    state = system.state(coordinates, random.normal(size=8), np.zeros(6))
    parameters = VehicleParameters.from_yaml(HMMWV)
    axle = parameters.front_suspension if corner.startswith("front") else parameters.rear_suspension
    points = axle.hardpoints_left_m.hardpoints()
    geometry = (points if corner.endswith("left") else points.mirrored()).geometry()
    index = system.layout.mechanism.coordinate_names.index(f"{corner}.lower_arm")
    theta, rate = coordinates[index], state.rates[index]

    pose = wishbone_pose(geometry, theta, geometry.tie_inner)
    velocity = wishbone_velocity(geometry, pose, geometry.tie_inner, rate, AT_REST)
    bias = wishbone_acceleration(geometry, pose, velocity, geometry.tie_inner, rate, 0.0, AT_REST, AT_REST)

    spindle = system.layout.body[f"{corner}.spindle"]
    accelerations = np.zeros(system.layout.count)
    for aggregate in system.aggregates:
        accelerations[aggregate.coordinates] = system.velocity_map_bias(state, aggregate)
    spatial = state.bias[spindle] + state.jacobian(spindle) @ accelerations
    assert_allclose(state.position(spindle, geometry.tie_outer), pose.tie_outer, atol=1e-12)
    assert_allclose(state.velocity[spindle][:3], velocity.spindle, atol=1e-10)
    assert_allclose(point_velocity(state.velocity[spindle], pose.tie_outer), velocity.tie_outer, atol=1e-10)
    assert_allclose(spatial[:3], bias.spindle, atol=1e-9)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "mass_kg: 2086.52",
            "mass_kg: -5.0",
            ":11: chassis.mass_kg: must be a number from 1e-06 to 1e+06 [kg], got -5.0",
        ),
        ("mass_kg: 2086.52", "mas_kg: 2086.52", ":11: chassis.mas_kg: unknown; did you mean mass_kg?"),
        ("name: HMMWV", "nam: HMMWV", ":9: nam: unknown; did you mean name?"),
        ("[0.056, 0.0, 0.213]", "[0.056, 0.0]", ":12: chassis.centre_of_mass_m: must be a list of 3, each a number"),
        (
            "[0.447, 0.447, 0.8938]",
            "[0.4, 0.4, 0.8938]",
            ": front_suspension.bodies.lower_arm: inertia_kgm2: no moment may exceed",
        ),
        ("[0.0, 0.02, 0.04,", "[0.0, 0.04, 0.02,", ": front_suspension.spring: compression_m: must rise"),
        (
            "taken_from: spindle",
            "taken_from: moon",
            "upright_arm.taken_from: must be one of chassis, lower_arm, spindle",
        ),
    ],
)
def test_bad_values_are_rejected_with_file_line_and_key(tmp_path: Path, before: str, after: str, words: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(HMMWV.read_text().replace(before, after, 1))

    with pytest.raises(SettingsError) as rejection:
        VehicleParameters.from_yaml(path)

    assert str(rejection.value).startswith(f"{path}:")
    assert words in str(rejection.value)
