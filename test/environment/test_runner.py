"""Commands of a step: their output is kept, failures are reported, and none outlives an interruption."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from environment.errors import CommandError, SetupError, explain_pip, report
from environment.runner import Runner


def print_and_fail(*lines: str) -> list[str]:
    return [sys.executable, "-c", f"print({chr(10).join(lines)!r}); raise SystemExit(1)"]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path, tmp_path / "step.log", os.environ)


def explain(runner: Runner, *lines: str) -> SetupError:
    with pytest.raises(CommandError) as caught:
        runner.run(print_and_fail(*lines))
    return explain_pip(caught.value)


def test_output_of_all_commands_is_kept_in_the_log(runner: Runner) -> None:
    runner.run([sys.executable, "-c", "print('first')"])
    runner.run([sys.executable, "-c", "import sys; print('second', file=sys.stderr)"])

    assert [line for line in runner.log.read_text().splitlines() if not line.startswith("$")] == [
        "first",
        "second",
    ]


def test_cause_is_pips_own_last_error_line(runner: Runner) -> None:
    failure = explain(runner, "Collecting x", "ERROR: Could not find x", "ERROR: No x for you", "[notice] hello")
    assert failure.cause == "ERROR: No x for you"
    assert "resumes at this step" in failure.remedy


def test_missing_network_is_named_as_such(runner: Runner) -> None:
    failure = explain(runner, "WARNING: Retrying ... NewConnectionError(...)", "ERROR: No matching distribution")
    assert failure.cause == "pip cannot reach its package index: ERROR: No matching distribution"
    assert "network" in failure.remedy


def test_error_of_an_earlier_command_is_not_blamed(runner: Runner) -> None:
    with pytest.raises(CommandError):
        runner.run(print_and_fail("ERROR: old news"))

    assert explain(runner, "plain last line").cause == "plain last line"


def test_silent_failure_still_has_a_cause(runner: Runner) -> None:
    with pytest.raises(CommandError) as caught:
        runner.run([sys.executable, "-c", "raise SystemExit(7)"])
    assert "ended with status 7" in explain_pip(caught.value).cause


def test_report_names_thing_cause_remedy_and_shows_only_the_tail(runner: Runner) -> None:
    failure = explain(runner, *(f"line {number}" for number in range(100)), "ERROR: too bad")

    text = report("set-up failed in step 2/5.", failure)

    assert text.splitlines()[:3] == [
        "set-up failed in step 2/5.",
        "  cause:  ERROR: too bad",
        "  remedy: fix the cause and run the same command again; it resumes at this step",
    ]
    assert "line 99" in text
    assert "line 50" not in text
    assert str(runner.log) in text


def test_interruption_stops_the_child_and_what_it_started(tmp_path: Path) -> None:
    def interrupt() -> None:
        if (tmp_path / "started").exists():
            raise KeyboardInterrupt

    grandchild = f"import pathlib, time; pathlib.Path({str(tmp_path / 'started')!r}).touch(); time.sleep(60)"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}])"
    runner = Runner(tmp_path, tmp_path / "step.log", os.environ, on_tick=interrupt)

    with pytest.raises(KeyboardInterrupt):
        runner.run([sys.executable, "-c", child])

    deadline = time.monotonic() + 5.0
    while is_running(str(tmp_path / "started")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(str(tmp_path / "started"))


def is_running(mark: str) -> bool:
    """Whether a process has mark in its command line."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in entry.read_text(errors="replace"):
                return True
        except OSError:  # ended meanwhile
            continue
    return False
