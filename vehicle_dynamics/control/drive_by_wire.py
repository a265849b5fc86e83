"""Handling of commands: checks each, follows the newest, stops on silence. Times are simulation time [s].

A command is accepted, limited to what the vehicle can follow (and reported), or rejected; a rejected one also stops the
vehicle, because its sender cannot be trusted to drive. On a stop the steering angle stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from vehicle_dynamics.control.curvature import CurvatureSettings
from vehicle_dynamics.control.helm import PERIOD_S, Helm, HelmSettings
from vehicle_dynamics.control.levers import Levers, LeverSettings, Positions, VehicleLevers
from vehicle_dynamics.control.speed import SpeedSettings
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import STANDS_MPS, forward_speed, rise_of
from vehicle_dynamics.pedals import DRIVE, Pedals
from vehicle_dynamics.vehicle import Vehicle

ABSURD_SPEED = 100.0  # [m/s]: no driver commands that
ABSURD_YAW_RATE = 10.0  # [rad/s]
ABSURD_PEDAL = 2.0
ANSWER_S = 0.15  # response time of speed control


class Motion(NamedTuple):
    """Commanded speed and yaw rate, as in /cmd_vel."""

    speed: float  # [m/s], forward positive
    yaw_rate: float  # [rad/s], left positive


Order = Pedals | Motion


class Verdict(IntEnum):
    """Whether a command was accepted, and why not."""

    ACCEPTED = 0
    LIMITED = 1  # followed as far as possible
    REJECTED = 2


@dataclass(frozen=True)
class Answer:
    """A verdict with its reason."""

    verdict: Verdict
    reason: str = ""


ACCEPTED = Answer(Verdict.ACCEPTED)


@dataclass(frozen=True, kw_only=True)
class DriveByWireSettings:
    """Limits of commands, time-out, and how the vehicle stops."""

    command_timeout_s: float = setting(
        0.3, "Time without a command after which the vehicle brakes to a stop", unit="s", minimum=0.02, maximum=10.0
    )
    max_speed_mps: float = setting(
        25.0, "Largest forward speed that commands can set, pedals apart; larger ones are limited to it",
        unit="m/s", minimum=0.1, maximum=60.0,
    )  # fmt: skip
    max_reverse_mps: float = setting(5.0, "Largest speed in reverse", unit="m/s", minimum=0.1, maximum=30.0)
    max_acceleration_mps2: float = setting(
        3.0, "Largest rate at which the commanded speed may increase", unit="m/s^2", minimum=0.1, maximum=50.0
    )
    max_deceleration_mps2: float = setting(
        6.0, "Largest rate at which the commanded speed may decrease", unit="m/s^2", minimum=0.1, maximum=50.0
    )
    stop_brake: float = setting(
        0.4, "Brake pedal position, 0 to 1, when the vehicle stops for lack of commands", minimum=0.05, maximum=1.0
    )
    levers: LeverSettings = field(default_factory=LeverSettings)


@dataclass
class _SetPoint:
    """The newest command and the time it arrived."""

    received_at: float = -math.inf
    source: str = ""  # motion, steering or pedals
    speed: float = 0.0  # [m/s]
    curvature: float | None = 0.0  # [1/m]; None keeps the steering
    pedals: Pedals = field(default_factory=Pedals)


class DriveByWire(Stateful):
    """Command input of one vehicle. `receive_...` may be called at any rate; `pedals` once every PERIOD_S."""

    STATE = ("pace", "_helm", "_levers", "_set_point", "_rejected", "_steering", "_speed", "_selected", "status")

    def __init__(
        self,
        vehicle: Vehicle,
        settings: DriveByWireSettings,
        speed: SpeedSettings | None = None,
        curvature: CurvatureSettings | None = None,
    ) -> None:
        """Raises SettingsError for levers that the vehicle does not have."""
        self.settings = settings
        self._levers = Levers(VehicleLevers.of(vehicle.parameters), settings.levers)
        self.pace = 1.0  # simulated time over real time: silence is measured by the longer of the two
        self._helm = Helm(
            vehicle, HelmSettings(speed=speed or SpeedSettings(), curvature=curvature or CurvatureSettings())
        )
        self._most_curvature = vehicle.curvature_at(1.0)
        self._wheelbase = vehicle.wheelbase
        self._set_point = _SetPoint()
        self._rejected = ""  # why the vehicle stops, until a valid command arrives
        self._steering = 0.0
        self._speed = 0.0  # commanded, within the acceleration limits
        self._selected = DRIVE
        self.status = "no command yet"

    def reset(self) -> None:
        """Clear all commands, as after a reset of the simulation."""
        self._set_point, self._rejected = _SetPoint(), ""
        self._steering, self._speed, self._selected = 0.0, 0.0, DRIVE
        self._helm.reset()
        self._levers.reset()
        self.status = "no command yet"

    def change_settings(self, settings: DriveByWireSettings) -> None:
        """Apply changed settings; raises SettingsError for levers that the vehicle does not have."""
        self._levers.change(settings.levers)
        self.settings = settings

    def receive(self, now: float, order: Order) -> Answer:
        """Process an order of either kind."""
        if isinstance(order, Pedals):
            return self.receive_pedals(now, order)
        return self.receive_motion(now, *order)

    def receive_motion(self, now: float, speed: float, yaw_rate: float) -> Answer:
        """Process a speed [m/s] and yaw rate [rad/s], as in /cmd_vel."""
        problem = _problem({"speed": (speed, ABSURD_SPEED, "m/s"), "yaw rate": (yaw_rate, ABSURD_YAW_RATE, "rad/s")})
        if problem:
            return self._reject(now, problem)
        if abs(speed) < STANDS_MPS:
            self._accept(now, _SetPoint(now, "motion", 0.0, None))
            if abs(yaw_rate) > 1e-3:
                return Answer(Verdict.LIMITED, f"cannot turn on the spot ({yaw_rate:+.2f} rad/s at {speed:+.2f} m/s)")
            return ACCEPTED
        return self._follow(now, "motion", speed, yaw_rate / speed)

    def receive_steering(self, now: float, speed: float, steering_angle: float) -> Answer:
        """Process a speed [m/s] and a mean angle of the front wheels [rad], as in /ackermann_cmd."""
        problem = _problem(
            {"speed": (speed, ABSURD_SPEED, "m/s"), "steering angle": (steering_angle, 0.5 * math.pi - 0.01, "rad")}
        )
        if problem:
            return self._reject(now, problem)
        return self._follow(now, "steering", speed, math.tan(steering_angle) / self._wheelbase)

    def receive_pedals(self, now: float, asked: Pedals) -> Answer:
        """Process pedals directly, clamped to their travel; range, locks and parking brake may be KEEP."""
        pedals = {name: value for name, value in asked._asdict().items() if name not in ("transfer_range", "locks")}
        problem = _problem({name: (value, ABSURD_PEDAL, "") for name, value in pedals.items()})
        problem = problem or self._levers.own.problem(asked.transfer_range, asked.locks)
        if problem:
            return self._reject(now, problem)
        try:
            limited = asked.as_command()
        except ValueError as error:  # an invalid gear
            return self._reject(now, str(error))
        self._accept(now, _SetPoint(now, "pedals", pedals=limited))
        reasons = self._levers.command(Positions(limited.transfer_range, limited.locks, limited.parking_brake))
        if limited != asked:
            reasons.insert(0, f"pedals {tuple(asked)} are beyond their limits")
        return Answer(Verdict.LIMITED, "; ".join(reasons)) if reasons else ACCEPTED

    def reject(self, now: float, reason: str) -> Answer:
        """Stop the vehicle for a command that could not be read, as for a rejected one."""
        return self._reject(now, reason)

    def pedals(self, now: float, seen: SnapshotRecord) -> Pedals:
        """Steering wheel, pedals and levers for the next PERIOD_S."""
        levered = self._levers.onto(self._pedals(now, seen), seen)
        if self._levers.waiting:
            self.status += f"; {self._levers.waiting}"
        return levered

    def _pedals(self, now: float, seen: SnapshotRecord) -> Pedals:
        set_point = self._set_point
        silence = now - set_point.received_at
        if self._rejected or silence > self.settings.command_timeout_s * self.pace:
            return self._stop(seen, set_point, silence)
        if set_point.source == "pedals":
            self.status = "driven by pedals"
            self._speed = forward_speed(seen)
            self._steering, self._selected = set_point.pedals.steering, set_point.pedals.selected
            self._helm.reset()
            return set_point.pedals
        self.status = f"driven by {set_point.source} commands"
        self._speed = self._slewed(forward_speed(seen), set_point.speed)
        if set_point.curvature is None:
            pedals = self._straight_on(seen, self._speed)
        else:
            pedals = self._helm.pedals(seen, self._speed, set_point.curvature, set_point.speed)
        self._steering, self._selected = pedals.steering, pedals.selected
        self._levers.choose(PERIOD_S, pedals.throttle, set_point.speed, seen)
        return pedals

    def _stop(self, seen: SnapshotRecord, set_point: _SetPoint, silence: float) -> Pedals:
        if self._rejected:
            self.status = f"stopping: {self._rejected}"
        elif math.isinf(silence):
            self.status = "no command yet"
        else:
            self.status = f"stopping: no command since {set_point.received_at:.1f} s"
        self._speed = 0.0
        held = self._straight_on(seen, 0.0)
        brake = max(held.brake, self.settings.stop_brake)
        self._levers.choose(PERIOD_S, 0.0, 0.0, seen)
        return Pedals(self._steering, 0.0, brake, self._selected)

    def _straight_on(self, seen: SnapshotRecord, speed: float) -> Pedals:
        """Drive towards a speed [m/s] with the steering unchanged, without updating its controller."""
        pedals = self._helm.speed.pedals(PERIOD_S, forward_speed(seen), speed, rise=rise_of(seen))
        return pedals._replace(steering=self._steering)

    def _follow(self, now: float, source: str, speed: float, curvature: float) -> Answer:
        s = self.settings
        speed = speed if abs(speed) >= STANDS_MPS else 0.0
        limited_speed = min(max(speed, -s.max_reverse_mps), s.max_speed_mps)
        bound = self._most_curvature
        limited = min(max(curvature, -bound), bound)
        self._accept(now, _SetPoint(now, source, limited_speed, limited))
        reasons = []
        if limited_speed != speed:
            reasons.append(f"speed {speed:+.2f} m/s is beyond {limited_speed:+.2f}")
        if abs(curvature) > bound * 1.001:
            reasons.append(f"a radius of {1.0 / abs(curvature):.2f} m is below the minimum, {1.0 / bound:.2f} m")
        return Answer(Verdict.LIMITED, "; ".join(reasons)) if reasons else ACCEPTED

    def _accept(self, now: float, set_point: _SetPoint) -> None:
        if self._set_point.source == "pedals" and set_point.source != "pedals":
            self._helm.reset()
        self._set_point, self._rejected = set_point, ""

    def _reject(self, now: float, reason: str) -> Answer:
        self._rejected = reason
        return Answer(Verdict.REJECTED, reason)

    def _slewed(self, present: float, wanted: float) -> float:
        """The commanded speed, within the acceleration limits from the last one."""
        s = self.settings
        # Where the speed differs from the set-point (a slope, a kerb), start from the speed.
        last = min(max(self._speed, present - 2.0), present + 2.0)
        if wanted * last < 0.0 or abs(wanted) <= abs(last):
            return self._slower(present, wanted, last)
        sign = math.copysign(1.0, wanted)
        # Releasing the brakes is not acceleration: the set-point rises from the present speed.
        begin = max(sign * last, min(sign * present, sign * wanted))
        return sign * min(begin + s.max_acceleration_mps2 * PERIOD_S, sign * wanted)

    def _slower(self, present: float, wanted: float, last: float) -> float:
        """Set-point towards a slower command, or through 0; it leads the vehicle so that the brakes respond at once."""
        most, sign = self.settings.max_deceleration_mps2, math.copysign(1.0, last)
        least = max(sign * wanted, 0.0)
        return sign * max(min(sign * last - most * PERIOD_S, sign * present - most * ANSWER_S), least)


def _problem(values: dict[str, tuple[float, float, str]]) -> str:
    """Why a command is rejected, or an empty string."""
    for name, (value, most, unit) in values.items():
        if not math.isfinite(value):
            return f"{name} is {value}"
        if abs(value) > most:
            return f"{name} of {value:g} {unit}".rstrip() + f" is absurd (beyond {most:g})"
    return ""
