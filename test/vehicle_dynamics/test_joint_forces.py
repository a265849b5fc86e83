"""Joint forces from the embedded model's accelerations, against Lagrange multipliers and against statics."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.embedded_vehicle import vehicle_bodies
from vehicle_dynamics.multibody.augmented import solve_augmented
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.joint_forces import joint_forces
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.steering import steered_ends, steering_bodies
from vehicle_dynamics.vehicle_joint_forces import VehicleJointForces
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism
from vehicle_dynamics.vehicle_state import VehicleState

from .test_embedded_vehicle import by_kernel, forces_on_tree, random_case, strut_moments

FREE = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))


@pytest.fixture(scope="module")
def system(parameters: VehicleParameters) -> EmbeddedSystem:
    return EmbeddedSystem(vehicle_mechanism(parameters), independent=FREE)


@pytest.mark.parametrize("seed", range(5))
def test_cut_forces_are_the_lagrange_multipliers(
    system: EmbeddedSystem, parameters: VehicleParameters, seed: int
) -> None:
    # Kernel accelerations, general joint forces, multipliers of the dense augmented solution; steering moves.
    bodies, steering, case = vehicle_bodies(parameters), steering_bodies(parameters), random_case(seed)
    ends = np.zeros((4, 9))
    ends[:, :3] = bodies.corners["geometry"]["tie_inner"]
    steered_ends(steering, 0.1 * (seed - 2), 1.0, 5.0, ends)
    anchors = {f"{corner}.L": ends[index] for index, corner in enumerate(CORNERS)}
    coordinates = system.close(np.column_stack([case.theta, case.spin]).ravel(), anchors=anchors)
    rates = np.column_stack([case.theta_rate, case.spin_rate]).ravel()
    state = system.state(coordinates, rates, np.concatenate([case.chassis_angular_velocity, np.zeros(3)]), anchors)
    forces, torques = forces_on_tree(state, case, case.theta_force + strut_moments(bodies, case))
    expected = solve_augmented(state, forces, torques, root_is_held=False)

    by_ce = system.forward_dynamics(state, forces, torques, root_is_held=False)
    found = joint_forces(state, by_ce.root, by_ce.coordinates, forces, torques)

    out = by_kernel(bodies, case, ends=ends)
    assert_allclose(out[:6], by_ce.root, atol=1e-10 * np.abs(out).max())
    assert_allclose(out[6:10], by_ce.independent[0::2], atol=1e-10 * np.abs(out).max())
    assert found.mismatch < 1e-10
    rotated = [state.rotated[system.layout.body[cut.first]] for cut in system.layout.mechanism.cuts]
    multipliers = np.concatenate(
        [rotation.T @ found.cuts[name] for rotation, name in zip(rotated, found.cuts, strict=True)]
    )
    assert_allclose(multipliers, expected.multipliers, atol=1e-8 * np.abs(expected.multipliers).max())


def test_hinges_carry_the_weight(system: EmbeddedSystem) -> None:
    # Everything at rest on a held chassis, gravity as forces: a hinge carries all that hangs from it.
    mechanism = system.layout.mechanism
    state = system.state(np.zeros(system.layout.count), np.zeros(len(FREE)), np.zeros(6))
    forces = np.zeros((33, 6))
    for number, body in enumerate(mechanism.bodies, start=1):
        weight = np.array([0.0, 0.0, -9.81 * body.mass])
        forces[number] = np.concatenate([np.cross(body.centre, weight), weight])
    # The forces on the free coordinates that hold everything still.
    holding = np.zeros(system.layout.count)
    names = mechanism.coordinate_names
    free = [names.index(name) for name in FREE]
    for _ in range(2):  # linear: one correction is exact, the second confirms it
        now = system.forward_dynamics(state, forces, holding, root_is_held=True).independent
        response = np.zeros((len(free), len(free)))
        for column, index in enumerate(free):
            pushed = holding.copy()
            pushed[index] += 1.0
            response[:, column] = system.forward_dynamics(state, forces, pushed, root_is_held=True).independent - now
        holding[free] -= np.linalg.solve(response, now)

    found = joint_forces(state, np.zeros(6), np.zeros(system.layout.count), forces, holding)

    assert found.mismatch < 1e-12
    wheel = found.hinges["front_left.wheel"]
    mass = next(body.mass for body in mechanism.bodies if body.name == "front_left.wheel")
    assert_allclose(wheel[3:], [0.0, 0.0, 9.81 * mass], atol=1e-9)
    # The force of the chassis on each corner through arms, tie rod and shock is the corner's weight.
    total = sum(found.hinges[f"rear_left.{name}"][3:] for name in ("lower_arm", "upper_arm"))
    total = total + found.cuts["rear_left.L"] + found.cuts["rear_left.J"]
    corner = sum(body.mass for body in mechanism.bodies if body.name.startswith("rear_left"))
    assert_allclose(total, [0.0, 0.0, 9.81 * corner], atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_vehicles_joints_balance_every_body_and_hinges_carry_no_torque_about_their_axes(
    parameters: VehicleParameters, seed: int
) -> None:
    random, case = np.random.default_rng(seed), random_case(seed)
    model = VehicleJointForces(parameters)
    state = VehicleState(
        attitude=np.array([0.1, -0.2, 0.05, 0.9721]) / np.linalg.norm([0.1, -0.2, 0.05, 0.9721]),
        theta=case.theta,
        theta_rate=case.theta_rate,
        spin=case.spin,
        spin_rate=case.spin_rate,
        angular_velocity=case.chassis_angular_velocity,
    )
    pitman = (random.uniform(-0.4, 0.4), random.normal(), random.normal())

    found = model.at(state, case.wheel_force, pitman)

    # All coordinates' equations hold with spring and damper as forces along their lines and no torque in any hinge:
    # they are the same forces as the kernel's moment on the arm, although it has no lines of action.
    assert found.mismatch < 1e-9
    axis = vehicle_bodies(parameters).corners["geometry"]["lower_axis"][0]
    pivot = vehicle_bodies(parameters).corners["geometry"]["lower_pivot"][0]
    hinge = found.hinges["front_left.lower_arm"]
    about_axis = np.dot(axis, hinge[:3] - np.cross(pivot, hinge[3:]))
    assert abs(about_axis) < 1e-7 * np.linalg.norm(hinge)


def test_pivot_of_a_loaded_arm_is_pushed_up_by_the_spring(parameters: VehicleParameters) -> None:
    # A wheel held up by the ground: the spring presses the arm's outer part down, so the pivot must push it up.
    model = VehicleJointForces(parameters)
    load = np.zeros((4, 6))
    load[:, 5] = [6495.0, 6494.0, 6128.0, 6126.0]

    found = model.at(VehicleState(theta=np.array([-0.2255, -0.2255, -0.2265, -0.2265])), load)

    wheel, pivot = found.hinges["front_left.wheel"], found.hinges["front_left.lower_arm"]
    assert wheel[5] == pytest.approx(9.81 * 71.105 - 6495.0, rel=0.05)  # the bearing carries the load, less the wheel
    # The spring presses the arm down with 11.1 kN, the upright lifts its end with about half of that: the pivot pushes
    # up with the rest. With the spring as a moment on the arm, instead of a force, it would seem to pull down.
    assert 4000.0 < pivot[5] < 8000.0
