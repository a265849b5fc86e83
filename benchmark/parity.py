"""Whether a synchronous run over DDS is the run in lock-step, to the bit: hashes of every node's inputs and outputs.

Each scenario runs once in lock-step and three times over DDS: on the machine as it is, beside four busy loops, and
with each node stopped (SIGSTOP) for three seconds in turn.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmark.launches import Launched, busy, launch
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario, scenario_file
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table

SCENARIOS = (str(share_file("config/benchmark/parity.yaml")), "lane_change", "low_cost_gps", "off_road", "urban")
BUSY_LOOPS = 4
STOPPED_S = 3.0
FIRST_STOP_S = 20.0  # wall time after which the first node is stopped; earlier it only starts later

Hashes = Mapping[str, Mapping[str, str]]


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Number of scenarios whose run is the same, for each of WAYS; runs: how many were made."""
    figures = {"equal": 0.0, "equal_under_load": 0.0, "equal_with_stops": 0.0, "runs": 0.0}
    for name in SCENARIOS:
        say(f"{name} in lock-step")
        expected, seconds = lock_step_hashes(name)
        for figure, launched in WAYS.items():
            say(f"{name} over DDS: {figure}")
            figures["runs"] += 1.0
            different = differences(expected, launched(name, seconds).hashes)
            figures[figure] += not different
            if different:
                say(f"  differs: {', '.join(different)}")
    return figures


def show(figures: Mapping[str, float]) -> str:
    """The figures as a table."""
    rows = [[name, f"{figures[name]:.0f} of {len(SCENARIOS)}"] for name in WAYS]
    return text_table(["scenarios whose run over DDS equals lock-step to the bit", ""], rows)


def lock_step_hashes(scenario: str) -> tuple[Hashes, float]:
    """Hashes by part, and the duration of the run [s]."""
    runner = LockStep(load_scenario(scenario_file(scenario)))
    digests = runner.hashed()
    result = runner.run()
    runner.finish_instant()
    return {name: digest.texts() for name, digest in digests.items()}, float(result.time[-1])


def differences(expected: Hashes, found: Hashes) -> list[str]:
    """Names of the differing hashes, as NODE KIND."""
    return [
        f"{node} {kind}"
        for node, hashes in sorted(expected.items())
        for kind, value in hashes.items()
        if found.get(node, {}).get(kind) != value
    ]


def _alone(name: str, seconds: float) -> Launched:
    return launch(name, "rate:=0", "record:=false", seconds=seconds)


def _under_load(name: str, seconds: float) -> Launched:
    with busy(BUSY_LOOPS):
        return _alone(name, seconds)


def _with_stops(name: str, seconds: float) -> Launched:
    return launch(name, "rate:=0", "record:=false", seconds=seconds, meanwhile=_stop_each)


def _stop_each(launched: subprocess.Popen[str]) -> None:
    """Stop every node for a while, one after the other, from another thread."""

    def stop() -> None:
        begun = time.monotonic()
        while launched.poll() is None and time.monotonic() - begun < FIRST_STOP_S:
            time.sleep(0.1)
        for child in _children(launched.pid):
            if launched.poll() is None:
                _pause(child)

    threading.Thread(target=stop, daemon=True).start()


def _pause(process: int) -> None:
    try:
        os.kill(process, signal.SIGSTOP)
        time.sleep(STOPPED_S)
        os.kill(process, signal.SIGCONT)
    except ProcessLookupError:  # it has ended
        pass


def _children(process: int) -> list[int]:
    """Processes that a process has started."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(word) for word in text.split()]


WAYS: Mapping[str, Callable[[str, float], Launched]] = {
    "equal": _alone,
    "equal_under_load": _under_load,
    "equal_with_stops": _with_stops,
}
