"""Statistics of channels, references and verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from proving_ground.scenarios.metrics import judge, load_reference
from proving_ground.scenarios.scenario import Criterion, load_scenario
from proving_ground.settings import SettingsError

TIME = np.linspace(0.0, 10.0, 101)
RUN = {"time_s": TIME, "speed_mps": TIME**2, "yaw_rate_radps": np.sin(TIME)}


def value(statistic: str, channel: str = "speed_mps", **bounds: float) -> float:
    criterion = Criterion(channel=channel, statistic=statistic, **bounds)
    shifted = {"time_s": TIME, "yaw_rate_radps": 2.0 * np.sin(TIME)}
    return judge([criterion], RUN, shifted)[0].value


@pytest.mark.parametrize(
    ("statistic", "expected"), [("minimum", 4.0), ("maximum", 9.0), ("mean", np.mean(TIME[20:31] ** 2)), ("end", 9.0)]
)
def test_statistics_are_of_the_part_that_counts(statistic: str, expected: float) -> None:
    assert value(statistic, from_s=2.0, to_s=3.0) == pytest.approx(expected)


def test_differences_are_shares_of_the_references_peak() -> None:
    rms = np.sqrt(np.mean(np.sin(TIME) ** 2)) / np.abs(2.0 * np.sin(TIME)).max()
    assert value("reference_rms", "yaw_rate_radps") == pytest.approx(rms)
    assert value("reference_peak", "yaw_rate_radps") == pytest.approx(0.5)


def test_a_part_that_is_never_reached_fails() -> None:
    finding = judge([Criterion(channel="speed_mps", statistic="mean", from_s=20.0)], RUN, None)[0]
    assert not finding.passed
    assert finding.plain()["value"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time_s,sped_mps\n0,1\n1,2\n", "did you mean speed_mps"),
        ("time_s,speed_mps\n0,x\n", "not a table of numbers"),
        ("time_s,speed_mps\n0,1\n", "two rows"),
        ("time_s,speed_mps\n0,1\n0,2\n", "must rise"),
        ("speed_mps\n1\n2\n", "needs a column time_s"),
        ("time_s,speed_mps\n0,1\n1,nan\n", "finite"),
        ("time_s,speed_mps\n0,1\n1\n", "not a table of numbers"),
        ("", "not a table of numbers"),
    ],
)
def test_a_reference_that_cannot_be_used_is_rejected(
    tmp_path: Path, write_scenario: Callable[[str], Path], scenario_text: str, text: str, words: str
) -> None:
    scenario = load_scenario(write_scenario(scenario_text + "reference: given.csv\n"))
    (tmp_path / "given.csv").write_text(text)

    with pytest.raises(SettingsError, match=words):
        load_reference(scenario)
