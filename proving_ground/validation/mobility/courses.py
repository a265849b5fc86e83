"""Tests on courses: speeds at which the driver absorbs 6 W on rough ground, and feels 2.5 g over half-rounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from proving_ground.scenarios.channels import acceleration_at
from proving_ground.scenarios.vibration import absorbed_power, peak_acceleration
from proving_ground.validation.mobility.figure import Figure
from proving_ground.validation.mobility.rig import LineDriver, SpeedHold, Subject, straight
from proving_ground.validation.parts import Bound
from terrain.builders.courses import INCH, HalfRound
from terrain.builders.rough_road import FADE_M, RmsCourse
from terrain.ground import GroundModel
from terrain.world import Site
from terrain.world_ground import WorldGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import GRAVITY
from vehicle_dynamics.rig import Array, Rig

MOST_POWER_W, MOST_PEAK = 6.0, 2.5 * GRAVITY
# Roughness of the Keweenaw courses of 1, 2 and 3 in, as their files say [in]: they are smoother than their names.
COURSES = {"1 in": 0.969, "2 in": 1.744, "3 in": 2.316}
HALF_ROUNDS = {"4 in": 4.0, "8 in": 8.0, "12 in": 12.0}  # radii [in]
POWER_HZ, SHOCK_HZ = 100.0, 500.0  # of samples: a person absorbs what is slow
ROUGH_M = 160.0  # of a course; more of it changes the speed by less than 3 %
BEFORE_M, BEHIND_M = 6.0, 12.0  # of a half-round
SLOWEST, FASTEST, FASTER = 2.0, 24.0, 1.25  # speeds that are tried [m/s], and the factor from one to the next


def six_watt_speeds(subject: Subject) -> list[Figure]:
    """Speed at 6 W on courses of the builder with the Keweenaw courses' RMS; on the measured ones 7.9, 5.2, 5.4 m/s.

    The builder's courses have waves up to 60 ft; the measured profiles have most in waves of 3 to 10 m.
    """
    vehicle = subject.vehicle()
    bounds = (Bound(13.0, 18.0), Bound(6.0, 8.5), Bound(4.0, 5.5))
    return [
        Figure(name, power_speed(vehicle, inches), bound, "m/s")
        for (name, inches), bound in zip(COURSES.items(), bounds, strict=True)
    ]


def half_round_speeds(subject: Subject) -> list[Figure]:
    """Speed at which the driver's vertical acceleration below 30 Hz reaches 2.5 g over a half-round; 24 m/s: never."""
    vehicle = subject.vehicle()
    bounds = (Bound(least=16.0), Bound(5.5, 8.0), Bound(2.5, 4.0))
    return [
        Figure(name, shock_speed(vehicle, inches), bound, "m/s")
        for (name, inches), bound in zip(HALF_ROUNDS.items(), bounds, strict=True)
    ]


def power_speed(vehicle: Hmmwv, rms_inches: float) -> float:
    """Lowest speed [m/s] at which the driver absorbs 6 W on a course with a root mean square [in]."""
    course = RmsCourse(rms_m=INCH * rms_inches, rough_length_m=ROUGH_M, length_m=ROUGH_M + 60.0)
    ground, begin = ground_of(course), course.at_m + FADE_M
    end = begin + ROUGH_M - 2.0 * FADE_M
    return crossing(lambda speed: mean_power(vehicle, ground, speed, (begin, end)), MOST_POWER_W)


def shock_speed(vehicle: Hmmwv, radius_inches: float) -> float:
    """Lowest speed [m/s] at which the driver feels 2.5 g over a half-round of a radius [in]."""
    course = HalfRound(radius_m=INCH * radius_inches, length_m=80.0, width_m=6.0)
    ground = ground_of(course)
    return crossing(lambda speed: peak(vehicle, ground, speed, course.at_m), MOST_PEAK)


def ground_of(course: RmsCourse | HalfRound) -> WorldGround:
    """A course as ground; always the same."""
    return WorldGround.of(course.build(Site("course", np.random.default_rng(1), Path())))


def mean_power(vehicle: Hmmwv, ground: GroundModel, speed: float, part: tuple[float, float]) -> float:
    """Mean power that the driver absorbs at a speed [m/s] while the vehicle is on a part of a course (from, to) [m]."""
    begin, end = part
    x, up = _ride(vehicle, ground, speed, (begin - FADE_M - 20.0, end), POWER_HZ)
    return float(absorbed_power(up, 1.0 / POWER_HZ)[x > begin].mean())


def peak(vehicle: Hmmwv, ground: GroundModel, speed: float, at: float) -> float:
    """Driver's largest vertical acceleration below 30 Hz [m/s^2] over an obstacle that begins at x [m]."""
    _, up = _ride(vehicle, ground, speed, (at - BEFORE_M, at + BEHIND_M), SHOCK_HZ)
    return peak_acceleration(up, 1.0 / SHOCK_HZ)


def _ride(
    vehicle: Hmmwv, ground: GroundModel, speed: float, part: tuple[float, float], hertz: float
) -> tuple[Array, Array]:
    """x of the vehicle [m] and vertical acceleration of the seat [m/s^2], from one x to another."""
    begin, end = part
    rig = Rig(vehicle, ground, speed=speed, start=(begin, 0.0), record_hz=hertz)
    line, hold = LineDriver(vehicle, straight), SpeedHold(speed)
    seen = rig.drive(
        lambda time, seen: hold.pedals(seen, line.steering(seen)),
        3.0 * (end - begin) / speed,
        until=lambda seen: bool(seen["position"][0] > end),
    )
    if not seen["position"][0] > end:
        raise RuntimeError(f"the vehicle got stuck at x {seen['position'][0]:.1f} m")
    history = np.array(rig.history)
    return history["position"][:, 0], acceleration_at(history, np.array(vehicle.parameters.seat_m))[:, 2]


def crossing(figure: Callable[[float], float], limit: float) -> float:
    """Lowest speed [m/s] at which a figure reaches its limit, trying ever faster; FASTEST if it never does."""
    before: tuple[float, float] | None = None
    speed = SLOWEST
    while speed < FASTEST:
        found = figure(speed)
        if found >= limit:
            if before is None:
                return speed
            slower, lower = before
            share = math.log(limit / lower) / math.log(found / lower)
            return float(slower * (speed / slower) ** share)
        before, speed = (speed, found), speed * FASTER
    return FASTEST
