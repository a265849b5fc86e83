"""Scripted drivers: manoeuvres of the papers and of vehicle testing, each a few parameters of a scenario file.

A driver is called every 10 ms. Its state is in its Helm, so a run can be stopped and resumed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from proving_ground.interfaces.digest import Digest
from proving_ground.interfaces.joints import LEVERS
from proving_ground.kernels.vector3 import Vector3
from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from proving_ground.settings.units import NS_PER_S
from vehicle_dynamics.base_motion import BaseMotion, base_motion, snapshot_of
from vehicle_dynamics.control.helm import Helm
from vehicle_dynamics.control.levers import LOCKS, Positions, VehicleLevers
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord
from vehicle_dynamics.motion import forward_speed, heading, wrapped
from vehicle_dynamics.pedals import DRIVE, KEEP, NEUTRAL, REVERSE, Pedals
from vehicle_dynamics.start import Origin

GEARS = {"drive": DRIVE, "neutral": NEUTRAL, "reverse": REVERSE}
KEPT = Positions()
SLOW = 3.0  # [m/s]: paths are followed as if at least this fast


class Script(Protocol):
    """Base of all scripted drivers: pedals and steering as a function of time [s] since the start.

    Range, locks and parking brake stay as they are, unless the script has a method `levers` as Program has.
    Use position, attitude, velocity and angular velocity of `seen` alone: the other fields are 0.
    """

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals: ...


class ScriptedDriver(Stateful):
    """Drives by a script; all state is in its helm."""

    STATE = ("_helm",)

    def __init__(
        self,
        script: Script,
        helm: Helm,
        origin: Origin,
        base: Vector3 = (0.0, 0.0, 0.0),
        levers: VehicleLevers | None = None,
    ) -> None:
        """base: base_link's origin in the chassis frame [m]; levers: None keeps range, locks and parking brake.

        Raises ValueError for levers of the script that the vehicle does not have.
        """
        self._script, self._helm, self._origin, self._base = script, helm, origin, base
        self._levers = levers if hasattr(script, "levers") else None
        if self._levers is not None and isinstance(script, Program):
            for instant in script.time_s:
                self._levers.checked(script.levers(self._levers, instant))
        self._seen = np.zeros(1, SNAPSHOT)[0]
        self.digest: Digest | None = None  # hashes inputs and outputs

    def reset(self) -> None:
        """Return to the initial state."""
        self._helm.reset()

    def act(self, time: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for the next 10 ms."""
        return self.drive(time, base_motion(seen, self._base))

    def drive(self, time: float, motion: BaseMotion) -> Pedals:
        """Pedals for the next 10 ms as of `act`, given the motion of base_link, as its node receives it."""
        seen = snapshot_of(motion, self._base, self._seen)
        pedals = self._script.act(self._helm, self._origin, time, seen).within_limits()
        levers = self._script.levers(self._levers, time) if self._levers is not None else KEPT  # type: ignore[attr-defined]
        pedals = pedals._replace(**levers._asdict())
        if self.digest is not None:
            self.digest.received(round(time * NS_PER_S), motion[:4])
            self.digest.produced(round(time * NS_PER_S), pedals)
        return pedals


def _speed(default: float) -> float:
    return setting(default, "Speed to hold", unit="m/s", minimum=0.0, maximum=40.0)  # type: ignore[no-any-return]


def _gain() -> float:
    return setting(2.0, "Acceleration to the speed to hold", unit="m/s^2", minimum=0.01, maximum=50.0)  # type: ignore[no-any-return]


def _begin(default: float, description: str) -> float:
    return setting(default, description, unit="s", minimum=0.0, maximum=1e5)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Straight:
    """Holds a speed and the line it started on; for example over a bump."""

    speed_mps: float = _speed(10.0)
    acceleration_mps2: float = _gain()

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals:
        return _hold_line(self, helm, origin, time, seen)


@dataclass(frozen=True, kw_only=True)
class LaneChange:
    """Changes to the left lane and later back, along smooth paths ([Cameron], scenario 2)."""

    speed_mps: float = _speed(20.0)
    acceleration_mps2: float = _gain()
    change_at_s: float = _begin(30.0, "Time at which the lane change begins")
    back_at_s: float = _begin(50.0, "Time at which the change back begins")
    lasting_s: float = setting(4.0, "Duration of one lane change", unit="s", minimum=0.5, maximum=60.0)
    offset_m: float = setting(
        3.7, "Distance between the lanes; negative is to the right", unit="m", minimum=-20.0, maximum=20.0
    )

    def __post_init__(self) -> None:
        if self.back_at_s < self.change_at_s + self.lasting_s:
            raise ValueError(
                f"back_at_s: must not be before the change has ended ({self.change_at_s + self.lasting_s:g})"
            )

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals:
        out, back = (_quintic(time, begin, self.lasting_s) for begin in (self.change_at_s, self.back_at_s))
        path = _Lateral(*(self.offset_m * (a - b) for a, b in zip(out, back, strict=True)))
        return helm.pedals(seen, _wanted(self, origin, time), _curvature_to_line(origin, seen, path))


