"""The vehicle's closed-form kernel against the numerical embedding of the same mechanism."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys
from numpy.testing import assert_allclose

from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.embedded_vehicle import OUT_SIZE, VehicleBodies, forward_dynamics, vehicle_bodies, workspace
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.suspension.strut import strut_moment
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

AT_REST = (0.0, 0.0, 0.0)


class Case(NamedTuple):
    """A random state and random forces."""

    theta: np.ndarray
    theta_rate: np.ndarray
    spin: np.ndarray
    spin_rate: np.ndarray
    chassis_angular_velocity: np.ndarray
    theta_force: np.ndarray
    spin_torque: np.ndarray
    wheel_force: np.ndarray
    chassis_force: np.ndarray

    @property
    def motion(self) -> RigidMotion:
        return RigidMotion(tuple(self.chassis_angular_velocity), self.theta, self.theta_rate, self.spin_rate)

    def loads(self, gravity: tuple[float, float, float] = AT_REST) -> RigidLoads:
        return RigidLoads(gravity, self.theta_force, self.spin_torque, self.wheel_force, self.chassis_force)


def random_case(seed: int) -> Case:
    random = np.random.default_rng(seed)
    return Case(
        theta=random.uniform(-0.3, 0.3, 4),
        theta_rate=3.0 * random.normal(size=4),
        spin=random.uniform(-3.0, 3.0, 4),
        spin_rate=20.0 * random.normal(size=4),
        chassis_angular_velocity=random.normal(size=3),
        theta_force=1e3 * random.normal(size=4),
        spin_torque=1e2 * random.normal(size=4),
        wheel_force=1e3 * random.normal(size=(4, 6)),
        chassis_force=1e3 * random.normal(size=6),
    )


@pytest.fixture(scope="module")
def bodies(parameters: VehicleParameters) -> VehicleBodies:
    return vehicle_bodies(parameters)


@pytest.fixture(scope="module")
def system(parameters: VehicleParameters) -> EmbeddedSystem:
    free = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
    return EmbeddedSystem(vehicle_mechanism(parameters), independent=free)


def by_kernel(
    bodies: VehicleBodies,
    case: Case,
    gravity: tuple[float, float, float] = AT_REST,
    ends: np.ndarray | None = None,
) -> np.ndarray:
    if ends is None:
        ends = np.zeros((4, 9))
        ends[:, :3] = bodies.corners["geometry"]["tie_inner"]
    out = np.full(OUT_SIZE, np.nan)
    forward_dynamics(bodies, case.motion, ends, case.loads(gravity), workspace(), out)
    return out


def strut_moments(bodies: VehicleBodies, case: Case) -> np.ndarray:
    return np.array(
        [
            strut_moment(record, np.cos(theta), np.sin(theta), rate)
            for record, theta, rate in zip(bodies.corners["strut"], case.theta, case.theta_rate, strict=True)
        ]
    )


def forces_on_tree(state: TreeState, case: Case, theta_force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The case's forces as spatial forces on bodies and forces on tree coordinates."""
    layout = state.layout
    names = layout.mechanism.coordinate_names
    forces, torques = np.zeros((len(layout.body), 6)), np.zeros(layout.count)
    forces[0] = case.chassis_force
    for index, corner in enumerate(CORNERS):
        wheel = layout.body[f"{corner}.wheel"]
        centre = state.position(wheel, layout.mechanism.bodies[wheel - 1].centre)
        forces[wheel] = force_at(centre, case.wheel_force[index, 3:])
        forces[wheel, :3] += case.wheel_force[index, :3]
        torques[names.index(f"{corner}.lower_arm")] = theta_force[index]
        torques[names.index(f"{corner}.wheel")] = case.spin_torque[index]
    return forces, torques


