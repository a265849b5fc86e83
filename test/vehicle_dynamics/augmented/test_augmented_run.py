"""Runs of both multiplier models: they follow the same path, keep loops closed, and do not allocate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from numpy.testing import assert_allclose

from vehicle_dynamics.multibody.augmented_run import RunSettings, run_free, run_tree
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.run_loads import ForceTable, Springs, force_table, no_springs
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.multibody.tree_projection import CLOSURE_TOLERANCE

GRAVITY = (0.0, 0.0, -9.81)
PISTON = ("piston", "piston")
MakeCase = Callable[[str, int, bool], Any]


def sprung(system: EmbeddedSystem, name: str, stiffness: float, damping: float) -> Springs:
    springs = no_springs(system.layout.mechanism)
    for index, coordinate in enumerate(system.layout.mechanism.coordinate_names):
        if coordinate.endswith(name):
            springs.stiffness[index], springs.damping[index], springs.rest[index] = stiffness, damping, 0.1
    return springs


def pushes(system: EmbeddedSystem, body: str) -> ForceTable:
    mechanism = system.layout.mechanism
    centre = next(item.centre for item in mechanism.bodies if item.name == body)
    up = np.array([2.0, -1.0, 0.5, 10.0, 20.0, 300.0])
    return force_table(mechanism, body, centre, [0.0, 0.02, 0.1], [0.0 * up, up, -up])


def energy(state: TreeState, springs: Springs) -> float:
    inertias = state.inertias()
    kinetic = np.einsum("bi,bij,bj->", state.velocity, inertias, state.velocity) / 2.0
    return float(kinetic + (springs.stiffness * (state.coordinates - springs.rest) ** 2).sum() / 2.0)


@pytest.mark.parametrize("root_is_held", [True, False], ids=["held", "free"])
@pytest.mark.parametrize(("name", "body", "sprung_part"), [("four_bar", "upright", "lower"), ("slider_crank", *PISTON)])
def test_both_models_follow_the_same_path(
    random_case: MakeCase, name: str, body: str, sprung_part: str, root_is_held: bool
) -> None:
    case = random_case(name, 2, root_is_held)
    springs, table = sprung(case.system, sprung_part, 2e3, 20.0), pushes(case.system, body)
    settings = RunSettings(step=1e-4, steps=1000, records=5, is_rk4=True, root_is_held=root_is_held, gravity=GRAVITY)

    tree, free = (run(case.state, settings, springs, table) for run in (run_tree, run_free))

    assert_allclose(tree.time, [0.02, 0.04, 0.06, 0.08, 0.1])
    assert np.abs(tree.coordinates[-1] - case.state.coordinates).max() > 0.05
    assert_allclose(tree.coordinates, free.coordinates, atol=1e-8)  # both within RK4's error
    assert_allclose(tree.rates, free.rates, atol=1e-6)
    # Semi-implicit Euler is of first order: half the step, half the error.
    for run in (run_tree, run_free):
        errors = []
        for steps in (2000, 4000):
            euler = replace(settings, step=0.1 / steps, steps=steps, is_rk4=False)
            errors.append(np.abs(run(case.state, euler, springs, table).coordinates - tree.coordinates).max())
        assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2)


def test_path_agrees_with_the_embedding(random_case: MakeCase) -> None:
    case = random_case("slider_crank", 2, True)
    springs = sprung(case.system, "piston", 2e3, 20.0)
    step, steps = 1e-3, 50
    settings = RunSettings(step=step, steps=steps, records=1, is_rk4=True, root_is_held=True)

    run = run_tree(case.state, settings, springs)

    # The embedded model by RK4 in Python: an ODE in its one free coordinate.
    system, forces = case.system, np.zeros((4, 6))
    guess = case.state.coordinates

    def accelerate(angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
        state = system.state(system.close(angle, guess), rate, np.zeros(6))
        load = springs.stiffness * (springs.rest - state.coordinates) - springs.damping * state.rates
        return system.forward_dynamics(state, forces, load, root_is_held=True).independent

    angle, rate = case.state.coordinates[system.independent], case.state.rates[system.independent]
    for _ in range(steps):
        k1 = rate, accelerate(angle, rate)
        k2 = rate + step / 2 * k1[1], accelerate(angle + step / 2 * k1[0], rate + step / 2 * k1[1])
        k3 = rate + step / 2 * k2[1], accelerate(angle + step / 2 * k2[0], rate + step / 2 * k2[1])
        k4 = rate + step * k3[1], accelerate(angle + step * k3[0], rate + step * k3[1])
        angle = angle + step / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        rate = rate + step / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        guess = system.close(angle, guess)
    assert_allclose(run.coordinates[-1], guess, atol=1e-7)


def test_sprung_mechanism_without_damping_keeps_its_energy(random_case: MakeCase) -> None:
    case = random_case("four_bar", 3, True)
    springs = sprung(case.system, "lower", 500.0, 0.0)
    settings = RunSettings(step=1e-3, steps=1000, records=10, is_rk4=True, root_is_held=True)

    for run in (run_tree, run_free):
        result = run(case.state, settings, springs)
        before = energy(case.state, springs)
        for coordinates, rates in zip(result.coordinates, result.rates, strict=True):
            state = TreeState(case.system.layout, coordinates, rates, np.zeros(6))
            assert energy(state, springs) == pytest.approx(before, rel=1e-5)


@pytest.mark.parametrize("name", ["four_bar", "hmmwv"])
def test_stabilisation_and_projection_keep_loops_closed(random_case: MakeCase, name: str) -> None:
    case = random_case(name, 1, False)
    part = "lower_arm" if name == "hmmwv" else "lower"
    springs = sprung(case.system, part, 4e4 if name == "hmmwv" else 500.0, 500.0 if name == "hmmwv" else 0.0)
    short = RunSettings(step=1e-3, steps=1000, records=1, gravity=GRAVITY)
    long = replace(short, steps=5000)
    pulled = {"alpha": 100.0, "beta": 100.0}

    for run in (run_tree, run_free):
        assert run(case.state, long, springs).worst_error > 4.0 * run(case.state, short, springs).worst_error
        stabilised = [run(case.state, replace(item, **pulled), springs).worst_error for item in (short, long)]
        assert stabilised[0] < 0.25e-3
        assert stabilised[1] < 1.2 * stabilised[0]  # it no longer grows
    projected = run_tree(case.state, replace(long, is_projected=True), springs)
    assert projected.worst_error < CLOSURE_TOLERANCE


def test_run_allocates_nothing(random_case: MakeCase) -> None:
    case = random_case("hmmwv", 1, False)
    springs, table = sprung(case.system, "lower_arm", 4e4, 500.0), pushes(case.system, "front_left.wheel")

    def allocations(run: Any, steps: int, is_projected: bool) -> int:
        settings = RunSettings(step=1e-4, steps=steps, records=1, is_rk4=True, is_projected=is_projected)
        before = rtsys.get_allocation_stats().alloc
        run(case.state, settings, springs, table)
        return int(rtsys.get_allocation_stats().alloc - before)

    _nrt_python.memsys_enable_stats()
    try:
        for run, is_projected in ((run_tree, False), (run_tree, True), (run_free, False)):
            # What remains is passing arrays from Python, once per run.
            assert allocations(run, 100, is_projected) == allocations(run, 1, is_projected)
    finally:
        _nrt_python.memsys_disable_stats()


def test_broken_run_is_reported(random_case: MakeCase) -> None:
    start = random_case("four_bar", 0, True).state
    broken = TreeState(start.layout, np.array([np.nan, 0.0, 0.0]), start.rates, np.zeros(6))
    settings = RunSettings(step=1e-3, steps=2, records=1, root_is_held=True)

    assert np.isnan(run_tree(broken, settings).worst_error)


def test_bad_settings_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"step must be > 0, got 0\.0"):
        RunSettings(step=0.0, steps=10, records=1)
    with pytest.raises(ValueError, match="steps must be a multiple of records, got 10 and 3"):
        RunSettings(step=1e-3, steps=10, records=3)
    with pytest.raises(ValueError, match="alpha and beta must not be negative"):
        RunSettings(step=1e-3, steps=10, records=1, alpha=-1.0)


def test_projection_of_free_bodies_is_rejected(random_case: MakeCase) -> None:
    settings = RunSettings(step=1e-3, steps=1, records=1, is_projected=True)
    with pytest.raises(ValueError, match="has no projection"):
        run_free(random_case("four_bar", 0, True).state, settings)


def test_force_table_must_be_a_table(random_case: MakeCase) -> None:
    mechanism = random_case("four_bar", 0, True).mechanism
    with pytest.raises(ValueError, match="rising times and one row of 6 for each"):
        force_table(mechanism, "lower", (0.0, 0.0, 0.0), [0.0, 0.0], np.zeros((2, 6)))
