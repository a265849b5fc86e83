"""Fixes of the antenna, course, rate, latency, loss of fix and reacquisition."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from proving_ground.settings import SettingsError, build
from proving_ground.settings.nested import load_preset, preset_names
from sensors.gps import COURSE_SPEED, NO_FIX_VARIANCE, Gps, GpsSettings
from sensors.gps.nmea import gga_from_sample
from sensors.lidar.scene import Scene
from sensors.mounting import Mounting
from sensors.samples import GpsSample
from terrain.georeference import Georeference
from terrain.obstacles import Box, Obstacles
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]
Moving = Callable[..., BaseMotion]
Drive = Callable[..., list[GpsSample]]
Positions = Callable[[Gps, list[GpsSample]], Array]

PERFECT = {"horizontal_std_m": 0.0, "vertical_std_m": 0.0, "velocity_std_mps": 0.0}
ARM = (0.3, 0.1, 1.9)
FINE_M = 1e-6  # of a position converted to degrees and back


def perfect(**others: object) -> Gps:
    return Gps(build(GpsSettings, {**PERFECT, "mount.xyz_m": ARM, **others}))


class Roof:
    """A sky that is covered while `is_closed`, or to the east of the antenna while `is_half`."""

    is_closed = False
    is_half = False

    def is_blocked(self, origin: Array, directions: Array) -> NDArray[np.bool_]:
        return np.asarray((directions[:, 0] > 0.2) & self.is_half) | self.is_closed


def under(roof: Roof, **others: object) -> Gps:
    return Gps(build(GpsSettings, {"needs_sky": True, "reacquisition_s": 2.0, **others}), sky=roof, seed=4)


def test_fix_is_at_the_antenna_not_at_base_link(moving: Moving, drive: Drive, positions: Positions) -> None:
    gps = perfect()

    samples = drive(gps, moving((100.0, 50.0, 3.0), heading=math.pi / 2.0), until_s=1.0)

    # Facing north: forward is north, left is west.
    assert_allclose(positions(gps, samples), [[100.0 - 0.1, 50.0 + 0.3, 3.0 + 1.9]] * 5, atol=FINE_M)


def test_roll_moves_the_antenna_sideways(drive: Drive, positions: Positions) -> None:
    gps = perfect()
    roll = math.radians(20.0)
    tilted = BaseMotion((0, 0, 0), (math.sin(roll / 2), 0, 0, math.cos(roll / 2)), *((0.0, 0.0, 0.0),) * 4)

    samples = drive(gps, tilted, until_s=0.1)

    across, up = 0.1 * math.cos(roll) - 1.9 * math.sin(roll), 0.1 * math.sin(roll) + 1.9 * math.cos(roll)
    assert_allclose(positions(gps, samples)[0], [0.3, across, up], atol=FINE_M)


def test_turning_on_the_spot_moves_the_antenna(moving: Moving, drive: Drive) -> None:
    gps = perfect(**{"mount.xyz_m": (2.0, 0.0, 1.9)})

    (sample,) = drive(gps, moving(angular_velocity=(0.0, 0.0, 0.5)), until_s=0.1)

    assert_allclose(sample.velocity, [0.0, 1.0, 0.0], atol=1e-12)  # 0.5 rad/s at 2 m in front of the axis, to the left
    assert sample.speed == pytest.approx(1.0)
    assert sample.course == pytest.approx(0.0)  # north


def test_antenna_moves_as_any_mount_does(drive: Drive, positions: Positions) -> None:
    random = np.random.default_rng(8)
    for _ in range(20):
        attitude = random.normal(size=4)
        attitude /= np.linalg.norm(attitude)
        vectors = [tuple(vector) for vector in random.uniform(-5.0, 5.0, (5, 3)).tolist()]
        base = BaseMotion(vectors[0], tuple(attitude.tolist()), *vectors[1:])
        gps = perfect()

        samples = drive(gps, base, until_s=0.01)

        expected = Mounting(ARM).motion(base)
        assert_allclose(positions(gps, samples)[0], expected.position, atol=FINE_M)
        assert_allclose(samples[0].velocity, expected.velocity, atol=1e-12)


@pytest.mark.parametrize(
    ("heading_deg", "course_deg"), [(90.0, 0.0), (0.0, 90.0), (-90.0, 180.0), (180.0, 270.0), (45.0, 45.0)]
)
def test_course_is_clockwise_from_north(moving: Moving, drive: Drive, heading_deg: float, course_deg: float) -> None:
    (sample,) = drive(perfect(), moving(heading=math.radians(heading_deg), velocity=(8.0, 0.0, 0.0)), until_s=0.1)

    assert sample.course is not None
    assert 0.0 <= sample.course < math.tau
    assert math.remainder(sample.course - math.radians(course_deg), math.tau) == pytest.approx(0.0, abs=1e-12)


def test_course_is_none_below_half_a_metre_per_second(moving: Moving, drive: Drive) -> None:
    slow, fast = (
        drive(perfect(), moving(velocity=(speed, 0.0, 3.0)), until_s=0.1)[0]
        for speed in (0.99 * COURSE_SPEED, 1.01 * COURSE_SPEED)
    )

    assert slow.course is None
    assert slow.speed == pytest.approx(0.99 * COURSE_SPEED)  # over ground: vertical speed does not count
    assert fast.course == pytest.approx(math.pi / 2.0)


@pytest.mark.parametrize(("preset", "rate_hz"), [("rtk", 50), ("low_cost", 5)])
def test_fixes_come_at_the_presets_rate_with_their_sampling_time(
    moving: Moving, drive: Drive, preset: str, rate_hz: int
) -> None:
    samples = drive(Gps(load_preset(GpsSettings, preset)), moving(), until_s=2.0)

    assert [sample.time_ns for sample in samples] == [k * 10**9 // rate_hz for k in range(2 * rate_hz)]


def test_latency_delays_delivery_and_keeps_the_stamp(moving: Moving, positions: Positions) -> None:
    gps = perfect(latency_s=0.3)
    arrivals: list[tuple[int, GpsSample]] = []
    for tick in range(100):
        time_ns = tick * 10_000_000
        moved = moving((0.1 * tick, 0.0, 0.0))
        arrivals += [(time_ns, sample) for sample in gps.update(time_ns, moved)]

    assert [(now - sample.time_ns) / 1e9 for now, sample in arrivals] == pytest.approx([0.3] * len(arrivals))
    assert [sample.time_ns / 1e9 for _, sample in arrivals] == pytest.approx([0.0, 0.2, 0.4, 0.6])
    east = positions(gps, [sample for _, sample in arrivals])[:, 0]
    assert_allclose(east - ARM[0], [0.0, 2.0, 4.0, 6.0], atol=FINE_M)  # where it was then


def test_presets_match_sanjurjo_and_the_requirements() -> None:
    assert preset_names("sensors/gps") == ["low_cost", "rtk", "urban_canyon"]
    rtk, low_cost, urban = (load_preset(GpsSettings, name) for name in ("rtk", "low_cost", "urban_canyon"))

    assert (rtk.horizontal_std_m, rtk.rate_hz, rtk.quality) == (0.01, 50.0, 4)
    assert math.sqrt(2.0) * low_cost.horizontal_std_m == pytest.approx(1.786, abs=1e-3)
    assert (low_cost.vertical_std_m, low_cost.velocity_std_mps, low_cost.rate_hz) == (2.551, 0.05, 5.0)
    assert urban.needs_sky
    assert not rtk.needs_sky


def test_rtk_sees_as_many_satellites_as_sanjurjos_receiver(moving: Moving, drive: Drive) -> None:
    (sample,) = drive(Gps(load_preset(GpsSettings, "rtk")), moving(), until_s=0.02)

    assert (sample.quality, sample.satellites, round(sample.hdop, 1)) == (4, 14, 0.7)  # its GGA example


def test_without_sky_it_keeps_sending_the_last_position_and_says_so(moving: Moving, drive: Drive) -> None:
    roof = Roof()
    gps = under(roof)
    base = moving(velocity=(5.0, 0.0, 0.0))
    before = drive(gps, base, until_s=1.0)
    roof.is_closed = True

    during = drive(gps, base, since_s=1.0, until_s=3.0)

    assert [sample.quality for sample in before] == [1] * 5
    assert [sample.quality for sample in during] == [0] * 10
    for sample in during:
        assert sample[2:5] == before[-1][2:5]
        assert (sample.variance == NO_FIX_VARIANCE).all()
        assert (sample.velocity_variance == NO_FIX_VARIANCE).all()
        assert (sample.velocity.tolist(), sample.speed, sample.course) == ([0.0, 0.0, 0.0], 0.0, None)
        assert sample.satellites == 0


def test_fix_comes_back_after_the_time_of_reacquisition(moving: Moving, drive: Drive) -> None:
    roof = Roof()
    gps = under(roof)  # 2 s
    roof.is_closed = True
    drive(gps, moving(), until_s=1.0)
    roof.is_closed = False

    samples = drive(gps, moving(), since_s=1.0, until_s=5.0)

    assert [sample.time_ns / 1e9 for sample in samples if sample.quality] == pytest.approx(np.arange(3.0, 5.0, 0.2))
    assert all(sample.satellites == 12 for sample in samples)  # visible all the time


def test_a_glimpse_of_the_sky_is_not_enough_for_a_fix(moving: Moving, drive: Drive) -> None:
    roof = Roof()
    gps = under(roof)
    qualities = []
    for second in range(8):
        roof.is_closed = second in (1, 3, 5)
        qualities += [sample.quality for sample in drive(gps, moving(), second + 1.0, since_s=float(second))]

    assert qualities == [1] * 5 + [0] * 35


def test_a_receiver_that_starts_under_a_roof_reports_the_worlds_origin(moving: Moving, drive: Drive) -> None:
    roof = Roof()
    roof.is_closed = True
    where = Georeference(latitude_deg=36.3, longitude_deg=-84.2, altitude_m=400.0)
    gps = Gps(GpsSettings(needs_sky=True), georeference=where, sky=roof)

    (sample,) = drive(gps, moving(), until_s=0.2)

    assert sample.quality == 0
    assert sample[2:5] == (36.3, -84.2, 400.0)


def test_a_covered_half_of_the_sky_makes_the_covariance_larger(moving: Moving, drive: Drive) -> None:
    roof = Roof()
    gps = under(roof)
    (clear,) = drive(gps, moving(), until_s=0.2)
    roof.is_half = True
    (half,) = drive(gps, moving(), since_s=0.2, until_s=0.4)

    assert half.quality == 1
    assert half.satellites < clear.satellites
    assert half.hdop > clear.hdop
    worse = half.variance / clear.variance
    assert (worse > 1.0).all()
    assert worse[0] > worse[1]  # the east side is hidden: worst for east
    assert_allclose(half.velocity_variance / clear.velocity_variance, worse)


def test_a_geometry_beyond_the_limit_is_no_fix(moving: Moving, drive: Drive) -> None:
    roof = Roof()
    roof.is_half = True

    assert [sample.quality for sample in drive(under(roof, highest_pdop=25.0), moving(), until_s=0.2)] == [1]
    assert [sample.quality for sample in drive(under(roof, highest_pdop=1.5), moving(), until_s=0.2)] == [0]


def test_an_outage_of_the_sky_changes_no_later_error(moving: Moving, drive: Drive) -> None:
    roof, clear = Roof(), Roof()
    covered, free = under(roof), under(clear)
    free_samples = drive(free, moving(), until_s=10.0)
    drive(covered, moving(), until_s=2.0)
    roof.is_closed = True
    drive(covered, moving(), since_s=2.0, until_s=4.0)
    roof.is_closed = False

    later = drive(covered, moving(), since_s=4.0, until_s=10.0)

    assert [repr(sample) for sample in later[10:]] == [repr(sample) for sample in free_samples[30:]]


def test_the_fix_is_lost_between_high_houses_and_regained_at_the_open_end_of_the_street(
    moving: Moving, drive: Drive
) -> None:
    houses = [Box(x=0.0, y=side * 12.0, length=100.0, width=14.0, height=40.0) for side in (-1.0, 1.0)]
    sky = Scene.flat(obstacles=Obstacles(boxes=tuple(houses)))
    gps = Gps(load_preset(GpsSettings, "urban_canyon"), sky=sky, seed=1)

    samples = drive(gps, lambda time: moving((10.0 * time, 0.0, 0.0), velocity=(10.0, 0.0, 0.0)), until_s=15.0)

    qualities = [sample.quality for sample in samples]
    assert qualities[0] == 0
    assert qualities[-1] == 1
    regained = qualities.index(1)
    assert samples[regained].time_ns > 5e9  # 50 m: the end of the houses
    assert all(qualities[regained:])


def test_a_sentence_without_fix_has_the_hdop_that_receivers_report(moving: Moving) -> None:
    (sample,) = Gps(build(GpsSettings, {"quality": 0})).update(0, moving())

    assert gga_from_sample(sample, 53.0).sentence().split(",")[8] == "99.9"


def test_a_receiver_without_errors_reports_a_tiny_variance_because_zero_means_unknown(moving: Moving) -> None:
    (sample,) = perfect().update(0, moving())

    for variance in (sample.variance, sample.velocity_variance):
        assert ((variance > 0.0) & (variance < 1e-9)).all()


def test_a_truth_that_is_not_finite_is_rejected_at_any_time_without_effect(moving: Moving, drive: Drive) -> None:
    good, bad = moving(), moving((math.nan, 0.0, 0.0))
    gps = Gps(GpsSettings(), seed=2)
    samples = []
    for time_ns in range(0, 10**9, 10**7):
        with pytest.raises(ValueError, match="base motion: position must be finite"):
            gps.update(time_ns, bad)
        samples += gps.update(time_ns, good)

    sound = drive(Gps(GpsSettings(), seed=2), good, until_s=1.0)
    assert [repr(sample) for sample in samples] == [repr(sample) for sample in sound]


def test_settings_that_need_the_sky_are_rejected_without_a_world() -> None:
    with pytest.raises(ValueError, match="needs_sky: there is no world"):
        Gps(load_preset(GpsSettings, "urban_canyon"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"quality": 3}, "quality: must be one of 0, 1, 2, 4, 5, got 3"),
        ({"satellites": 4}, "sky_mask_deg: 10 leaves too few of 4 satellites for any fix"),
        ({"horizontal_std_m": -1.0}, "horizontal_std_m: must be a number from 0 to 1000"),
        ({"correlated_share": 1.5}, "correlated_share: must be a number from 0 to 1"),
        ({"vertical_std_m": math.nan}, "vertical_std_m: must be a number"),
        ({"fault": "bias", "fault_channel": "yaw"}, "fault_channel: must be the beginning of one of east, north"),
    ],
)
def test_bad_settings_are_rejected_in_one_line(values: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as rejection:
        build(GpsSettings, values)

    assert "\n" not in str(rejection.value)


def test_a_true_motion_that_is_not_finite_is_rejected(moving: Moving) -> None:
    for bad in (moving((math.nan, 0.0, 0.0)), moving(velocity=(math.inf, 0.0, 0.0))):
        with pytest.raises(ValueError, match=r"base motion: (position|velocity) must be finite"):
            perfect().update(0, bad)


def test_quality_zero_by_settings_is_a_jammed_receiver(moving: Moving, drive: Drive) -> None:
    gps = perfect(reacquisition_s=1.0)
    drive(gps, moving(), until_s=1.0)
    gps.change(build(GpsSettings, {**PERFECT, "quality": 0, "reacquisition_s": 1.0}))
    jammed = drive(gps, moving(), since_s=1.0, until_s=2.0)
    gps.change(build(GpsSettings, {**PERFECT, "quality": 1, "reacquisition_s": 1.0}))
    after = drive(gps, moving(), since_s=2.0, until_s=4.0)

    assert [sample.quality for sample in jammed] == [0] * 5
    assert [sample.quality for sample in after] == [0] * 5 + [1] * 5


def test_reset_repeats_the_same_errors(moving: Moving, drive: Drive) -> None:
    roof = Roof()
    gps = under(roof, correlated_share=0.5, latency_jitter_s=0.1, dropout=0.2)
    first = drive(gps, moving((5.0, 6.0, 7.0)), until_s=20.0)
    roof.is_closed = True
    drive(gps, moving(), since_s=20.0, until_s=21.0)
    roof.is_closed = False

    gps.reset()

    again = drive(gps, moving((5.0, 6.0, 7.0)), until_s=20.0)
    assert [repr(sample) for sample in again] == [repr(sample) for sample in first]


def test_seed_and_name_choose_the_errors(moving: Moving, drive: Drive) -> None:
    def run(seed: int, name: str) -> list[str]:
        return [repr(sample) for sample in drive(Gps(GpsSettings(), seed=seed, name=name), moving(), until_s=1.0)]

    assert run(1, "gps") == run(1, "gps")
    assert run(1, "gps") != run(2, "gps")
    assert run(1, "gps") != run(1, "rear_gps")
