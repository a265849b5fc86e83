"""Idle gate: a stop is repeated, then the topic is left to others."""

from __future__ import annotations

import pytest

from planner.idle import STOP_REPEAT_S, IdleGate


def test_driver_that_starts_does_not_stop_a_vehicle_driven_by_another() -> None:
    assert not IdleGate().is_open(0.0, is_stop=True, idle_output="auto", others_publish=True)


def test_driving_always_passes() -> None:
    assert IdleGate().is_open(0.0, is_stop=False, idle_output="never", others_publish=True)


@pytest.mark.parametrize(
    ("idle_output", "others_publish", "expected"),
    [("auto", False, True), ("auto", True, False), ("always", True, True), ("never", False, False)],
)
def test_stop_is_repeated_before_the_gate_closes(idle_output: str, others_publish: bool, expected: bool) -> None:
    gate = IdleGate()
    gate.is_open(0.0, is_stop=False, idle_output=idle_output, others_publish=others_publish)

    assert gate.is_open(1.0, True, idle_output, others_publish)
    assert gate.is_open(1.0 + 0.9 * STOP_REPEAT_S, True, idle_output, others_publish)
    assert gate.is_open(1.0 + 1.1 * STOP_REPEAT_S, True, idle_output, others_publish) is expected
