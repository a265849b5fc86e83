"""The compiled embedding with numerical loop kinematics, against the same in numpy and the dense solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from numpy.testing import assert_allclose

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.augmented import solve_augmented
from vehicle_dynamics.multibody.embedding import ClosureError, EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.model_inputs import Forces, RootMotion
from vehicle_dynamics.multibody.numeric_embedding import (
    NOT_CLOSED,
    NumericEmbedding,
    embedded_accelerations,
    embedded_result,
    loop_workspace,
)
from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree_arrays import anchors_at_rest

NAMES = ("four_bar", "slider_crank", "hung_loops", "hmmwv")
WEIGHTLESS = (0.0, 0.0, 0.0)
MakeCase = Callable[[str, int, bool], Any]


@pytest.fixture(scope="module")
def embeddings(systems: dict[str, EmbeddedSystem]) -> dict[str, NumericEmbedding]:
    return {
        name: NumericEmbedding(system.layout.mechanism, tuple(system.independent_names))
        for name, system in systems.items()
    }


def by_kernel(
    embedding: NumericEmbedding,
    case: Any,
    root_is_held: bool,
    gravity: Vector3 = WEIGHTLESS,
    anchor: np.ndarray | None = None,
) -> tuple[Any, np.ndarray]:
    """Result from a start at design, and the closed coordinates."""
    free, guess = embedding.mechanism.embedding.independent, np.zeros(len(embedding.mechanism.tree.parent))
    root = RootMotion(case.state.velocity[0], root_is_held, gravity)
    result = embedding.accelerations(
        case.state.coordinates[free], case.state.rates[free], root, case.forces, guess, anchor
    )
    return result, guess


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
@pytest.mark.parametrize("seed", range(10))
def test_compiled_embedding_and_other_formulations_agree(
    random_case: MakeCase, embeddings: dict[str, NumericEmbedding], name: str, root_is_held: bool, seed: int
) -> None:
    case = random_case(name, seed, root_is_held)

    result, closed = by_kernel(embeddings[name], case, root_is_held)

    embedded = case.system.forward_dynamics(case.state, case.body_forces, case.coordinate_forces, root_is_held)
    dense = solve_augmented(case.state, case.body_forces, case.coordinate_forces, root_is_held)
    scale = np.abs(dense.coordinates).max()
    # Same physics: only rounding may differ, and loops closed within 1e-13 m (observed: 2e-13).
    assert_allclose(closed, case.state.coordinates, atol=1e-11)
    for other in (embedded, dense):
        assert_allclose(result.root, other.root, atol=1e-11 * scale)
        assert_allclose(result.coordinates, other.coordinates, atol=1e-11 * scale)
    assert_allclose(result.independent, embedded.independent, atol=1e-11 * scale)


@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
def test_gravity_is_a_force_on_every_centre_of_mass(
    random_case: MakeCase, embeddings: dict[str, NumericEmbedding], root_is_held: bool
) -> None:
    case = random_case("hung_loops", 1, root_is_held)
    gravity, mechanism = (1.0, 2.0, -9.0), case.mechanism
    weights = [force_at(mechanism.root_centre, mechanism.root_mass * np.array(gravity))]
    for number, body in enumerate(mechanism.bodies, start=1):
        weights.append(force_at(case.state.position(number, body.centre), body.mass * np.array(gravity)))

    result, _ = by_kernel(embeddings["hung_loops"], case, root_is_held, gravity=gravity)

    heavier = case._replace(body_forces=case.body_forces + weights)
    expected, _ = by_kernel(embeddings["hung_loops"], heavier, root_is_held)
    scale = np.abs(expected.coordinates).max()
    assert_allclose(result.root, expected.root, atol=1e-11 * scale)
    assert_allclose(result.coordinates, expected.coordinates, atol=1e-11 * scale)


@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
@pytest.mark.parametrize("seed", range(5))
def test_moving_anchors_drive_the_loops(
    random_case: MakeCase, embeddings: dict[str, NumericEmbedding], root_is_held: bool, seed: int
) -> None:
    case = random_case("hmmwv", seed, root_is_held)
    system, mechanism = case.system, case.mechanism
    random = np.random.default_rng(seed)
    anchor, moving = anchors_at_rest(mechanism.cuts), {}
    for number, cut in enumerate(mechanism.cuts):
        if cut.name.endswith(".L") and cut.name.startswith("front"):
            anchor[number, :3] += 0.02 * random.normal(size=3)
            anchor[number, 3:] = np.concatenate([random.normal(size=3), 20.0 * random.normal(size=3)])
            moving[cut.name] = anchor[number]
    coordinates = system.close(case.state.coordinates[system.independent], anchors=moving)
    state = system.state(coordinates, case.state.rates[system.independent], case.state.velocity[0], moving)

    result, closed = by_kernel(embeddings["hmmwv"], case, root_is_held, anchor=anchor)

    dense = solve_augmented(state, case.body_forces, case.coordinate_forces, root_is_held)
    scale = np.abs(dense.coordinates).max()
    assert_allclose(closed, coordinates, atol=1e-11)
    assert_allclose(result.root, dense.root, atol=1e-10 * scale)
    assert_allclose(result.coordinates, dense.coordinates, atol=1e-10 * scale)


def test_warm_start_needs_few_steps_and_a_closed_one_none(
    random_case: MakeCase, embeddings: dict[str, NumericEmbedding]
) -> None:
    case, embedding = random_case("hmmwv", 2, False), embeddings["hmmwv"]
    mechanism = embedding.mechanism
    free, guess = mechanism.embedding.independent, case.state.coordinates.copy()
    root, work = RootMotion(case.state.velocity[0], False, WEIGHTLESS), loop_workspace(mechanism)

    def steps(independent: np.ndarray) -> int:
        return embedded_accelerations(
            mechanism, independent, case.state.rates[free], root, case.forces, guess, work, embedded_result(mechanism)
        )

    after = case.state.coordinates[free] + 1e-3 * case.state.rates[free]
    assert steps(case.state.coordinates[free]) == 0
    assert 1 <= steps(after) <= 3  # quadratic: 1e-3, 1e-6, 1e-12
    assert steps(after) == 0


@pytest.mark.parametrize("value", [-0.8, np.nan], ids=["out of reach", "not a number"])
def test_loop_that_cannot_close_is_reported_and_keeps_the_guess(
    embeddings: dict[str, NumericEmbedding], systems: dict[str, EmbeddedSystem], value: float
) -> None:
    embedding = NumericEmbedding(systems["four_bar"].layout.mechanism, ("lower",))
    mechanism, guess = embedding.mechanism, np.array([0.1, 0.2, 0.3])
    root, forces = RootMotion(np.zeros(6), True, WEIGHTLESS), Forces(np.zeros((4, 6)), np.zeros(3))
    work, out = loop_workspace(mechanism), embedded_result(mechanism)

    flag = embedded_accelerations(mechanism, np.array([value]), np.ones(1), root, forces, guess, work, out)

    assert flag == NOT_CLOSED
    assert guess.tolist() == [0.1, 0.2, 0.3]
    with pytest.raises(ClosureError, match=r"'lower': .*out of reach"):
        embedding.accelerations(np.array([value]), np.ones(1), root, forces, guess)


def test_mechanism_without_loops_is_a_plain_tree(random_case: MakeCase) -> None:
    loops = random_case("hung_loops", 0, False).mechanism
    mechanism = Mechanism(loops.bodies, (), loops.root_mass, loops.root_centre, loops.root_inertia)
    system, embedding = EmbeddedSystem(mechanism), NumericEmbedding(mechanism)
    random = np.random.default_rng(2)
    coordinates, rates, root_velocity = random.normal(size=9), random.normal(size=9), random.normal(size=6)
    forces, torques = random.normal(size=(7, 6)), random.normal(size=9)

    root = RootMotion(root_velocity, False, WEIGHTLESS)
    result = embedding.accelerations(coordinates, rates, root, Forces(forces, torques), np.zeros(9))

    state = system.state(coordinates, rates, root_velocity)
    expected = system.forward_dynamics(state, forces, torques, root_is_held=False)
    scale = np.abs(expected.coordinates).max()
    assert_allclose(result.root, expected.root, atol=1e-11 * scale)
    assert_allclose(result.coordinates, expected.coordinates, atol=1e-11 * scale)


def test_evaluation_allocates_nothing(random_case: MakeCase, embeddings: dict[str, NumericEmbedding]) -> None:
    case, embedding = random_case("hmmwv", 1, False), embeddings["hmmwv"]
    mechanism = embedding.mechanism
    free, guess = mechanism.embedding.independent, case.state.coordinates.copy()
    root, work = RootMotion(case.state.velocity[0], False, WEIGHTLESS), loop_workspace(mechanism)
    out = embedded_result(mechanism)

    def allocations(shift: float) -> int:
        before = rtsys.get_allocation_stats().alloc
        independent, rates = case.state.coordinates[free] + shift, case.state.rates[free]
        embedded_accelerations(mechanism, independent, rates, root, case.forces, guess, work, out)
        return int(rtsys.get_allocation_stats().alloc - before)

    tuples = sum(len(part) for part in (mechanism.embedding, mechanism.tree, *work, out))
    _nrt_python.memsys_enable_stats()
    try:
        # What remains is passing arrays from Python, one each: seven stand alone. Newton steps add none.
        assert allocations(0.0) == allocations(0.1) == tuples + 7
    finally:
        _nrt_python.memsys_disable_stats()