@dataclass(frozen=True, kw_only=True)
class SineSteer:
    """One sine of steering to the left and one to the right, throttle held: the reference's open-loop lane change."""

    throttle: float = setting(0.069674, "Throttle held throughout the run", minimum=0.0, maximum=1.0)
    amplitude: float = setting(
        0.08, "Amplitude of the steering wheel, as a share of full lock", minimum=-1.0, maximum=1.0
    )
    period_s: float = setting(2.5, "Period of each sine", unit="s", minimum=0.1, maximum=60.0)
    first_at_s: float = _begin(1.0, "Time at which the first sine begins")
    second_at_s: float = _begin(4.5, "Time at which the second, mirrored sine begins")

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals:
        steering = 0.0
        for begin, sign in ((self.first_at_s, 1.0), (self.second_at_s, -1.0)):
            if begin <= time < begin + self.period_s:
                steering = sign * self.amplitude * math.sin(2.0 * math.pi * (time - begin) / self.period_s)
        return Pedals(steering, self.throttle)


@dataclass(frozen=True, kw_only=True)
class JTurn:
    """At speed, the steering wheel is turned to an angle and held there ([Bae], Fig. 8)."""

    speed_mps: float = _speed(15.0)
    acceleration_mps2: float = _gain()
    turn_at_s: float = _begin(5.0, "Time at which steering begins")
    lasting_s: float = setting(1.0, "Time to turn the steering wheel", unit="s", minimum=0.05, maximum=60.0)
    steering: float = setting(
        0.15, "Final position of the steering wheel, as a share of full lock", minimum=-1.0, maximum=1.0
    )

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals:
        if time < self.turn_at_s:
            return helm.pedals(
                seen, _wanted(self, origin, time), _curvature_to_line(origin, seen, _Lateral(0.0, 0.0, 0.0))
            )
        share = _quintic(time, self.turn_at_s, self.lasting_s)[0]
        return helm.pedals(seen, _wanted(self, origin, time), 0.0)._replace(steering=self.steering * share)


@dataclass(frozen=True, kw_only=True)
class Circle:
    """Drives a circle of constant radius and raises the speed slowly; for the understeer gradient."""

    radius_m: float = setting(30.0, "Radius of the circle, positive to the left", unit="m", minimum=-1e4, maximum=1e4)
    from_mps: float = setting(3.0, "Speed at the beginning", unit="m/s", minimum=0.1, maximum=40.0)
    to_mps: float = setting(12.0, "Speed at the end", unit="m/s", minimum=0.1, maximum=40.0)
    settle_s: float = _begin(10.0, "Time spent at the first speed")
    ramp_s: float = setting(60.0, "Time in which the speed rises to the last one", unit="s", minimum=0.1, maximum=1e5)

    def __post_init__(self) -> None:
        if abs(self.radius_m) < 7.0:
            raise ValueError(f"radius_m: must be at least 7 to either side, got {self.radius_m:g}")

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals:
        share = min(max((time - self.settle_s) / self.ramp_s, 0.0), 1.0)
        return helm.pedals(seen, self.from_mps + share * (self.to_mps - self.from_mps), 1.0 / self.radius_m)


@dataclass(frozen=True, kw_only=True)
class SineSweep:
    """Steers a sine of rising frequency at constant speed: the yaw response over frequency."""

    speed_mps: float = _speed(15.0)
    acceleration_mps2: float = _gain()
    begin_s: float = _begin(5.0, "Time at which the sweep begins")
    lasting_s: float = setting(30.0, "Duration of the sweep", unit="s", minimum=1.0, maximum=1e4)
    amplitude: float = setting(
        0.05, "Amplitude of the steering wheel, as a share of full lock", minimum=0.0, maximum=1.0
    )
    from_hz: float = setting(0.2, "Frequency at the beginning", unit="Hz", minimum=0.01, maximum=20.0)
    to_hz: float = setting(3.0, "Frequency at the end", unit="Hz", minimum=0.01, maximum=20.0)

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals:
        if time < self.begin_s:
            return helm.pedals(
                seen, _wanted(self, origin, time), _curvature_to_line(origin, seen, _Lateral(0.0, 0.0, 0.0))
            )
        since = min(time - self.begin_s, self.lasting_s)
        rise = 0.5 * (self.to_hz - self.from_hz) / self.lasting_s
        steering = self.amplitude * math.sin(2.0 * math.pi * since * (self.from_hz + rise * since))
        return helm.pedals(seen, _wanted(self, origin, time), 0.0)._replace(
            steering=steering if since < self.lasting_s else 0.0
        )


