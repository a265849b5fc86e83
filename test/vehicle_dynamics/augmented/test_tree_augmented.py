"""The tree-augmented kernel against the dense solution, the numerical embedding and a carried anchor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations import assert_as_dense_and_embedded, assert_decays_as_baumgarte_wants, assert_same_motion
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import ROOT, Axis, Body, Mechanism, Motion
from vehicle_dynamics.multibody.model_inputs import Constraints, Forces, RootMotion
from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.multibody.tree_arrays import (
    TreeAccelerations,
    anchors_at_rest,
    tree_accelerations,
    tree_arrays,
    tree_workspace,
)
from vehicle_dynamics.multibody.tree_augmented import tree_augmented_accelerations
from vehicle_dynamics.multibody.tree_projection import CLOSURE_TOLERANCE, project_on_constraints

NAMES = ("four_bar", "slider_crank", "hung_loops", "hmmwv")
WEIGHTLESS = (0.0, 0.0, 0.0)
MakeCase = Callable[[str, int, bool], Any]


def solve(
    state: TreeState,
    body_forces: np.ndarray,
    coordinate_forces: np.ndarray,
    root_is_held: bool,
    gravity: tuple[float, float, float] = WEIGHTLESS,
    anchor: np.ndarray | None = None,
) -> TreeAccelerations:
    mechanism = state.layout.mechanism
    tree = tree_arrays(mechanism)
    out = tree_accelerations(tree)
    tree_augmented_accelerations(
        tree, state.coordinates, state.rates, RootMotion(state.velocity[0], root_is_held, gravity),
        Forces(body_forces, coordinate_forces),
        Constraints(anchors_at_rest(mechanism.cuts) if anchor is None else anchor, 0.0, 0.0), tree_workspace(tree), out,
    )  # fmt: skip
    return out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
@pytest.mark.parametrize("seed", range(10))
def test_sparse_dense_and_embedded_formulations_agree(
    random_case: MakeCase, name: str, root_is_held: bool, seed: int
) -> None:
    case = random_case(name, seed, root_is_held)

    result = solve(case.state, case.body_forces, case.coordinate_forces, root_is_held)

    # Same physics: only rounding may differ (observed: 3e-13).
    assert_as_dense_and_embedded(case, result, root_is_held, tolerance=1e-11, of_multipliers=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
def test_gravity_is_a_force_on_every_centre_of_mass(random_case: MakeCase, name: str, root_is_held: bool) -> None:
    case = random_case(name, 1, root_is_held)
    gravity = (1.0, 2.0, -9.0)
    bodies = case.mechanism.bodies
    weights = [force_at(case.mechanism.root_centre, case.mechanism.root_mass * np.array(gravity))]
    for number, body in enumerate(bodies, start=1):
        weights.append(force_at(case.state.position(number, body.centre), body.mass * np.array(gravity)))

    result = solve(case.state, case.body_forces, case.coordinate_forces, root_is_held, gravity)

    expected = solve(case.state, case.body_forces + weights, case.coordinate_forces, root_is_held)
    assert_same_motion(result, expected, tolerance=1e-11)


def test_mechanism_without_loops_needs_no_multipliers(random_case: MakeCase) -> None:
    mechanism = random_case("hung_loops", 0, False).mechanism
    tree_only = EmbeddedSystem(replace(mechanism, cuts=()))
    random = np.random.default_rng(2)
    count = tree_only.layout.count
    state = TreeState(tree_only.layout, random.normal(size=count), random.normal(size=count), random.normal(size=6))
    forces, torques = random.normal(size=(7, 6)), random.normal(size=count)

    result = solve(state, forces, torques, root_is_held=False)

    expected = tree_only.forward_dynamics(state, forces, torques, root_is_held=False)
    assert len(result.multipliers) == 0
    assert_allclose(result.root, expected.root, atol=1e-11 * np.abs(expected.root).max())
    assert_allclose(result.coordinates, expected.coordinates, atol=1e-11 * np.abs(expected.coordinates).max())


def with_carrier(mechanism: Mechanism, cut_index: int) -> Mechanism:
    """The root's side of a cut on a massless body that slides in three directions."""
    slides = tuple(Axis(Motion.SLIDE, tuple(line), mechanism.cuts[cut_index].point) for line in np.eye(3))
    carrier = Body("carrier", ROOT, slides, 0.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    cut = mechanism.cuts[cut_index]
    cuts = list(mechanism.cuts)
    cuts[cut_index] = replace(cut, first="carrier")
    return replace(mechanism, bodies=(*mechanism.bodies, carrier), cuts=tuple(cuts))


def solve_with_known(
    state: TreeState, body_forces: np.ndarray, coordinate_forces: np.ndarray, known: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Dense solution (free root) in which the accelerations of some coordinates are given: root's 6, then all."""
    n = state.layout.count
    inertias = state.inertias()
    loads = body_forces - state.gyroscopic(inertias)
    mass, force = np.zeros((6 + n, 6 + n)), np.concatenate([np.zeros(6), coordinate_forces])
    for body, inertia in enumerate(inertias):
        jacobian = np.hstack([np.eye(6), state.jacobian(body)])
        mass += jacobian.T @ inertia @ jacobian
        force += jacobian.T @ (loads[body] - inertia @ state.bias[body])
    closures = [state.closure(cut) for cut in state.layout.mechanism.cuts]
    constraint = np.vstack([np.hstack([np.zeros((len(item[1]), 6)), item[1]]) for item in closures])
    right = -np.concatenate([item[2] for item in closures])
    free = np.setdiff1d(np.arange(6 + n), 6 + known)
    force = force[free] - mass[np.ix_(free, 6 + known)] @ values
    right = right - constraint[:, 6 + known] @ values
    zero = np.zeros((len(right), len(right)))
    matrix = np.block([[mass[np.ix_(free, free)], constraint[:, free].T], [constraint[:, free], zero]])
    result = np.zeros(6 + n)
    result[6 + known] = values
    result[free] = np.linalg.solve(matrix, np.concatenate([force, right]))[: len(free)]
    return result


@pytest.mark.parametrize("seed", range(5))
def test_moving_anchor_equals_a_body_with_prescribed_motion(systems: dict[str, EmbeddedSystem], seed: int) -> None:
    vehicle = systems["hmmwv"]
    mechanism = vehicle.layout.mechanism
    cut_index = [cut.name for cut in mechanism.cuts].index("front_right.L")
    carried = with_carrier(mechanism, cut_index)
    carrier_names = tuple(name for name in carried.coordinate_names if name.startswith("carrier"))
    system = EmbeddedSystem(carried, independent=(*vehicle.independent_names, *carrier_names))
    random = np.random.default_rng(seed)
    moved, rate, acceleration = 0.03 * random.normal(size=3), random.normal(size=3), 20.0 * random.normal(size=3)
    coordinates = system.close(np.concatenate([random.uniform(-0.2, 0.2, 8), moved]))
    rates = np.concatenate([3.0 * random.normal(size=8), rate])
    state = system.state(coordinates, rates, random.normal(size=6))
    forces, torques = 1e3 * random.normal(size=(34, 6)), 1e2 * random.normal(size=47)
    torques[44:], forces[33] = 0.0, 0.0

    without = TreeState(vehicle.layout, coordinates[:44], state.rates[:44], state.velocity[0])
    anchor = anchors_at_rest(mechanism.cuts)
    anchor[cut_index] = np.concatenate([np.add(mechanism.cuts[cut_index].point, moved), rate, acceleration])
    result = solve(without, forces[:33], torques[:44], root_is_held=False, anchor=anchor)

    expected = solve_with_known(state, forces, torques, np.arange(44, 47), acceleration)
    scale = np.abs(expected).max()
    assert_allclose(result.root, expected[:6], atol=1e-11 * scale)
    assert_allclose(result.coordinates, expected[6:50], atol=1e-11 * scale)


@pytest.mark.parametrize("name", NAMES)
def test_projection_returns_a_perturbed_state_to_the_constraints(random_case: MakeCase, name: str) -> None:
    case = random_case(name, 4, False)
    tree = tree_arrays(case.mechanism)
    work, out, anchor = tree_workspace(tree), tree_accelerations(tree), anchors_at_rest(case.mechanism.cuts)
    random = np.random.default_rng(4)
    coordinates = case.state.coordinates + 1e-3 * random.normal(size=len(tree.parent))
    rates = case.state.rates + 0.1 * random.normal(size=len(tree.parent))
    root_velocity = case.state.velocity[0].copy()

    spoiled_rates = rates.copy()
    left = project_on_constraints(tree, coordinates, rates, root_velocity, False, anchor, work, out)

    before = TreeState(case.system.layout, coordinates, spoiled_rates, case.state.velocity[0])
    after = TreeState(case.system.layout, coordinates, rates, root_velocity)
    assert left < CLOSURE_TOLERANCE
    for cut in case.mechanism.cuts:
        error, matrix, _ = after.closure(cut)
        assert np.abs(error).max() < 1e-12
        assert np.abs(matrix @ rates).max() < 1e-11
    # An impulse of constraint forces: momentum stays and energy does not grow.
    inertias = before.inertias()
    momenta = [np.einsum("bij,bj->bi", inertias, state.velocity) for state in (before, after)]
    assert_allclose(momenta[1].sum(axis=0), momenta[0].sum(axis=0), atol=1e-11 * np.abs(momenta[0]).max())
    energies = [
        (momentum * state.velocity).sum() / 2.0 for momentum, state in zip(momenta, (before, after), strict=True)
    ]
    assert energies[1] <= energies[0]


def test_drift_decays_as_baumgarte_prescribes(random_case: MakeCase) -> None:
    case = random_case("hung_loops", 5, False)
    tree = tree_arrays(case.mechanism)
    work, out, anchor = tree_workspace(tree), tree_accelerations(tree), anchors_at_rest(case.mechanism.cuts)
    random = np.random.default_rng(5)
    coordinates = case.state.coordinates + 1e-2 * random.normal(size=len(tree.parent))
    rates = case.state.rates + random.normal(size=len(tree.parent))
    alpha, beta = 30.0, 40.0
    gentle = 1e-3  # so that the path bends little within a step of the differences below

    def accelerate(at: np.ndarray, rate: np.ndarray) -> np.ndarray:
        tree_augmented_accelerations(
            tree, at, rate, RootMotion(case.state.velocity[0], True, WEIGHTLESS),
            Forces(gentle * case.body_forces, gentle * case.coordinate_forces), Constraints(anchor, alpha, beta),
            work, out,
        )  # fmt: skip
        return out.coordinates.copy()

    acceleration = accelerate(coordinates, rates)
    error, error_rate = work.error.copy(), work.error_rate.copy()

    def accelerate_at(time: float) -> None:
        """State on the path with this acceleration (the root's is zero here)."""
        at = coordinates + time * rates + time**2 / 2.0 * acceleration
        accelerate(at, rates + time * acceleration)

    assert_decays_as_baumgarte_wants(work, accelerate_at, error, error_rate, (alpha, beta))
