"""A scenario with sensors and an observer, and a record of standing still, for tests of reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.report.run_record import RunRecord
from proving_ground.scenarios.channels import CHANNELS

DRIVE = """version: 1
description: a drive with sensors
world:
  named: {name: flat}
start: {x_m: 20.0, y_m: 20.0, speed_mps: 5.0}
driver:
  sine_steer: {}
duration_s: 4.0
seed: 3
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
faults:
  - {sensor: gps, kind: outage, start_s: 1.0, length_s: 1.5}
observer: {kind: vehicle}
criteria:
  - {channel: speed_mps, statistic: minimum, at_least: 1.0}
  - {channel: x_m, statistic: end, at_least: 1000.0}
"""


def small(name: str = "small", **more: Any) -> RunRecord:
    """A second of standing still."""
    time = np.linspace(0.0, 1.0, 11)
    channels = {key: np.zeros(11) for key in CHANNELS} | {"time_s": time, "x_m": time}
    return RunRecord(**{"name": name, "channels": channels, "passed": True, **more})
