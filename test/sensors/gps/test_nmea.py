"""GGA and RMC sentences: [Sanjurjo]'s examples, round trips, another parser, and rejected input."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable

import numpy as np
import pynmea2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proving_ground.settings.nested import load_preset
from sensors.gps import Gps, GpsSettings
from sensors.gps.nmea import Gga, Rmc, gga_from_sample, parse, rmc_from_sample
from sensors.gps.nmea_fields import sealed
from sensors.samples import GpsSample
from vehicle_dynamics.base_motion import BaseMotion

# [Sanjurjo], section 5.1.2. The RMC one is printed with a space between its last commas, with which 25 is wrong.
SANJURJO_GGA = "$GPGGA,100412.58,4329.61417292,N,00814.86569421,W,4,14,0.7,6.846,M,53.031,M,1.6,1503*5A"
SANJURJO_RMC = "$GPRMC,092204.999,A,4250.5589,S,14718.5084,E,0.00,89.68,211200,,*25"
SANJURJO_RMC_AS_PRINTED = "$GPRMC,092204.999,A,4250.5589,S,14718.5084,E,0.00,89.68,211200, ,*25"
NOON_NS = 1_790_000_000_250_000_000  # 2026-09-21, 14:13:20.25


def sample(**others: object) -> GpsSample:
    plain = GpsSample(
        time_ns=NOON_NS,
        quality=4,
        latitude_deg=43.49356954866667,
        longitude_deg=-8.247761570166666,
        altitude_m=59.877,
        variance=np.ones(3),
        velocity=np.array([3.0, 4.0, 0.0]),
        velocity_variance=np.ones(3),
        speed=5.0,
        course=math.atan2(3.0, 4.0),
        satellites=14,
        hdop=0.7,
    )
    return plain._replace(**others)  # type: ignore[arg-type]


def test_sanjurjos_gga_is_parsed() -> None:
    gga = parse(SANJURJO_GGA)

    assert isinstance(gga, Gga)
    assert gga.time_of_day_ns == (10 * 3600 + 4 * 60 + 12) * 10**9 + 580_000_000
    assert gga.latitude_deg == pytest.approx(43.0 + 29.61417292 / 60.0, abs=1e-12)
    assert gga.longitude_deg == pytest.approx(-8.0 - 14.86569421 / 60.0, abs=1e-12)
    assert (gga.quality, gga.satellites, gga.hdop) == (4, 14, 0.7)
    assert (gga.altitude_msl_m, gga.separation_m) == (6.846, 53.031)
    assert gga.altitude_m == pytest.approx(59.877)  # note d of Table 5.3
    assert (gga.correction_age_s, gga.station) == (1.6, "1503")


def test_sanjurjos_rmc_is_parsed_without_its_stray_space() -> None:
    rmc = parse(SANJURJO_RMC)

    assert isinstance(rmc, Rmc)
    assert rmc.is_valid
    assert rmc.latitude_deg == pytest.approx(-42.0 - 50.5589 / 60.0, abs=1e-12)
    assert rmc.longitude_deg == pytest.approx(147.0 + 18.5084 / 60.0, abs=1e-12)
    assert (rmc.speed_knots, rmc.course_deg, rmc.variation_deg) == (0.0, 89.68, None)
    assert rmc.date == datetime.date(2000, 12, 21)
    moment = datetime.datetime(2000, 12, 21, 9, 22, 4, 999_000, datetime.timezone.utc)
    assert rmc.time_ns == round(moment.timestamp() * 1000) * 10**6
    with pytest.raises(ValueError, match="has checksum 25, must be 05"):
        parse(SANJURJO_RMC_AS_PRINTED)


@pytest.mark.parametrize("sentence", [SANJURJO_GGA, SANJURJO_RMC])
def test_sanjurjos_examples_are_written_again_exactly(sentence: str) -> None:
    assert parse(sentence).sentence() == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        sealed("GNRMC", "225446", "A", "4916.45", "N", "12311.12", "W", "000.5", "054.7", "191194", "020.3", "E", "A"),
        sealed("GPGGA", "", "", "", "", "", "0", "00", "99.99", "", "M", "", "M", "", ""),
    ],
)
def test_other_versions_and_empty_fields_keep_their_meaning(sentence: str) -> None:
    assert parse(parse(sentence).sentence()) == parse(sentence)


def test_line_ends_do_not_matter() -> None:
    assert parse(SANJURJO_GGA + "\r\n") == parse(SANJURJO_GGA)


def test_sentences_contain_the_sample() -> None:
    gga, rmc = gga_from_sample(sample(), 53.031), rmc_from_sample(sample())

    assert gga.sentence().startswith("$GPGGA,141320.250,4329.61417292,N,00814.86569421,W,4,14,0.7,6.846,M,53.031,M,,*")
    assert rmc.sentence().startswith("$GPRMC,141320.250,A,4329.61417292,N,00814.86569421,W,9.719,36.87,210926,,*")
    assert rmc.time_ns == NOON_NS


def test_pynmea2_reads_our_sentences() -> None:
    gga = pynmea2.parse(gga_from_sample(sample(), 53.031).sentence(), check=True)
    rmc = pynmea2.parse(rmc_from_sample(sample()).sentence(), check=True)

    assert gga.latitude == pytest.approx(43.49356954866667, abs=1e-10)
    assert gga.longitude == pytest.approx(-8.247761570166666, abs=1e-10)
    assert (gga.gps_qual, int(gga.num_sats), float(gga.horizontal_dil)) == (4, 14, 0.7)
    assert float(gga.altitude) + float(gga.geo_sep) == pytest.approx(59.877)
    assert rmc.status == "A"
    assert float(rmc.spd_over_grnd) * 1852.0 / 3600.0 == pytest.approx(5.0, abs=1e-3)
    assert float(rmc.true_course) == pytest.approx(36.87)
    assert rmc.datetime.timestamp() == pytest.approx(NOON_NS * 1e-9, abs=1e-6)


@pytest.mark.parametrize("preset", ["rtk", "low_cost"])
def test_pynmea2_reads_a_whole_drive(
    moving: Callable[..., BaseMotion], drive: Callable[..., list[GpsSample]], preset: str
) -> None:
    gps = Gps(load_preset(GpsSettings, preset), seed=2)
    for item in drive(gps, moving(velocity=(0.5, 0.0, 0.0)), until_s=10.0):
        gga, rmc = gga_from_sample(item, 53.0).sentence(), rmc_from_sample(item).sentence()

        assert pynmea2.parse(gga, check=True).latitude == pytest.approx(item.latitude_deg, abs=1e-9)
        assert pynmea2.parse(rmc, check=True).longitude == pytest.approx(item.longitude_deg, abs=1e-9)
        assert (pynmea2.parse(rmc).true_course is None) == (item.course is None)


@settings(derandomize=True, deadline=None)
@given(
    latitude=st.floats(-90.0, 90.0),
    longitude=st.floats(-180.0, 180.0),
    altitude=st.floats(-1e4, 1e6),
    time_ns=st.integers(315_532_800 * 10**9, 3_471_292_799 * 10**9),  # 1980 to 2079
    speed=st.floats(0.0, 1000.0),
    course=st.none() | st.floats(0.0, 6.28318),
    satellites=st.integers(0, 60),
)
def test_any_fix_survives_its_sentences(
    latitude: float,
    longitude: float,
    altitude: float,
    time_ns: int,
    speed: float,
    course: float | None,
    satellites: int,
) -> None:
    item = sample(time_ns=time_ns, latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude)
    item = item._replace(speed=speed, course=course, satellites=satellites)

    gga, rmc = parse(gga_from_sample(item, -30.0).sentence()), parse(rmc_from_sample(item).sentence())

    assert isinstance(gga, Gga)
    assert isinstance(rmc, Rmc)
    assert gga.latitude_deg == rmc.latitude_deg == pytest.approx(latitude, abs=1e-10)
    assert gga.longitude_deg == pytest.approx(longitude, abs=1e-10)
    assert gga.altitude_m == pytest.approx(altitude, abs=1e-3)
    assert rmc.time_ns == time_ns // 10**6 * 10**6  # milliseconds, never in the future
    assert rmc.speed_knots is not None
    assert rmc.speed_knots * 1852.0 / 3600.0 == pytest.approx(speed, abs=1e-3)
    assert (rmc.course_deg is None) == (course is None)
    assert rmc.course_deg is None or 0.0 <= rmc.course_deg < 360.0
    assert gga.satellites == satellites


def test_minutes_and_course_round_up_to_the_next_whole() -> None:
    item = sample(latitude_deg=44.0 - 1e-12, longitude_deg=-(9.0 - 1e-12), course=math.radians(359.999))

    assert ",4400.00000000,N,00900.00000000,W," in gga_from_sample(item, 0.0).sentence()
    assert ",0.00,210926," in rmc_from_sample(item).sentence()


def test_no_fix_is_quality_zero_and_not_valid() -> None:
    item = sample(quality=0, speed=0.0, course=None, satellites=2, hdop=99.9)
    gga, rmc = parse(gga_from_sample(item, 53.0).sentence()), parse(rmc_from_sample(item).sentence())

    assert isinstance(gga, Gga)
    assert isinstance(rmc, Rmc)
    assert gga.quality == 0
    assert not rmc.is_valid
    assert rmc.speed_knots is None
    assert gga.latitude_deg == pytest.approx(43.49356954866667)  # the last one


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["latitude_deg", "longitude_deg", "altitude_m", "speed"])
def test_nan_becomes_empty_fields_that_pynmea2_can_read(field: str, bad: float) -> None:
    item = sample(**{field: bad})
    gga, rmc = gga_from_sample(item, 53.0).sentence(), rmc_from_sample(item).sentence()

    assert "nan" not in (gga + rmc).lower()
    assert "inf" not in (gga + rmc).lower()
    assert pynmea2.parse(rmc, check=True).status == "V"
    assert pynmea2.parse(gga, check=True).gps_qual == (4 if field == "speed" else 0)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (SANJURJO_GGA.replace("*5A", "*5B"), "has checksum 5B, must be 5A"),
        (SANJURJO_GGA.replace("4329.6", "4329.7"), "has checksum 5A, must be 5B"),
        (SANJURJO_GGA[:-1], "looks truncated"),
        (SANJURJO_GGA[:40], "looks truncated"),
        ("", "looks truncated"),
        (SANJURJO_GGA[1:], "must begin with \\$"),
        (SANJURJO_GGA + SANJURJO_GGA, "at most 120 characters"),
        (sealed("XXGGA", *[""] * 14), "talker must be one of GP, GN"),
        (sealed("GPGSV", "1"), "must be one of GGA, RMC, got 'GSV'"),
        (sealed("GPGGA", "100412.58"), "GGA must have 14 fields, got 1"),
        (sealed("GPRMC", *[""] * 10), "RMC must have 11 or 12 or 13 fields, got 10"),
    ],
)
def test_invalid_sentences_are_rejected_in_one_line(sentence: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as rejection:
        parse(sentence)

    assert "\n" not in str(rejection.value)


@pytest.mark.parametrize(
    ("index", "text", "words"),
    [
        (1, "246060", "time must be hhmmss"),
        (1, "1004", "time must be hhmmss"),
        (2, "4360.0", "latitude must be degrees"),
        (2, "9100.0", "latitude must be degrees"),
        (2, "nan", "latitude must be degrees"),
        (3, "E", "latitude must be degrees"),
        (3, "", "latitude must be degrees"),
        (4, "18100.0", "longitude must be degrees"),
        (4, "814.8", "longitude must be degrees"),
        (6, "", "quality is missing"),
        (6, "x", "quality must be a whole number"),
        (7, "-4", "satellites must be a whole number"),
        (8, "1e5", "HDOP must be a number"),
        (9, "inf", "altitude must be a number"),
        (9, "1_0", "altitude must be a number"),
        (10, "F", "altitude must be in M"),
        (14, "abc", "station must be up to four digits"),
    ],
)
def test_fields_of_gga_are_checked(index: int, text: str, words: str) -> None:
    fields = SANJURJO_GGA[1:-3].split(",")
    fields[index] = text

    with pytest.raises(ValueError, match=words):
        parse(sealed(*fields))


@pytest.mark.parametrize(
    ("index", "text", "words"),
    [
        (2, "B", "status must be A or V"),
        (7, "-", "speed must be a number"),
        (9, "320100", "date must be ddmmyy"),
        (9, "2112", "date must be ddmmyy"),
        (11, "E", "side of the magnetic variation"),
    ],
)
def test_fields_of_rmc_are_checked(index: int, text: str, words: str) -> None:
    fields = SANJURJO_RMC[1:-3].split(",")
    fields[index] = text

    with pytest.raises(ValueError, match=words):
        parse(sealed(*fields))


@settings(derandomize=True, deadline=None)
@given(text=st.text(max_size=60), at=st.integers(0, 87))
def test_any_text_is_parsed_or_rejected_in_one_line(text: str, at: int) -> None:
    for sentence in (text, SANJURJO_GGA[:at] + text + SANJURJO_GGA[at + 1 :], sealed("GPRMC", *text.split(","))):
        words = ""
        try:
            assert parse(sentence).sentence()
        except ValueError as rejection:
            words = str(rejection)
        assert "\n" not in words
        assert not words or words.startswith("NMEA sentence")
