"""Local observability along a run: condition number of Eq. 4.19 ([Sanjurjo] Section 4.7.4).

EKF: its own f_x and h_x. UKF: matrices from a statistical linear regression of its sigma points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from state_observer.filters.observer import LinkageObserver
from state_observer.linkages.sensors import readings_along

Array = NDArray[np.float64]


def condition_numbers(observer: LinkageObserver, readings: Array) -> Array:
    """log10 of the condition number ([Sanjurjo] Eq. 4.20) at each step; infinity where the state is not observable.

    As many block rows as states; the last steps, which have too few successors, are left out.
    """
    transitions, sensitivities = [], []
    for row in readings:
        observer.predict()
        transition = _regressed_transition(observer) if observer.filter_state.points.size else observer.setup.transition
        observer.correct(row)
        sensitivity = (
            _regressed_sensitivity(observer) if observer.filter_state.points.size else observer.filter_state.sensitivity
        )
        transitions.append(np.array(transition))
        sensitivities.append(np.array(sensitivity))
    size = transitions[0].shape[0]
    return np.array(
        [
            _log_condition(transitions[k + 1 : k + size], sensitivities[k : k + size])
            for k in range(len(readings) - size + 1)
        ]
    )


def observability_matrix(transitions: list[Array], sensitivities: list[Array]) -> Array:
    """Rows h_k; h_{k+1} f_k; h_{k+2} f_{k+1} f_k; ... from transitions f and sensitivities h ([Sanjurjo] Eq. 4.19)."""
    product = np.eye(sensitivities[0].shape[1])
    rows = [sensitivities[0]]
    for transition, sensitivity in zip(transitions, sensitivities[1:], strict=True):
        product = transition @ product
        rows.append(sensitivity @ product)
    return np.vstack(rows)


def _log_condition(transitions: list[Array], sensitivities: list[Array]) -> float:
    values = np.linalg.svd(observability_matrix(transitions, sensitivities), compute_uv=False)
    return float(np.log10(values[0] / values[-1])) if values[-1] > 0.0 else float("inf")


def _regressed_transition(observer: LinkageObserver) -> Array:
    filter_state = observer.filter_state
    return _regression(filter_state.points_before, filter_state.points)


def _regressed_sensitivity(observer: LinkageObserver) -> Array:
    filter_state, setup = observer.filter_state, observer.setup
    measured = np.empty((len(filter_state.points), setup.sensors.kinds.size))
    readings_along(setup.linkage, setup.sensors, filter_state.points_q, filter_state.points_qd, measured)
    return _regression(filter_state.points, measured)


def _regression(before: Array, after: Array) -> Array:
    """Best linear map between deviations from the centre point; all other points have equal weight."""
    slope, *_ = np.linalg.lstsq(before[1:] - before[0], after[1:] - after[0], rcond=None)
    result: Array = slope.T
    return result
