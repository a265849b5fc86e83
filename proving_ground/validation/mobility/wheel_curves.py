"""A wheel of a vehicle on soil over slip, beside published curves for the same cone index: a table and a picture."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.plots import png
from proving_ground.settings import SettingsError
from proving_ground.settings.text_table import text_table
from terrain.cone_index import SAND, ConeIndex, bekker_of, cone_index_of
from terrain.published_traction import RigWheel, Traction, brixius, clay, clay_resistance, sand, sand_resistance
from terrain.snow import Snow, strength
from terrain.soil_law import SoilLaw
from terrain.wheel_rig import Rolling, WheelRig
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rig import mass_of
from vehicle_dynamics.tyre.contact import tyre_record
from vehicle_dynamics.tyre.inflation import with_pressures
from vehicle_dynamics.vehicle_files import vehicle_file

Array = NDArray[np.float64]

SLIPS = (0.0, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
PUBLISHED_SLIPS = [slip for slip in SLIPS if slip > 0.03]  # without slip the published curves are not defined
FRICTIONAL_DEG = 20.0  # soils by Bekker's numbers with a larger angle of friction are compared as sand
COLOURS = ("#c65a11", "#2e7d32")
DPI = 130


class Curves(NamedTuple):
    """What was measured, and what was published."""

    soil_name: str
    soil: SoilLaw
    wheel: RigWheel
    pressure_pa: float
    psi: float  # cone index [psi]; NaN: none
    rolling: list[Rolling]  # by SLIPS
    towed: Rolling
    radius: float  # of the tyre [m]
    published: dict[str, list[Traction]]  # by source, by PUBLISHED_SLIPS
    published_towed: dict[str, float]  # resistance over load

    @property
    def pressure(self) -> str:
        """Pressure of the tyre in words."""
        return f"{_number(1e-3 * self.pressure_pa, '.0f', 'unknown')} kPa"


def measure(vehicle: str, name: str, soil: SoilLaw, pressure_kpa: float | None, load: float | None) -> Curves:
    """The front wheel of a vehicle on a soil; pressure and load [N] are the vehicle's where they are None."""
    parameters = VehicleParameters.from_yaml(vehicle_file(vehicle))
    tyre = parameters.tyre
    try:
        if pressure_kpa is not None:
            tyre = with_pressures(tyre, [1e3 * pressure_kpa] * 4)
        record = tyre_record(replace(parameters, tyre=tyre))
    except ValueError as error:
        raise SettingsError(f"--pressure {pressure_kpa:g}: {error}") from None
    weight = _quarter(parameters) if load is None else load
    deflection = weight / float(record["stiffness"])
    diameter = 2.0 * float(record["radius"])
    wheel = RigWheel(weight, float(record["width"]), diameter, float(record["bottoming_from"]), deflection)
    rig, index = WheelRig(record, soil), cone_index_of(soil)
    sources = _published(soil)
    return Curves(
        name, soil, wheel, tyre.inflation.of_wheel(0) if tyre.inflation else math.nan, index,
        [rig.rolling(weight, slip) for slip in SLIPS], rig.towed(weight), rig.radius,
        {source: [curve(wheel, index, slip) for slip in PUBLISHED_SLIPS] for source, curve in sources.items()},
        _published_towed(soil, wheel, index),
    )  # fmt: skip


def table(found: Curves) -> str:
    """Figures over slip, ours and published."""
    w = found.wheel
    heading = (
        f"{found.soil_name}: {_number(found.psi, '.0f', 'no')} psi cone index; wheel under {w.load:.0f} N, "
        f"{found.pressure}, deflection on hard ground {w.ratio:.2f} of the section height"
    )
    rows = []
    for row in found.rolling:
        published = []
        for source in found.published.values():
            at = dict(zip(PUBLISHED_SLIPS, source, strict=True))
            published.append(_number(at[row.slip].pull if row.slip in at else math.nan, ".3f", ""))
        gross = row.torque / found.radius / w.load
        rows.append(
            [
                f"{100 * row.slip:g} %",
                f"{row.drawbar_pull / w.load:.3f}",
                f"{gross:.3f}",
                f"{row.sinkage:.3f}",
                *published,
            ]
        )
    sources = [f"pull, {source}" for source in found.published]
    towed = ", ".join(f"{source} {value:.3f}" for source, value in found.published_towed.items())
    resistance = f"towed: resistance {-found.towed.drawbar_pull / w.load:.3f} of the load" + (
        f" ({towed})" if towed else ""
    )
    columns = ["slip", "pull over load", "torque / (radius load)", "sinkage [m]", *sources]
    return "\n".join([heading, text_table(columns, rows), resistance])


