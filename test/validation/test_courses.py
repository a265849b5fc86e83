"""Rides over courses from OpenCRG files and from our builders, and how ours compare with measured ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proving_ground.validation.mobility.courses import (
    COURSES,
    FASTEST,
    MOST_POWER_W,
    SLOWEST,
    crossing,
    ground_of,
    mean_power,
    peak,
)
from proving_ground.validation.mobility.rig import Subject
from terrain.builders.courses import INCH, HalfRound
from terrain.builders.rough_road import RmsCourse
from terrain.formats.open_crg import load_crg, save_crg
from terrain.map_files import save_map
from terrain.road_strip import RoadStrip
from terrain.world_ground import WorldGround
from vehicle_dynamics.hmmwv import Hmmwv

SHARED = Path(__file__).parents[3] / "shared/courses"  # the Keweenaw courses; not part of the project
SAME = 0.02  # of rides
FILE_BEGINS_M = 50.0  # of the half-rounds in files


@pytest.fixture(scope="module")
def vehicle() -> Hmmwv:
    """The vehicle under test, at test weight."""
    return Subject().vehicle()


def read(path: Path) -> WorldGround:
    return WorldGround(load_crg(path).to_map(soil_names=("hard",)))


@pytest.fixture(scope="module")
def half_round_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A half-round of 8 in in rows of 1 cm: the Keweenaw one, or one of the same form."""
    if SHARED.is_dir():
        return SHARED / "halfround_8in.crg"
    along = 0.01 * np.arange(10_001)
    radius = 8.0 * INCH
    heights = np.sqrt(np.maximum(radius**2 - (along - FILE_BEGINS_M - radius) ** 2, 0.0))
    rows = len(along)
    path = tmp_path_factory.mktemp("courses") / "halfround_8in.crg"
    save_crg(
        RoadStrip(
            heights=np.tile(heights[:, None], 3), offsets=np.array([-3.0, 0.0, 3.0]), increment=0.01,
            headings=np.zeros(rows - 1), line_heights=np.zeros(rows), banking=np.zeros(rows),
        ),
        path,
    )  # fmt: skip
    return path


@pytest.mark.parametrize("speed", [4.0, 8.0])
def test_a_half_round_from_a_file_rides_as_ours(vehicle: Hmmwv, half_round_file: Path, speed: float) -> None:
    ours = ground_of(HalfRound(radius_m=8.0 * INCH, at_m=FILE_BEGINS_M, length_m=100.0, width_m=6.0))
    theirs = read(half_round_file)
    part = (FILE_BEGINS_M - 2.0, FILE_BEGINS_M + 12.0)

    assert peak(vehicle, theirs, speed, FILE_BEGINS_M) == pytest.approx(
        peak(vehicle, ours, speed, FILE_BEGINS_M), rel=SAME
    )
    assert mean_power(vehicle, theirs, speed, part) == pytest.approx(mean_power(vehicle, ours, speed, part), rel=SAME)


def test_a_ride_course_rides_the_same_when_written_and_read_again(vehicle: Hmmwv, tmp_path: Path) -> None:
    ours = ground_of(RmsCourse(rms_m=INCH, rough_length_m=80.0, length_m=140.0))
    assert ours.elevation is not None
    save_map(ours.elevation, tmp_path / "course.crg")

    again = read(tmp_path / "course.crg")

    part = (40.0, 100.0)
    assert mean_power(vehicle, again, 10.0, part) == pytest.approx(mean_power(vehicle, ours, 10.0, part), rel=SAME)


def test_twice_the_roughness_gives_four_times_the_power(vehicle: Hmmwv) -> None:
    one, two = (ground_of(RmsCourse(rms_m=INCH * inches, rough_length_m=80.0, length_m=140.0)) for inches in (1.0, 2.0))

    power, more = (mean_power(vehicle, ground, 6.0, (40.0, 100.0)) for ground in (one, two))

    assert 3.0 < more / power < 5.0  # springs and dampers are not linear


def test_speed_of_a_limit_is_found_by_trying_ever_faster() -> None:
    tried: list[float] = []

    def power(speed: float) -> float:
        tried.append(speed)
        return 0.1 * speed**2

    assert crossing(power, 6.0) == pytest.approx(60.0**0.5)  # exact for powers of the speed
    assert tried == sorted(tried)
    assert tried[-2] < 60.0**0.5 <= tried[-1]
    assert crossing(lambda speed: 1.0, 6.0) == FASTEST
    assert crossing(lambda speed: 7.0, 6.0) == SLOWEST


@pytest.mark.skipif(not SHARED.is_dir(), reason="the Keweenaw courses are not on this machine")
@pytest.mark.parametrize(("name", "speed", "ratio"), [("1 in", 8.0, 2.1), ("2 in", 5.3, 1.45), ("3 in", 5.4, 0.85)])
def test_measured_courses_shake_otherwise_than_ours_of_the_same_roughness(
    vehicle: Hmmwv, name: str, speed: float, ratio: float
) -> None:
    measured = read(SHARED / f"detrended_rms_course_{name.replace(' ', '')}.crg")
    ours = ground_of(RmsCourse(rms_m=INCH * COURSES[name]))

    power, of_ours = (
        mean_power(vehicle, measured, speed, (100.0, 404.8)),
        mean_power(vehicle, ours, speed, (40.0, 320.0)),
    )

    # The builder's spectrum has waves up to 60 ft; the measured profiles have most in waves of 3 to 10 m.
    print(f"{name} at {speed} m/s: {power:.2f} W measured, {of_ours:.2f} W on ours")
    assert power == pytest.approx(MOST_POWER_W, rel=0.1)
    assert power / of_ours == pytest.approx(ratio, rel=0.1)
