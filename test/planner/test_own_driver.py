"""A kind of driver from another package: one file, one scenario and one line of its metadata."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DRIVER = '''"""A driver that holds the steering wheel at an angle and creeps."""

from dataclasses import dataclass

from planner.kinds import DriverKind
from proving_ground.settings import setting
from vehicle_dynamics.pedals import Pedals


@dataclass(frozen=True, kw_only=True)
class Creep:
    """Throttle and steering that stay as they are."""

    throttle: float = setting(0.2, "Throttle position", minimum=0.0, maximum=1.0)
    steering: float = setting(0.5, "Steering wheel position", minimum=-1.0, maximum=1.0)

    def act(self, helm, origin, time, seen):
        return Pedals(self.steering, self.throttle)


KIND = DriverKind("creep", Creep)
'''
SCENARIO = """version: 1
description: a driver of another package
world: {flat: {}}
driver: {creep: {throttle: %s}}
duration_s: 10.0
criteria:
  - {channel: yaw_rate_radps, statistic: maximum, at_least: 0.02}
  - {channel: speed_mps, statistic: maximum, at_least: 0.5}
"""


def _run(folder: Path, throttle: str) -> subprocess.CompletedProcess[str]:
    (folder / "creep.py").write_text(DRIVER)
    info = folder / "creep-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: creep\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[proving_ground.drivers]\ncreep = creep:KIND\n")
    (folder / "own.yaml").write_text(SCENARIO % throttle)
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, "-m", "proving_ground", "run", "./own.yaml", "--no-pictures"],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_a_driver_of_another_package_drives_a_scenario(tmp_path: Path) -> None:
    result = _run(tmp_path, "0.3")

    assert result.returncode == 0, result.stdout + result.stderr
    assert "PASSED" in result.stdout


def test_settings_of_a_driver_of_another_package_are_checked_like_ours(tmp_path: Path) -> None:
    result = _run(tmp_path, "3.0")

    assert result.returncode == 2
    assert "throttle: must be a number from 0 to 1, got 3.0" in result.stderr
