"""Published curves of a single wheel's traction over slip, fitted to tests on soil: what our wheel is held against.

They are the mobility numbers of the U.S. Army's laboratories and Brixius' equations. All are ratios to the wheel load.
"""

from __future__ import annotations

import math
from typing import NamedTuple

INCH, POUND = 0.0254, 4.4482216  # m, N
INDEX_PER_GRADIENT = 3.47  # mean cone index of the upper 6 inches [psi] over its gradient [psi/in] (WES)


class RigWheel(NamedTuple):
    """A wheel on a rig: load [N], width, diameter and section height of its tyre, deflection on hard ground [m]."""

    load: float
    width: float
    diameter: float
    section: float
    deflection: float

    @property
    def ratio(self) -> float:
        """Deflection over section height."""
        return self.deflection / self.section


class Traction(NamedTuple):
    """Traction at a slip, over the load; NaN where the source has none."""

    pull: float  # net
    gross: float
    sinkage: float  # [m]


def sand(wheel: RigWheel, index: float, slip: float) -> Traction:
    """Dry sand of a cone index [psi], powered: Turnage's form of the WES sand number; sinkage by Mason (2016)."""
    b, d, w, ratio = wheel.width / INCH, wheel.diameter / INCH, wheel.load / POUND, wheel.ratio
    number = index / INDEX_PER_GRADIENT * (b * d) ** 1.5 / w * ratio
    y = 4.71 + 1.72 / slip
    gross = 0.66 * (1.0 - y / (number + 10.0 + y))
    resistance = sand_resistance(wheel, index)
    sinkage = 14.0 / (index * (b * d) ** 1.5 / ((1.0 - ratio) * w)) * wheel.diameter
    return Traction(gross - resistance, gross, sinkage)


def sand_resistance(wheel: RigWheel, index: float) -> float:
    """Motion resistance of a towed wheel in dry sand of a cone index [psi], over its load."""
    b, d, w, ratio = wheel.width / INCH, wheel.diameter / INCH, wheel.load / POUND, wheel.ratio
    number = index * (b * d) ** 1.5 / (w * (1.0 - ratio) ** 3 * (1.0 + b / d))
    x = 0.44 - 0.002287 * number
    return float(x + math.sqrt(x * x + 4.57e-5 * number + 0.08) + 0.05 * ratio)


def clay(wheel: RigWheel, index: float, slip: float) -> Traction:
    """Fine-grained soil of a rating cone index [psi], powered: Turnage's clay number."""
    number = clay_number(wheel, index)
    propelled = 21.0 / number**2.5 + 0.005
    wide = (1.0 + wheel.width / wheel.diameter) ** 0.75
    sinkage = 1.64 * (propelled**0.19 / (number * wide)) ** 1.21 * wheel.diameter
    pull = 0.5 * math.log10(slip / propelled)
    return Traction(pull, pull + clay_resistance(wheel, index), sinkage)


def clay_resistance(wheel: RigWheel, index: float) -> float:
    """Motion resistance of a towed wheel in fine-grained soil of a rating cone index [psi], over its load."""
    return 12.0 / clay_number(wheel, index) ** 2 + 0.007


def clay_number(wheel: RigWheel, index: float) -> float:
    """The WES clay number of a wheel in soil of a rating cone index [psi]."""
    b, d, w = wheel.width / INCH, wheel.diameter / INCH, wheel.load / POUND
    return float(index * b * d / (w * (1.0 - wheel.ratio) ** 1.5 * (1.0 + b / d) ** 0.75))


def brixius(wheel: RigWheel, index: float, slip: float) -> Traction:
    """Agricultural soil of a cone index [psi], radial tyre: Brixius (1987)."""
    b, d, w = wheel.width / INCH, wheel.diameter / INCH, wheel.load / POUND
    number = index * b * d / w * (1.0 + 5.0 * wheel.ratio) / (1.0 + 3.0 * b / d)
    gross = 0.88 * (1.0 - math.exp(-0.1 * number)) * (1.0 - math.exp(-10.5 * slip))
    resistance = 0.9 / number + 0.0325 + 0.5 * slip / math.sqrt(number)
    return Traction(gross - resistance, gross, math.nan)
