"""Both formulations against an ODE in the crank angle alone, the authors' motions, and conservation of energy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from proving_ground.settings import SettingsError
from state_observer.linkages.mechanism import Mechanism, Motion
from state_observer.linkages.simulation import Trajectory, fall, fall_by_index3
from state_observer.study.cases import Bench

STEP_S = 0.005


def _joints(theta: complex) -> list[tuple[complex, complex]]:
    """Joints of the four-bar by plane geometry, independent of our code."""
    x1, y1 = 2.0 * np.cos(theta), 2.0 * np.sin(theta)
    dx, dy = 10.0 - x1, -y1
    distance = np.sqrt(dx**2 + dy**2)
    along = (distance**2 + 8.0**2 - 5.0**2) / (2.0 * distance)
    across = np.sqrt(8.0**2 - along**2)
    x2, y2 = x1 + (along * dx - across * dy) / distance, y1 + (along * dy + across * dx) / distance
    return [(0.0, 0.0), (x1, y1), (x2, y2), (10.0, 0.0)]


def _inertia_and_height(theta: float) -> tuple[float, float]:
    """Moment of inertia reduced to the crank, and sum of m y; derivatives of the joints by complex steps."""
    tiny = 1e-20
    joints, jacobian = _joints(theta), np.imag(_joints(theta + tiny * 1j)) / tiny
    inertia, height = 0.0, 0.0
    for mass, a, b in ((2.0, 0, 1), (8.0, 1, 2), (5.0, 2, 3)):
        # Kinetic energy of a uniform rod from the velocities of its ends.
        ends = jacobian[a] @ jacobian[a] + jacobian[a] @ jacobian[b] + jacobian[b] @ jacobian[b]
        inertia += mass / 3.0 * float(ends)
        height += mass * 0.5 * float(np.real(joints[a][1] + joints[b][1]))
    return inertia, height


def _crank_acceleration(theta: float, rate: float, gravity: float) -> float:
    """Lagrange in one coordinate: I theta'' = -I'/2 theta'^2 + g H', derivatives by central differences."""
    h = 1e-5
    (above, high), (below, low) = _inertia_and_height(theta + h), _inertia_and_height(theta - h)
    inertia, _ = _inertia_and_height(theta)
    slope, rise = (above - below) / (2.0 * h), (high - low) / (2.0 * h)
    return (-0.5 * slope * rate**2 + gravity * rise) / inertia


def test_the_four_bar_falls_as_an_ode_in_its_crank_angle(four_bar: Mechanism) -> None:
    def motion(_: float, state: np.ndarray) -> list[float]:
        return [state[1], _crank_acceleration(state[0], state[1], -10.0)]

    solved = solve_ivp(motion, (0.0, 1.0), [np.pi / 3.0, 0.0], rtol=1e-8, atol=1e-10)
    steps = [fall(four_bar, step, round(1.0 / step)).angles[-1, 0] for step in (0.01, 0.005)]
    better = (4.0 * steps[1] - steps[0]) / 3.0  # Richardson, for a method of order 2

    assert better == pytest.approx(solved.y[0, -1], abs=1e-6)
    assert abs(steps[0] - solved.y[0, -1]) / abs(steps[1] - solved.y[0, -1]) == pytest.approx(4.0, rel=0.05)


def test_first_accelerations_are_those_of_the_reference(four_bar: Mechanism, five_bar: Mechanism) -> None:
    assert_allclose(four_bar.motion(four_bar.start_angles, np.zeros(1)).qdd[-1:], [-1.014103119], rtol=1e-8)
    assert_allclose(
        five_bar.motion(five_bar.start_angles, np.zeros(2)).qdd[-2:], [-23.44086022, 25.16129032], rtol=1e-8
    )


