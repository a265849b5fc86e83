"""A scenario that is run in lock-step and recorded, for tests of bags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from proving_ground.recording.recording import Recording
from proving_ground.recording.writing import BagWriter
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario


def record(
    file: Path,
    text: str,
    *,
    on_sample: Callable[[str, Any], None] | None = None,
) -> Path:
    """Write the scenario's file and run it; returns the bag beside it. on_sample: called with each sample."""
    file.write_text(text)
    scenario = load_scenario(file)
    with BagWriter(file.parent / "bag") as writer:
        recording = Recording(writer)

        def listen(name: str, sample: Any) -> None:
            if on_sample is not None:
                on_sample(name, sample)
            recording.sample(name, sample)

        runner = LockStep(scenario, listener=listen)
        recording.watch(runner, scenario.start.time_ns())
        runner.run()
        recording.finish()
    return file.parent / "bag"
