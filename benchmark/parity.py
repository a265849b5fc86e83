"""Whether a synchronous run over DDS is the run in lock-step, to the bit: hashes of every node's inputs and outputs.

Each scenario runs once in lock-step and several times over DDS: on the machine as it is, beside four busy loops,
with each node stopped (SIGSTOP) for three seconds in turn, and, where Chromium is installed, with a browser at the
cockpit's page.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from benchmark.launches import Launched, busy, launch
from proving_ground.launching.process_list import node_processes
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario, scenario_file
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table

SCENARIOS = (str(share_file("config/benchmark/parity.yaml")), "lane_change", "low_cost_gps", "off_road", "urban")
BUSY_LOOPS = 4
STOPPED_S = 3.0
WATCHED_RATE = 2.0  # times real time of a run with a browser: else short ones end before it has opened the page
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
BROWSER_OPTIONS = (
    "--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
)  # fmt: skip

Hashes = Mapping[str, Mapping[str, str]]


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Number of scenarios whose run is the same, for each of WAYS; runs: how many were made."""
    figures = {**dict.fromkeys(WAYS, 0.0), "runs": 0.0}
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
    rows = [[name, f"{figures[name]:.0f} of {len(SCENARIOS)}"] for name in figures if name != "runs"]
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
    stops = _Stops()
    words = ("rate:=1", "record:=false")
    launched = launch(name, *words, seconds=seconds, meanwhile=stops.follow, on_line=stops.on_line)
    stops.check()
    return launched


class _Stops:
    """Stops every node of a launch for a while, one after the other, from the moment when time runs."""

    def __init__(self) -> None:
        self._launched: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._stopped: list[str] = []
        self._nodes: list[str] = []

    def follow(self, launched: subprocess.Popen[str]) -> None:
        """Stop the nodes of this launch."""
        self._launched = launched

    def on_line(self, line: str) -> None:
        """Read the launch's output."""
        if "time runs" in line and self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def check(self) -> None:
        """Raises SettingsError unless every node was stopped before the run was over."""
        if self._thread is not None:
            self._thread.join()
        if not self._nodes or self._stopped != self._nodes:
            raise SettingsError(f"bench parity: only {self._stopped} of {self._nodes} were stopped during the run")

    def _run(self) -> None:
        assert self._launched is not None
        nodes = node_processes(self._launched.pid)
        self._nodes = list(nodes)
        for name, process in nodes.items():
            with contextlib.suppress(ProcessLookupError):  # the run is over
                os.kill(process, signal.SIGSTOP)
                time.sleep(STOPPED_S)
                os.kill(process, signal.SIGCONT)
                self._stopped.append(name)


def _with_browser(name: str, seconds: float) -> Launched:
    with _browser() as on_line:
        words = (f"rate:={WATCHED_RATE}", "record:=false", "cockpit:=true")
        return launch(name, *words, seconds=seconds, on_line=on_line)


@contextlib.contextmanager
def _browser() -> Iterator[Callable[[str], None]]:
    """Reads the launch's output: opens the cockpit's page, and raises SettingsError if it was never attached."""
    assert BROWSER is not None
    opened: list[subprocess.Popen[bytes]] = []
    seen: list[str] = []

    def on_line(line: str) -> None:
        seen.append(line)
        if (address := re.search(r"cockpit: open (http://\S+)", line)) is not None:
            command = [BROWSER, *BROWSER_OPTIONS, f"--user-data-dir={folder}", "--remote-debugging-port=0", address[1]]
            opened.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            yield on_line
        finally:
            for process in opened:
                process.terminate()
                process.wait()
    if not any("browser(s) attached" in line for line in seen):
        raise SettingsError("bench parity: the browser did not open the cockpit's page before the run was over")


WAYS: Mapping[str, Callable[[str, float], Launched]] = {
    "equal": _alone,
    "equal_under_load": _under_load,
    "equal_with_stops": _with_stops,
    **({"equal_with_browser": _with_browser} if BROWSER is not None else {}),
}
