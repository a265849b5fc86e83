"""A kind of observer from another package: two files and one line of its metadata."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

OBSERVER = '''"""A strapdown INS without wheels."""

from dataclasses import dataclass
from pathlib import Path

from state_observer.kinds import ObserverKind
from state_observer.vehicle.observer import InsObserver
from state_observer.vehicle.settings import InsSettings


@dataclass(frozen=True, kw_only=True)
class BlindSettings(InsSettings):
    """Settings without wheels."""


KIND = ObserverKind(
    name="blind",
    description="INS without wheels",
    settings=BlindSettings,
    file=str(Path(__file__).parent / "blind.yaml"),
    make=lambda settings, ground: InsObserver(settings),
    uses_actuation=False,
)
'''
SETTINGS = "wheel_radius_m: 0.465\nuses_wheels: false\n"
SCENARIO = """version: 1
description: blind
world: {flat: {}}
driver: {straight: {speed_mps: 5.0}}
duration_s: 10.0
sensors: [{imu: {}}, {gps: {preset: rtk}}, {encoders: {}}]
observer: {kind: blind}
criteria:
  - {channel: estimate_error_m, statistic: rms, at_most: 1.0}
"""


def test_an_observer_of_another_package_estimates_in_a_scenario(tmp_path: Path) -> None:
    (tmp_path / "blind").mkdir()
    (tmp_path / "blind/__init__.py").write_text(OBSERVER)
    (tmp_path / "blind/blind.yaml").write_text(SETTINGS)
    info = tmp_path / "blind-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: blind\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[proving_ground.observers]\nblind = blind:KIND\n")
    (tmp_path / "own.yaml").write_text(SCENARIO)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])

    result = subprocess.run(
        [sys.executable, "-m", "proving_ground", "run", "./own.yaml", "--no-pictures"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip

    assert result.returncode == 0, result.stdout + result.stderr
    assert "PASSED" in result.stdout
