"""The command as a user meets it: one line when all is done, exit status, no traceback, one at a time."""

from __future__ import annotations

import ast
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from environment import command_line
from environment.errors import SetupError
from environment.plan import Plan
from environment.runner import Runner
from environment.steps import Step
from environment.virtual_env import STEP_NAME

REPOSITORY = Path(__file__).resolve().parents[2]
SetUp = Callable[..., int]


@pytest.fixture
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetUp:
    """Runs the command in an empty repository where making .venv takes no time and the next step is given."""
    (tmp_path / "environment").mkdir()
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    monkeypatch.setattr(command_line, "_switch_interpreter", lambda options, venv: None)
    monkeypatch.setattr(command_line, "check_origin", lambda origin: None)
    monkeypatch.setattr("signal.signal", lambda number, handler: None)

    def create(runner: Runner) -> None:
        python = tmp_path / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()
        (tmp_path / ".venv" / ".proving_ground").mkdir(exist_ok=True)

    def run(action: Callable[[Runner], None] = lambda runner: None) -> int:
        def steps(plan: Plan) -> list[Step]:
            return [Step(STEP_NAME, "virtual environment", 5, create, plan.facts), Step("pip", "pip", 45, action)]

        monkeypatch.setattr(Plan, "steps", steps)
        return command_line.main([])

    return run


def test_first_use_shows_each_step_and_second_use_one_line(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    assert set_up() == 0
    first = capsys.readouterr().out
    assert "[1/2] virtual environment (about 5 s) ..." in first
    assert "[2/2] pip (about 45 s) ..." in first

    assert set_up() == 0
    second = capsys.readouterr().out
    assert second.startswith(".venv is up to date")
    assert second.count("\n") == 1


def test_failing_step_names_itself_cause_and_remedy(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    def reject(runner: Runner) -> None:
        raise SetupError("no compiler", "sudo apt install g++")

    assert set_up(reject) == 1
    assert capsys.readouterr().err.splitlines() == [
        'proving_ground set-up failed in step 2/2 "pip".',
        "  cause:  no compiler",
        "  remedy: sudo apt install g++",
    ]


def test_interruption_is_one_line_and_the_next_use_resumes(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(runner: Runner) -> None:
        raise KeyboardInterrupt

    assert set_up(interrupt) == 130
    assert capsys.readouterr().err == "Set-up interrupted; the same command resumes where it stopped.\n"

    assert set_up() == 0
    assert "[1/2]" not in capsys.readouterr().out


def test_second_set_up_waits_for_the_first(set_up: SetUp, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = os.open(tmp_path / "environment", os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    second = threading.Thread(target=set_up)
    second.start()
    output = ""
    deadline = time.monotonic() + 10.0
    while "waiting" not in output and time.monotonic() < deadline:
        time.sleep(0.01)
        output += capsys.readouterr().out
    assert not (tmp_path / ".venv").exists()

    os.close(first)
    second.join(timeout=10.0)

    assert "Another set-up is running in this folder; waiting for it" in output
    assert (tmp_path / ".venv").exists()


def test_unknown_interpreter_is_rejected_without_a_traceback() -> None:
    script = REPOSITORY / "environment" / "bootstrap.py"
    result = subprocess.run(
        [sys.executable, script, "--python", "python9.9"], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 1
    assert "there is no interpreter python9.9" in result.stderr
    assert "Traceback" not in result.stderr


def test_entry_point_parses_on_old_pythons() -> None:
    source = (REPOSITORY / "environment" / "bootstrap.py").read_text()
    ast.parse(source, feature_version=(3, 6))
    assert "from __future__" not in source  # annotations came with 3.7, but older parsers accept it
