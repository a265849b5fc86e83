"""`bench vehicle` end to end, with runs cut short: every figure that programs rely on exists and is plausible."""

from __future__ import annotations

import math

import pytest

from benchmark import BENCHMARKS, vehicle

# Programs read these names.
KEYS = (
    "step_us", "rigid_rtf", "as_built_step_us", "as_built_rtf", "rk4_step_us", "rk4_rtf", "snapshot_us",
    "from_python_us", "single_track_step_us", "single_track_rtf", "euler_order", "rk4_order",
    "chrono_step_us", "chrono_ratio",
    *(f"part_{name}_us" for name in vehicle.PARTS),
)  # fmt: skip


def test_all_figures_exist_and_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vehicle, "STEPS", 50)
    monkeypatch.setattr(vehicle, "REPEATS", 2)
    said: list[str] = []

    figures = vehicle.run(said.append)

    assert BENCHMARKS["vehicle"] == "benchmark.vehicle"
    assert set(KEYS) <= set(figures)
    assert all(math.isfinite(value) for value in figures.values())
    assert figures["rigid_rtf"] == pytest.approx(1e3 / figures["step_us"])
    assert figures["rk4_rtf"] == pytest.approx(1e3 / figures["rk4_step_us"])
    parts = sum(figures[f"part_{name}_us"] for name in vehicle.PARTS)
    assert parts == pytest.approx(figures["step_us"])
    assert figures["euler_order"] == pytest.approx(1.0, abs=0.1)
    assert figures["rk4_order"] == pytest.approx(4.0, abs=0.1)
    text = vehicle.show(figures)
    for words in (
        "hmmwv_chrono, Euler (ours)",
        "hmmwv, as built, Euler (ours)",
        "RK4 (ours)",
        "Project Chrono 10.0.0-dev, HMMWV_Full",
        "rigid bodies, springs, dampers",
    ):
        assert words in text
    assert any("parts" in line for line in said)
