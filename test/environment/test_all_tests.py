"""`make test` runs every test once, in two sessions at the same time, and fails when either does."""

from __future__ import annotations

from pathlib import Path

import pytest

from environment.all_tests import BUSY, ROOT, run

PASSES, FAILS = "def test_it():\n    print('ran')\n", "def test_it():\n    assert not 'on purpose'\n"


@pytest.mark.parametrize(("busy", "other", "status"), [(PASSES, PASSES, 0), (FAILS, PASSES, 1), (PASSES, FAILS, 1)])
def test_status_is_that_of_both_sessions_and_both_are_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], busy: str, other: str, status: int
) -> None:
    for room, text in (("busy", busy), ("other", other)):
        (tmp_path / "test" / room).mkdir(parents=True)
        (tmp_path / "test" / room / f"test_{room}.py").write_text(text)

    assert run(tmp_path, ["test/busy"], ["--numprocesses", "0"]) == status

    shown = capfd.readouterr().out
    assert shown.count("1 passed") == [busy, other].count(PASSES)
    assert shown.count("1 failed") == [busy, other].count(FAILS)


def test_busy_folders_exist() -> None:
    assert [folder for folder in BUSY if not (ROOT / folder).is_dir()] == []
