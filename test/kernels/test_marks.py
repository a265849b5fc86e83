"""Marks of scenarios whose kernels are compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from proving_ground.kernels import marks
from proving_ground.kernels.marks import is_compiled, set_compiled


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    marks.kernels_folder().mkdir(parents=True)
    file = tmp_path / "scenario.yaml"
    file.write_text("version: 1")
    assert not is_compiled(file)
    set_compiled(file)
    return file


def test_a_mark_holds_for_the_same_contents_wherever_they_are(marked: Path, tmp_path: Path) -> None:
    assert is_compiled(marked)
    copy = tmp_path / "copy.yaml"
    copy.write_text(marked.read_text())
    assert is_compiled(copy)
    copy.write_text("version: 2")
    assert not is_compiled(copy)


def test_a_mark_does_not_hold_in_another_checkout(marked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kernels are compiled again, because numba keeps them by the path of the sources."""
    monkeypatch.setattr(marks, "ROOT", Path("/elsewhere"))
    assert not is_compiled(marked)


def test_a_folder_that_cannot_be_written_has_no_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "missing"))
    file = tmp_path / "scenario.yaml"
    file.write_text("version: 1")
    set_compiled(file)
    assert not is_compiled(file)
