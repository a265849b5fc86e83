"""The 15-degree-of-freedom kernel against the numerical embedding of the vehicle with free steering."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.embedded_vehicle import forward_dynamics, vehicle_bodies, workspace
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.steered_vehicle import (
    STEERED_OUT_SIZE,
    SteeredBodies,
    steered_bodies,
    steered_dynamics,
    steered_workspace,
)
from vehicle_dynamics.suspension.steering import steered_ends
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

from .test_embedded_vehicle import Case, forces_on_tree, random_case, strut_moments

FREE = (*(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel")), "steering.pitman_arm")


@pytest.fixture(scope="module")
def bodies(parameters: VehicleParameters) -> SteeredBodies:
    return steered_bodies(parameters)


@pytest.fixture(scope="module")
def system(parameters: VehicleParameters) -> EmbeddedSystem:
    return EmbeddedSystem(vehicle_mechanism(parameters, steering_is_free=True), independent=FREE)


def by_kernel(bodies: SteeredBodies, case: Case, pitman: np.ndarray) -> np.ndarray:
    out = np.full(STEERED_OUT_SIZE, np.nan)
    steered_dynamics(bodies, case.motion, pitman, case.loads(), steered_workspace(), out)
    return out


def by_embedding(system: EmbeddedSystem, bodies: SteeredBodies, case: Case, pitman: np.ndarray) -> np.ndarray:
    values = dict(zip(FREE, [*np.column_stack([case.theta, case.spin]).ravel(), pitman[0]], strict=True))
    rates = dict(zip(FREE, [*np.column_stack([case.theta_rate, case.spin_rate]).ravel(), pitman[1]], strict=True))
    names = system.independent_names
    coordinates = system.close(np.array([values[name] for name in names]))
    velocity = np.concatenate([case.chassis_angular_velocity, np.zeros(3)])
    state = system.state(coordinates, np.array([rates[name] for name in names]), velocity)
    moments = case.theta_force + strut_moments(bodies.vehicle, case)
    forces, torques = forces_on_tree(state, case, moments)
    torques[system.layout.mechanism.coordinate_names.index("steering.pitman_arm")] = pitman[2]
    result = system.forward_dynamics(state, forces, torques, root_is_held=False)
    found = dict(zip(names, result.independent, strict=True))
    order = [f"{corner}.{part}" for part in ("lower_arm", "wheel") for corner in CORNERS]
    return np.array([*result.root, *(found[name] for name in order), found["steering.pitman_arm"]])


@pytest.mark.parametrize("seed", range(30))
def test_closed_form_and_numerical_embedding_give_the_same_accelerations(
    bodies: SteeredBodies, system: EmbeddedSystem, seed: int
) -> None:
    random = np.random.default_rng(1000 + seed)
    case = random_case(seed)
    pitman = np.array([random.uniform(-0.5, 0.5), 2.0 * random.normal(), 300.0 * random.normal()])

    expected = by_embedding(system, bodies, case, pitman)

    assert_allclose(by_kernel(bodies, case, pitman), expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(10))
def test_prescribed_steering_equals_free_steering_with_the_required_torque(
    bodies: SteeredBodies, parameters: VehicleParameters, seed: int
) -> None:
    # Steering bodies of no mass on the chassis that has it all: then both models describe the same vehicle, and the
    # 14-DOF model with the tie-rod ends moved as the 15-DOF one says must accelerate alike.
    random = np.random.default_rng(2000 + seed)
    case = random_case(seed)
    pitman = np.array([random.uniform(-0.5, 0.5), 2.0 * random.normal(), 300.0 * random.normal()])
    fixed = vehicle_bodies(parameters)
    massless = bodies.steering.bodies.copy()
    massless["mass"], massless["inertia"] = 0.0, 0.0
    light = SteeredBodies(fixed, bodies.steering._replace(bodies=massless))

    free = by_kernel(light, case, pitman)
    ends = np.zeros((4, 9))
    ends[:, :3] = fixed.corners["geometry"]["tie_inner"]
    steered_ends(light.steering, pitman[0], pitman[1], free[14], ends)
    prescribed = np.full(14, np.nan)
    forward_dynamics(fixed, case.motion, ends, case.loads(), workspace(), prescribed)

    assert_allclose(prescribed, free[:14], atol=1e-10 * np.abs(free).max())
