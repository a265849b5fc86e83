"""Every analytic derivative against complex steps, which have no rounding error of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from state_observer.linkages.mechanism import Mechanism, Motion
from state_observer.linkages.sensors import SENSOR_SETS, independent_jacobian, measure, measurement_jacobian, sensor_set
from state_observer.multibody.constraints import constraint_jacobian, constraints, jacobian_rate
from state_observer.multibody.kinematics import position_problem, projection, velocity_by_position, velocity_problem

Array = NDArray[np.float64]

TINY = 1e-30  # [m, rad] of a complex step: its square vanishes
EXACT = 1e-10  # required accuracy
# Crank angles in all quadrants of Eq. 4.2.
CRANKS = [np.array([angle, 2.0 - 0.7 * angle]) for angle in np.linspace(-3.0, 3.0, 7)]


def _motion(linkage: Mechanism, angles: Array) -> Motion:
    cranks = linkage.degrees_of_freedom
    return linkage.motion(angles[:cranks], np.array([1.3, -2.1])[:cranks])


def _complex_step(function: Callable[[NDArray[np.complex128]], Any], at: Array) -> Array:
    columns = []
    for i in range(at.size):
        moved = at.astype(complex)
        moved[i] += 1j * TINY
        columns.append(np.imag(function(moved)) / TINY)
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("angles", CRANKS)
def test_constraints_have_their_jacobian(linkage: Mechanism, angles: Array) -> None:
    q, _, _ = _motion(linkage, angles)
    rows = q.size - linkage.degrees_of_freedom
    found = np.empty((rows, q.size))

    def phi(point: NDArray[np.complex128]) -> NDArray[np.complex128]:
        result = np.empty(rows, complex)
        constraints(linkage.kernel, point, result)
        return result

    constraint_jacobian(linkage.kernel, q, found)

    assert_allclose(found, _complex_step(phi, q), atol=EXACT)


@pytest.mark.parametrize("angles", CRANKS)
def test_velocity_constraints_have_their_jacobian(linkage: Mechanism, angles: Array) -> None:
    q, qd, _ = _motion(linkage, angles)
    rows = q.size - linkage.degrees_of_freedom
    found = np.empty((rows, q.size))

    def rate(point: NDArray[np.complex128]) -> NDArray[np.complex128]:
        jacobian = np.empty((rows, q.size), complex)
        constraint_jacobian(linkage.kernel, point, jacobian)
        return jacobian @ qd

    jacobian_rate(linkage.kernel, q, qd, False, found)

    assert_allclose(found, _complex_step(rate, q), atol=EXACT)


@pytest.mark.parametrize("name", SENSOR_SETS)
@pytest.mark.parametrize("angles", CRANKS[::2])
def test_sensors_have_their_jacobians_in_all_coordinates(linkage: Mechanism, angles: Array, name: str) -> None:
    q, qd, _ = _motion(linkage, angles)
    sensors = sensor_set(linkage, name)
    count = sensors.kinds.size
    by_q, by_qd = np.empty((count, q.size)), np.empty((count, q.size))

    def h(position: NDArray[np.complex128], velocity: NDArray[np.complex128]) -> NDArray[np.complex128]:
        result = np.empty(count, complex)
        measure(linkage.kernel, sensors, position, velocity, result)
        return result

    measurement_jacobian(linkage.kernel, sensors, q, qd, by_q, by_qd)

    assert_allclose(by_q, _complex_step(lambda moved: h(moved, qd.astype(complex)), q), atol=EXACT)
    assert_allclose(by_qd, _complex_step(lambda moved: h(q.astype(complex), moved), qd), atol=EXACT)


@pytest.mark.parametrize("name", SENSOR_SETS)
@pytest.mark.parametrize("angles", CRANKS[::2])
def test_sensors_have_their_jacobians_in_the_cranks_angles_and_rates(
    linkage: Mechanism, angles: Array, name: str
) -> None:
    q, qd, _ = _motion(linkage, angles)
    cranks = linkage.degrees_of_freedom
    sensors = sensor_set(linkage, name)

    def h(state: NDArray[np.complex128]) -> NDArray[np.complex128]:
        position, velocity = q.astype(complex), np.empty(q.size, complex)
        position[-cranks:] = state[:cranks]
        assert position_problem(linkage.kernel, position)
        velocity_problem(projection(linkage.kernel, position), state[cranks:], velocity)
        result = np.empty(sensors.kinds.size, complex)
        measure(linkage.kernel, sensors, position, velocity, result)
        return result

    found = independent_jacobian(linkage.kernel, sensors, projection(linkage.kernel, q), q, qd, False)

    assert_allclose(found, _complex_step(h, np.concatenate([q[-cranks:], qd[-cranks:]])), atol=EXACT)


def test_the_released_codes_shortcut_is_exact_for_one_crank_only(four_bar: Mechanism, five_bar: Mechanism) -> None:
    for mechanism, is_exact in ((four_bar, True), (five_bar, False)):
        q, qd, _ = _motion(mechanism, CRANKS[2])
        sensors, at = sensor_set(mechanism, "coupler_gyro"), projection(mechanism.kernel, q)
        whole, short = (independent_jacobian(mechanism.kernel, sensors, at, q, qd, cut) for cut in (False, True))
        assert np.allclose(whole, short, atol=EXACT) is is_exact


def test_matrix_r_changes_as_its_derivative(linkage: Mechanism) -> None:
    q, qd, _ = _motion(linkage, CRANKS[2])
    cranks = linkage.degrees_of_freedom
    moved = q.astype(complex)
    moved[-cranks:] += 1j * TINY * qd[-cranks:]
    assert position_problem(linkage.kernel, moved)

    found = velocity_by_position(linkage.kernel, projection(linkage.kernel, q), q, qd)

    assert_allclose(found, np.imag(projection(linkage.kernel, moved).matrix_r) / TINY, atol=EXACT)
