"""NMEA 0183 sentences: GGA (position, quality) and RMC (speed, course), written and read ([Sanjurjo], section 5.1.2).

Parsed sentences keep their number of digits and can be written again exactly. With the digits that RTK needs, GGA is
longer than the 82 characters that the standard allows; so is [Sanjurjo]'s own example.

>>> parse("$GPRMC,092204.999,A,4250.5589,S,14718.5084,E,0.00,89.68,211200,,*25").course_deg
89.68
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import NamedTuple

from sensors.gps.nmea_fields import (
    DAY_NS,
    Fields,
    angle_text,
    clock_text,
    number_text,
    read_fields,
    sealed,
    sentence_error,
)
from sensors.samples import GpsSample

KNOTS = 3600.0 / 1852.0  # per metre per second
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()


class GgaDigits(NamedTuple):
    """Number of digits after the decimal point in each field of a GGA sentence."""

    time: int = 3
    minutes: int = 8  # 0.02 mm
    hdop: int = 1
    altitude: int = 3
    separation: int = 3
    age: int = 1


class RmcDigits(NamedTuple):
    """Number of digits after the decimal point in each field of an RMC sentence."""

    time: int = 3
    minutes: int = 8
    speed: int = 3
    course: int = 2
    variation: int = 1


_GGA_DIGITS, _RMC_DIGITS = GgaDigits(), RmcDigits()


@dataclass(frozen=True, kw_only=True)
class Gga:
    """NMEA sentence GGA: time, position and quality of a fix ([Sanjurjo] Table 5.3); None is an empty field."""

    talker: str = "GP"
    time_of_day_ns: int | None  # UTC
    latitude_deg: float | None
    longitude_deg: float | None
    quality: int
    satellites: int | None
    hdop: float | None
    altitude_msl_m: float | None  # above the geoid
    separation_m: float | None  # geoid above the ellipsoid
    correction_age_s: float | None = None
    station: str = ""
    digits: GgaDigits = _GGA_DIGITS

    @property
    def altitude_m(self) -> float | None:
        """Altitude above the ellipsoid [m]: that above mean sea level plus the geoid separation."""
        known = self.altitude_msl_m is not None and self.separation_m is not None
        return self.altitude_msl_m + self.separation_m if known else None  # type: ignore[operator]

    def sentence(self) -> str:
        """The sentence as sent, without line end."""
        digits = self.digits
        return sealed(
            f"{self.talker}GGA",
            clock_text(self.time_of_day_ns, digits.time),
            *angle_text(self.latitude_deg, digits.minutes, "NS"),
            *angle_text(self.longitude_deg, digits.minutes, "EW"),
            str(self.quality),
            "" if self.satellites is None else f"{self.satellites:02d}",
            number_text(self.hdop, digits.hdop),
            number_text(self.altitude_msl_m, digits.altitude),
            "M",
            number_text(self.separation_m, digits.separation),
            "M",
            number_text(self.correction_age_s, digits.age),
            self.station,
        )


@dataclass(frozen=True, kw_only=True)
class Rmc:
    """NMEA sentence RMC: time, position, speed and course ([Sanjurjo] Table 5.4); None is an empty field."""

    talker: str = "GP"
    time_of_day_ns: int | None  # UTC
    is_valid: bool
    latitude_deg: float | None
    longitude_deg: float | None
    speed_knots: float | None
    course_deg: float | None  # clockwise from true north
    date: datetime.date | None  # 1980 to 2079: the sentence has a two-digit year
    variation_deg: float | None = None  # magnetic, east positive
    later_fields: tuple[str, ...] = ()  # from later versions of the standard: mode, navigational status
    digits: RmcDigits = _RMC_DIGITS

    @property
    def time_ns(self) -> int | None:
        """Date and time of the sentence as nanoseconds since 1970."""
        if self.date is None or self.time_of_day_ns is None:
            return None
        return (self.date.toordinal() - _EPOCH_DAY) * DAY_NS + self.time_of_day_ns

    def sentence(self) -> str:
        """The sentence as sent, without line end."""
        digits = self.digits
        variation = None if self.variation_deg is None else abs(self.variation_deg)
        side = "" if self.variation_deg is None else "W" if self.variation_deg < 0.0 else "E"
        return sealed(
            f"{self.talker}RMC",
            clock_text(self.time_of_day_ns, digits.time),
            "A" if self.is_valid else "V",
            *angle_text(self.latitude_deg, digits.minutes, "NS"),
            *angle_text(self.longitude_deg, digits.minutes, "EW"),
            number_text(self.speed_knots, digits.speed),
            number_text(_below_full_turn(self.course_deg, digits.course), digits.course),
            "" if self.date is None else f"{self.date:%d%m%y}",
            number_text(variation, digits.variation),
            side,
            *self.later_fields,
        )


def gga_from_sample(sample: GpsSample, separation_m: float) -> Gga:
    """GGA of a sample; separation_m: height of the geoid above the ellipsoid.

    A position that is not finite gives empty fields and no fix.
    """
    is_sound = _has_position(sample)
    return Gga(
        time_of_day_ns=sample.time_ns % DAY_NS,
        latitude_deg=sample.latitude_deg if is_sound else None,
        longitude_deg=sample.longitude_deg if is_sound else None,
        quality=sample.quality if is_sound else 0,
        satellites=sample.satellites,
        hdop=sample.hdop,
        altitude_msl_m=sample.altitude_m - separation_m if is_sound else None,
        separation_m=separation_m if is_sound else None,
    )


def rmc_from_sample(sample: GpsSample) -> Rmc:
    """RMC of a sample; a position or speed that is not finite gives empty fields and status V (not valid)."""
    is_sound, has_speed = _has_position(sample), math.isfinite(sample.speed)
    return Rmc(
        time_of_day_ns=sample.time_ns % DAY_NS,
        is_valid=is_sound and has_speed and sample.quality > 0,
        latitude_deg=sample.latitude_deg if is_sound else None,
        longitude_deg=sample.longitude_deg if is_sound else None,
        speed_knots=sample.speed * KNOTS if has_speed and sample.quality > 0 else None,
        course_deg=None if sample.course is None else math.degrees(sample.course),
        date=datetime.date.fromordinal(_EPOCH_DAY + sample.time_ns // DAY_NS),
    )


def parse(sentence: str) -> Gga | Rmc:
    """Parse a sentence, with or without line end; raises ValueError with one line if it is invalid."""
    fields = read_fields(sentence, {"GGA": range(14, 15), "RMC": range(11, 14)})
    return _gga(fields) if fields.kind == "GGA" else _rmc(fields)


def _gga(fields: Fields) -> Gga:
    for index, what in ((9, "altitude"), (11, "geoid separation")):
        if fields.texts[index] not in ("M", "") or (fields.texts[index - 1] and not fields.texts[index]):
            raise sentence_error(fields.sentence, f"{what} must be in M, got {fields.texts[index]!r}")
    satellites = fields.whole(6, "satellites", 3)
    quality = fields.whole(5, "quality", 1)
    if quality is None:
        raise sentence_error(fields.sentence, "quality is missing")
    station = fields.texts[13]
    if station and not (station.isdigit() and len(station) <= 4):
        raise sentence_error(fields.sentence, f"station must be up to four digits, got {station!r}")
    return Gga(
        talker=fields.talker,
        time_of_day_ns=fields.time_of_day_ns(0),
        latitude_deg=fields.angle(1, "latitude", "NS"),
        longitude_deg=fields.angle(3, "longitude", "EW"),
        quality=quality,
        satellites=satellites,
        hdop=fields.number(7, "HDOP"),
        altitude_msl_m=fields.number(8, "altitude"),
        separation_m=fields.number(10, "geoid separation"),
        correction_age_s=fields.number(12, "age of corrections"),
        station=station,
        digits=GgaDigits(
            fields.digits(0),
            fields.digits(1, 3),
            fields.digits(7),
            fields.digits(8),
            fields.digits(10),
            fields.digits(12),
        ),
    )


def _rmc(fields: Fields) -> Rmc:
    status = fields.texts[1]
    if status not in ("A", "V"):
        raise sentence_error(fields.sentence, f"status must be A or V, got {status!r}")
    side, variation = fields.texts[10], fields.number(9, "magnetic variation")
    if side not in (("E", "W") if variation is not None else ("",)):
        raise sentence_error(fields.sentence, f"side of the magnetic variation must be E or W, got {side!r}")
    return Rmc(
        talker=fields.talker,
        time_of_day_ns=fields.time_of_day_ns(0),
        is_valid=status == "A",
        latitude_deg=fields.angle(2, "latitude", "NS"),
        longitude_deg=fields.angle(4, "longitude", "EW"),
        speed_knots=fields.number(6, "speed"),
        course_deg=fields.number(7, "course"),
        date=_date(fields, 8),
        variation_deg=None if variation is None else math.copysign(variation, -1.0 if side == "W" else 1.0),
        later_fields=fields.texts[11:],
        digits=RmcDigits(fields.digits(0), fields.digits(2, 4), fields.digits(6), fields.digits(7), fields.digits(9)),
    )


def _date(fields: Fields, index: int) -> datetime.date | None:
    text = fields.texts[index]
    if not text:
        return None
    try:
        if len(text) != 6 or not text.isdigit():
            raise ValueError
        year = int(text[4:])
        return datetime.date(year + (1900 if year >= 80 else 2000), int(text[2:4]), int(text[:2]))  # GPS began in 1980
    except ValueError:
        raise sentence_error(fields.sentence, f"date must be ddmmyy, got {text!r}") from None


def _below_full_turn(angle_deg: float | None, digits: int) -> float | None:
    """359.999 is 0.00 with two digits, not 360.00."""
    return None if angle_deg is None else round(angle_deg, digits) % 360.0


def _has_position(sample: GpsSample) -> bool:
    return math.isfinite(sample.latitude_deg + sample.longitude_deg + sample.altitude_m)
