"""Sensors of a scenario that an observer can work with, as text."""

from __future__ import annotations

SENSORS = """sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
"""
