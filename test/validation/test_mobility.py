"""The mobility tests of the HMMWV: what they find, what the page and the benchmark say, and that they can fail."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmark import CHECKS
from benchmark.results import plain
from proving_ground.validation.mobility import bench
from proving_ground.validation.mobility.chapter import chapter, section_of
from proving_ground.validation.mobility.climbs import Load, effort_difference, loads
from proving_ground.validation.mobility.figure import MARKS, Figure
from proving_ground.validation.mobility.measure import KNOWN, TESTS, Result, measured
from proving_ground.validation.mobility.rig import HIGH_LOCKED, RPM, Subject
from proving_ground.validation.mobility.suspension_travel import travels
from proving_ground.validation.mobility.traction import with_open_axles
from proving_ground.validation.mobility.tractive_effort import curves, turbine_torque
from proving_ground.validation.page import PARTS, validate
from proving_ground.validation.parts import YES, Bound, Chapter, Part
from vehicle_dynamics.hmmwv import Hmmwv

REFERENCE_SIMULATION = "hmmwv_chrono"  # the vehicle with Project Chrono's tyres, engine and driveline
# Programs read these names, for each number `test_N`.
NAMES = {
    1: {"engine_in_neutral_rpm", "engine_in_drive_rpm", "creep_in_drive_kmph"},
    2: {"0_to_30_mph_s", "0_to_50_mph_s"},
    3: {"0_to_30_mph_s", "0_to_50_mph_s"},
    4: {"speed_kmph", "engine_rpm"},
    5: {
        f"{mass}_kg_{name}" for mass in (2573, 3493)
        for name in ("30_percent_in_h_goes", "60_percent_in_l_kmph", "moves_on_60_percent_in_l_with_brake_in_10_s_m",
                     "moves_on_60_percent_in_l_with_parking_brake_in_10_s_m")
    },
    6: {f"{mass}_kg_{grade}_percent_kmph" for mass in (2573, 3493) for grade in (5, 10, 20)},
    7: {
        f"{side}_side_up_{name}" for side in ("left", "right")
        for name in ("least_wheel_load_n", "off_the_line_in_20_m_m")
    },
    8: {"pull_over_weight_h", "pull_over_weight_hl", "pull_over_weight_hl_open_axles"},
    9: {"h_climbs_in_10_s_after_spin_up_m", "hl_climbs_in_10_s_m", "h_with_20_percent_brake_climbs_in_10_s_m"},
    10: {"larger_turning_radius_in_hl_percent", "torque_between_the_axles_in_hl_at_the_wheels_nm"},
    11: {"to_the_left_m", "to_the_right_m"},
    12: {"clean_at_60_kmph", "first_failure_kmph", "fails_without_a_lifted_wheel"},
    13: {"understeer_gradient_deg_per_g", "roll_gradient_deg_per_g", "limit_g"},
    14: {
        "bounce_hz", "pitch_hz", "wheel_hop_lowest_hz", "wheel_hop_highest_hz", "damping_of_bounce",
        "damping_of_pitch", "droop_least_of_the_wheels_mm",
    },
    15: {"1_in_mps", "2_in_mps", "3_in_mps"},
    16: {"4_in_mps", "8_in_mps", "12_in_mps"},
    17: {"0p30_m_in_hl_climbed", "0p46_m_in_l_climbed"},
    18: {"distance_m", "front_wheels_lock_first", "off_the_line_m"},
    19: {"rises_with_cone_index"} | {f"cone_index_{psi}_less_published" for psi in (25, 50, 100, 200)},
    20: {"highest_pull_over_load_any_soil", "lowest_pull_over_towed_resistance_any_soil",
         "pull_over_load_sand_of_50_psi"},
    21: {"sand_of_50_psi", "sand_of_100_psi", "clay_of_30_psi", "clay_of_60_psi"},
    22: {"sand_of_50_psi_m", "sand_of_100_psi_m"},
    23: {f"sand_of_{psi}_psi_slip_{slip}_percent" for psi in (25, 50, 100) for slip in (20, 60)},
    24: {f"clay_of_{psi}_psi" for psi in (20, 30, 40, 60, 100)},
    25: {"2573_kg_psi", "3493_kg_higher_by_psi", "12_instead_of_30_psi_in_the_tyres_lower_by_psi"},
    26: {"more_pull_over_load", "change_of_sinkage_percent"},
    27: {"sinkage_m", "towed_resistance_over_load", "gross_traction_over_load"},
    28: {"25_percent_way_in_8_s_m", "45_percent_way_in_8_s_m"},
    29: {
        f"{name}_{soil}{unit}" for soil in ("sand", "clay")
        for name, unit in (("resistance_over_that_of_the_first", ""), ("deeper", "_percent"))
    },
    30: {"sides_of_the_wheel_add_sunk_5_cm_percent", "grows_with_sinkage"},
}  # fmt: skip
slow = pytest.mark.slow  # drives 30 tests, about a minute and a half


@pytest.fixture(scope="module")
def vehicle() -> Hmmwv:
    """The vehicle under test, at test weight."""
    return Subject().vehicle()


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """All tests, driven once."""
    return measured(lambda words: None)


@pytest.fixture(scope="module")
def climbs() -> list[Load]:
    """Some climbs at both masses."""
    return loads(lambda words: None, Subject(), (0, 30, 60))


@slow
def test_every_figure_is_finite_and_has_the_mark_of_its_source(results: list[Result]) -> None:
    figures = [figure for result in results for figure in result.figures]

    assert [result.number for result in results] == [*range(1, 31)]
    assert [figure.what for figure in figures if not math.isfinite(figure.value)] == []
    assert {figure.mark for figure in figures} <= set(MARKS)


@slow
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 8, 9, 14, 15, *range(19, 25), 26, 27, 28, 30])
def test_vehicle_meets_its_data_sheet(results: list[Result], number: int) -> None:
    (result,) = (item for item in results if item.number == number)

    assert [figure for figure in result.figures if not figure.is_inside] == []


@slow
def test_whatever_is_outside_has_a_known_cause(results: list[Result]) -> None:
    outside = [(result, figure) for result in results for figure in result.figures if not figure.is_inside]

    assert [(result.number, figure.what) for result, figure in outside] == list(KNOWN)
    assert all(result.cause(figure) for result, figure in outside)


@slow
def test_page_has_procedures_verdicts_causes_and_pictures(
    results: list[Result], climbs: list[Load], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PARTS, "mobility", Chapter("Mobility", lambda say: chapter(Subject(), results, climbs)))

    assert validate(tmp_path, is_full=False, only=["mobility"]) == 0

    page = (tmp_path / "validation.md").read_text()
    assert "25 of 30 tests are inside" in page.replace("\n", " ")
    for number, test in TESTS.items():
        assert f"### {number}. {test.title}\n\n{test.procedure}" in page
    assert "| 4 to 9 | c | inside |" in page
    assert "| 3 to 10 | c | **outside**: with the centre locked" in page
    assert "| 60 % | 0 |" in page  # in H the front wheels spin
    for name in ("tractive_effort", "suspension_travel"):
        assert f"](validation/{name}.png)" in page
        assert (tmp_path / f"validation/{name}.png").read_bytes().startswith(b"\x89PNG")


@slow
def test_bench_gives_every_figure_by_number_and_name(results: list[Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "measured", lambda say: results)

    figures = bench.run(lambda words: None)

    assert CHECKS["mobility"] == bench.__name__
    read = json.loads(json.dumps(plain(figures)))
    assert {name: set(values) - {"inside"} for name, values in read.items() if name.startswith("test_")} == {
        f"test_{number}": names for number, names in NAMES.items()
    }
    assert (read["inside"], read["tests"], read["test_10"]["inside"]) == (25, 30, 0)
    assert "25 of 30 tests are inside" in bench.show(figures)
    assert "locked at full lock" in bench.show(figures)


@slow
def test_simulated_climbs_are_on_the_computed_curves(climbs: list[Load]) -> None:
    for load in climbs:
        assert effort_difference(load) < 0.03  # slip and the load's shift between the axles change the tyres' radii
        for climb in load.climbs:
            if climb.is_steady:
                assert climb.tread_speed == pytest.approx(climb.computed.speed, rel=0.03)


def test_open_axles_fail_the_test_of_split_friction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Result(8, TESTS[8], TESTS[8].drive(with_open_axles(Subject())))
    monkeypatch.setitem(PARTS, "mobility", Chapter("Mobility", lambda say: Part("", sections=[section_of(failed)])))

    assert validate(tmp_path, is_full=False, only=["mobility"]) == 1

    assert not failed.is_inside
    page = (tmp_path / "validation.md").read_text()
    assert page.count("| 0.2125 to 0.2875 | d | **outside** |") == 2


def test_vehicle_of_the_reference_simulation_fails_on_grades() -> None:
    figures = {figure.what: figure for figure in TESTS[5].drive(Subject(REFERENCE_SIMULATION))}

    assert not figures["3493 kg: 60 % in L"].is_inside  # it has no low range


def test_known_cause_does_not_excuse_a_figure_far_beyond() -> None:
    near, far = (Figure("larger turning radius in H/L", value, Bound(3.0, 10.0), "%") for value in (22.0, 80.0))
    result = Result(10, TESTS[10], [near, far])

    assert result.cause(near)
    assert not result.cause(far)
    assert not result.cause(near._replace(value=math.nan))


def test_engine_stalls_the_converter_where_its_torque_is_what_the_pump_takes(vehicle: Hmmwv) -> None:
    powertrain = vehicle.parameters.powertrain.converter

    (torque,) = turbine_torque(powertrain, np.zeros(1))

    engine_torque = torque / powertrain.torque_ratio[0]
    stall_rpm = powertrain.capacity[0] * math.sqrt(engine_torque) / RPM
    full_throttle = np.interp(stall_rpm, powertrain.full_throttle_rpm, powertrain.full_throttle_nm)
    assert full_throttle == pytest.approx(engine_torque)
    assert 1600.0 < stall_rpm < 1900.0


def test_low_range_multiplies_the_effort_by_its_reduction_and_efficiency(vehicle: Hmmwv) -> None:
    stall = {curve.name(): curve.effort[0] for curve in curves(vehicle)}

    high, _, low = vehicle.parameters.driveline.all_ranges()
    expected = low.reduction * low.efficiency / (high.reduction * high.efficiency)
    assert HIGH_LOCKED == 1  # the range that has the same reduction as H, and no curves of its own
    assert set(stall) == {"H1", "H2", "H3", "L1", "L2", "L3"}
    assert stall["L1"] / stall["H1"] == pytest.approx(expected)


def test_vehicle_stands_at_design_height_and_between_its_stops() -> None:
    for travel in travels(Subject()):
        bump, rebound = (stop.height for stop in travel.stops)
        light, heavy = (position.height for position in travel.standing)

        assert light == pytest.approx(0.0, abs=0.002)
        assert rebound < light < heavy < bump


def test_claims_are_shown_as_words() -> None:
    result = Result(5, TESTS[5], [Figure("goes", 0.0, YES)])

    (row,) = section_of(result).rows

    assert (row.value(), row.bound.words()) == ("no", "yes")