def by_embedding(system: EmbeddedSystem, bodies: VehicleBodies, case: Case) -> np.ndarray:
    theta_force = case.theta_force + strut_moments(bodies, case)
    coordinates = system.close(np.column_stack([case.theta, case.spin]).ravel())
    rates = np.column_stack([case.theta_rate, case.spin_rate]).ravel()
    state = system.state(coordinates, rates, np.concatenate([case.chassis_angular_velocity, np.zeros(3)]))
    forces, torques = forces_on_tree(state, case, theta_force)
    result = system.forward_dynamics(state, forces, torques, root_is_held=False)
    return np.concatenate([result.root, result.independent[0::2], result.independent[1::2]])


@pytest.mark.parametrize("seed", range(40))
def test_closed_form_and_numerical_embedding_give_the_same_accelerations(
    bodies: VehicleBodies, system: EmbeddedSystem, seed: int
) -> None:
    case = random_case(seed)

    expected = by_embedding(system, bodies, case)

    # Same physics and the same bodies by two derivations: only rounding may differ (observed: 1e-14).
    assert_allclose(by_kernel(bodies, case), expected, atol=1e-11 * np.abs(expected).max())


def test_gravity_alone_is_free_fall(bodies: VehicleBodies) -> None:
    case = random_case(0)
    zeros = {name: np.zeros_like(getattr(case, name)) for name in Case._fields if name not in ("theta", "spin")}
    resting = case._replace(**zeros)
    resting = resting._replace(theta_force=-strut_moments(bodies, resting))

    out = by_kernel(bodies, resting, gravity=(1.0, 2.0, -9.0))

    assert_allclose(out, [0, 0, 0, 1.0, 2.0, -9.0, *np.zeros(8)], atol=1e-12)


def test_spin_angle_has_no_influence(bodies: VehicleBodies, system: EmbeddedSystem) -> None:
    case = random_case(1)

    rotated = case._replace(spin=case.spin + 1.0)

    assert_allclose(by_embedding(system, bodies, rotated), by_embedding(system, bodies, case), rtol=1e-9, atol=1e-9)


def test_mirrored_vehicle_accelerates_as_the_mirror_image(bodies: VehicleBodies) -> None:
    # The Pitman arm sits on the left, so the chassis is not quite symmetric: compare without its inertia product.
    chassis = bodies.chassis
    symmetric = bodies._replace(
        chassis=chassis._replace(
            centre=(chassis.centre[0], 0.0, chassis.centre[2]),
            inertia=(*chassis.inertia[:3], 0.0, chassis.inertia[4], 0.0),
        )
    )
    swap = [1, 0, 3, 2]
    polar, axial = np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])
    case = random_case(2)
    mirrored = case._replace(
        theta=case.theta[swap],
        theta_rate=case.theta_rate[swap],
        spin_rate=case.spin_rate[swap],
        chassis_angular_velocity=case.chassis_angular_velocity * axial,
        theta_force=case.theta_force[swap],
        spin_torque=case.spin_torque[swap],
        wheel_force=case.wheel_force[swap] * np.concatenate([axial, polar]),
        chassis_force=case.chassis_force * np.concatenate([axial, polar]),
    )

    here, there = by_kernel(symmetric, case), by_kernel(symmetric, mirrored)

    expected = np.concatenate([here[:3] * axial, here[3:6] * polar, here[6:10][swap], here[10:][swap]])
    assert_allclose(there, expected, atol=1e-10 * np.abs(expected).max())


@njit
def evaluate(count: int, arguments: tuple[object, ...]) -> None:
    for _ in range(count):
        forward_dynamics(*arguments)


def test_evaluation_allocates_nothing(bodies: VehicleBodies) -> None:
    case = random_case(3)
    work, out, ends = workspace(), np.zeros(OUT_SIZE), np.zeros((4, 9))
    ends[:, :3] = bodies.corners["geometry"]["tie_inner"]
    arguments = (bodies, case.motion, ends, case.loads(), work, out)

    def allocations(count: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        evaluate(count, arguments)
        return int(rtsys.get_allocation_stats().alloc - before)

    evaluate(1, arguments)
    _nrt_python.memsys_enable_stats()
    try:
        one, many = allocations(1), allocations(1000)
    finally:
        _nrt_python.memsys_disable_stats()

    assert many == one  # what remains is passing arrays from Python, once per call