def test_true_motions_are_those_of_the_authors_code(bench: Bench) -> None:
    four, five = bench.truth("four_bar"), bench.truth("five_bar")

    # Their fixed-point iteration ends at 1e-10, ours at 1e-12; the motion amplifies that to up to 5e-7 in 5 s.
    for steps, angle, rate, tolerance in (
        (200, -0.04199178092, -2.779347437, 1e-8),
        (400, -3.93466556, -2.187563498, 1e-7),
        (1000, -2.060542572, 5.804028853, 5e-6),
        (2000, -4.905878718, 0.1074743944, 5e-6),
    ):
        assert_allclose([four.angles[steps - 1, 0], four.rates[steps - 1, 0]], [angle, rate], atol=tolerance)
    for steps, angles, rates in (
        (200, [-2.913156322, 5.627837665], [6.577330385, -4.993189397]),
        (1000, [-1.827090778, 4.525488878], [-11.99747924, 4.283186735]),
        (2000, [-3.648900586, 6.009066653], [-1.004660971, 2.187098219]),
    ):
        assert_allclose(five.angles[steps - 1], angles, atol=1e-6)
        assert_allclose(five.rates[steps - 1], rates, atol=1e-6)
    assert np.abs(four.rates).max() == pytest.approx(6.79825, abs=1e-5)
    assert_allclose(np.abs(five.rates).max(axis=0), [12.1855, 6.6159], atol=1e-4)


def test_wrong_models_alone_diverge_as_the_reference(bench: Bench) -> None:
    for linkage, errors in (("four_bar", [7.2278434]), ("five_bar", [1.9241589, 1.2329987])):
        alone, truth = bench.wrong_model_alone(linkage, "high"), bench.truth(linkage)
        found = np.sqrt(np.mean((alone.angles - truth.angles) ** 2, axis=0))
        assert_allclose(found, errors, rtol=1e-5)


def _drift(mechanism: Mechanism, run: Trajectory) -> float:
    start = mechanism.energy(mechanism.motion(mechanism.start_angles, np.zeros(mechanism.degrees_of_freedom)))
    energies = [mechanism.energy(Motion(*motion)) for motion in zip(run.q, run.qd, run.qdd, strict=True)]
    return float(np.abs(np.array(energies) - start).max())


@pytest.mark.parametrize("formulation", [fall, fall_by_index3])
def test_energy_is_conserved_to_second_order(four_bar: Mechanism, formulation: object) -> None:
    drifts = [_drift(four_bar, formulation(four_bar, step, round(2.0 / step))) for step in (0.008, 0.004, 0.002)]  # type: ignore[operator]

    orders = np.log2(np.array(drifts[:-1]) / drifts[1:])
    assert_allclose(orders, 2.0, atol=0.15)


def test_both_formulations_converge_as_steps_shrink(linkage: Mechanism) -> None:
    gaps = []
    for step in (0.004, 0.002, 0.001):
        steps = round(0.8 / step)
        gaps.append(np.abs(fall(linkage, step, steps).angles - fall_by_index3(linkage, step, steps).angles).max())

    # Both are of order 2, with different error constants.
    assert_allclose(np.log2(np.array(gaps[:-1]) / gaps[1:]), 2.0, atol=0.15)


def test_index3_satisfies_all_three_kinds_of_constraints(linkage: Mechanism) -> None:
    from state_observer.multibody.constraints import constraint_jacobian, constraints, jacobian_rate

    run = fall_by_index3(linkage, STEP_S, 400)
    rows = linkage.size - linkage.degrees_of_freedom
    phi, jacobian, rates = np.empty(rows), np.empty((rows, linkage.size)), np.empty((rows, linkage.size))
    for q, qd, qdd in zip(run.q, run.qd, run.qdd, strict=True):
        constraints(linkage.kernel, q, phi)
        constraint_jacobian(linkage.kernel, q, jacobian)
        jacobian_rate(linkage.kernel, q, qd, False, rates)
        assert np.abs(phi).max() < 1e-9  # the Newton step ends at 1e-10 m
        # Projections hold to mass over penalty: M / (step^2/4 alpha J^2), 1e-5 of the projected velocity.
        assert np.abs(jacobian @ qd).max() < 1e-4
        assert np.abs(jacobian @ qdd + rates @ qd).max() < 2e-2


def test_a_step_of_zero_is_rejected(four_bar: Mechanism) -> None:
    with pytest.raises(SettingsError, match=r"step must be > 0 and steps >= 1, got 0\.0 and 5"):
        fall(four_bar, 0.0, 5)
