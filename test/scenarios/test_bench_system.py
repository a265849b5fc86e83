"""Figures of synchronous runs: what waiting costs."""

from __future__ import annotations

import pytest

from benchmark.launches import Launched
from benchmark.system import synchronous_figures

TIMING = {"simulated_s": 100.0, "real_time_factor": 2.0, "waited_s": 30.0}


def test_overhead_is_what_a_period_takes_longer_than_in_lock_step() -> None:
    figures = synchronous_figures(Launched(TIMING, {}, {"imu": 5.0, "gps": 1.0}), lock_step_factor=4.0)

    assert figures["ros_sync_rtf"] == 2.0
    assert figures["sync_wait_ms"] == pytest.approx(3.0)  # of 10000 periods
    assert figures["sync_overhead_ms"] == pytest.approx(5.0 - 2.5)
    assert (figures["cpu_ms_imu"], figures["cpu_ms_gps"]) == pytest.approx((0.5, 0.1))
