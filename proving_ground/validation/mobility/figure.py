"""A figure of a mobility test, and the range that it must be in."""

from __future__ import annotations

import re
from typing import NamedTuple

from proving_ground.validation.parts import Bound

# What stands behind a range; the same marks as in the vehicle's file.
MARKS = {
    "a": "read in a primary document or source file",
    "b": "read on a secondary page or in other code",
    "c": "engineering knowledge, no document found",
    "d": "computed from the parameters",
}
_WORDS = {"%": " percent", "km/h": "kmph", "m/s": "mps", "H/L": "HL", "N m": "nm", "/": " per "}  # of names


class Figure(NamedTuple):
    """One figure of a test, and the range that it must be in."""

    what: str
    value: float
    bound: Bound
    unit: str = ""
    mark: str = "c"  # of the bound's source, one of MARKS

    @property
    def is_inside(self) -> bool:
        """Whether the figure is within its range; NaN is not."""
        return self.bound.holds(self.value)

    @property
    def name(self) -> str:
        """Words and unit of the figure as a key for programs.

        >>> Figure("creep in drive", 8.3, Bound(4.0, 9.0), "km/h").name
        'creep_in_drive_kmph'
        """
        text = f"{self.what} {self.unit}"
        for words, plain in _WORDS.items():
            text = text.replace(words, plain)
        return re.sub(r"[^a-z0-9]+", "_", text.replace(".", "p").lower()).strip("_")
