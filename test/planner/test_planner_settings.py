"""Settings of planning: what config/planner.yaml may hold, and which values are incompatible."""

from __future__ import annotations

import pytest

from planner.settings import PlannerSettings
from proving_ground.settings import SettingsError, build, declarations
from proving_ground.settings.ros_params_file import check_params_file
from proving_ground.settings.share import share_file
from vehicle_dynamics.equipment import Equipment


def test_planner_yaml_holds_the_defaults() -> None:
    found = check_params_file(share_file("config/planner.yaml"), "/planner", PlannerSettings)

    assert found.is_addressed
    given = {name: item.value for name, item in found.given.items()}
    assert build(PlannerSettings, given) == PlannerSettings()


def test_every_setting_has_a_description_and_numbers_have_a_range() -> None:
    for item in declarations(PlannerSettings).values():
        assert item.description
        assert item.kind is str or item.minimum is not None


@pytest.mark.parametrize(("own", "vehicle", "used"), [(0.3, 0.18, 0.18), (0.1, 0.18, 0.1), (0.3, 0.0, 0.3)])
def test_the_steering_is_turned_no_faster_than_the_vehicle_can(own: float, vehicle: float, used: float) -> None:
    equipment = Equipment(planned_curvature_1pm=0.16, planned_curvature_rate_1pms=vehicle)

    assert PlannerSettings(curvature_rate_1pms=own).fitted(equipment).curvature_rate_1pms == used


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"forward_arcs": 40}, "must be odd"),
        ({"global_resolution_m": 0.5}, "whole number of map_resolution_m"),
        ({"local_map_m": 12.0}, "too small"),
        ({"max_speed_mps": 0.9}, "max_speed_mps"),
        ({"stale_s": 0.05}, "one planning period"),
        ({"margin_m": -1.0}, "margin_m: must be a number from 0"),
        ({"replan_rate": 5.0}, "did you mean replan_rate_hz"),
        ({"max_speed_mps": float("nan")}, "max_speed_mps"),
    ],
)
def test_bad_settings_are_rejected_with_one_line(values: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as rejected:
        build(PlannerSettings, values)
    assert "\n" not in str(rejected.value)
