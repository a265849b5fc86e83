"""Tests of the whole vehicle on soft soil: the weakest clay that it crosses, and the steepest sand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from proving_ground.validation.mobility.figure import Figure
from proving_ground.validation.mobility.rig import GROSS_KG, HIGH_LOCKED, LOW, TEST_KG, SpeedHold, Subject
from proving_ground.validation.mobility.wheel_on_soil import clay_of, sand_of
from proving_ground.validation.parts import Bound
from terrain.cone_index import PSI_PA
from terrain.world_ground import SoilPlane
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rig import Rig
from vehicle_dynamics.tyre.inflation import with_pressures

LANE_M, LANE_S = 20.0, 30.0  # to cross, and in which time
SPEED_MPS = 2.0
WEAKEST, FIRMEST, STEP = 8.0, 40.0, 0.25  # rating cone indices between which the search is [psi]


def one_pass(subject: Subject) -> list[Figure]:
    """VCI1: the weakest clay in which the vehicle drives 20 m once, in L at 2 m/s."""
    light = _weakest(subject, TEST_KG)
    heavy = _weakest(subject, GROSS_KG)
    hard, soft = (_weakest(at_pressure(subject, psi), TEST_KG) for psi in (30.0, 12.0))
    return [
        Figure("2573 kg", light, Bound(13.0, 20.0), "psi", "d"),
        Figure("3493 kg, higher by", heavy - light, Bound(2.0, 4.0), "psi", "d"),
        Figure("12 instead of 30 psi in the tyres, lower by", hard - soft, Bound(1.0, 3.0), "psi", "d"),
    ]


def sand_slope(subject: Subject) -> list[Figure]:
    """A slope of sand of 50 psi from rest in H/L at 20 psi: climbs 25 %, and not 45 %."""
    vehicle = at_pressure(subject, 20.0).vehicle()
    climbed = {}
    for percent in (25, 45):
        ways = []
        for throttle in (0.5, 0.8):
            rig = Rig(vehicle, SoilPlane(sand_of(50.0), slope_x=0.01 * percent))
            start = rig.position()[0]
            rig.drive(Pedals(throttle=throttle, transfer_range=HIGH_LOCKED), 8.0)
            ways.append(float(rig.position()[0] - start))
        climbed[percent] = max(ways)
    return [
        Figure("25 %: way in 8 s", climbed[25], Bound(least=5.0), "m", "c"),
        Figure("45 %: way in 8 s", climbed[45], Bound(most=1.0), "m", "c"),
    ]


def at_pressure(subject: Subject, psi: float) -> Subject:
    """The vehicle with a pressure [psi] in all tyres."""
    before: Callable[[VehicleParameters], VehicleParameters] = subject.change or (lambda parameters: parameters)

    def change(parameters: VehicleParameters) -> VehicleParameters:
        changed = before(parameters)
        return replace(changed, tyre=with_pressures(changed.tyre, [psi * PSI_PA] * 4))

    return replace(subject, change=change)


def _weakest(subject: Subject, payload_kg: float) -> float:
    """Rating cone index [psi] of the weakest clay that the vehicle crosses, to STEP."""
    vehicle = subject.vehicle(payload_kg)
    low, high = WEAKEST, FIRMEST
    while high - low > STEP:
        index = 0.5 * (low + high)
        rig, hold = Rig(vehicle, SoilPlane(clay_of(index)), speed=SPEED_MPS), SpeedHold(SPEED_MPS, LOW)
        last = rig.drive(lambda time, seen, hold=hold: hold.pedals(seen), LANE_S, until=_is_across)  # type: ignore[misc]
        low, high = (low, index) if _is_across(last) else (index, high)
    return high


def _is_across(seen: object) -> bool:
    return bool(seen["position"][0] > LANE_M)  # type: ignore[index]
