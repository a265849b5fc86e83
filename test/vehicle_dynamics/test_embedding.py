"""Constraint embedding of any loop graph, against Lagrange multipliers, closed forms and conservation laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from planar_wishbone import FourBar, four_bar_rate_changes, four_bar_rates

from some_mechanisms import A, D, F, G, four_bar, revolute, rod, slider_crank
from vehicle_dynamics.multibody.augmented import solve_augmented
from vehicle_dynamics.multibody.embedding import ClosureError, EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import ROOT, Body, Cut, Mechanism, aggregates
from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree import TreeState


def spatial_loops() -> Mechanism:
    """Two ball-joint loops that share a body, with a wheel outside them: one aggregate of four bodies and a child."""
    b, c = (0.1, 0.3, 0.05), (-0.1, 0.4, 0.3)
    rod_end = (-0.2, 0.0, 0.25)
    return Mechanism(
        bodies=(
            rod("arm", ROOT, A, D, 4.0, revolute(A, (0.96, 0.0, 0.28))),
            rod("carrier", "arm", D, F, 3.0, revolute(D), revolute(D, (0.0, 1.0, 0.0)), revolute(D, (0.0, 0.0, 1.0))),
            rod("top", ROOT, G, F, 2.0, revolute(G, (0.8, 0.6, 0.0))),
            rod("link", "carrier", c, rod_end, 0.5, revolute(c), revolute(c, (0.0, 0.0, 1.0))),
            rod("wheel", "carrier", b, c, 6.0, revolute(b, (0.0, 1.0, 0.0))),
        ),
        cuts=(Cut("F", "top", "carrier", F), Cut("L", ROOT, "link", rod_end)),
        root_mass=50.0,
        root_centre=(0.0, 0.1, 0.1),
        root_inertia=np.diag([3.0, 4.0, 5.0]),
    )


MECHANISMS = {"four_bar": four_bar, "slider_crank": slider_crank, "spatial_loops": spatial_loops}


def random_state(system: EmbeddedSystem, seed: int, root_is_held: bool) -> TreeState:
    random = np.random.default_rng(seed)
    coordinates = system.close(random.uniform(-0.15, 0.15, len(system.independent)))
    root_velocity = np.zeros(6) if root_is_held else random.normal(size=6)
    return system.state(coordinates, random.normal(size=len(system.independent)), root_velocity)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("seed", range(5))
def test_newton_closes_the_loops_and_rates_keep_them_closed(name: str, seed: int) -> None:
    system = EmbeddedSystem(MECHANISMS[name]())
    state = random_state(system, seed, root_is_held=False)
    for cut in system.layout.mechanism.cuts:
        error, matrix, _ = state.closure(cut)
        assert np.abs(error).max() < 1e-12
        assert np.abs(matrix @ state.rates).max() < 1e-12


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
@pytest.mark.parametrize("seed", range(10))
def test_embedding_and_lagrange_multipliers_give_the_same_accelerations(
    name: str, root_is_held: bool, seed: int
) -> None:
    mechanism = MECHANISMS[name]()
    system = EmbeddedSystem(mechanism)
    state = random_state(system, seed, root_is_held)
    random = np.random.default_rng(100 + seed)
    body_forces = 10.0 * random.normal(size=(len(mechanism.bodies) + 1, 6))
    coordinate_forces = random.normal(size=system.layout.count)

    embedded = system.forward_dynamics(state, body_forces, coordinate_forces, root_is_held)
    augmented = solve_augmented(state, body_forces, coordinate_forces, root_is_held)

    scale = np.abs(augmented.coordinates).max()
    assert_allclose(embedded.root, augmented.root, atol=1e-9 * max(np.abs(augmented.root).max(), 1.0))
    assert_allclose(embedded.coordinates, augmented.coordinates, atol=1e-9 * scale)
    assert_allclose(embedded.independent, embedded.coordinates[system.independent], rtol=1e-12)


def test_four_bar_map_agrees_with_the_paper() -> None:
    system = EmbeddedSystem(four_bar(), independent=("lower",))
    assert system.independent_names == ["lower"]
    bar = FourBar(a=0.24, b=0.48, c=math.dist(D, F), d=math.dist(G, F), branch=1.0)
    (aggregate,) = system.aggregates
    for theta in (-0.2, 0.0, 0.15):
        state = system.state(system.close(np.array([theta])), np.array([1.0]), np.zeros(6))
        p, q = four_bar_rates(bar, math.pi / 2 + theta)
        p_change, q_change = four_bar_rate_changes(bar, math.pi / 2 + theta)
        # Relative angles: lower arm 1, upright p - 1 (Eq. 27), and the upper arm from the root q.
        assert_allclose(system.velocity_map(state, aggregate)[:, 0], [1.0, p - 1.0, q], rtol=1e-10)
        assert_allclose(system.velocity_map_bias(state, aggregate), [0.0, p_change, q_change], rtol=1e-9, atol=1e-10)


def test_slider_agrees_with_the_textbook() -> None:
    system = EmbeddedSystem(slider_crank(), independent=("crank",))
    crank, rod_length = math.hypot(0.1, 0.05), math.dist((0.1, 0.05), (0.4, 0.0))
    start = math.atan2(0.05, 0.1)
    for angle in (-0.4, 0.3, 1.2):
        psi = start + angle
        expected = crank * math.cos(psi) + math.sqrt(rod_length**2 - (crank * math.sin(psi)) ** 2) - 0.4
        assert system.close(np.array([angle]))[2] == pytest.approx(expected, abs=1e-12)


def test_loops_that_share_a_body_become_one_aggregate() -> None:
    assert aggregates(spatial_loops()) == [
        (ROOT, ("arm", "carrier", "top", "link")),
        ("carrier", ("wheel",)),
    ]


def test_free_system_keeps_its_momentum() -> None:
    system = EmbeddedSystem(spatial_loops())
    state = random_state(system, 3, root_is_held=False)
    internal = np.random.default_rng(1).normal(size=system.layout.count)

    result = system.forward_dynamics(state, np.zeros((6, 6)), internal, root_is_held=False)

    # d/dt of total momentum about a fixed point: sum of M A + V x* M V, which must vanish without external forces.
    inertias = state.inertias()
    change = np.zeros(6)
    for body in range(len(inertias)):
        acceleration = result.root + state.jacobian(body) @ result.coordinates + state.bias[body]
        change += inertias[body] @ acceleration
    change += state.gyroscopic(inertias).sum(axis=0)
    assert np.abs(change).max() < 1e-11


def test_power_of_forces_is_the_rate_of_kinetic_energy() -> None:
    system = EmbeddedSystem(four_bar())
    state = random_state(system, 7, root_is_held=False)
    push = np.zeros((4, 6))
    push[3] = force_at((0.0, 0.2, 0.3), (3.0, -2.0, 5.0))

    result = system.forward_dynamics(state, push, np.zeros(3), root_is_held=False)

    inertias = state.inertias()
    rate = 0.0
    for body in range(4):
        acceleration = result.root + state.jacobian(body) @ result.coordinates + state.bias[body]
        rate += state.velocity[body] @ (inertias[body] @ acceleration)  # V . (V x* M V) is zero
    assert rate == pytest.approx(push[3] @ state.velocity[3], rel=1e-10)


def test_out_of_reach_is_reported() -> None:
    with pytest.raises(ClosureError, match="loops stay open"):
        EmbeddedSystem(four_bar(), independent=("lower",)).close(np.array([-0.8]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_not_closed(value: float) -> None:
    with pytest.raises(ClosureError):
        EmbeddedSystem(four_bar()).close(np.array([value]))


def test_bad_mechanisms_are_rejected() -> None:
    body = rod("a", ROOT, A, D, 1.0, revolute(A))
    with pytest.raises(ValueError, match="the name is taken"):
        Mechanism(bodies=(body, body))
    with pytest.raises(ValueError, match="there is no body b"):
        Mechanism(bodies=(body,), cuts=(Cut("c", "a", "b", A),))
    with pytest.raises(ValueError, match="parent z must come before"):
        Mechanism(bodies=(rod("b", "z", A, D, 1.0, revolute(A)),))
    with pytest.raises(ValueError, match="no rigid body has the principal moments"):
        Body("a", ROOT, (revolute(A),), 1.0, A, np.diag([0.4, 0.4, 0.9]))
