"""Tests of one wheel of the vehicle on soil: pull, resistance and sinkage beside published curves."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from proving_ground.validation.mobility.figure import Figure
from proving_ground.validation.mobility.rig import Subject
from proving_ground.validation.parts import YES, Bound
from terrain.bekker import Bekker
from terrain.cone_index import PSI_PA, SAND, ConeIndex
from terrain.published_traction import RigWheel, sand
from terrain.ruts import fresh_ruts
from terrain.snow import Snow
from terrain.soil_law import SoilLaw
from terrain.soils_file import load_soils
from terrain.wheel_rig import Rolling, WheelRig
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.contact import tyre_record
from vehicle_dynamics.tyre.inflation import with_pressures

LOAD_N = 6310.0  # of a wheel at 2573 kg
PRESSURE_PSI = 20.0  # of the front tyres
CLAY = "clay"
PLAIN = "bekker_plain"


@dataclass(frozen=True)
class Wheel:
    """One wheel of the vehicle under test at a pressure [psi]."""

    subject: Subject
    pressure_psi: float = PRESSURE_PSI

    @functools.cached_property
    def tyre(self) -> Any:
        """Its record for kernels."""
        parameters: VehicleParameters = self.subject.parameters()
        pressures = [self.pressure_psi * PSI_PA] * 4
        return tyre_record(replace(parameters, tyre=with_pressures(parameters.tyre, pressures)))

    def on(self, soil: SoilLaw, cells: int = 0) -> WheelRig:
        """The wheel on the test bench; cells: of a table of ruts, 0 for none."""
        return WheelRig(self.tyre, soil, fresh_ruts(cells, 0.1) if cells else None)

    def published(self, load: float = LOAD_N) -> RigWheel:
        """The wheel as the published curves describe it."""
        t = self.tyre
        deflection = load / float(t["stiffness"])
        return RigWheel(load, float(t["width"]), 2.0 * float(t["radius"]), float(t["bottoming_from"]), deflection)


def sand_of(index: float) -> ConeIndex:
    """Sand of a cone index [psi]."""
    return ConeIndex(texture=SAND, cone_index_psi=index, source="a test")


def clay_of(index: float) -> ConeIndex:
    """Clay of a rating cone index [psi]."""
    return ConeIndex(texture=CLAY, cone_index_psi=index, source="a test")


def sand_pull(subject: Subject) -> list[Figure]:
    """One wheel under 6.31 kN in sand at 20 psi and 20 % slip: net pull over load, less that of the WES equations."""
    wheel = Wheel(subject)
    pulls = {index: _pull(wheel.on(sand_of(index)), 0.2) for index in (25.0, 50.0, 100.0, 200.0)}
    figures = [
        Figure(f"cone index {index:g}, less published", pull - _published(wheel, index), Bound(-0.08, 0.08))
        for index, pull in pulls.items()
    ]
    return [*figures, Figure("rises with cone index", float(np.all(np.diff(list(pulls.values())) > 0.0)), YES, "", "b")]


def zero_slip(subject: Subject) -> list[Figure]:
    """One wheel without slip on every soft soil of the suite but the plain ones: it does not pull."""
    wheel, highest, lowest = Wheel(subject), -math.inf, 0.0
    for soil in _soils():
        rig = wheel.on(soil)
        pull = _pull(rig, 0.0)
        resistance = -rig.towed(LOAD_N).drawbar_pull / LOAD_N
        highest, lowest = max(highest, pull), min(lowest, pull / resistance)
    return [
        Figure("highest pull over load, any soil", highest, Bound(most=0.0), "", "b"),
        Figure("lowest pull over towed resistance, any soil", lowest, Bound(least=-1.3), "", "b"),
        Figure("pull over load, sand of 50 psi", _pull(wheel.on(sand_of(50.0)), 0.0), Bound(-0.12, -0.04), "", "b"),
    ]


def towed(subject: Subject) -> list[Figure]:
    """One wheel under 6.31 kN that is towed at 20 psi: resistance over load."""
    wheel = Wheel(subject)
    return [
        Figure(
            f"{name} of {soil.index_psi():g} psi", -wheel.on(soil).towed(LOAD_N).drawbar_pull / LOAD_N, bound, "", "a"
        )
        for name, soil, bound in (
            ("sand", sand_of(50.0), Bound(0.06, 0.11)),
            ("sand", sand_of(100.0), Bound(0.03, 0.06)),
            ("clay", clay_of(30.0), Bound(0.08, 0.15)),
            ("clay", clay_of(60.0), Bound(0.02, 0.05)),
        )
    ]


def sinkage(subject: Subject) -> list[Figure]:
    """One wheel under 6.31 kN in sand at 20 psi and 20 % slip: sinkage."""
    wheel = Wheel(subject)
    return [
        Figure(f"sand of {index:g} psi", wheel.on(sand_of(index)).rolling(LOAD_N, 0.2).sinkage, bound, "m", "a")
        for index, bound in ((50.0, Bound(0.03 / 1.7, 0.03 * 1.7)), (100.0, Bound(0.015 / 1.7, 0.015 * 1.7)))
    ]


def slip_sinkage(subject: Subject) -> list[Figure]:
    """One wheel under 6.31 kN in sand at 20 psi: sinkage with slip over that without."""
    figures = []
    for index in (25.0, 50.0, 100.0):
        rig = Wheel(subject).on(sand_of(index))
        free = rig.rolling(LOAD_N, 0.0).sinkage
        for slip, bound in ((0.2, Bound(1.3, 1.5)), (0.6, Bound(2.0, 3.5))):
            ratio = rig.rolling(LOAD_N, slip).sinkage / free
            figures.append(Figure(f"sand of {index:g} psi, slip {100 * slip:g} %", ratio, bound, "", "b"))
    return figures


def clay_pull(subject: Subject) -> list[Figure]:
    """One wheel under 6.31 kN in clay at 12 psi and 20 % slip: net pull over load. Bands: at 0.2 h deflection."""
    wheel = Wheel(subject, 12.0)
    wanted = {20.0: 0.06, 30.0: 0.27, 40.0: 0.41, 60.0: 0.57, 100.0: 0.70}  # WES clay number at a deflection of 0.2 h
    return [
        Figure(f"clay of {index:g} psi", _pull(wheel.on(clay_of(index)), 0.2), Bound(pull - 0.1, pull + 0.1), "", "a")
        for index, pull in wanted.items()
    ]


def lower_pressure(subject: Subject) -> list[Figure]:
    """One wheel under 6.31 kN in sand of 50 psi at 20 % slip, with 15 instead of 50 psi in the tyre."""
    hard, soft = (Wheel(subject, psi).on(sand_of(50.0)).rolling(LOAD_N, 0.2) for psi in (50.0, 15.0))
    return [
        Figure("more pull over load", (soft.drawbar_pull - hard.drawbar_pull) / LOAD_N, Bound(0.04, 0.10), "", "d"),
        Figure("change of sinkage", 100.0 * (soft.sinkage / hard.sinkage - 1.0), Bound(-35.0, -15.0), "%", "d"),
    ]


def snow(subject: Subject) -> list[Figure]:
    """One wheel under 6.31 kN at 20 psi in 20 cm of snow of 200 kg/m^3, driven at 20 % slip, and towed."""
    wheel = Wheel(subject)
    rig = wheel.on(Snow(depth_m=0.2, density_kgpm3=200.0, source="a test"))
    driven = rig.rolling(LOAD_N, 0.2)
    return [
        Figure("sinkage", driven.sinkage, Bound(0.10, 0.14), "m", "a"),
        Figure("towed resistance over load", -rig.towed(LOAD_N).drawbar_pull / LOAD_N, Bound(0.05, 0.10), "", "a"),
        Figure("gross traction over load", _gross(rig, driven), Bound(0.33, 0.42), "", "d"),
    ]


def second_pass(subject: Subject) -> list[Figure]:
    """One towed wheel under 6.31 kN at 20 psi in the rut that it made, beside its first pass."""
    wheel, figures = Wheel(subject), []
    for name, soil in (("sand", sand_of(50.0)), ("clay", clay_of(60.0))):
        rig = wheel.on(soil, cells=2**14)
        first = rig.towed(LOAD_N)
        rig.leave_rut(first.sinkage)
        second = rig.towed(LOAD_N)
        deeper = 100.0 * (second.sinkage / first.sinkage - 1.0)
        share = second.drawbar_pull / first.drawbar_pull
        figures += [
            Figure(f"resistance over that of the first, {name}", share, Bound(0.4, 0.7), "", "c"),
            Figure(f"deeper, {name}", deeper, Bound(10.0, 30.0), "%", "c"),
        ]
    return figures


def side_force(subject: Subject) -> list[Figure]:
    """One wheel at a slip angle of 10 degrees in sand of 25 psi: how much its sunk sides add to the side force."""
    wheel, angle = Wheel(subject), math.tan(math.radians(10.0))
    with_sides, without = wheel.on(sand_of(25.0)), wheel.on(_Slick(**asdict(sand_of(25.0).as_bekker())))
    found: list[tuple[float, float]] = []
    for load in (3000.0, 4500.0, 6310.0):
        rolling = with_sides.rolling(load, 0.0, angle)
        found.append((rolling.sinkage, rolling.side_force / without.rolling(load, 0.0, angle).side_force - 1.0))
    depths, shares = np.array(found).T
    at = float(np.interp(0.05, depths, shares))
    return [
        Figure("sides of the wheel add, sunk 5 cm", 100.0 * at, Bound(5.0, 20.0), "%", "c"),
        Figure("grows with sinkage", float(np.all(np.diff(shares) > 0.0)), YES, "", "c"),
    ]


class _Slick(Bekker):
    """Sand that does not resist the sides of a wheel."""

    def side_resistance(self) -> tuple[float, float]:
        """As SoilLaw's: none."""
        return 0.0, 0.0


def _published(wheel: Wheel, index: float) -> float:
    """Net pull over load of the WES equations in sand at 20 % slip."""
    return sand(wheel.published(), index, 0.2).pull


def _soils() -> Sequence[SoilLaw]:
    """Soft soils of the suite that are not plain Bekker."""
    soft = [soil.soft for soil in load_soils().values() if soil.soft is not None]
    return [soil for soil in soft if soil.flattens_tyre]


def _pull(rig: WheelRig, slip: float) -> float:
    return rig.rolling(LOAD_N, slip).drawbar_pull / LOAD_N


def _gross(rig: WheelRig, rolling: Rolling) -> float:
    return rolling.torque / rig.radius / LOAD_N
