"""Tests of engine and brakes on a straight: idle, acceleration, top speed, grades, braking."""

from __future__ import annotations

import math

import numpy as np

from proving_ground.validation.mobility.figure import Figure
from proving_ground.validation.mobility.grade_facts import GRADE_SPEEDS_KMPH
from proving_ground.validation.mobility.rig import GROSS_KG, HIGH, KMPH, LOW, MPH, PAYLOADS_KG, RPM, TEST_KG, Subject
from proving_ground.validation.parts import YES, Bound
from terrain.ground import FlatGround
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import STANDS_MPS, forward_speed
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.rig import Rig

FULL = Pedals(throttle=1.0)
STEEP = 0.6  # the data sheet's largest grade
GOES_MPS = 1.0  # faster is climbing
LOCKED_RADPS = 0.5  # slower is a locked wheel
MEASURED_GRADES = (5, 10, 20)  # [%]


def idle(subject: Subject) -> list[Figure]:
    """Idle for 30 s without pedals, in neutral and in drive."""
    vehicle = subject.vehicle()
    neutral, drive = Rig(vehicle), Rig(vehicle)
    free = neutral.drive(Pedals(selected=NEUTRAL), 30.0)
    creeping = drive.drive(Pedals(), 30.0)
    speeds = Bound(650.0, 750.0)
    return [
        Figure("engine in neutral", float(free["engine_speed"]) / RPM, speeds, "rpm", "c"),
        Figure("engine in drive", float(creeping["engine_speed"]) / RPM, speeds, "rpm", "c"),
        Figure("creep in drive", forward_speed(creeping) / KMPH, Bound(4.0, 9.0), "km/h"),
    ]


def acceleration_at_gross_weight(subject: Subject) -> list[Figure]:
    """Full throttle from rest to 50 mph at gross weight."""
    return _acceleration(subject.vehicle(GROSS_KG), Bound(5.5, 7.5), Bound(16.0, 22.0))


def acceleration_at_test_weight(subject: Subject) -> list[Figure]:
    """Full throttle from rest to 50 mph at test weight."""
    return _acceleration(subject.vehicle(TEST_KG), Bound(4.5, 6.0), Bound(11.0, 15.0))


def _acceleration(vehicle: Hmmwv, thirty: Bound, fifty: Bound) -> list[Figure]:
    """Times to 30 and 50 mph; NaN for a speed that is not reached in 40 s."""
    rig = Rig(vehicle)
    rig.drive(Pedals(brake=0.5), 1.0)
    rig.history.clear()
    rig.drive(FULL, 40.0, until=lambda seen: forward_speed(seen) > 50.0 * MPH)
    speeds = rig.speeds()
    return [
        Figure(f"0 to {mph} mph", PERIOD_S * float(np.argmax(speeds >= mph * MPH)) or math.nan, bound, "s")
        for mph, bound in ((30, thirty), (50, fifty))
    ]


def top_speed(subject: Subject) -> list[Figure]:
    """Full throttle for 90 s from 100 km/h, on the level."""
    rig = Rig(subject.vehicle(), speed=28.0)
    last = rig.drive(FULL, 90.0)
    return [
        Figure("speed", forward_speed(last) / KMPH, Bound(105.0, 116.0), "km/h", "b"),
        Figure("engine", float(last["engine_speed"]) / RPM, Bound(3300.0, 3650.0), "rpm", "d"),
    ]


def grades(subject: Subject) -> list[Figure]:
    """Climb from rest 30 % in H and 60 % in L at both masses; hold 60 % for 10 s by brake and by parking brake."""
    found = []
    for name, payload in PAYLOADS_KG.items():
        vehicle = subject.vehicle(payload)
        goes = _climb(vehicle, 0.3, HIGH) > GOES_MPS
        found.append(Figure(f"{name}: 30 % in H goes", float(goes), YES, "", "b"))
        found.append(Figure(f"{name}: 60 % in L", _climb(vehicle, STEEP, LOW) / KMPH, Bound(8.0, 20.0), "km/h", "b"))
        for words, pedals in (
            ("brake", Pedals(brake=1.0, transfer_range=LOW)),
            ("parking brake", Pedals(selected=NEUTRAL, parking_brake=1.0, transfer_range=LOW)),
        ):
            what = f"{name}: moves on 60 % in L with {words} in 10 s"
            found.append(Figure(what, _creep_on_grade(vehicle, pedals), Bound(most=0.1), "m", "b"))
    return found


def _climb(vehicle: Hmmwv, grade: float, transfer: int) -> float:
    """Speed [m/s] after 20 s of full throttle from rest up a grade."""
    rig = Rig(vehicle, FlatGround(friction=0.8, slope_x=grade))
    rig.drive(Pedals(brake=1.0, transfer_range=transfer), 1.0)
    return forward_speed(rig.drive(Pedals(throttle=1.0, transfer_range=transfer), 20.0))


def _creep_on_grade(vehicle: Hmmwv, pedals: Pedals) -> float:
    """Distance [m] that a held vehicle moves on the steep grade in 10 s."""
    rig = Rig(vehicle, FlatGround(friction=0.8, slope_x=STEEP))
    before = rig.position()
    rig.drive(pedals, 10.0)
    return float(np.linalg.norm(rig.position() - before))


SETTLED = round(40.0 / PERIOD_S)  # snapshots at the end: a gearbox may hunt


def grade_speeds(subject: Subject) -> list[Figure]:
    """Speed at full throttle on grades in H, mean of 40 s, within 15 % of the table of a longitudinal model."""
    found = []
    for name, payload in PAYLOADS_KG.items():
        vehicle = subject.vehicle(payload)
        for percent in MEASURED_GRADES:
            kmph = GRADE_SPEEDS_KMPH[name, "H"][percent]
            rig = Rig(vehicle, FlatGround(friction=0.8, slope_x=percent / 100.0), speed=kmph * KMPH)
            rig.drive(FULL, 120.0)
            speed = float(rig.speeds()[-SETTLED:].mean())
            bound = Bound(0.85 * kmph, 1.15 * kmph)
            found.append(Figure(f"{name}, {percent} %", speed / KMPH, bound, "km/h", "d"))
    return found


def braking(subject: Subject) -> list[Figure]:
    """Full brake from 60 km/h to rest."""
    rig = Rig(subject.vehicle(), speed=60.0 * KMPH)
    rig.drive(Pedals(selected=NEUTRAL), 0.1)
    start = rig.position()[:2]
    rig.history.clear()
    rig.drive(Pedals(brake=1.0), 8.0, until=lambda seen: forward_speed(seen) < STANDS_MPS)
    is_locked = np.abs(rig.series("spin_rate")) < LOCKED_RADPS
    front, rear = np.split(np.argmax(is_locked, axis=0), 2)
    return [
        Figure("distance", float(np.linalg.norm(rig.position()[:2] - start)), Bound(18.0, 24.0), "m"),
        Figure("front wheels lock first", float(front.max() <= rear.min()), YES),
        Figure("off the line", float(np.abs(rig.series("position")[:, 1]).max()), Bound(most=0.5), "m"),
    ]
