"""Comparison of the results of different formulations of one mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from vehicle_dynamics.multibody.augmented import solve_augmented

STEP = 1e-5  # [s], of finite differences


def assert_same_motion(result: Any, expected: Any, tolerance: float) -> None:
    """Assert equal accelerations of root and coordinates, relative to the largest one of a coordinate."""
    scale = np.abs(expected.coordinates).max()
    assert_allclose(result.root, expected.root, atol=tolerance * scale)
    assert_allclose(result.coordinates, expected.coordinates, atol=tolerance * scale)


def assert_as_dense_and_embedded(
    case: Any, result: Any, root_is_held: bool, tolerance: float, of_multipliers: float
) -> None:
    """Assert agreement with a dense solution with multipliers and with constraint embedding."""
    dense = solve_augmented(case.state, case.body_forces, case.coordinate_forces, root_is_held)
    embedded = case.system.forward_dynamics(case.state, case.body_forces, case.coordinate_forces, root_is_held)
    assert_same_motion(result, dense, tolerance)
    scale = np.abs(dense.coordinates).max()
    assert_allclose(result.multipliers, dense.multipliers, atol=of_multipliers * np.abs(dense.multipliers).max())
    assert_allclose(result.root, embedded.root, atol=tolerance * scale)
    assert_allclose(result.coordinates, embedded.coordinates, atol=tolerance * scale)


def assert_decays_as_baumgarte_wants(
    work: Any,
    evaluate: Callable[[float], object],
    error: np.ndarray,
    error_rate: np.ndarray,
    gains: tuple[float, float],
) -> None:
    """Assert e'' + 2 alpha e' + beta^2 e = 0 by differences: evaluate leaves the errors at a time [s] in work."""
    found = []
    for time in (-STEP, STEP):
        evaluate(time)
        found.append((work.error.copy(), work.error_rate.copy()))
    (before, rate_before), (after, rate_after) = found
    assert_allclose((after - before) / (2 * STEP), error_rate, atol=1e-6)
    expected = -2.0 * gains[0] * error_rate - gains[1] ** 2 * error
    assert_allclose((rate_after - rate_before) / (2 * STEP), expected, atol=1e-6 * np.abs(expected).max())