def picture(found: Curves) -> bytes:
    """Pull, torque and sinkage over slip."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    drawn = Figure(figsize=(7.5, 9.5), layout="constrained")
    pull, torque, depth = drawn.subplots(3, 1, sharex=True)
    slips = 100.0 * np.array(SLIPS)
    load = found.wheel.load
    ours = {"color": "#1f4e9c", "linewidth": 2.2, "label": "proving_ground"}
    pull.plot(slips, [row.drawbar_pull / load for row in found.rolling], **ours)
    torque.plot(slips, [row.torque / found.radius / load for row in found.rolling], **ours)
    depth.plot(slips, [1e3 * row.sinkage for row in found.rolling], **ours)
    there = 100.0 * np.array(PUBLISHED_SLIPS)
    for (source, rows), colour in zip(found.published.items(), COLOURS, strict=False):
        line = {"color": colour, "linestyle": "--", "label": source}
        if all(math.isfinite(row.pull) for row in rows):
            pull.plot(there, [row.pull for row in rows], **line)
        torque.plot(there, [row.gross for row in rows], **line)
        if all(math.isfinite(row.sinkage) for row in rows):
            depth.plot(there, [1e3 * row.sinkage for row in rows], **line)
    for axis, words in ((pull, "pull over load"), (torque, "torque over load and radius"), (depth, "sinkage [mm]")):
        axis.set_ylabel(words)
        axis.grid(True, alpha=0.25)
        axis.legend(loc="best", fontsize=9)
    pull.axhline(0.0, color="black", linewidth=0.8)
    # Where published curves fall far below no pull, they would squeeze ours.
    pull.set_ylim(bottom=max(pull.get_ylim()[0], -0.5))
    depth.set_ylim(0.0, 1.1 * depth.get_ylim()[1])
    depth.set_xlabel("slip [%]")
    pressure = f"{found.pressure}, deflection {found.wheel.ratio:.2f} of the section height"
    index = f" (cone index {found.psi:.0f} psi)" if math.isfinite(found.psi) else ""
    pull.set_title(f"{found.soil_name}{index}; {load:.0f} N, {pressure}", loc="left", fontsize=10, fontweight="bold")
    return png(drawn, DPI)


def _quarter(parameters: VehicleParameters) -> float:
    """A quarter of the vehicle's weight [N]."""
    vehicle = Hmmwv(parameters)
    return mass_of(vehicle) * float(vehicle.kernel.gravity) / 4.0


def _published(soil: SoilLaw) -> dict[str, Callable[[RigWheel, float, float], Traction]]:
    """Published curves that apply to a soil, by their source."""
    if isinstance(soil, Snow):
        return {"CRREL 95-1": _snow}
    numbers = bekker_of(soil)
    if numbers is None:
        return {}
    is_sand = soil.texture == SAND if isinstance(soil, ConeIndex) else numbers.friction_deg > FRICTIONAL_DEG
    return {"sand, WES": sand} if is_sand else {"clay, WES": clay, "Brixius 1987": brixius}


def _published_towed(soil: SoilLaw, wheel: RigWheel, index: float) -> dict[str, float]:
    """Resistance of a towed wheel over its load by the same sources, where they have one."""
    names = _published(soil)
    if "sand, WES" in names:
        return {"WES": sand_resistance(wheel, index)}
    return {"WES": clay_resistance(wheel, index)} if "clay, WES" in names else {}


def _snow(wheel: RigWheel, index: float, slip: float) -> Traction:
    """Gross traction in undisturbed snow at any slip, under the pressure on hard ground; nothing on resistance."""
    length = 2.0 * math.sqrt(wheel.diameter * wheel.deflection)
    pressure = wheel.load / (wheel.width * length)
    return Traction(math.nan, strength(pressure) / pressure, math.nan)


def _number(value: float, form: str, missing: str) -> str:
    return format(value, form) if math.isfinite(value) else missing
