"""Game pad to drive command: dead-man switch, turbo, response curve, slew limits, and a stop on any doubtful input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.drive_command import DriveCommand, DriverSettings, SlewedMotion, clamp
from proving_ground.settings import setting

AXIS_TOLERANCE = 1e-3  # rounding of drivers that scale to float32


@dataclass(frozen=True, kw_only=True)
class TeleopSettings(DriverSettings):
    """Axes, buttons and speeds of driving by a game pad; indices are those of sensor_msgs/Joy."""

    joy_timeout_s: float = setting(
        0.3, "Time without a /joy message after which the vehicle is stopped", unit="s", minimum=0.05, maximum=2.0
    )

    speed_axis: int = setting(1, "Index in /joy axes of the stick for speed, positive forward", minimum=0, maximum=63)
    steering_axis: int = setting(
        3, "Index in /joy axes of the stick for steering, positive to the left", minimum=0, maximum=63
    )
    throttle_axis: int = setting(
        5, "Index in /joy axes of the throttle; only with output: pedals", minimum=0, maximum=63
    )
    throttle_released: float = setting(
        1.0, "Value of the throttle's axis when it is released", minimum=-1.0, maximum=1.0
    )
    throttle_pressed: float = setting(
        -1.0, "Value of the throttle's axis when it is fully pressed", minimum=-1.0, maximum=1.0
    )
    brake_axis: int = setting(2, "Index in /joy axes of the brake; only with output: pedals", minimum=0, maximum=63)
    brake_released: float = setting(1.0, "Value of the brake's axis when it is released", minimum=-1.0, maximum=1.0)
    brake_pressed: float = setting(
        -1.0, "Value of the brake's axis when it is fully pressed", minimum=-1.0, maximum=1.0
    )
    hold_button: int = setting(
        4, "Index in /joy buttons of the dead-man switch, to be held while driving", minimum=0, maximum=63
    )
    turbo_button: int = setting(
        5, "Index in /joy buttons of the button that selects turbo_speed_mps", minimum=0, maximum=63
    )

    max_speed_mps: float = setting(
        3.0, "Commanded speed at full deflection of the stick", unit="m/s", minimum=0.0, maximum=40.0
    )
    turbo_speed_mps: float = setting(
        8.0, "Commanded speed at full deflection while the turbo button is held", unit="m/s", minimum=0.0, maximum=40.0
    )
    expo: float = setting(
        0.4, "Response curve of the sticks: 0 = linear, 1 = cubic (finer near the centre)", minimum=0.0, maximum=1.0
    )

    def __post_init__(self) -> None:
        if self.turbo_speed_mps < self.max_speed_mps:
            raise ValueError(
                f"turbo_speed_mps: must be at least max_speed_mps ({self.max_speed_mps:g}), "
                f"got {self.turbo_speed_mps:g}"
            )
        if self.hold_button == self.turbo_button:
            raise ValueError(f"turbo_button: must differ from hold_button ({self.hold_button})")
        for pedal in ("throttle", "brake"):
            if abs(getattr(self, f"{pedal}_released") - getattr(self, f"{pedal}_pressed")) < 0.1:
                raise ValueError(f"{pedal}_pressed: must differ from {pedal}_released by at least 0.1")


@dataclass(frozen=True, slots=True)
class _SetPoint:
    """Set-point of the last valid message, before slew limits."""

    speed: float
    steering: float
    throttle: float
    brake: float


class Teleop:
    """Turns /joy messages into commands. All times are seconds of one steady clock, passed in."""

    def __init__(self, settings: TeleopSettings) -> None:
        self.settings = settings
        self._set_point: _SetPoint | None = None
        self._stop_reason = "no /joy yet"
        self._last_joy = -math.inf
        self._motion = SlewedMotion()

    def receive(self, now: float, axes: Sequence[float], buttons: Sequence[int]) -> str:
        """Process one /joy message; returns why it was rejected, or ''. A rejected one stops the vehicle."""
        rejection = self._rejection(axes, buttons)
        self._last_joy = now
        if rejection:
            self._set_point, self._stop_reason = None, rejection
        elif not buttons[self.settings.hold_button]:
            self._set_point, self._stop_reason = None, "hold button released"
        else:
            self._set_point = self._read(axes, bool(buttons[self.settings.turbo_button]))
        return rejection

    def command(self, now: float) -> DriveCommand:
        """The command for this instant; a stop when /joy is silent, rejected or the hold button is up."""
        if self._set_point is not None and now - self._last_joy >= self.settings.joy_timeout_s:
            self._set_point, self._stop_reason = None, f"/joy silent for {self.settings.joy_timeout_s:g} s"
        if self._set_point is None:
            return self._motion.stop(now, self._stop_reason, self.settings)
        self._motion.follow(now, self._set_point.speed, self._set_point.steering, self.settings)
        return self._motion.command(self.settings, self._set_point.throttle, self._set_point.brake)

    def stop_command(self, now: float, reason: str) -> DriveCommand:
        """Stop, for a reason given by the caller."""
        return self._motion.stop(now, reason, self.settings)

    def _rejection(self, axes: Sequence[float], buttons: Sequence[int]) -> str:
        wanted = self.settings
        for name in self._used_axes():
            index = getattr(wanted, name)
            if index >= len(axes):
                return f"/joy has {len(axes)} axes, {name} needs index {index}: wrong pad mapping?"
        for name in ("hold_button", "turbo_button"):
            index = getattr(wanted, name)
            if index >= len(buttons):
                return f"/joy has {len(buttons)} buttons, {name} needs index {index}: wrong pad mapping?"
        for index, state in enumerate(buttons):
            if state not in (0, 1):
                return f"/joy button {index} is {state}, allowed 0 or 1"
        for index, value in enumerate(axes):
            if not abs(value) <= 1.0 + AXIS_TOLERANCE:  # written so that NaN is rejected
                return f"/joy axis {index} is {value}, allowed -1 to 1"
        return ""

    def _used_axes(self) -> tuple[str, ...]:
        if self.settings.output == "pedals":
            return ("steering_axis", "throttle_axis", "brake_axis")
        return ("speed_axis", "steering_axis")

    def _read(self, axes: Sequence[float], is_turbo: bool) -> _SetPoint:
        wanted = self.settings
        steering = response(axes[wanted.steering_axis], wanted.expo)
        if wanted.output == "pedals":
            throttle = travel(axes[wanted.throttle_axis], wanted.throttle_released, wanted.throttle_pressed)
            brake = travel(axes[wanted.brake_axis], wanted.brake_released, wanted.brake_pressed)
            return _SetPoint(0.0, steering, throttle, brake)
        top_speed = wanted.turbo_speed_mps if is_turbo else wanted.max_speed_mps
        return _SetPoint(response(axes[wanted.speed_axis], wanted.expo) * top_speed, steering, 0.0, 0.0)


def response(axis: float, expo: float) -> float:
    """Axis after the response curve, odd and monotonic, within [-1, 1].

    >>> response(1.0, 0.4), response(-0.5, 0.0), response(0.5, 1.0)
    (1.0, -0.5, 0.125)
    """
    axis = clamp(axis, -1.0, 1.0)
    return (1.0 - expo) * axis + expo * axis**3


def travel(axis: float, released: float, pressed: float) -> float:
    """Pedal travel in [0, 1] of an axis that reads `released` at rest and `pressed` at the end.

    >>> travel(1.0, 1.0, -1.0), travel(0.0, 1.0, -1.0), travel(-0.4, 0.0, 1.0)
    (0.0, 0.5, 0.0)
    """
    return clamp((axis - released) / (pressed - released), 0.0, 1.0) + 0.0  # no negative zero
