"""A recorded run of a vehicle with an observer, shared by the tests of reports; none leaves its files changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from proving_ground.cli.main import main
from proving_ground.report.page import run_page
from proving_ground.report.run_record import RunRecord, load_run
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.scenario import load_scenario
from some_records import DRIVE


@pytest.fixture(scope="session")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a run with an observer; beside it its scenario `drive.yaml` and its bag."""
    folder = tmp_path_factory.mktemp("drive")
    (folder / "drive.yaml").write_text(DRIVE)
    assert main(["run", str(folder / "drive.yaml"), "--out", str(folder / "run"), "--bag", str(folder / "bag")]) == 1
    return folder / "run"


@pytest.fixture(scope="session")
def record(drive: Path) -> RunRecord:
    """Record of that run."""
    return load_run(drive)


@pytest.fixture(scope="session")
def html(record: RunRecord) -> str:
    """HTML text of the report."""
    return run_page(record)


@pytest.fixture(scope="session")
def unwatched(drive: Path) -> Run:
    """The same run once more, without output."""
    return LockStep(load_scenario(drive.parent / "drive.yaml")).run()
