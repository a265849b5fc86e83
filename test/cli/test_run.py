"""`proving-ground run`: its files and output."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from proving_ground.cli.main import main
from proving_ground.scenarios.channels import CHANNELS
from proving_ground.settings.share import share_file

Write = Callable[[str], Path]


def test_a_run_writes_history_metrics_and_pictures(
    tmp_path: Path, write_scenario: Write, scenario_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    criterion = "criteria:\n  - {channel: speed_mps, statistic: end, at_least: 0.5}\n"
    path = write_scenario(scenario_text + criterion)

    status = main(["run", str(path), "--out", str(tmp_path / "deep" / "out")])

    assert status == 0
    printed = capsys.readouterr().out
    assert "PASSED" in printed
    out = tmp_path / "deep" / "out"
    assert f"report: {out / 'report.html'}" in printed
    written = {item.name for item in out.iterdir()}
    pictures = {"motion.png", "driving.png", "wheels.png", "path.png"}
    assert written == {"hashes.json", "history.csv", "metrics.json", "scenario.yaml", "report.html", *pictures}
    assert (out / "scenario.yaml").read_text() == path.read_text()
    assert "Passed" in (out / "report.html").read_text()
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in written if name.endswith("png"))
    with (out / "history.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == list(CHANNELS)
    assert len(rows) == 102  # a row every 10 ms, both ends included
    assert np.isfinite(np.array(rows[1:], dtype=float)).all()
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["passed"] is True
    assert metrics["criteria"][0]["value"] == pytest.approx(float(rows[-1][CHANNELS.index("speed_mps")]), rel=1e-6)


def test_a_criterion_that_is_not_met_fails_the_run(
    tmp_path: Path, write_scenario: Write, scenario_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    criterion = "criteria:\n  - {channel: speed_mps, statistic: end, at_least: 100.0}\n"
    path = write_scenario(scenario_text + criterion)

    assert main(["run", str(path), "--out", str(tmp_path / "out"), "--no-pictures"]) == 1

    assert "FAIL  end of speed_mps" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["passed"] is False


def test_without_pictures_there_is_no_report_and_with_them_it_can_be_left_out(
    tmp_path: Path, write_scenario: Write, scenario_text: str
) -> None:
    path = write_scenario(scenario_text)

    assert main(["run", str(path), "--out", str(tmp_path / "plain"), "--no-pictures"]) == 0
    assert main(["run", str(path), "--out", str(tmp_path / "drawn"), "--no-report"]) == 0

    assert {item.name for item in (tmp_path / "plain").iterdir()} == {
        "hashes.json",
        "history.csv",
        "metrics.json",
        "scenario.yaml",
    }
    assert not (tmp_path / "drawn" / "report.html").exists()
    assert (tmp_path / "drawn" / "motion.png").exists()


def test_files_of_an_earlier_run_that_this_one_does_not_write_are_removed(
    tmp_path: Path, write_scenario: Write, scenario_text: str
) -> None:
    path, out = write_scenario(scenario_text), tmp_path / "out"
    out.mkdir()
    earlier = ("report.html", "motion.png", "path.png", "last_state.checkpoint", "notes.txt")
    for name in earlier:
        (out / name).write_text("of an earlier run")

    assert main(["run", str(path), "--out", str(out), "--no-pictures"]) == 0

    assert {item.name for item in out.iterdir()} == {
        "hashes.json",
        "history.csv",
        "metrics.json",
        "scenario.yaml",
        "notes.txt",
    }
    (out / "report.html").write_text("of an earlier run")
    assert main(["run", str(path), "--out", str(out), "--no-report"]) == 0
    assert not (out / "report.html").exists()
    assert (out / "motion.png").exists()


def test_a_description_that_looks_like_a_formula_is_drawn_as_it_is(
    tmp_path: Path, write_scenario: Write, scenario_text: str
) -> None:
    path = write_scenario(scenario_text.replace("a test", r"costs $\frac{1$ or $2"))

    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 0


def test_without_a_name_all_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run"]) == 0
    assert "lane_change: Double lane change" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere"], "scenario nowhere: unknown"),
        (["run", "missing.yaml"], "missing.yaml: No such file"),
        (["run", "parked", "--out", "/dev/null/x"], "--out /dev/null/x: Not a directory"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_handling_figures_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "turning_circle", "--out", str(tmp_path), "--no-pictures"]) == 0

    figures = json.loads((tmp_path / "metrics.json").read_text())["figures"]
    # The data sheet says 7.62 m from curb to curb; our geometry turns the wheels by 28.1 instead of 30.2 degrees.
    assert figures["turning_radius_outer_front_wheel_m"] == pytest.approx(7.62, rel=0.1)
    assert figures["speed_drift_mps"] < 1e-3


def test_identified_coefficients_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["brake friction"]["found"] == pytest.approx(0.35, rel=0.02)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("mass_kg: 2086.52", "mass_kg: 900000.0"), "front_suspension.spring: carries"),
        (("upshift_rpm: [2226.0", "upshift_rpm: [226.0"), "upshift_rpm: must exceed downshift_rpm in every gear"),
    ],
)
def test_impossible_vehicle_is_reported_in_one_line(
    tmp_path: Path,
    write_scenario: Write,
    scenario_text: str,
    change: tuple[str, str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    vehicle = share_file("config/vehicles/hmmwv_chrono.yaml").read_text()
    assert change[0] in vehicle
    (tmp_path / "odd.yaml").write_text(vehicle.replace(*change))
    path = write_scenario(scenario_text + "vehicle: {model: odd.yaml}\n")

    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 2

    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_circle_that_is_too_short_for_a_gradient_has_none(
    tmp_path: Path, write_scenario: Write, scenario_text: str
) -> None:
    path = write_scenario(scenario_text.replace("straight: {speed_mps: 5.0}", "circle: {}"))

    assert main(["run", str(path), "--out", str(tmp_path / "out"), "--no-pictures"]) == 0

    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["figures"] == {}
