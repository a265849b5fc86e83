"""Scenario files: valid content, and error messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.scenarios.scenario import load_scenario, scenario_file, scenario_files
from proving_ground.settings import SettingsError
from some_leaves import assert_loaded_or_rejected_in_one_line, many, with_another_leaf
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE

Write = Callable[[str], Path]


@pytest.mark.parametrize("name", sorted(scenario_files()))
def test_every_scenario_of_the_suite_is_valid(name: str) -> None:
    assert load_scenario(scenario_file(name)).description


def test_the_papers_manoeuvres_are_there() -> None:
    assert {"lane_change", "lane_change_reference", "j_turn", "bump", "coast_down"} <= set(scenario_files())


def test_what_is_left_out_has_a_default(write_scenario: Write, scenario_text: str) -> None:
    scenario = load_scenario(write_scenario(scenario_text))

    assert scenario.vehicle.model == DEFAULT_VEHICLE
    assert scenario.vehicle.step_s == 0.001
    assert scenario.start.time_ns() == 1_767_225_600_000_000_000  # 2026, not 1970


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("version: 1", "version: 2"), "made.yaml:1: version: must be a whole number from 1 to 1, got 2"),
        (("duration_s: 1.0", ""), "duration_s: missing"),
        (("duration_s: 1.0", "duration_s: .nan"), "made.yaml:7: duration_s: must be"),
        (("friction: 0.8", "frictoin: 0.8"), "made.yaml:4: world.flat.frictoin: unknown; did you mean friction?"),
        (("friction: 0.8", "friction: 99"), "made.yaml:4: world.flat.friction: must be a number from 0 to 2"),
        (("straight:", "strait:"), "made.yaml:6: driver.strait: unknown; did you mean straight?"),
        (
            ("straight: {speed_mps: 5.0}", "{straight: {}, circle: {}}"),
            "must have exactly one of straight, lane_change, sine_steer, j_turn, circle, sine_sweep, program, to_goal,"
            " got straight, circle",
        ),
        (("duration_s: 1.0", "duration_s: 1.0\nvehicle: {step_s: 0.003}"), "made.yaml:8: vehicle: step_s: must fit"),
        (("duration_s: 1.0", "duration_s: 1.0\nstart: {date: yesterday}"), "made.yaml:8: start: date: must be like"),
        (("duration_s: 1.0", "duration_s: 1.0\nstart: {date: '2026-01-01'}"), "date: must have a time zone"),
        (
            ("duration_s: 1.0", "duration_s: 1.0\ncriteria:\n  - {channel: sped_mps, statistic: end}"),
            "made.yaml:9: criteria.0: channel sped_mps: unknown; did you mean speed_mps?",
        ),
        (
            ("duration_s: 1.0", "duration_s: 1.0\ncriteria:\n  - {channel: speed_mps, statistic: reference_rms}"),
            "criteria: one compares with a reference, but `reference` is not given",
        ),
        (("duration_s: 1.0", "duration_s: 1.0\ncriteria: 5"), "made.yaml:8: criteria: must be a list, got int"),
    ],
)
def test_a_mistake_is_one_line_with_file_line_and_key(
    write_scenario: Write, scenario_text: str, change: tuple[str, str], words: str
) -> None:
    with pytest.raises(SettingsError) as rejection:
        load_scenario(write_scenario(scenario_text.replace(*change)))

    assert words in str(rejection.value)
    assert "\n" not in str(rejection.value)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean lane_change"):
        scenario_file("lane_chnage")


@many(300)
@given(data=st.data())
def test_any_leaf_may_hold_anything_and_the_file_is_accepted_or_rejected(
    data: st.DataObject, write_scenario: Write
) -> None:
    name = data.draw(st.sampled_from(sorted(scenario_files())))
    path = write_scenario(with_another_leaf(data, scenario_file(name)))

    assert_loaded_or_rejected_in_one_line(lambda: load_scenario(path))
