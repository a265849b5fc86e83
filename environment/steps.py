"""Named set-up steps with stamps: a step runs when its inputs differ from those of its last success."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from environment.errors import SetupError
from environment.runner import Runner


def _always() -> bool:
    return True


def _no_check(runner: Runner) -> None:
    pass


@dataclass(frozen=True)
class Step:
    """One thing to be done once per set of inputs (facts and file contents)."""

    name: str  # of its stamp and log files
    title: str  # shown to the user
    estimate_s: int  # on a plain laptop with a good connection
    action: Callable[[Runner], None]
    facts: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[Path] = ()
    check: Callable[[Runner], None] = _no_check  # may reject, before the last stamp is discarded
    is_in_place: Callable[[], bool] = _always  # a cheap check of the result, for what a stamp cannot know

    def fingerprint(self) -> str:
        """Hash over all inputs; a missing file counts as an input too."""
        digest = hashlib.sha256(json.dumps(dict(self.facts), sort_keys=True).encode())
        for path in self.files:
            content = path.read_bytes() if path.is_file() else b"(missing)"
            digest.update(f"\0{path.name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()


class Stamps:
    """Last success of each step, in one small JSON file per step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def is_current(self, step: Step) -> bool:
        stamp = self.read(step.name)
        return stamp.get("fingerprint") == step.fingerprint() and step.is_in_place()

    def read(self, name: str) -> dict[str, object]:
        """The stamp of a step; empty if there is none or it cannot be read."""
        try:
            content = json.loads(self._path(name).read_text())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def forget(self, step: Step) -> None:
        self._path(step.name).unlink(missing_ok=True)

    def write(self, step: Step, fingerprint: str) -> None:
        """Record a step's success; atomic: a reader or a power cut sees the old stamp or the new one."""
        path = self._path(step.name)
        temporary = path.with_suffix(".tmp")
        content = {"fingerprint": fingerprint, "facts": dict(step.facts)}
        with temporary.open("w") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.stamp"


class StepError(Exception):
    """Names the step that failed; `failure` has cause and remedy."""

    def __init__(self, step: str, error: SetupError | OSError) -> None:
        super().__init__(step)
        advice = "check disk space and permissions, then run the same command again"
        self.failure = error if isinstance(error, SetupError) else SetupError(str(error), advice)


class Display(Protocol):
    """Shows the progress of steps."""

    def started(self, number: int, total: int, step: Step) -> None: ...

    def waiting(self) -> None: ...

    def finished(self) -> None: ...


def run_steps(steps: Sequence[Step], stamps: Stamps, display: Display, runner: Callable[[Step], Runner]) -> int:
    """Run the steps that are not current, in order; returns how many ran. Stops at the first that fails."""
    count = 0
    for number, step in enumerate(steps, start=1):
        if stamps.is_current(step):
            continue
        # Computed before the action: later edits belong to the next run.
        fingerprint = step.fingerprint()
        display.started(number, len(steps), step)
        commands = runner(step)
        try:
            step.check(commands)
            stamps.forget(step)
            step.action(commands)
            stamps.write(step, fingerprint)
        except (SetupError, OSError) as error:
            raise StepError(f'step {number}/{len(steps)} "{step.title}"', error) from error
        display.finished()
        count += 1
    return count
