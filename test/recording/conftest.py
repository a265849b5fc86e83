"""A bag of a short drive and what `proving-ground observe` makes of it, shared by the tests of `observe`."""

from __future__ import annotations

from pathlib import Path

import pytest

from proving_ground.cli.main import main

# Stands, drives off, bends to the left and to the right, stops: 60 m. The GPS is late by 0.1 s.
SCENARIO = """version: 1
description: a short drive
world:
  flat: {friction: 0.8}
start: {x_m: 20.0, y_m: -10.0, heading_deg: 35.0}
driver:
  program:
    time_s:   [0.0, 1.0, 1.5, 6.0, 6.5, 9.0, 9.5, 12.0, 12.5, 14.0]
    steering: [0.0, 0.0, 0.0, 0.0, 0.3, 0.3, -0.25, -0.25, 0.0, 0.0]
    throttle: [0.0, 0.0, 0.3, 0.3, 0.15, 0.15, 0.2, 0.2, 0.0, 0.0]
    brake:    [0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.4]
duration_s: 14.0
seed: 3
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost, latency_s: 0.1}
  - encoders: {preset: hall_40}
"""


@pytest.fixture(scope="session")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bag of that drive."""
    folder = tmp_path_factory.mktemp("drive")
    (folder / "drive.yaml").write_text(SCENARIO)
    arguments = ["--out", str(folder / "out"), "--no-pictures", "--bag", str(folder / "drive")]
    assert main(["run", str(folder / "drive.yaml"), *arguments]) == 0
    return folder / "drive"


@pytest.fixture(scope="session")
def observed(drive: Path) -> Path:
    """Results of `observe`."""
    out = drive.parent / "observed"
    assert main(["observe", str(drive), "--out", str(out)]) == 0
    return out
