"""Steady climbs: the simulated vehicle at full throttle on all grades, beside the computed curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from proving_ground.validation.mobility.grade_facts import GRADE_SPEEDS_KMPH, GRADES_PERCENT
from proving_ground.validation.mobility.rig import HIGH, KMPH, LOW, PAYLOADS_KG, Subject
from proving_ground.validation.mobility.tractive_effort import Balance, Curve, balance, curves, resistance, wheels_of
from proving_ground.validation.parts import Say
from terrain.ground import FlatGround
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rig import Rig, mass_of

RANGES = {"H": HIGH, "L": LOW}
LONGEST_S, LAST_S = 60.0, 20.0  # of a drive; of its end, over which a gearbox that shifts to and fro is averaged
STEADY_MPS, STEADY_S = 0.005, 3.0  # steady: the speed changes by less in this time
ROLLS_BACK_MPS = -0.5
ROLLING_MPS = 3.0  # slower climbs begin at rest, against the brake


class Climb(NamedTuple):
    """A steady climb at full throttle."""

    transfer: str  # range
    percent: int  # grade
    computed: Balance
    speed: float = 0.0  # [m/s]; 0: the vehicle does not climb
    gear: int = 0  # 0: the gearbox shifts to and fro
    tread_speed: float = 0.0  # spin times rolling radius: the speed without slip [m/s]
    effort: float = 0.0  # of the tyres along the ground, and against their rolling resistance [N]

    @property
    def is_steady(self) -> bool:
        """Whether the vehicle climbs in one gear."""
        return self.gear > 0


class Load(NamedTuple):
    """A vehicle at one mass: its curves, and its climbs."""

    name: str
    vehicle: Hmmwv
    mass: float  # [kg]
    curves: list[Curve]
    climbs: list[Climb]

    def of_range(self, transfer: str) -> list[Curve]:
        """Curves of one range."""
        return [curve for curve in self.curves if curve.transfer == transfer]


class _Settled:
    """Ends a drive when the speed has become steady, or the vehicle rolls back."""

    def __init__(self) -> None:
        self._speeds: list[float] = []
        self.is_steady = False

    def __call__(self, seen: SnapshotRecord) -> bool:
        self._speeds.append(forward_speed(seen))
        if len(self._speeds) * PERIOD_S > 2.0 * STEADY_S:
            latest = self._speeds[-round(STEADY_S / PERIOD_S) :]
            self.is_steady = max(latest) - min(latest) < STEADY_MPS
        return self.is_steady or self._speeds[-1] < ROLLS_BACK_MPS


def loads(say: Say, subject: Subject, grades_percent: Sequence[int] = GRADES_PERCENT) -> list[Load]:
    """Climbs of all grades at both masses in both ranges."""
    found = []
    for name, payload in PAYLOADS_KG.items():
        say(f"climbs at {name}")
        vehicle = subject.vehicle(payload)
        load = Load(name, vehicle, mass_of(vehicle), curves(vehicle), [])
        load.climbs.extend(_climb(load, transfer, percent) for transfer in RANGES for percent in grades_percent)
        found.append(load)
    return found


def _climb(load: Load, transfer: str, percent: int) -> Climb:
    vehicle, of_range = load.vehicle, load.of_range(transfer)
    computed = balance(of_range, resistance(vehicle, load.mass, percent / 100.0, of_range[0].speed))
    rig = Rig(
        vehicle,
        FlatGround(friction=0.8, slope_x=percent / 100.0),
        speed=computed.speed if computed.speed > ROLLING_MPS else 0.0,
    )
    pedals = Pedals(throttle=1.0, transfer_range=RANGES[transfer])
    if computed.speed <= ROLLING_MPS:
        rig.drive(pedals._replace(brake=1.0), 2.0)
    settled = _Settled()
    last = rig.drive(pedals, LONGEST_S, until=settled)
    climb = Climb(transfer, percent, computed)
    if forward_speed(last) <= 0.0:
        return climb
    if not settled.is_steady and len(set(rig.series("gear")[-round(LAST_S / PERIOD_S) :])) > 1:
        return climb._replace(speed=float(rig.speeds()[-round(LAST_S / PERIOD_S) :].mean()))
    wheels, latest = wheels_of(vehicle), slice(-round(STEADY_S / PERIOD_S), None)
    push, load_n, spin = (float(rig.series(name)[latest].mean()) for name in ("force_along", "load", "spin_rate"))
    return climb._replace(
        speed=float(rig.speeds()[latest].mean()),
        gear=int(last["gear"]),
        tread_speed=spin * wheels.rolling_radius,
        effort=4.0 * (push + wheels.rolling_resistance * load_n),
    )


def effort_difference(load: Load) -> float:
    """Largest relative difference of the simulated efforts to the computed curve of the same gear.

    Up to the governed speed: beyond it the curves fall so steeply that a difference says little.
    """
    differences = [0.0]
    for climb in load.climbs:
        curve = load.of_range(climb.transfer)[climb.gear - 1]
        if climb.is_steady and not np.interp(climb.tread_speed, curve.speed, curve.is_governed):
            computed = float(np.interp(climb.tread_speed, curve.speed, curve.effort))
            differences.append(abs(climb.effort / computed - 1.0))
    return max(differences)


def speed_table(load: Load) -> str:
    """Speeds on grades as Markdown: simulated, computed from the curves, and of the longitudinal model."""
    lines = [
        f"| grade at {load.name} | H: simulated | from curves | M998 table | L: simulated | from curves | M998 table |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    by_key = {(climb.transfer, climb.percent): climb for climb in load.climbs}
    for percent in sorted({climb.percent for climb in load.climbs}):
        cells = [f"{percent} %"]
        for transfer in RANGES:
            climb = by_key[transfer, percent]
            cells += [
                _cell(climb.speed, climb.gear),
                _cell(climb.computed.speed, climb.computed.gear),
                f"{GRADE_SPEEDS_KMPH[load.name, transfer][percent]:.0f}",
            ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(speed: float, gear: int) -> str:
    """Speed [m/s] in km/h, with the gear."""
    if speed == 0.0:
        return "0"
    return f"{speed / KMPH:.0f} ({'shifts' if gear == 0 else gear})"
