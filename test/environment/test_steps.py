"""Stamps decide what runs: unchanged inputs do nothing, failures and interruptions are resumed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from environment.errors import SetupError
from environment.runner import Runner
from environment.steps import Stamps, Step, StepError, run_steps


class SilentDisplay:
    def started(self, number: int, total: int, step: Step) -> None: ...

    def waiting(self) -> None: ...

    def finished(self) -> None: ...


class Workshop:
    """Runs recording steps against a separate stamp folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stamps = Stamps(folder)
        self.done: list[str] = []

    def step(self, name: str, **changes: object) -> Step:
        plain = Step(name, name, 1, action=lambda runner: self.done.append(name))
        return replace(plain, **changes)  # type: ignore[arg-type]

    def run(self, *steps: Step) -> list[str]:
        """Names of the steps that ran this time."""
        self.done.clear()
        runner = Runner(self.folder, self.folder / "log", os.environ)
        run_steps(steps, self.stamps, SilentDisplay(), lambda step: runner)
        return list(self.done)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def reject(runner: Runner) -> None:
    raise SetupError("no compiler", "sudo apt install g++")


def interrupt(runner: Runner) -> None:
    raise KeyboardInterrupt


def test_step_with_unchanged_inputs_runs_once(workshop: Workshop) -> None:
    assert workshop.run(workshop.step("one")) == ["one"]
    assert workshop.run(workshop.step("one")) == []


def test_changed_file_makes_its_step_run_again_and_no_other(workshop: Workshop, tmp_path: Path) -> None:
    pins = tmp_path / "requirements.txt"
    pins.write_text("numpy==2.2.6")
    steps = [workshop.step("one"), workshop.step("two", files=[pins])]
    workshop.run(*steps)

    pins.write_text("numpy==2.4.6")

    assert workshop.run(*steps) == ["two"]


def test_file_that_appears_or_vanishes_is_a_change(workshop: Workshop, tmp_path: Path) -> None:
    step = workshop.step("one", files=[tmp_path / "setup.cfg"])
    workshop.run(step)

    (tmp_path / "setup.cfg").touch()
    assert workshop.run(step) == ["one"]

    (tmp_path / "setup.cfg").unlink()
    assert workshop.run(step) == ["one"]


def test_changed_fact_makes_the_step_run_again(workshop: Workshop) -> None:
    workshop.run(workshop.step("one", facts={"python": "3.11"}))
    assert workshop.run(workshop.step("one", facts={"python": "3.12"})) == ["one"]


def test_step_whose_result_is_gone_runs_again(workshop: Workshop) -> None:
    workshop.run(workshop.step("one"))
    assert workshop.run(workshop.step("one", is_in_place=lambda: False)) == ["one"]


def test_failing_step_leaves_no_stamp_and_stops_the_rest(workshop: Workshop) -> None:
    with pytest.raises(StepError, match='step 2/3 "two"'):
        workshop.run(workshop.step("one"), workshop.step("two", action=reject), workshop.step("three"))

    assert workshop.run(*map(workshop.step, ["one", "two", "three"])) == ["two", "three"]


def test_step_that_worked_before_and_fails_now_does_not_count_as_done(workshop: Workshop) -> None:
    workshop.run(workshop.step("one"))

    with pytest.raises(StepError):
        workshop.run(workshop.step("one", facts={"python": "3.12"}, action=reject))

    # Back to the old inputs: what is installed is neither the old nor the new state.
    assert workshop.run(workshop.step("one")) == ["one"]


def test_step_rejected_by_its_check_keeps_the_old_success(workshop: Workshop) -> None:
    workshop.run(workshop.step("one"))

    with pytest.raises(StepError):
        workshop.run(workshop.step("one", facts={"python": "3.12"}, check=reject))

    assert workshop.run(workshop.step("one")) == []


def test_interrupted_set_up_resumes_at_the_interrupted_step(workshop: Workshop) -> None:
    with pytest.raises(KeyboardInterrupt):
        workshop.run(workshop.step("one"), workshop.step("two", action=interrupt))

    assert workshop.run(workshop.step("one"), workshop.step("two")) == ["two"]


def test_file_edited_while_its_step_runs_is_seen_next_time(workshop: Workshop, tmp_path: Path) -> None:
    pins = tmp_path / "requirements.txt"
    pins.write_text("old")
    workshop.run(workshop.step("one", files=[pins], action=lambda runner: pins.write_text("new")))

    assert workshop.run(workshop.step("one", files=[pins])) == ["one"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"fingerprint": 3}'])
def test_damaged_stamp_counts_as_missing(workshop: Workshop, content: str) -> None:
    workshop.run(workshop.step("one"))
    (workshop.folder / "one.stamp").write_text(content)

    assert workshop.run(workshop.step("one")) == ["one"]


def test_no_temporary_file_is_left_beside_a_stamp(workshop: Workshop) -> None:
    workshop.run(workshop.step("one"))
    assert [path.name for path in workshop.folder.iterdir()] == ["one.stamp"]


def test_full_disk_is_reported_as_a_failure_of_the_step(workshop: Workshop) -> None:
    def fill_disk(runner: Runner) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(StepError) as caught:
        workshop.run(workshop.step("one", action=fill_disk))

    assert "No space left on device" in caught.value.failure.cause
    assert "disk space" in caught.value.failure.remedy
