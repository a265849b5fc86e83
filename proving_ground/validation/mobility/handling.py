"""Tests of steering and roll: side slope, turning radius, lane change, steady circle."""

from __future__ import annotations

import math

import numpy as np

from proving_ground.validation.mobility.figure import Figure
from proving_ground.validation.mobility.rig import KMPH, LineDriver, SpeedHold, Subject, circle_radius, smooth, straight
from proving_ground.validation.parts import YES, Bound
from terrain.ground import FlatGround
from vehicle_dynamics.attitude import rotation_from_quaternion
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rig import DRY, Array, Rig

GRAVITY = 9.81  # [m/s^2]
LEFT, RIGHT = 1.0, -1.0
LENGTH_M, WIDTH_M = 4.57, 2.18  # of the vehicle, from which the gates of the lane change follow
GATES = ((0.0, 15.0, 2.65, 0.0), (43.57, 68.57, 2.87, 3.76), (97.14, 112.14, 2.65, 0.0))  # from, to, width, centre [m]
FASTER_KMPH = 4  # step of the lane change's speed
CIRCLE_M = 30.0  # radius
LAST = slice(-2500, None)  # snapshots of steady turning: 25 s


def side_slope(subject: Subject) -> list[Figure]:
    """Along a slope of 40 % at 5 km/h for 20 m, both ways, and a stop."""
    vehicle = subject.vehicle()
    found = []
    for words, slope in (("left side up", 0.4), ("right side up", -0.4)):
        rig = _along_slope(vehicle, slope)
        least, off = rig.series("load").min(), np.abs(rig.series("position")[:, 1]).max()
        found.append(Figure(f"{words}: least wheel load", float(least), Bound(least=1.0), "N", "b"))
        found.append(Figure(f"{words}: off the line in 20 m", float(off), Bound(most=0.5), "m"))
    return found


def _along_slope(vehicle: Hmmwv, slope: float) -> Rig:
    rig = Rig(vehicle, FlatGround(friction=0.8, slope_y=slope))
    line, hold = LineDriver(vehicle, straight, bandwidth=1.0, integral=0.2), SpeedHold(5.0 * KMPH)
    rig.drive(lambda time, seen: hold.pedals(seen, line.steering(seen)), 16.0)
    rig.drive(Pedals(brake=0.5), 3.0)
    return rig


def turning_radius(subject: Subject) -> list[Figure]:
    """Full lock at 1.5 m/s to both sides: radius of the outer edge of the outer front tyre, kerb to kerb."""
    vehicle = subject.vehicle()
    sides = (("left", LEFT, 1), ("right", RIGHT, 0))  # with the outer front wheel
    return [
        Figure(f"to the {words}", _kerb_radius(vehicle, side, wheel), Bound(7.3, 7.9), "m", "c")
        for words, side, wheel in sides
    ]


def _kerb_radius(vehicle: Hmmwv, side: float, wheel: int) -> float:
    rig, hold = Rig(vehicle), SpeedHold(1.5)
    rig.drive(lambda time, seen: hold.pedals(seen, side * min(time / 3.0, 1.0)), 40.0)
    width = vehicle.parameters.tyre.width_m
    return circle_radius(np.array([_outer_edge(seen, wheel, width) for seen in rig.history[LAST]]))


def _outer_edge(seen: SnapshotRecord, wheel: int, width: float) -> Array:
    """Horizontal position [m] of the outer edge of a tyre with a width [m]."""
    sign = 1.0 if wheel % 2 == 0 else -1.0
    edge_in_chassis = seen["wheel_centre"][wheel] + sign * 0.5 * width * seen["wheel_axis"][wheel]
    edge: Array = (seen["position"] + rotation_from_quaternion(seen["attitude"]) @ edge_in_chassis)[:2]
    return edge


def lane_change(subject: Subject) -> list[Figure]:
    """NATO AVTP 03-160W to both sides, faster in steps of 4 km/h until a cone falls or a wheel lifts."""
    vehicle = subject.vehicle()
    runs = [_fastest_clean(vehicle, side) for side in (LEFT, RIGHT)]
    best = min(kmph for kmph, _ in runs)
    return [
        Figure("clean at 60 km/h", float(best >= 60), YES),
        Figure("first failure", float(best + FASTER_KMPH), Bound(68.0, 84.0), "km/h"),
        Figure("fails without a lifted wheel", float(not any(lifts for _, lifts in runs)), YES),
    ]


