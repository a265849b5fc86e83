"""`bench dynamics` end to end, with runs cut short: every figure that programs rely on exists and is plausible."""

from __future__ import annotations

import math

import pytest

from benchmark import drift, dynamics, newton_chord
from vehicle_dynamics.parameters import VehicleParameters

# Programs read these names.
KEYS = (
    "ce_us", "ce_numeric_us", "ta_us", "fa_us", "lcaba_us", "constraint_dynamics_us", "mujoco_us", "ta_ratio",
    "fa_ratio", "chord_speedup", "chord_max_iterations",
)  # fmt: skip


def test_all_figures_exist_and_can_be_shown(monkeypatch: pytest.MonkeyPatch, parameters: VehicleParameters) -> None:
    pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    pytest.importorskip("mujoco", reason="needs MuJoCo: pip install mujoco")
    monkeypatch.setattr(newton_chord, "SECONDS", 0.05)
    monkeypatch.setattr(newton_chord, "measured_alone", lambda name: newton_chord.measure(parameters, name))
    monkeypatch.setattr(drift, "SECONDS", 0.05)
    said: list[str] = []

    figures = dynamics.run(said.append)

    assert set(KEYS) <= set(figures)
    assert all(math.isfinite(value) and value > 0.0 for key, value in figures.items() if key.endswith("_us"))
    assert (figures["ce_coordinates"], figures["ta_coordinates"], figures["fa_coordinates"]) == (14, 50, 198)
    assert (figures["ta_constraints"], figures["fa_constraints"]) == (36, 184)
    assert max(figures[f"{name}_error"] for name in ("ce", "ce_numeric", "ta", "fa", "constraint_dynamics")) < 1e-10
    assert figures["ta_ratio"] == pytest.approx(figures["ta_us"] / figures["ce_us"])
    assert 1e4 < figures["ce_flops"] < 2e4
    text = dynamics.show(figures)
    for words in ("constraint embedding, closed form (ours)", "Pinocchio lcaba", "lane change", "[Bae]: 15"):
        assert words in text
    assert any("Newton chord" in line for line in said)
