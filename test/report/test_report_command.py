"""`proving-ground report`: of one run, of a bag, of a run of `ros2 launch`, and the list of runs."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proving_ground.cli import report
from proving_ground.report.run_record import REPORT, load_run, save_run
from proving_ground.settings import SettingsError
from some_records import small


def command(*arguments: str) -> int:
    """`proving-ground report` without the rest of the command line."""
    parser = argparse.ArgumentParser()
    report.add_parser(parser.add_subparsers())
    options = parser.parse_args(["report", *arguments])
    status: int = options.run(options)
    return status


def test_one_run_gets_its_report_again(drive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (drive / REPORT).unlink()

    assert command(str(drive)) == 0

    assert (drive / REPORT).is_file()
    assert str(drive / REPORT) in capsys.readouterr().out


def test_a_bag_gets_a_report_beside(
    drive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert command(str(drive.parent / "bag")) == 0

    assert (tmp_path / "bag_report.html").is_file()
    assert "not judged" in capsys.readouterr().out


def test_a_bag_is_read_with_the_given_vehicle(drive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bag, pages = str(drive.parent / "bag"), []

    for vehicle in ("hmmwv", "hmmwv", "hmmwv_chrono"):
        assert command(bag, "--vehicle", vehicle, "--out", "page.html") == 0
        pages.append(Path("page.html").read_text())

    assert pages[0] == pages[1] != pages[2]  # springs and centre of mass differ
    with pytest.raises(SettingsError, match="vehicle hmwv: unknown; did you mean hmmwv"):
        command(bag, "--vehicle", "hmwv")


def test_a_damaged_bag_gets_a_report_and_status_1(
    drive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(drive.parent / "bag", tmp_path / "cut")
    (tmp_path / "cut/metadata.yaml").unlink()

    assert command("cut") == 1
    assert "note  " in capsys.readouterr().out
    assert (tmp_path / "cut_report.html").is_file()

    assert command("cut", str(drive)) == 1
    assert "metadata.yaml: is missing" in capsys.readouterr().out


@pytest.mark.parametrize("known_by", ["scenario.yaml", "--scenario", "the folder's name"])
def test_a_run_of_ros2_launch_gets_its_verdict_and_its_report(
    drive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], known_by: str
) -> None:
    """Its folder has bag and timing, but no verdict."""
    name, words = "drive_ros", []
    if known_by == "--scenario":
        name, words = "elsewhere", ["--scenario", str(drive.parent / "drive.yaml")]
    elif known_by == "the folder's name":
        name = "parked_ros"
    folder = tmp_path / name
    shutil.copytree(drive.parent / "bag", folder / "bag")
    (folder / "timing.json").write_text('{"wall_s": 4.0, "real_time_factor": 1.0, "simulated_s": 4.0}')
    if known_by == "scenario.yaml":
        shutil.copy(drive.parent / "drive.yaml", folder / "scenario.yaml")

    assert command(str(folder), *words) == 1  # neither scenario is met by this drive

    expected = name.removesuffix("_ros") if name != "elsewhere" else "drive"
    assert capsys.readouterr().out.splitlines()[-1] == f"{expected}: FAILED"
    assert load_run(folder).passed is False
    assert (folder / REPORT).is_file()
    assert command(str(folder)) == 0  # judged already: the page alone


def test_a_run_without_a_bag_cannot_be_judged_again(drive: Path) -> None:
    with pytest.raises(SettingsError, match="has no bag to judge"):
        command(str(drive), "--scenario", "parked")


def test_without_arguments_runs_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command() == 0
    assert "no runs" in capsys.readouterr().out
    for name, passed in (("good", True), ("bad", False), ("odd", None)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        save_run(tmp_path / "runs" / name, small("scene", passed=passed))
    (tmp_path / "runs/foreign").mkdir()
    (tmp_path / "runs/foreign/metrics.json").write_text("{}")

    assert command() == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [
        ["runs/bad", "FAILED"],
        ["runs/good", "passed"],
        ["runs/odd", "not"],
    ]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: None, "No such file"),
        (lambda folder: folder.mkdir(), "neither a run"),
        (lambda folder: folder.write_text("x"), "no messages"),
    ],
)
def test_a_folder_that_is_not_a_run_is_reported_in_one_line(
    tmp_path: Path, make: Callable[[Path], Any], words: str
) -> None:
    make(tmp_path / "thing")

    with pytest.raises(SettingsError, match=words) as caught:
        command(str(tmp_path / "thing"))

    assert "\n" not in str(caught.value)