def _fastest_clean(vehicle: Hmmwv, side: float) -> tuple[int, bool]:
    """Fastest speed [km/h] without a fallen cone, 0 for none; and whether a wheel lifts at the next one."""
    clean = 0
    for kmph in range(56, 100, FASTER_KMPH):
        rig = _changed_lanes(vehicle, kmph * KMPH, side)
        lifts = bool((rig.series("load") <= 0.0).any())
        if lifts or _hits_cones(rig, side):
            return clean, lifts
        clean = kmph
    return clean, False


def _changed_lanes(vehicle: Hmmwv, speed: float, side: float) -> Rig:
    """The vehicle after the course, driven at a speed [m/s]."""

    def path(x: float) -> float:
        # As a driver drives it: begins as the nose leaves a gate, uses the gates' width, steers evenly.
        out, back = _even((x - 13.0) / 33.0), _even((x - 66.14) / 33.0)
        return side * (0.2 + (3.76 - 0.2 - 0.28) * (out - back))

    rig = Rig(vehicle, DRY, speed=speed, start=(-40.0, 0.0))
    line, hold = LineDriver(vehicle, path, bandwidth=3.0, lag_s=0.15, understeer=0.002), SpeedHold(speed)
    rig.drive(
        lambda time, seen: hold.pedals(seen, line.steering(seen)),
        200.0 / speed,
        until=lambda seen: bool(seen["position"][0] > 115.0),
    )
    return rig


def _hits_cones(rig: Rig, side: float) -> bool:
    """Whether a corner of the body leaves a gate on its way through."""
    half_length, half_width = 0.5 * LENGTH_M, 0.5 * WIDTH_M
    corners = np.array([[x, y, 0.0] for x in (half_length, -half_length) for y in (half_width, -half_width)])
    positions = np.concatenate(
        [seen["position"] + corners @ rotation_from_quaternion(seen["attitude"]).T for seen in rig.history]
    )
    x, y = positions[:, 0], positions[:, 1]
    return any(
        bool(((begin <= x) & (x <= end) & (np.abs(y - side * centre) > 0.5 * width)).any())
        for begin, end, width, centre in GATES
    )


def _even(share: float) -> float:
    """Path from 0 to 1 with a smooth and nearly even lateral acceleration."""
    s = min(max(share, 0.0), 1.0)
    return s - 0.85 * math.sin(2.0 * math.pi * s) / (2.0 * math.pi)


class CircleDriver:
    """Steers a circle at a speed that rises by 0.12 m/s^2 after 5 s: curvature with an integral of its error."""

    def __init__(self, vehicle: Hmmwv, start_mps: float) -> None:
        self._vehicle, self._start, self._hold, self._total = vehicle, start_mps, SpeedHold(start_mps), 0.0

    def __call__(self, time: float, seen: SnapshotRecord) -> Pedals:
        """Pedals and steering at a time [s]."""
        self._hold.wanted = self._start + 0.12 * max(time - 5.0, 0.0)
        speed = max(forward_speed(seen), 1.0)
        self._total += 0.5 * (1.0 / CIRCLE_M - float(seen["angular_velocity"][2]) / speed) * PERIOD_S
        wanted = min(1.0 / CIRCLE_M * time / 5.0, 1.0 / CIRCLE_M) + self._total
        return self._hold.pedals(seen, self._vehicle.steering_for(wanted))


def steady_circle(subject: Subject) -> list[Figure]:
    """A circle of 30 m radius from 3 m/s, faster by 0.12 m/s^2 up to the limit; gradients from 0.1 to 0.35 g."""
    vehicle = subject.vehicle()
    rig = Rig(vehicle, speed=3.0)
    rig.drive(CircleDriver(vehicle, 3.0), 110.0)
    side = smooth(rig.speeds() * rig.series("angular_velocity")[:, 2] / GRAVITY, 1.0)
    steer = smooth(np.rad2deg(rig.series("steer_angle")[:, :2].mean(axis=1)), 1.0)
    lean = [math.degrees(math.asin(rotation_from_quaternion(item)[2, 1])) for item in rig.series("attitude")]
    roll = smooth(np.array(lean), 1.0)
    is_linear = (side > 0.1) & (side < 0.35)
    understeer, roll_gradient = (np.polyfit(side[is_linear], item[is_linear], 1)[0] for item in (steer, roll))
    return [
        Figure("understeer gradient", float(understeer), Bound(1.5, 5.0), "deg/g"),
        Figure("roll gradient", float(abs(roll_gradient)), Bound(4.0, 8.0), "deg/g"),
        Figure("limit", float(side.max()), Bound(0.6, 0.75), "g"),
    ]
