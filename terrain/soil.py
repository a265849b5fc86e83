"""Soils in wheel contact: a record for kernels, and the inputs and outputs of its law (terrain/soil_law.py).

The law's kernels are called by their addresses in the record, so the contact of a wheel is compiled once for all laws.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from proving_ground.kernels.by_address import Calling
from proving_ground.kernels.jit import inlined

RIGID, SOFT = 0, 1
MOST_PARAMETERS = 16  # of a law

SOIL = np.dtype(
    [
        ("kind", "i8"),  # RIGID or SOFT
        ("friction", "f8"),  # of hard ground
        ("has_tyre", "i8"),  # 1: the tyre deflects in series with the soil; 0: all compliance is the soil's
        ("flattens", "i8"),  # 1: its shape follows the pressure below; 0: the soil meets a round rim
        ("forward", "f8", 2),  # angle of the largest pressure over that of entry: at no slip, and more per slip
        ("geometric", "f8"),  # shear displacement without slip over that of Wong and Reece
        ("slip_sinkage", "f8"),  # growth of the sinkage with slip
        ("rut_firmness", "f8"),  # stress that a rut's floor bears without giving way, over what pressed it
        ("side", "f8", 2),  # resistance to a side wall, per length: per depth [N/m^2] and per squared depth [N/m^3]
        ("bearing_kernel", "i8"),  # addresses of the law's kernels; 0 on hard ground
        ("shear_kernel", "i8"),
        ("bow", "f8", 3),  # resistance to what is pushed ahead, see SoilLaw.bow_resistance
        ("parameters", "f8", (MOST_PARAMETERS,)),  # of the law, which its kernels access by name
    ]
)
SoilRecord: TypeAlias = Any


class Plate(NamedTuple):
    """A piece of a wheel's rim pressed into the soil. Further inputs of a law would be added here."""

    sinkage: float  # deepest at its position [m]; 0 or less is above the surface
    width: float  # its smaller side [m]
    depth: float  # its true depth, which is more where a wheel has dug [m]


class Bearing(NamedTuple):
    """Response of the soil under a plate."""

    pressure: float  # normal, of soil that was never pressed that deep before [Pa]
    exponent: float  # local: d(ln pressure) / d(ln sinkage), finite at the surface too
    elastic: float  # pressure per sinkage when unloading [Pa/m]
    damping: float  # pressure per speed of sinking [Pa s/m]
    cohesion: float  # shear strength without pressure [Pa]
    friction: float  # shear strength per pressure


class Shear(NamedTuple):
    """Shear of the soil. Further inputs of a law would be added here."""

    displacement: float  # since contact began [m]


class Mobilised(NamedTuple):
    """Share of its strength that sheared soil mobilises."""

    share: float  # 0 to 1
    length: float  # displacement over share, at zero displacement [m]


NO_BEARING, NOT_MOBILISED = Bearing(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), Mobilised(0.0, 1.0)
BEARING = Calling(np.zeros(1, SOIL)[0], Plate(0.0, 0.0, 0.0), NO_BEARING)
SHEAR = Calling(np.zeros(1, SOIL)[0], Shear(0.0), NOT_MOBILISED)
_call_bearing, _call_shear = BEARING.caller(), SHEAR.caller()


@inlined
def bearing(soil: SoilRecord, sinkage: float, width: float) -> Bearing:
    """Response of a soil's law to a plate of a width [m] at a sinkage [m]; zero on hard ground."""
    return loosened_bearing(soil, sinkage, sinkage, 1.0, width)


@inlined
def loosened_bearing(soil: SoilRecord, sinkage: float, depth: float, loosened: float, width: float) -> Bearing:
    """The same at a sinkage [m] that is `loosened` times that at which the soil bears as much without slip.

    depth: true one of the plate [m], which counts for what lies below.
    """
    if soil.bearing_kernel == 0:
        return NO_BEARING
    found: Bearing = _call_bearing(soil.bearing_kernel, soil, Plate(sinkage / loosened, width, depth))
    return found


@inlined
def mobilised(soil: SoilRecord, displacement: float) -> Mobilised:
    """Response of a soil's law to a shear displacement [m]; zero on hard ground."""
    if soil.shear_kernel == 0:
        return NOT_MOBILISED
    found: Mobilised = _call_shear(soil.shear_kernel, soil, Shear(displacement))
    return found


@inlined
def unloading_stiffness(found: Bearing, deepest: float) -> float:
    """Pressure per unloaded sinkage [Pa/m] from a depth [m]; never so soft that unloading releases extra energy."""
    return float(max(found.elastic, max(found.exponent, 1.0) * found.pressure / deepest))


@inlined
def plate_pressure(soil: SoilRecord, sinkage: float, deepest: float, width: float) -> float:
    """Pressure [Pa] under a plate of a width [m] at a sinkage [m], where soil was pressed to `deepest` [m] before.

    It is elastic up to that depth; beyond, it is that of virgin soil.
    """
    reached = max(sinkage, deepest)
    if reached <= 0.0:
        return 0.0
    found = bearing(soil, reached, width)
    return max(found.pressure - unloading_stiffness(found, reached) * (reached - sinkage), 0.0)


@inlined
def residual_depth(found: Bearing, deepest: float) -> float:
    """Depth [m] of the rut that remains where soil was pressed to `deepest` [m], with the response there."""
    if deepest <= 0.0:
        return 0.0
    return float(max(deepest - found.pressure / unloading_stiffness(found, deepest), 0.0))


def hard_soil(friction: float) -> SoilRecord:
    """Record of ground that does not yield, with a friction coefficient."""
    record = np.zeros(1, SOIL)
    record["kind"], record["friction"] = RIGID, friction
    return record[0]
