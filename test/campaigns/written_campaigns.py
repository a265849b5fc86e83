"""A campaign file with its base, written for a test."""

from __future__ import annotations

from pathlib import Path

BASE = """version: 1
description: a test
world:
  flat: {friction: 0.8}
vehicle: {fidelity: single_track}
driver:
  straight: {speed_mps: 5.0}
duration_s: 1.0
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
"""
CAMPAIGN = """version: 1
description: a test
base: base.yaml
runs: 64
seed: 3
sampling: SAMPLING
vary:
  - {key: world.flat.friction, uniform: {low: 0.3, high: 0.9}}
  - {key: driver.straight.speed_mps, name: speed, uniform: {low: 2.0, high: 6.0}}
metrics:
  - {channel: speed_mps, statistic: end}
"""


def write(folder: Path, campaign: str = CAMPAIGN, base: str = BASE, sampling: str = "random") -> Path:
    (folder / "base.yaml").write_text(base)
    path = folder / "made.yaml"
    path.write_text(campaign.replace("SAMPLING", sampling))
    return path
