"""The folder of a launch: results of the previous run are replaced, other files are kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from proving_ground.launching.launch_folder import (
    ASIDE,
    CLAIM,
    RESULTS,
    claimed,
    set_aside,
    settle,
    settle_when_time_runs,
)
from proving_ground.launching.ros_run import run_over_ros
from proving_ground.scenarios.refereeing import TIMING
from proving_ground.settings import SettingsError

SCENARIO = """
version: 1
description: a test
world: {flat: {}}
driver: {straight: {}}
duration_s: 1.0
"""
WITH_REFERENCE = """
reference: kept/reference.csv
criteria: [{channel: x_m, statistic: reference_rms, at_most: 1.0}]
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with the results of a launch."""
    folder = tmp_path / "run"
    with claimed(folder):
        _record(folder, "old", time_runs=True)
        for name in RESULTS:
            (folder / name).write_text("old")
    return folder


def _record(folder: Path, words: str, *, time_runs: bool) -> None:
    (folder / "bag").mkdir()
    (folder / "bag/bag_0.mcap").write_text(words)
    if time_runs:
        (folder / TIMING).write_text(words)


def _texts(folder: Path) -> dict[str, str]:
    return {str(item.relative_to(folder)): item.read_text() for item in folder.rglob("*") if item.is_file()}


@pytest.mark.parametrize("name", ["scenario.yaml", "own.yaml"])
def test_a_scenario_is_not_run_into_its_own_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_text(SCENARIO)
    (tmp_path / CLAIM).touch()  # of an earlier launch
    before = _texts(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=f"out: . is the folder of {name}"):
        run_over_ros(f"./{name}", {"out": "."}, False)
    assert _texts(tmp_path) == before


def test_a_scenario_is_not_run_into_the_folder_of_its_reference(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/reference.csv").write_text("time_s,x_m\n0,0\n1,0\n")
    (tmp_path / "kept" / CLAIM).touch()
    (tmp_path / "own.yaml").write_text(SCENARIO + WITH_REFERENCE)
    with pytest.raises(SettingsError, match=r"is the folder of reference\.csv"):
        run_over_ros(str(tmp_path / "own.yaml"), {"out": str(tmp_path / "kept")}, False)
    assert (tmp_path / "kept/reference.csv").exists()


@pytest.mark.parametrize("name", [*RESULTS, TIMING, "bag/bag_0.mcap"])
def test_files_where_no_launch_was_before_are_rejected_and_stay(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(SettingsError, match="was not written by a launch; move it"), claimed(tmp_path):
        pass
    assert _texts(tmp_path) == {name: "mine"}


def test_a_users_bag_beside_those_of_launches_is_rejected_and_stays(run: Path) -> None:
    (run / "bag_7").mkdir()
    (run / "bag_7/bag_7_0.mcap").write_text("mine")
    before = _texts(run)
    with pytest.raises(SettingsError, match="bag_7: was not written by a launch"), claimed(run):
        pass
    assert _texts(run) == before


def test_results_are_set_aside_and_gone_when_time_ran(run: Path) -> None:
    (run / "notes.txt").write_text("mine")
    with claimed(run):
        assert set_aside(run)
        _record(run, "new", time_runs=True)
        assert settle(run)
    assert _texts(run) == {CLAIM: "", "notes.txt": "mine", "bag/bag_0.mcap": "new", TIMING: "new"}


def test_results_come_back_when_time_never_ran(run: Path) -> None:
    before = _texts(run)
    with claimed(run):
        assert set_aside(run)
        _record(run, "new", time_runs=False)
        assert not settle(run)
    assert _texts(run) == before


def test_results_come_back_after_a_launch_that_was_killed_before_time_ran(run: Path) -> None:
    before = _texts(run)
    set_aside(run)
    _record(run, "new", time_runs=False)  # and no more
    set_aside(run)  # by the next one
    assert not settle(run)
    assert _texts(run) == before


def test_a_bag_without_a_run_is_kept_where_there_was_nothing_before(tmp_path: Path) -> None:
    with claimed(tmp_path):
        assert not set_aside(tmp_path)
        _record(tmp_path, "new", time_runs=False)
        assert not settle(tmp_path)
    assert (tmp_path / "bag/bag_0.mcap").exists()  # it may show why


def test_results_go_away_as_soon_as_time_runs(run: Path) -> None:
    set_aside(run)
    (run / TIMING).write_text("new")
    asyncio.run(settle_when_time_runs(run))
    assert not (run / ASIDE).exists()
