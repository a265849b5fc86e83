"""The cockpit's camera that chases the vehicle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.cockpit.camera import CHASE, STARTS, Chase, Zoom


def test_chasing_camera_comes_round_the_short_way() -> None:
    chase = Chase()
    chase.heading(0.0, math.radians(170.0))
    for step in range(1, 100):
        heading = chase.heading(0.05 * step, math.radians(-170.0))
        assert 169.0 < math.degrees(heading) < 191.0
    assert math.degrees(heading) == pytest.approx(190.0, abs=0.1)


def test_chasing_camera_keeps_the_distance_and_height_that_it_was_zoomed_to() -> None:
    zoom = Zoom()
    zoom.record(np.array(STARTS[CHASE]))  # it has arrived
    zoom.record(np.array([3.0, 4.0, 2.0]))
    assert_allclose(zoom.chased(math.radians(90.0)), (0.0, -5.0, 2.0), atol=1e-12)


def test_chasing_camera_ignores_positions_from_before_it_arrived() -> None:
    zoom = Zoom()
    zoom.record(np.array([3.0, 3.0, 3.0]))  # initial position of browsers
    assert_allclose(zoom.chased(0.0), STARTS[CHASE], atol=1e-12)
