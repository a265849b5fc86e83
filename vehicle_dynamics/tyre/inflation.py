"""A tyre at another inflation pressure: the parameters that follow from those at the reference pressure.

- Stiffness, vertical and of the carcass: as p + p_c, air and carcass in parallel (Ragheb 2013, as used by MAVS).
- Damping: as the root of the stiffness, which keeps the damping ratio.
- Force over slip: the curve is stretched along its slip axis, so that its slope goes as a power of p and the largest
  force stays (not validated: published exponents have either sign, see Besselink, Schmeitz, Pacejka 2010).
- Rolling resistance: as a power of p (form of SAE J2452).

The contact patch, and with it the pneumatic trail and the bore radius, grows by itself as the softer tyre deflects.
A vehicle that changes its pressures while it drives (vehicle_dynamics/conditions.py) replaces its tyre records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from proving_ground.settings import declarations
from vehicle_dynamics.drive.drive_parameters import Inflation, Tyre, TyreDirection

Pair = tuple[float, float]

NOT_KNOWN = "inflation: missing; the pressure at which the tyre's parameters hold is not known"


def inflated(tyre: Tyre, pressure_pa: float) -> Tyre:
    """The tyre at a gauge pressure [Pa], which becomes the reference of its parameters.

    Raises ValueError for a pressure out of range, and for a tyre whose reference pressure is not known.
    """
    law = tyre.inflation
    if law is None:
        raise ValueError(NOT_KNOWN)
    (pressure,) = declarations(Inflation)["pressure_pa"].check((float(pressure_pa),))
    ratio = pressure / law.reference_pressure_pa
    stiffer = (pressure + law.carcass_pressure_pa) / (law.reference_pressure_pa + law.carcass_pressure_pa)
    damped = math.sqrt(stiffer)
    along, across = (ratio**exponent for exponent in law.slip_exponent)
    return replace(
        tyre,
        stiffness_npm=tyre.stiffness_npm * stiffer,
        damping_nspm=tyre.damping_nspm * damped,
        rolling_resistance=tyre.rolling_resistance * ratio**-law.rolling_exponent,
        longitudinal=_stretched(tyre.longitudinal, along),
        lateral=_stretched(tyre.lateral, across),
        trail_zero_slip=_times(tyre.trail_zero_slip, 1.0 / across),
        trail_end_slip=_times(tyre.trail_end_slip, 1.0 / across),
        deflection_stiffness_npm=_times(tyre.deflection_stiffness_npm, stiffer),
        deflection_damping_nspm=_times(tyre.deflection_damping_nspm, damped),
        inflation=replace(law, pressure_pa=(pressure,), reference_pressure_pa=pressure),
    )


def tyre_of_wheel(tyre: Tyre, wheel: int) -> Tyre:
    """The tyre at the pressure of a wheel (0 to 3, as Inflation.of_wheel); as it is if no pressure is given."""
    return tyre if tyre.inflation is None else inflated(tyre, tyre.inflation.of_wheel(wheel))


def with_pressures(tyre: Tyre, pressures_pa: Sequence[float | None]) -> Tyre:
    """The tyre with the pressures of the four wheels [Pa], None for its own; raises ValueError as `inflated` does."""
    if all(pressure is None for pressure in pressures_pa):
        return tyre
    law = tyre.inflation
    if law is None:
        raise ValueError(NOT_KNOWN)
    pressures = (law.of_wheel(k) if own is None else own for k, own in enumerate(pressures_pa))
    return replace(tyre, inflation=replace(law, pressure_pa=tuple(pressures)))


def _stretched(direction: TyreDirection, steeper: float) -> TyreDirection:
    """The same forces at slips that are smaller by a factor."""
    return replace(
        direction,
        slope_n=_times(direction.slope_n, steeper),
        max_slip=_times(direction.max_slip, 1.0 / steeper),
        slide_slip=_times(direction.slide_slip, 1.0 / steeper),
    )


def _times(pair: Pair, factor: float) -> Pair:
    return pair[0] * factor, pair[1] * factor