@dataclass(frozen=True, kw_only=True)
class Program:
    """Pedals over time, linear between the given instants; the last ones stay. Full throttle, full brake, a coast."""

    time_s: tuple[float, ...] = setting(
        (0.0,), "Instants of the given pedal positions", unit="s", minimum=0.0, maximum=1e5
    )
    steering: tuple[float, ...] = setting((0.0,), "Steering wheel position at each instant", minimum=-1.0, maximum=1.0)
    throttle: tuple[float, ...] = setting((0.0,), "Throttle position at each instant", minimum=0.0, maximum=1.0)
    brake: tuple[float, ...] = setting((0.0,), "Brake position at each instant", minimum=0.0, maximum=1.0)
    gear: str = setting("drive", "Position of the gear lever", choices=tuple(GEARS))
    transfer_range: tuple[str, ...] = setting(
        (), "Range of the transfer case from each instant on, by its name or number; empty: as it is"
    )
    locks: tuple[str, ...] = setting(
        (), "Lockable differentials that are locked from each instant on; empty: as they are", choices=LOCKS
    )
    parking_brake: tuple[float, ...] = setting(
        (), "Parking brake position at each instant; empty: as it is", minimum=0.0, maximum=1.0
    )

    def __post_init__(self) -> None:
        if not self.time_s or not np.all(np.diff(self.time_s) >= 0.0):
            raise ValueError("time_s: must be non-decreasing, with at least one value")
        for name in ("steering", "throttle", "brake"):
            if len(getattr(self, name)) not in (1, len(self.time_s)):
                raise ValueError(f"{name}: must have one value, or as many as time_s ({len(self.time_s)})")
        for name in LEVERS:
            if len(getattr(self, name)) not in (0, 1, len(self.time_s)):
                raise ValueError(f"{name}: must be empty, or have one value or as many as time_s ({len(self.time_s)})")

    def act(self, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord) -> Pedals:
        steering, throttle, brake = (self._between(time, item) for item in (self.steering, self.throttle, self.brake))
        return Pedals(steering, throttle, brake, GEARS[self.gear])

    def levers(self, own: VehicleLevers, time: float) -> Positions:
        """Range, locks and parking brake of the vehicle at a time; raises ValueError for an unknown range."""
        return Positions(
            own.range_index(self._since(time, self.transfer_range)) if self.transfer_range else KEEP,
            LOCKS.index(self._since(time, self.locks)) if self.locks else KEEP,
            self._between(time, self.parking_brake) if self.parking_brake else KEEP,
        )

    def _between(self, time: float, values: tuple[float, ...]) -> float:
        return values[0] if len(values) == 1 else float(np.interp(time, self.time_s, values))

    def _since(self, time: float, values: tuple[str, ...]) -> str:
        return values[0] if len(values) == 1 else values[max(bisect_right(self.time_s, time) - 1, 0)]


def _wanted(script: Straight | LaneChange | JTurn | SineSweep, origin: Origin, time: float) -> float:
    """Speed [m/s] at a time [s] on the ramp from the initial speed to the script's speed."""
    change = script.acceleration_mps2 * time
    return origin.speed + min(max(script.speed_mps - origin.speed, -change), change)


def _hold_line(
    script: Straight | JTurn | SineSweep, helm: Helm, origin: Origin, time: float, seen: SnapshotRecord
) -> Pedals:
    """Drive straight on along the starting line."""
    return helm.pedals(seen, _wanted(script, origin, time), _curvature_to_line(origin, seen, _Lateral(0.0, 0.0, 0.0)))


class _Lateral(NamedTuple):
    """A path beside the starting line, to the left, with its rates in time."""

    offset: float  # [m]
    rate: float  # [m/s]
    change: float  # [m/s^2]


def _quintic(time: float, begin: float, lasting: float) -> tuple[float, float, float]:
    """From 0 to 1 with no jump up to the second derivative; with both derivatives [1/s, 1/s^2]."""
    s = (time - begin) / lasting
    if s <= 0.0 or s >= 1.0:
        return (0.0 if s <= 0.0 else 1.0), 0.0, 0.0
    return (
        s**3 * (10.0 + s * (6.0 * s - 15.0)),
        30.0 * s * s * (1.0 - s) ** 2 / lasting,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / lasting**2,
    )


def _curvature_to_line(origin: Origin, seen: SnapshotRecord, path: _Lateral) -> float:
    """Curvature [1/m] that follows a path beside the starting line: that of the path plus a correction.

    Lateral and heading errors decay like a critically damped spring over the distance of one second's drive.
    """
    speed = max(forward_speed(seen), SLOW)
    x, y, _ = seen["position"].tolist()
    left = (y - origin.y) * math.cos(origin.heading) - (x - origin.x) * math.sin(origin.heading)
    lateral_offset = path.offset - left
    heading_error = wrapped(math.atan2(path.rate, speed) - heading(seen) + origin.heading)
    return float(path.change / speed**2 + lateral_offset / speed**2 + 2.0 * heading_error / speed)
