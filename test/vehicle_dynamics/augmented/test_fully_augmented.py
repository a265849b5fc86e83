"""The fully augmented kernel against the dense solution, the embedding and the tree-augmented kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations import assert_as_dense_and_embedded, assert_decays_as_baumgarte_wants, assert_same_motion
from vehicle_dynamics.multibody.free_bodies import (
    FreeState,
    free_accelerations,
    free_bodies,
    free_state,
    free_workspace,
)
from vehicle_dynamics.multibody.free_hinges import (
    hinge_accelerations,
    hinge_coordinates,
    hinge_rates,
    root_acceleration,
)
from vehicle_dynamics.multibody.fully_augmented import fully_augmented_accelerations
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.model_inputs import Constraints, Forces, RootMotion
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.multibody.tree_arrays import (
    TreeAccelerations,
    anchors_at_rest,
    tree_accelerations,
    tree_arrays,
    tree_workspace,
)
from vehicle_dynamics.multibody.tree_augmented import tree_augmented_accelerations

NAMES = ("four_bar", "slider_crank", "hmmwv")
WEIGHTLESS = (0.0, 0.0, 0.0)
MakeCase = Callable[[str, int, bool], Any]


def solve(
    mechanism: Mechanism,
    state: FreeState,
    body_forces: np.ndarray,
    coordinate_forces: np.ndarray,
    root_is_held: bool,
    gravity: tuple[float, float, float] = WEIGHTLESS,
    anchor: np.ndarray | None = None,
) -> TreeAccelerations:
    """Result in tree coordinates, with the multipliers of the cuts only."""
    bodies = free_bodies(mechanism)
    work, out = free_workspace(bodies), free_accelerations(bodies)
    anchor = anchors_at_rest(mechanism.cuts) if anchor is None else anchor
    fully_augmented_accelerations(
        bodies, state, root_is_held, gravity, Forces(body_forces, coordinate_forces), Constraints(anchor, 0.0, 0.0),
        work, out,
    )  # fmt: skip
    root, coordinates = np.zeros(6), np.zeros(len(coordinate_forces))
    root_acceleration(state, out, root)
    hinge_accelerations(bodies, state, out, work, coordinates)
    return TreeAccelerations(root, coordinates, out.multipliers[bodies.cut_rows])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
@pytest.mark.parametrize("seed", range(10))
def test_free_bodies_and_tree_coordinates_give_the_same_accelerations(
    random_case: MakeCase, name: str, root_is_held: bool, seed: int
) -> None:
    case = random_case(name, seed, root_is_held)

    result = solve(case.mechanism, free_state(case.state), case.body_forces, case.coordinate_forces, root_is_held)

    # Same physics; the 184 constraints are worse conditioned than 36 (observed: 2e-11).
    assert_as_dense_and_embedded(case, result, root_is_held, tolerance=1e-9, of_multipliers=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
def test_gravity_and_moving_anchors_act_as_in_the_tree(random_case: MakeCase, root_is_held: bool, seed: int) -> None:
    # A held root that moves: its spatial velocity stays.
    case = random_case("hmmwv", seed, False)
    random = np.random.default_rng(seed)
    anchor = anchors_at_rest(case.mechanism.cuts)
    anchor[:, 6:] = 10.0 * random.normal(size=(12, 3))
    gravity = (1.0, -2.0, -9.0)
    tree = tree_arrays(case.mechanism)
    expected = tree_accelerations(tree)
    tree_augmented_accelerations(
        tree, case.state.coordinates, case.state.rates, RootMotion(case.state.velocity[0], root_is_held, gravity),
        case.forces, Constraints(anchor, 0.0, 0.0), tree_workspace(tree), expected,
    )  # fmt: skip

    result = solve(
        case.mechanism, free_state(case.state), case.body_forces, case.coordinate_forces, root_is_held, gravity, anchor
    )

    assert_same_motion(result, expected, tolerance=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_free_bodies_recover_their_tree_coordinates(random_case: MakeCase, name: str) -> None:
    case = random_case(name, 3, False)
    bodies = free_bodies(case.mechanism)
    work, count = free_workspace(bodies), case.system.layout.count
    coordinates, rates = np.zeros(count), np.zeros(count)

    hinge_coordinates(bodies, free_state(case.state), work, coordinates)
    hinge_rates(bodies, free_state(case.state), work, rates)

    assert_allclose(coordinates, case.state.coordinates, atol=1e-12)
    assert_allclose(rates, case.state.rates, atol=1e-10)


def test_choice_of_inertial_frame_changes_nothing_but_axes(random_case: MakeCase) -> None:
    case = random_case("hmmwv", 6, False)
    # A quarter turn about z, so that x becomes y, and a shift.
    rotated = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    shift = np.array([3.0, -2.0, 1.0])
    here = free_state(case.state)
    half = np.sqrt(0.5)
    x, y, z, w = here.attitude.T
    there = FreeState(
        attitude=half * np.column_stack([x - y, x + y, z + w, w - z]),
        centre=here.centre @ rotated.T + shift,
        velocity=np.hstack([here.velocity[:, :3] @ rotated.T, here.velocity[:, 3:] @ rotated.T]),
    )
    forces = np.hstack([case.body_forces[:, :3] @ rotated.T, case.body_forces[:, 3:] @ rotated.T])
    forces[:, :3] += np.cross(shift, forces[:, 3:])

    expected = solve(case.mechanism, here, case.body_forces, case.coordinate_forces, root_is_held=False)
    result = solve(case.mechanism, there, forces, case.coordinate_forces, root_is_held=False)

    assert_allclose(result.coordinates, expected.coordinates, atol=1e-9 * np.abs(expected.coordinates).max())
    assert_allclose(result.multipliers, expected.multipliers, atol=1e-9 * np.abs(expected.multipliers).max())


def test_vehicle_has_198_velocities_and_184_constraints(random_case: MakeCase) -> None:
    bodies = free_bodies(random_case("hmmwv", 0, False).mechanism)

    assert 6 * len(bodies.mass) == 198
    assert len(bodies.row_cosine) == 184  # 14 degrees of freedom remain
    assert len(bodies.pattern.row) < 184 * 185 / 2 / 10  # the factor stays sparse


def test_drift_decays_as_baumgarte_prescribes(random_case: MakeCase) -> None:
    case = random_case("slider_crank", 5, False)
    bodies = free_bodies(case.mechanism)
    work, out, anchor = free_workspace(bodies), free_accelerations(bodies), anchors_at_rest(case.mechanism.cuts)
    random = np.random.default_rng(5)
    start = free_state(case.state)
    start.centre[:] += 1e-2 * random.normal(size=start.centre.shape)
    start.velocity[:] += random.normal(size=start.velocity.shape)
    alpha, beta, unloaded = 30.0, 40.0, Forces(np.zeros((4, 6)), np.zeros(3))
    constraints = Constraints(anchor, alpha, beta)

    def accelerate(state: FreeState) -> None:
        fully_augmented_accelerations(bodies, state, False, WEIGHTLESS, unloaded, constraints, work, out)

    def moved(time: float) -> FreeState:
        """State on the path with this acceleration; attitudes rotate by the mean angular velocity."""
        rotation = time * start.velocity[:, :3] + time**2 / 2.0 * acceleration[:, :3]
        x, y, z, w = start.attitude.T
        q, half = np.column_stack([x, y, z]), rotation / 2.0
        vector = q + half * w[:, None] + np.cross(half, q) - (half**2).sum(axis=1)[:, None] / 2.0 * q
        scalar = w - (half * q).sum(axis=1) - (half**2).sum(axis=1) / 2.0 * w
        centre = start.centre + time * start.velocity[:, 3:] + time**2 / 2.0 * acceleration[:, 3:]
        return FreeState(np.column_stack([vector, scalar]), centre, start.velocity + time * acceleration)

    accelerate(start)
    acceleration, error, error_rate = out.bodies.copy(), work.error.copy(), work.error_rate.copy()

    assert_decays_as_baumgarte_wants(work, lambda time: accelerate(moved(time)), error, error_rate, (alpha, beta))


def test_unsupported_hinges_of_free_bodies_are_rejected(random_case: MakeCase) -> None:
    with pytest.raises(ValueError, match=r"carrier: a hinge must have .* got \(revolute, revolute, revolute\)"):
        free_bodies(random_case("hung_loops", 0, False).mechanism)
    mechanism = random_case("hmmwv", 0, False).mechanism
    index, rod = next(item for item in enumerate(mechanism.bodies) if item[1].name == "front_left.tie_rod")
    for changed, words in (
        (replace(rod, axes=(rod.axes[0], replace(rod.axes[1], direction=rod.axes[0].direction))), "right angle"),
        (replace(rod, mass=0.0), "mass matrix is singular"),
    ):
        bodies = (*mechanism.bodies[:index], changed, *mechanism.bodies[index + 1 :])
        with pytest.raises(ValueError, match=f"front_left.tie_rod: .*{words}"):
            free_bodies(replace(mechanism, bodies=bodies))


def test_tree_state_at_design_is_design(random_case: MakeCase) -> None:
    layout = random_case("four_bar", 0, False).system.layout
    state = free_state(TreeState(layout, np.zeros(3), np.zeros(3), np.zeros(6)))

    assert_allclose(np.abs(state.attitude), [[0.0, 0.0, 0.0, 1.0]] * 4, atol=1e-15)
    assert_allclose(state.centre[1:], [body.centre for body in layout.mechanism.bodies], atol=1e-15)
