"""Campaign files: mistakes in them, and what the page about them says."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pyarrow as pa
import pytest

from proving_ground.campaigns.campaign_file import Campaign, Metric, Stop, Vary, campaign_file, campaign_files
from proving_ground.campaigns.figure_names import FIGURE_NAMES
from proving_ground.campaigns.figures import _GROUPS
from proving_ground.campaigns.kit import check_jobs, load_kit
from proving_ground.campaigns.plan import Plan
from proving_ground.campaigns.table import write_table
from proving_ground.settings import SettingsError
from written_campaigns import CAMPAIGN, write


def rejection(folder: Path, campaign: str, sampling: str = "random") -> str:
    with pytest.raises(SettingsError) as caught:
        load_kit(write(folder, campaign, sampling=sampling))
    return str(caught.value)


def test_the_ready_made_campaigns_are_valid_and_so_are_their_first_samples() -> None:
    assert {"lane_change_robustness", "urban_planner", "observer_accuracy", "soil_trafficability"} <= set(
        campaign_files()
    )
    for path in campaign_files().values():
        kit = load_kit(path)
        plan = Plan(kit.campaign)
        check_jobs(kit, [plan.job(number) for number in range(min(plan.runs, 20))])


def test_an_unknown_campaign_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(SettingsError, match="did you mean soil_trafficability"):
        campaign_file("soil_traficability")


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        ("friction,", "frction,", "made.yaml:8: .*world.flat.frction: unknown; did you mean friction"),
        ("world.flat.friction", "world.named.name", "nothing there to vary"),
        ("world.flat.friction", "sensors.7.gps.rate_hz", "made.yaml:8: .*from 0 to 1"),
        ("world.flat.friction", "sensors.1.gps.rate", "did you mean rate_hz"),
        ("world.flat.friction", "vehicle_parameters.chassis.mas_kg", "did you mean mass_kg"),
        ("world.flat.friction", "world_parameters.seed", "no named world"),
        ("high: 0.9", "high: 0.1", "vary.0.uniform: high: must be above low"),
        ("uniform: {low: 0.3, high: 0.9}", "uniform: {low: 0.3}", "vary.0.uniform.high: missing"),
        ("uniform: {low: 0.3, high: 0.9}", "unifrm: {low: 0.3}", "did you mean uniform"),
        ("uniform: {low: 0.3, high: 0.9}", "constant: .nan", "must be a number"),
        ("uniform: {low: 0.3, high: 0.9}", "log_uniform: {low: 0.0, high: 0.9}", "low: must be above 0"),
        ("uniform: {low: 0.3, high: 0.9}", "name: x", "must have exactly one of uniform"),
        ("runs: 64", "runs: 0", "runs: must be given"),
        ("runs: 64", "runns: 64", "did you mean runs"),
        ("statistic: end", "statistic: ende", "metrics.0.statistic: must be one of"),
        ("channel: speed_mps, statistic: end", "figure: rollover", "did you mean rollover_margin"),
        ("base: base.yaml", "base: other.yaml", "other.yaml: No such file"),
        ("name: speed,", "name: world.flat.friction,", "is given twice"),
        ("world.flat.friction,", "description, scale: true,", "is not a number"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(tmp_path: Path, wrong: str, right: str, words: str) -> None:
    assert wrong in CAMPAIGN
    text = rejection(tmp_path, CAMPAIGN.replace(wrong, right))
    assert "\n" not in text
    assert re.search(words, text), text


def test_a_grid_of_something_without_points_is_rejected(tmp_path: Path) -> None:
    assert "a grid needs grid, choice or constant, not uniform" in rejection(tmp_path, CAMPAIGN, "grid")


def test_a_sample_that_makes_no_scenario_is_named_with_its_values(tmp_path: Path) -> None:
    kit = load_kit(write(tmp_path, CAMPAIGN.replace("high: 0.9", "high: 2.9")))
    plan = Plan(kit.campaign)
    with pytest.raises(SettingsError, match=r"run \d+ \(world.flat.friction = 2\..*must be a number from 0 to 2"):
        check_jobs(kit, [plan.job(number) for number in range(plan.runs)])


def test_every_figure_that_a_file_may_name_is_computed() -> None:
    assert sorted(name for names, _ in _GROUPS for name in names) == sorted(FIGURE_NAMES)


def test_the_code_on_the_page_reads_a_table_of_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs/campaigns.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    folder = tmp_path / "runs/campaigns/soil_trafficability"
    folder.mkdir(parents=True)
    write_table(folder / "results.parquet", pa.table({"run": [0, 1]}))
    monkeypatch.chdir(tmp_path)
    found: dict[str, pa.Table] = {}
    exec(code, found)
    assert found["table"].num_rows == 2


def test_the_page_names_every_key_distribution_and_figure_that_a_file_may_have() -> None:
    page = (Path(__file__).parents[2] / "docs/campaigns.md").read_text()
    fields = {item.name for kind in (Campaign, Stop, Vary, Metric) for item in dataclasses.fields(kind)}
    missing = [name for name in sorted(fields | set(FIGURE_NAMES)) if not re.search(rf"\b{name}\b", page)]
    assert not missing
