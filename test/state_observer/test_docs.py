"""Examples in docstrings and on the page run as written."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path

import pytest

from state_observer.bicycle import roll_filter
from state_observer.bicycle.tutorial import main
from state_observer.filters import observer

PAGE = Path(observer.__file__).parents[1] / "README.md"


@pytest.mark.parametrize("module", [observer, roll_filter])
def test_docstring_examples_run(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_the_pages_example_runs(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert code is not None
    script = tmp_path / "example.py"
    script.write_text(code.group(1))

    left = runpy.run_path(str(script))

    assert left["observer"].state.angles[0] == pytest.approx(1.05, abs=0.01)


def test_pictures_of_the_page_are_there_and_small() -> None:
    for name in re.findall(r"!\[.*?\]\((.*?)\)", PAGE.read_text()):
        picture = (PAGE.parent / name).resolve()
        assert picture.is_file(), name
        assert picture.stat().st_size < 300_000


def test_the_tutorial_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path / "rides.png")])

    assert "slalom" in capsys.readouterr().out
    assert (tmp_path / "rides.png").stat().st_size > 10_000
