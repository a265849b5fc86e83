"""Fields of NMEA 0183 sentences and their checksum: checked conversion to numbers and back."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce

TALKERS = ("GP", "GN", "GL", "GA", "GB", "GQ")  # GPS, combined, GLONASS, Galileo, BeiDou, QZSS
LONGEST = 120  # characters; the standard's 82 are too few for centimetre accuracy
DAY_NS = 86_400_000_000_000

_SENTENCE = re.compile(r"\$([^*$]*)\*([0-9A-Fa-f]{2})")
_NUMBER = re.compile(r"-?[0-9]{1,10}(\.[0-9]{1,10})?")
_CLOCK = re.compile(r"([01][0-9]|2[0-3])([0-5][0-9])([0-5][0-9])(?:\.([0-9]{1,9}))?")
_ANGLES = {
    "NS": re.compile(r"([0-9]{2})([0-5][0-9](?:\.[0-9]{1,10})?)"),
    "EW": re.compile(r"([0-9]{3})([0-5][0-9](?:\.[0-9]{1,10})?)"),
}
_LARGEST_DEG = {"NS": 90.0, "EW": 180.0}
_DEGREE_DIGITS = {"NS": 2, "EW": 3}


@dataclass(frozen=True)
class Fields:
    """Fields of a sentence with a valid checksum; numeric ones may be empty."""

    sentence: str
    talker: str
    kind: str
    texts: tuple[str, ...]

    def number(self, index: int, name: str) -> float | None:
        """Number in the field of an index; None if empty. Raises ValueError with the field's name for other text."""
        text = self.texts[index]
        if text and not _NUMBER.fullmatch(text):
            raise sentence_error(self.sentence, f"{name} must be a number, got {text!r}")
        return float(text) if text else None

    def whole(self, index: int, name: str, longest: int) -> int | None:
        """Whole number of at most `longest` digits in the field of an index; None if empty. Raises ValueError."""
        text = self.texts[index]
        if text and not (text.isdigit() and len(text) <= longest):
            raise sentence_error(self.sentence, f"{name} must be a whole number, got {text!r}")
        return int(text) if text else None

    def digits(self, *indices: int) -> int:
        """Largest number of digits after the decimal point."""
        return max(len(self.texts[index].partition(".")[2]) for index in indices)

    def time_of_day_ns(self, index: int) -> int | None:
        """Time in a field hhmmss.sss; None if empty."""
        text = self.texts[index]
        if not text:
            return None
        match = _CLOCK.fullmatch(text)
        if not match:
            raise sentence_error(self.sentence, f"time must be hhmmss.sss, got {text!r}")
        hours, minutes, seconds = (int(part) for part in match.groups()[:3])
        return (hours * 3600 + minutes * 60 + seconds) * 10**9 + int((match[4] or "").ljust(9, "0"))

    def angle(self, index: int, name: str, sides: str) -> float | None:
        """Angle [deg] from a field of degrees and minutes and the next one with its side: N or S, E or W."""
        text, side = self.texts[index : index + 2]
        if not text and not side:
            return None
        match = _ANGLES[sides].fullmatch(text)
        value = int(match[1]) + float(match[2]) / 60.0 if match else _LARGEST_DEG[sides] + 1.0
        if not side or side not in sides or value > _LARGEST_DEG[sides]:
            raise sentence_error(
                self.sentence, f"{name} must be degrees, minutes and {sides[0]} or {sides[1]}, got {text},{side}"
            )
        return value if side == sides[0] else -value


def read_fields(sentence: str, kinds: Mapping[str, Collection[int]]) -> Fields:
    """Split a sentence; kinds: accepted types and their numbers of fields. Raises ValueError with one line."""
    sentence = sentence.rstrip("\r\n")
    if len(sentence) > LONGEST:
        raise sentence_error(sentence, f"must have at most {LONGEST} characters, got {len(sentence)}")
    match = _SENTENCE.fullmatch(sentence)
    if not match:
        raise sentence_error(
            sentence, "must begin with $ and end with * and two hexadecimal digits; it looks truncated"
        )
    if not sentence.isascii() or not sentence.isprintable():
        raise sentence_error(sentence, "must be of printable ASCII characters")
    body, said = match[1], match[2].upper()
    if said != checksum(body):
        raise sentence_error(sentence, f"has checksum {said}, must be {checksum(body)}")
    head, *texts = body.split(",")
    talker, kind = head[:2], head[2:]
    if talker not in TALKERS:
        raise sentence_error(sentence, f"talker must be one of {', '.join(TALKERS)}, got {talker!r}")
    if kind not in kinds:
        raise sentence_error(sentence, f"must be one of {', '.join(kinds)}, got {kind!r}")
    if len(texts) not in kinds[kind]:
        allowed = " or ".join(map(str, kinds[kind]))
        raise sentence_error(sentence, f"{kind} must have {allowed} fields, got {len(texts)}")
    return Fields(sentence, talker, kind, tuple(texts))


def sentence_error(sentence: str, why: str) -> ValueError:
    """Error with the sentence and the reason in one line."""
    return ValueError(f"NMEA sentence {sentence[:LONGEST]!r}: {why}")


def checksum(body: str) -> str:
    """Two hexadecimal digits: exclusive or of all characters between $ and *."""
    return f"{reduce(lambda total, byte: total ^ byte, body.encode(), 0):02X}"


def sealed(*texts: str) -> str:
    """A sentence of these fields, with checksum."""
    body = ",".join(texts)
    return f"${body}*{checksum(body)}"


def clock_text(time_of_day_ns: int | None, digits: int) -> str:
    """Time of day as hhmmss.sss with this many digits, truncated: a sentence is never stamped in the future."""
    if time_of_day_ns is None:
        return ""
    seconds, rest = divmod(time_of_day_ns, 10**9)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}{minutes:02d}{seconds:02d}{_fraction(rest // 10 ** (9 - digits), digits)}"


def angle_text(angle_deg: float | None, digits: int, sides: str) -> tuple[str, str]:
    """Degrees and minutes with a number of digits, and the side."""
    if angle_deg is None:
        return "", ""
    # Whole units of the last digit, so that 59.99999 minutes round up to the next degree, not to 60 minutes.
    minutes, rest = divmod(round(abs(angle_deg) * 60.0 * 10**digits), 10**digits)
    degrees, minutes = divmod(minutes, 60)
    return f"{degrees:0{_DEGREE_DIGITS[sides]}d}{minutes:02d}{_fraction(rest, digits)}", sides[angle_deg < 0.0]


def number_text(value: float | None, digits: int) -> str:
    """A number with fixed digits after the decimal point; empty for None."""
    return "" if value is None else f"{value:.{digits}f}"


def _fraction(units: int, digits: int) -> str:
    return f".{units:0{digits}d}" if digits else ""
