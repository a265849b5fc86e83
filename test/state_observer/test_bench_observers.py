"""`bench observers` end to end on a small study: figures, files, JSON."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark import BENCHMARKS, observers
from proving_ground.cli.main import main
from state_observer.filters.registry import FILTERS
from state_observer.study.parameters import load_study

SMALL = replace(load_study(), rates_hz=(200, 50), duration_s=0.6)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(observers, "STUDY", SMALL)
    monkeypatch.setattr(observers, "REPEATS", 1)
    monkeypatch.setattr(observers, "FOLDER", tmp_path / "made" / "observers")
    return tmp_path / "made" / "observers"


def test_one_json_object_with_all_figures(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert BENCHMARKS["observers"] == "benchmark.observers"

    assert main(["bench", "observers", "--json"]) == 0

    figures = json.loads(capsys.readouterr().out)
    assert figures["error_ekf_four_bar_rtf"] > 0.0
    assert figures["error_ekf_five_bar_rtf"] > 0.0
    for method in ("cekf", "dekf", "ukf_fe", "ukf_tr", "sckf", "diekf_pm", "error_ekf"):
        growth = figures[f"{method}_four_bar_rtf"] / figures[f"{method}_five_bar_rtf"]
        assert figures[f"{method}_cost_growth"] == pytest.approx(growth)
    assert figures["runs"] == 2 * 3 * 2 * 2 * 7
    assert figures["missing_force_rms_nm"] > 0.0
    table = figures["rms"]
    assert list(table) == ["four_bar", "five_bar"]
    assert set(table["four_bar"]["encoder"]["high"]["200"]) == set(list(FILTERS)[:7])
    assert 0.0 < table["five_bar"]["coupler_gyro"]["low"]["50"]["UKF-TR"] < 0.2
    _check_files(small)


def _check_files(folder: Path) -> None:
    with (folder / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 168
    assert {row["ending"] for row in rows} >= {"completed"}
    page = (folder / "report.html").read_text()
    for picture in folder.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert f'src="{picture.name}"' in page
    assert len(list(folder.glob("*.png"))) == 13
    assert "nan" not in page


def test_text_output_has_tables() -> None:
    table = {"four_bar": {"encoder": {"high": {"200": {"errorEKF": 0.0052, "CEKF": None}}}}}
    figures = {
        "rms": table, "runs": 2, "runs_ended_early": 1, "runs_s": 1.0, "total_s": 2.0,
        "missing_force_rms_nm": 9.6,
        **{f"{name}_force_{key}": 0.9 for name in ("lasting", "fading") for key in
           ("angle_ratio", "rate_ratio", "error_nm")},
        **{f"{name}_{key}": 2.0 for name in ("error_ekf", "cekf") for key in
           ("four_bar_rtf", "cost_growth", "cost_over_error_ekf")},
    }  # fmt: skip

    text = observers.show(figures)

    assert "errorEKF  0.0052" in text
    assert "CEKF      -" in text
    assert "cost growth" in text
