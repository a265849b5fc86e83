"""Scenarios made for a test, in a folder of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PLAIN = """version: 1
description: a test
world:
  flat: {friction: 0.8}
driver:
  straight: {speed_mps: 5.0}
duration_s: 1.0
"""


@pytest.fixture
def scenario_text() -> str:
    """A scenario that is valid."""
    return PLAIN


@pytest.fixture
def write_scenario(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a scenario file."""

    def write(text: str) -> Path:
        path = tmp_path / "made.yaml"
        path.write_text(text)
        return path

    return write
