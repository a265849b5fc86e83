"""The command of a driver at one instant, and what all drivers share: settings and slew limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

from proving_ground.settings import setting
from vehicle_dynamics.equipment import Equipment
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE

AnySettings = TypeVar("AnySettings", bound="DriverSettings")

LONGEST_STEP_S = 0.1  # a slew step never covers a longer pause than this


@dataclass(frozen=True, slots=True)
class DriveCommand:
    """A command as speed and yaw rate, and as pedals; publishers use one of the two."""

    speed: float  # [m/s], forward positive
    yaw_rate: float  # [rad/s], left positive
    steering: float  # [-1, 1], left positive
    throttle: float  # [0, 1]
    brake: float  # [0, 1]
    stop_reason: str = ""  # empty while driving

    @property
    def is_stop(self) -> bool:
        """Whether the driver wants the vehicle at rest."""
        return bool(self.stop_reason)


@dataclass(frozen=True, kw_only=True)
class DriverSettings:
    """Settings common to all drivers."""

    output: str = setting(
        "cmd_vel",
        "Kind of published commands: cmd_vel = speed and yaw rate, pedals = steering, throttle and brake",
        choices=("cmd_vel", "pedals"),
        read_only=True,
    )
    stamped: bool = setting(True, "Publish cmd_vel as TwistStamped, else as Twist", read_only=True)
    frame_id: str = setting("base_link", "Frame id in the header of published TwistStamped messages")
    publish_rate_hz: float = setting(
        20.0, "Rate at which commands are repeated while the input does not change",
        unit="Hz", minimum=1.0, maximum=200.0, read_only=True,
    )  # fmt: skip
    idle_output: str = setting(
        "auto",
        "Publish stop commands while nobody drives: always, never, auto = unless another node publishes the topic",
        choices=("auto", "always", "never"),
    )
    vehicle: str = setting(
        DEFAULT_VEHICLE,
        "Name of a vehicle in config/vehicles, or a path; gives the curvature at full steering",
        read_only=True,
    )
    max_curvature_1pm: float = setting(
        0.0, "Curvature of the path at full steering; 0: from the vehicle's file", unit="1/m", minimum=0.0, maximum=1.0
    )
    max_yaw_rate_radps: float = setting(
        1.0,
        "Yaw rate to which commands are limited; at a lower speed, full steering asks for less",
        unit="rad/s",
        minimum=0.0,
        maximum=5.0,
    )
    max_acceleration_mps2: float = setting(
        3.0, "Largest rate at which the commanded speed may increase", unit="m/s^2", minimum=0.1, maximum=50.0
    )
    max_deceleration_mps2: float = setting(
        6.0, "Largest rate at which the commanded speed may decrease", unit="m/s^2", minimum=0.1, maximum=50.0
    )
    max_steering_rate_1ps: float = setting(
        3.0, "Largest rate of change of steering, in full deflections per second", unit="1/s", minimum=0.1, maximum=50.0
    )
    stop_brake: float = setting(
        0.6, "Brake pedal position, 0 to 1, when the vehicle is to stop; only with output: pedals",
        minimum=0.0, maximum=1.0,
    )  # fmt: skip

    def fitted(self: AnySettings, equipment: Equipment) -> AnySettings:
        """A copy in which unset values are filled in from the vehicle's file."""
        return replace(self, max_curvature_1pm=equipment.curvature(self.max_curvature_1pm))


class SlewedMotion:
    """Commanded speed and steering, which follow the targets within the rate limits of the settings."""

    def __init__(self) -> None:
        self.speed = 0.0
        self.steering = 0.0
        self._updated_at = -math.inf

    def follow(self, now: float, speed: float, steering: float, limits: DriverSettings) -> None:
        """Move towards the target speed [m/s] and steering [-1, 1]; now is seconds of a steady clock."""
        step = self._step(now)
        self.speed = approach(
            self.speed, speed, limits.max_acceleration_mps2 * step, limits.max_deceleration_mps2 * step
        )
        change = limits.max_steering_rate_1ps * step
        self.steering += clamp(steering - self.steering, -change, change)

    def command(self, limits: DriverSettings, throttle: float, brake: float) -> DriveCommand:
        """The driving command for the present speed and steering, with pedals from 0 to 1."""
        # A car cannot turn on the spot: steering asks for a curvature, and reversing turns the other way.
        yaw_rate = self.speed * self.steering * limits.max_curvature_1pm
        bound = limits.max_yaw_rate_radps
        return DriveCommand(self.speed, clamp(yaw_rate, -bound, bound), self.steering, throttle, brake)

    def stop(self, now: float, reason: str, limits: DriverSettings) -> DriveCommand:
        """Come to rest at once; the steering angle stays where it is."""
        self._step(now)
        self.speed = 0.0
        return DriveCommand(0.0, 0.0, self.steering, throttle=0.0, brake=limits.stop_brake, stop_reason=reason)

    def _step(self, now: float) -> float:
        step = clamp(now - self._updated_at, 0.0, LONGEST_STEP_S)
        self._updated_at = now
        return step


def clamp(value: float, low: float, high: float) -> float:
    """The value, clamped to [low, high]."""
    return min(max(value, low), high)


def approach(present: float, target: float, step_up: float, step_down: float) -> float:
    """Move towards the target by at most step_up away from zero and step_down towards (and not past) zero.

    >>> approach(1.0, 3.0, 0.5, 2.0), approach(1.0, -3.0, 0.5, 2.0), approach(-1.0, -3.0, 0.5, 2.0)
    (1.5, 0.0, -1.5)
    """
    if present == 0.0:
        return clamp(target, -step_up, step_up)
    sign = math.copysign(1.0, present)
    magnitude, wanted = abs(present), sign * target
    if wanted >= magnitude:
        return sign * min(magnitude + step_up, wanted)
    return sign * max(magnitude - step_down, wanted, 0.0)
