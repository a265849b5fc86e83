"""End of a drive: one rule for lock-step and ROS."""

from __future__ import annotations

import pytest

from planner.progress import Status
from vehicle_dynamics.motion import STANDS_MPS
from vehicle_dynamics.standing import STANDS_FOR_S, Standing


@pytest.mark.parametrize(("status", "ends"), [(Status.ARRIVED, True), (Status.FAILED, True), (Status.BLOCKED, False)])
def test_drive_that_is_over_ends_when_the_vehicle_has_stood_for_a_second(status: Status, ends: bool) -> None:
    standing = Standing()
    standing.record(5.0, 2.0 * STANDS_MPS)
    standing.record(6.0, -0.5 * STANDS_MPS)
    standing.record(6.5, 0.0)

    assert not standing.ends(6.0 + 0.99 * STANDS_FOR_S, is_over=status.is_over)
    assert standing.ends(6.0 + STANDS_FOR_S, is_over=status.is_over) is ends


def test_vehicle_that_rolls_on_has_not_stood() -> None:
    standing = Standing()
    standing.record(1.0, 0.0)
    standing.record(1.9, -2.0 * STANDS_MPS)
    standing.record(2.0, 0.0)

    assert not standing.ends(2.5, is_over=True)
