"""Tiny campaigns for tests, of a kinematic vehicle for a second or two, and functions that run them."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from proving_ground.campaigns.store import load_results
from proving_ground.cli.campaign import add_parser
from proving_ground.settings import SettingsError

RUNS = 12
LONG_RUNS = 8  # of disturbed campaigns: a killed worker, and two interruptions
BASE = """version: 1
description: a test
world:
  flat: {friction: 0.8}
vehicle: {fidelity: single_track}
start: {speed_mps: 4.0}
driver:
  straight: {speed_mps: 5.0}
duration_s: 2.0
criteria:
  - {channel: speed_mps, statistic: end, at_least: 3.5}
"""
CAMPAIGN = f"""version: 1
description: <script>alert(1)</script>
base: base.yaml
runs: {RUNS}
seed: 7
sampling: random
vary:
  - {{key: driver.straight.speed_mps, name: speed, uniform: {{low: 2.0, high: 6.0}}}}
  - {{key: start.heading_deg, name: heading, normal: {{mean: 0.0, std: 20.0}}}}
metrics:
  - {{figure: distance_m, worse: low}}
  - {{channel: x_m, statistic: end}}
"""


def command(*words: str) -> int:
    """`proving-ground campaign`, in this process."""
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    options = parser.parse_args(["campaign", *words])
    status: int = options.run(options)
    return status


def in_process_of_its_own(*words: str) -> subprocess.Popen[str]:
    """The same in another process, which can be interrupted."""
    text = (
        "import argparse, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # else ignored where tests run in the background
        "from proving_ground.cli.campaign import add_parser\n"
        "parser = argparse.ArgumentParser()\n"
        "add_parser(parser.add_subparsers())\n"
        "options = parser.parse_args(sys.argv[1:])\n"
        "sys.exit(options.run(options))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", text, "campaign", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for(
    happens: Callable[[], object], process: subprocess.Popen[str] | None = None, longest_s: float = 120.0
) -> None:
    end = time.monotonic() + longest_s
    while not happens():
        assert time.monotonic() < end, "it never happened"
        if process is not None and process.poll() is not None:
            return
        time.sleep(0.02)


def kept(folder: Path) -> int:
    try:
        return len(load_results(folder))
    except (SettingsError, FileNotFoundError):
        return 0
