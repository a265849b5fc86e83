"""Speed by throttle, brake and gear lever: PID with anti-windup, a hold at standstill, and a stop before reversing.

The brake of a driver in no hurry is limited; on a steep slope the limit rises by what holds the vehicle there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from vehicle_dynamics.control.creep import STILL, CreepController, CreepSettings
from vehicle_dynamics.parameters import GRAVITY
from vehicle_dynamics.pedals import DRIVE, REVERSE, Pedals
from vehicle_dynamics.vehicle import PedalAuthority

SLOWEST_SET_POINT = 1e-3  # [m/s]: commands below this mean stop
TYPICAL = PedalAuthority(brake=10.0, throttle=4.0)
STEADY_S = 0.5  # a slow command to a moving vehicle that lasts shorter is part of a manoeuvre
HOLDING = 1.5  # largest brake pedal over the one that holds the vehicle on its slope: to slow down, also with payload
LET_GO = 1.0  # [m/s]: above this the hold has failed, and the service brake is used instead


@dataclass(frozen=True, kw_only=True)
class SpeedSettings:
    """Gains are pedal per m/s, per metre and per m/s^2; 1 is a full pedal."""

    proportional: float = setting(0.4, "Pedal per speed error", unit="s/m", minimum=0.0, maximum=10.0)
    integral: float = setting(0.05, "Pedal per integrated speed error", unit="1/m", minimum=0.0, maximum=10.0)
    derivative: float = setting(0.0, "Pedal per change of speed", unit="s^2/m", minimum=0.0, maximum=10.0)
    service_brake: float = setting(0.4, "Largest brake pedal for slowing down", minimum=0.05, maximum=1.0)
    coast_band: float = setting(
        0.05,
        "Braking demand that is left to rolling resistance and the engine's drag",
        minimum=0.0,
        maximum=0.5,
    )
    hold_brake: float = setting(0.6, "Brake pedal at standstill", minimum=0.0, maximum=1.0)
    hold_below_mps: float = setting(
        0.15, "Speed below which a stopping vehicle is held", unit="m/s", minimum=0.01, maximum=2.0
    )
    least_stop_brake: float = setting(
        0.1, "Least brake pedal of a stop, until the vehicle is held", minimum=0.0, maximum=1.0
    )
    creep: CreepSettings = field(default_factory=CreepSettings)


class SpeedController(Stateful):
    """Follows a speed; its state is the integral, the gear lever, what it did last, and that of slow driving."""

    STATE = ("total", "selected", "_is_holding", "_before", "_wanted", "_steady_s", "_last", "_creep")

    def __init__(self, settings: SpeedSettings, authority: PedalAuthority | None = None) -> None:
        """authority: what the vehicle's pedals do, for slow driving and stops."""
        self.settings = settings
        authority = authority or TYPICAL
        self._authority = authority
        self._creep = CreepController(settings.creep, authority)
        # Weaker pedals need more, at least against an engine that creeps.
        self._least_stop_brake = min(settings.least_stop_brake * max(1.0, TYPICAL.brake / authority.brake), 1.0)
        self.total = 0.0  # integrated error, in pedal units
        self.selected = DRIVE
        self._is_holding = False
        self._before: float | None = None
        self._wanted = 0.0  # last commanded speed
        self._steady_s = 0.0  # for which a slow command has been steady
        self._last = Pedals()

    def reset(self) -> None:
        """Reset to the initial state."""
        self.total, self.selected, self._before, self._is_holding = 0.0, DRIVE, None, False
        self._wanted, self._last, self._steady_s = 0.0, Pedals(), 0.0
        self._creep.reset()

    def pedals(
        self, period: float, speed: float, wanted: float, finally_wanted: float | None = None, *, rise: float = 0.0
    ) -> Pedals:
        """Throttle, brake and gear for the present and the commanded speed [m/s]; period [s] since the last call.

        finally_wanted: the speed that the commanded one is on its way to, if that is known; rise: sine of the pitch.
        """
        target = wanted if finally_wanted is None else finally_wanted
        steep = min(HOLDING * GRAVITY * abs(rise) / self._authority.brake, 1.0)
        self._last = self._creeping(period, speed, target, steep) or self._driving(period, speed, wanted, steep)
        self._wanted = target
        return self._last

    def _creeping(self, period: float, speed: float, wanted: float, steep: float) -> Pedals | None:
        """Pedals for slow driving; None if this is not slow driving. steep: brake pedal that the slope may need."""
        most_brake = max(self.settings.service_brake, steep)
        creep, most = self._creep, self.settings.creep.below_mps
        direction = DRIVE if wanted > 0.0 else REVERSE
        ahead = direction * speed
        fastest = 1.5 * most if creep.is_active else most
        is_slow = SLOWEST_SET_POINT <= abs(wanted) < most and -self.settings.hold_below_mps < ahead < fastest
        if creep.is_active and not (is_slow and direction == self.selected):
            # A stop continues with the brake that kept the speed, any other drive with the throttle.
            is_stop = abs(wanted) < SLOWEST_SET_POINT
            self.total, creep.is_active = -max(creep.brake, 0.0) if is_stop else creep.throttle, False
        if not is_slow:
            self._steady_s = 0.0
            return None
        if not creep.is_active:
            # A command that passes through slow speeds is a start or a stop.
            is_steady = abs(wanted - self._wanted) <= self.settings.creep.steady_mps2 * period
            self._steady_s = self._steady_s + period if is_steady else 0.0
            if not is_steady or (abs(speed) >= STILL and self._steady_s < STEADY_S):
                return None
            if abs(speed) < STILL:
                creep.start(ahead, 0.0, 0.0, most_brake)
            else:
                change = 0.0 if self._before is None else direction * (speed - self._before) / period
                creep.start(ahead, change, self._last.throttle, self._last.brake)
        self.selected, self._before, self._is_holding = direction, speed, False
        throttle, brake = creep.pedals(period, ahead, direction * wanted, most_brake)
        return Pedals(0.0, throttle, brake, direction)

    def _driving(self, period: float, speed: float, wanted: float, steep: float) -> Pedals:
        """Pedals for any other speed; steep: as for slow driving."""
        s = self.settings
        most_brake = max(s.service_brake, steep)
        change = 0.0 if self._before is None else (speed - self._before) / period
        self._before = speed
        is_stop = abs(wanted) < SLOWEST_SET_POINT
        direction = self.selected if is_stop else DRIVE if wanted > 0.0 else REVERSE
        # Once held it stays held: the tyres' carcass may swing the vehicle beyond the hold speed.
        self._is_holding = is_stop and (abs(speed) < s.hold_below_mps or (self._is_holding and abs(speed) < LET_GO))
        if self._is_holding:
            self.total = 0.0
            return Pedals(0.0, 0.0, max(s.hold_brake, steep), self.selected)
        # A vehicle that rolls the wrong way is stopped first; in gear, as on a slope, it may roll back a little.
        if not is_stop and speed * direction <= -(LET_GO if direction == self.selected else s.hold_below_mps):
            self.total = 0.0
            return Pedals(0.0, 0.0, most_brake, self.selected)
        self.selected = direction
        if is_stop and speed * direction < 0.0:
            self.total, direction = 0.0, -direction
        # From here on in the direction of travel, so that forward and reverse are treated alike.
        error, change = direction * (wanted - speed), direction * change
        set_point = s.proportional * error + self.total - s.derivative * change
        # Anti-windup: do not integrate further into saturation.
        grown = self.total + s.integral * error * period
        if -most_brake < set_point < 1.0 or abs(grown) < abs(self.total):
            self.total = min(max(grown, -most_brake), 1.0)
        if is_stop:
            brake = min(max(-set_point, self._least_stop_brake), most_brake)
            return Pedals(0.0, 0.0, brake, self.selected)
        if set_point >= 0.0:
            return Pedals(0.0, min(set_point, 1.0), 0.0, self.selected)
        if set_point > -s.coast_band:
            return Pedals(0.0, 0.0, 0.0, self.selected)
        return Pedals(0.0, 0.0, min(-set_point - s.coast_band, most_brake), self.selected)
