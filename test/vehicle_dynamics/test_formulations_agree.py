"""One thousand random states: closed-form embedding, numerical embedding, TA and FA, and Pinocchio, on one vehicle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmark.engine_pinocchio import PinocchioModel
from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.embedded_vehicle import VehicleBodies, vehicle_bodies
from vehicle_dynamics.multibody.free_bodies import free_accelerations, free_bodies, free_state, free_workspace
from vehicle_dynamics.multibody.free_hinges import hinge_accelerations, root_acceleration
from vehicle_dynamics.multibody.fully_augmented import fully_augmented_accelerations
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.model_inputs import Constraints, Forces, RootMotion
from vehicle_dynamics.multibody.numeric_embedding import NumericEmbedding
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState
from vehicle_dynamics.multibody.tree_arrays import tree_accelerations, tree_arrays, tree_workspace
from vehicle_dynamics.multibody.tree_augmented import tree_augmented_accelerations
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.steering import steered_ends, steering_bodies
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

from .test_embedded_vehicle import Case, by_kernel, forces_on_tree, random_case, strut_moments

Array = NDArray[np.float64]
FREE = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
WEIGHTLESS = (0.0, 0.0, 0.0)
STATES = 1000


def free_root(state: TreeState) -> RootMotion:
    return RootMotion(state.velocity[0], False, WEIGHTLESS)


class Vehicle:
    """All formulations of the vehicle, and states that are the same in all."""

    def __init__(self, parameters: VehicleParameters) -> None:
        self.bodies: VehicleBodies = vehicle_bodies(parameters)
        self.steering = steering_bodies(parameters)
        self.mechanism: Mechanism = vehicle_mechanism(parameters)
        self.layout = TreeLayout(self.mechanism)
        self.numeric = NumericEmbedding(self.mechanism, FREE)
        names = self.mechanism.coordinate_names
        self.order = [names.index(f"{corner}.{part}") for part in ("lower_arm", "wheel") for corner in CORNERS]
        self.tree = tree_arrays(self.mechanism)
        self.tree_work, self.tree_out = tree_workspace(self.tree), tree_accelerations(self.tree)
        self.free = free_bodies(self.mechanism)
        self.free_work, self.free_out = free_workspace(self.free), free_accelerations(self.free)

    def ends(self, angle: float, rate: float, acceleration: float) -> Array:
        ends = np.zeros((4, 9))
        ends[:, :3] = self.bodies.corners["geometry"]["tie_inner"]
        steered_ends(self.steering, angle, rate, acceleration, ends)
        return ends

    def closed(self, case: Case, ends: Array) -> tuple[TreeState, Array]:
        """The tree's state, closed and with consistent rates; and the anchors of all cuts."""
        anchor = self.numeric.mechanism.anchor.copy()
        cuts = [cut.name for cut in self.mechanism.cuts]
        for index, corner in enumerate(CORNERS):
            anchor[cuts.index(f"{corner}.L")] = ends[index]
        values = np.column_stack([case.theta, case.spin]).ravel()
        rates = np.column_stack([case.theta_rate, case.spin_rate]).ravel()
        coordinates, all_rates = self.numeric.closed(values, rates, anchor)
        root = np.concatenate([case.chassis_angular_velocity, np.zeros(3)])
        named = dict(zip(cuts, anchor, strict=True))
        anchors = {name: row for name, row in named.items() if name.endswith(".L")}
        return TreeState(self.layout, coordinates, all_rates, root, anchors), anchor

    def by_numeric_embedding(self, state: TreeState, case: Case, anchor: Array, forces: Array, torques: Array) -> Array:
        result = self.numeric.accelerations(
            np.column_stack([case.theta, case.spin]).ravel(),
            np.column_stack([case.theta_rate, case.spin_rate]).ravel(),
            free_root(state),
            Forces(forces, torques),
            state.coordinates.copy(),
            anchor,
        )
        return np.concatenate([result.root, result.coordinates])

    def by_tree(self, state: TreeState, anchor: Array, forces: Array, torques: Array) -> Array:
        tree_augmented_accelerations(
            self.tree, state.coordinates, state.rates, free_root(state), Forces(forces, torques),
            Constraints(anchor, 0.0, 0.0), self.tree_work, self.tree_out,
        )  # fmt: skip
        return np.concatenate([self.tree_out.root, self.tree_out.coordinates])

    def by_free_bodies(self, state: TreeState, anchor: Array, forces: Array, torques: Array) -> Array:
        start = free_state(state)
        fully_augmented_accelerations(
            self.free, start, False, WEIGHTLESS, Forces(forces, torques), Constraints(anchor, 0.0, 0.0),
            self.free_work, self.free_out,
        )  # fmt: skip
        root, coordinates = np.zeros(6), np.zeros(self.layout.count)
        root_acceleration(start, self.free_out, root)
        hinge_accelerations(self.free, start, self.free_out, self.free_work, coordinates)
        return np.concatenate([root, coordinates])

    def reduced(self, accelerations: Array) -> Array:
        """Root, lower arms and wheels, as the closed-form kernel gives them."""
        return np.concatenate([accelerations[:6], accelerations[6:][self.order]])


@pytest.fixture(scope="module")
def vehicle(parameters: VehicleParameters) -> Vehicle:
    return Vehicle(parameters)


def apart(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def test_our_formulations_agree_at_a_thousand_states_with_moving_steering(vehicle: Vehicle) -> None:
    worst = {"numeric CE": 0.0, "TA": 0.0, "FA": 0.0}
    for seed in range(STATES):
        random, case = np.random.default_rng(10_000 + seed), random_case(seed)
        ends = vehicle.ends(random.uniform(-0.5, 0.5), random.normal(), 5.0 * random.normal())
        state, anchor = vehicle.closed(case, ends)
        forces, torques = forces_on_tree(state, case, case.theta_force + strut_moments(vehicle.bodies, case))

        closed_form = by_kernel(vehicle.bodies, case, ends=ends)
        found = {
            "numeric CE": vehicle.by_numeric_embedding(state, case, anchor, forces, torques),
            "TA": vehicle.by_tree(state, anchor, forces, torques),
            "FA": vehicle.by_free_bodies(state, anchor, forces, torques),
        }

        for name, accelerations in found.items():
            worst[name] = max(worst[name], apart(vehicle.reduced(accelerations), closed_form))
            worst[name] = max(worst[name], apart(accelerations, found["TA"]))
    assert max(worst.values()) < 1e-10, worst  # only rounding may differ, observed: 2e-12


def test_closed_form_and_pinocchio_agree_at_a_thousand_states(vehicle: Vehicle) -> None:
    pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    engine = PinocchioModel(vehicle.mechanism)
    worst = 0.0
    for seed in range(STATES):
        case = random_case(seed)
        state, _ = vehicle.closed(case, vehicle.ends(0.0, 0.0, 0.0))
        forces, torques = forces_on_tree(state, case, case.theta_force + strut_moments(vehicle.bodies, case))
        engine.set_state(state)
        engine.set_forces(forces, torques)

        other = engine.constraint_dynamics()

        expected = vehicle.reduced(np.concatenate([other.root, other.coordinates]))
        worst = max(worst, apart(by_kernel(vehicle.bodies, case), expected))
    assert worst < 1e-10  # observed: 2e-13
