"""Figures of the pages are those of benchmark/results.json, by benchmark and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from benchmark import BENCHMARKS
from benchmark.readme_table import PAGES, README, ROOT, ROWS, filled, linkage_table, misquoted, table
from benchmark.results import conditions, load, plain, save
from proving_ground.settings import SettingsError


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_table_of_figures_is_made_from_the_saved_results(page: Path) -> None:
    text = page.read_text()
    assert "<!-- figures" in text
    assert filled(text, load()) == text, "run `python -m benchmark.readme_table`"


def test_filters_on_linkages_are_all_in_their_table_the_fastest_first() -> None:
    rows = [line.strip("|").split(" | ") for line in linkage_table(load()).splitlines()[2:]]
    speeds = [float(row[1]) for row in rows]
    assert {"`error_ekf`", "`dekf`"} < {row[0].strip() for row in rows}
    assert speeds == sorted(speeds, reverse=True)


def test_every_benchmark_is_in_the_table_and_every_row_names_its_keys() -> None:
    results = load()
    assert {row["benchmark"] for row in yaml.safe_load(ROWS.read_text())} == set(BENCHMARKS) == set(results)
    for line in table(results).splitlines()[2:]:
        name, *_, keys = (cell.strip() for cell in line.strip("|").split(" | "))
        found = re.findall(r"`(\w+)`", keys)
        assert found
        assert set(found) <= set(results[name.strip("`")]["figures"])


def test_figures_in_running_text_are_those_of_the_results() -> None:
    results = load()
    assert "(`vehicle.as_built_rtf`)" in README.read_text()
    for page in PAGES:
        assert misquoted(page.read_text(), results) == [], page


@pytest.mark.parametrize(
    "text",
    ["77 times real time (`vehicle.rigid_rtf`)", "5 µs (`vehicle.no_such_key`)", "3 times (`nothing.rigid_rtf`)"],
)
def test_a_figure_that_was_not_measured_is_found(text: str) -> None:
    assert len(misquoted(text, {"vehicle": {"figures": {"rigid_rtf": 170.4}}})) == 1


def test_results_of_one_benchmark_leave_those_of_others(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    save(path, "vehicle", {"step_us": 5.5, "order": float("inf")})
    save(path, "lidar", {"scan_ms": {"mean": 11.0}, "rays": 65536})
    save(path, "vehicle", {"step_us": 6.5})
    content = load(path)
    assert content["vehicle"] == {"conditions": conditions(), "figures": {"step_us": 6.5}}
    assert content["lidar"]["figures"] == {"scan_ms": {"mean": 11.0}, "rays": 65536}
    assert plain({"order": float("inf")}) == {"order": None}


@pytest.mark.parametrize("content", ["", "[]", '{"vehicle": {"figures": {}}}', '{"vehicle": 1}'])
def test_a_file_that_is_not_of_results_is_rejected_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(SettingsError, match=r"results.json: not the results of benchmarks"):
        load(path)
