"""A campaign made for a test, in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from some_campaigns import BASE, CAMPAIGN, LONG_RUNS, RUNS, command


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the campaign."""
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "base.yaml").write_text(BASE)
    (folder / "made.yaml").write_text(CAMPAIGN)
    return folder


@pytest.fixture(scope="module")
def whole(files: Path) -> Path:
    """A folder with its results, from one undisturbed worker."""
    assert command("run", str(files / "made.yaml"), "--workers", "1", "--out", str(files / "whole")) == 0
    return files / "whole"


@pytest.fixture(scope="module")
def undisturbed(files: Path) -> Path:
    """The same with longer runs, long enough to be disturbed."""
    (files / "slow.yaml").write_text(BASE.replace("duration_s: 2.0", "duration_s: 20.0"))
    long = CAMPAIGN.replace("base.yaml", "slow.yaml").replace(f"runs: {RUNS}", f"runs: {LONG_RUNS}")
    (files / "long.yaml").write_text(long)
    assert command("run", str(files / "long.yaml"), "--workers", "2", "--out", str(files / "undisturbed")) == 0
    return files / "undisturbed"
