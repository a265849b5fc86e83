"""Actuators between drive-by-wire and the vehicle: they lag behind their commands, and can fail on a timeline.

>>> brake = Actuators(faults=[ActuatorFault(actuator="brake", kind="offset", value=0.2, start_s=1.0)])
>>> brake.moved(0.0, Pedals(brake=0.5)).brake, brake.moved(1.0, Pedals(brake=0.5)).brake
(0.5, 0.7)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from proving_ground.interfaces import joints
from proving_ground.interfaces.faults import TimedFault, faults_at
from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.parameters import ActuatorLags
from vehicle_dynamics.pedals import Pedals

ACTUATORS = joints.PEDALS  # each moves the pedal of its name, or the steering wheel
STUCK, SLOW, OFFSET = "stuck", "slow", "offset"
ACTUATOR_FAULTS = MappingProxyType(
    {  # kind: what happens, and what `value` means
        STUCK: "the actuator stays where it is",
        SLOW: "value seconds are added to the time constant of its lag",
        OFFSET: "value is added to its position, which stays within its limits",
    }
)


@dataclass(frozen=True, kw_only=True)
class ActuatorFault(TimedFault):
    """A fault of an actuator of a scenario."""

    form: ClassVar[str] = "KIND START_S LENGTH_S VALUE ACTUATOR"
    where_field: ClassVar[str] = "actuator"
    known_by: ClassVar[str] = "actuator"

    actuator: str = setting(..., "Name of the actuator that fails", choices=ACTUATORS)
    kind: str = setting(..., "Kind of the fault", choices=tuple(ACTUATOR_FAULTS))

    def __post_init__(self) -> None:
        if self.kind == STUCK and self.value:
            raise ValueError(f"value: {STUCK} has none, the actuator stays where it is; got {self.value:g}")
        if self.kind == SLOW and self.value < 0.0:
            raise ValueError(f"value: of {SLOW} must not be negative, got {self.value:g}")
        travel = _travel(self.actuator)
        if self.kind == OFFSET and not abs(self.value) <= travel:
            raise ValueError(
                f"value: of {OFFSET} must be within the travel of the {self.actuator}, "
                f"{-travel:g} to {travel:g}, got {self.value:g}"
            )


def _travel(actuator: str) -> float:
    """Distance between the limits of an actuator."""
    low, high = (float(getattr(_limited(Pedals(), {actuator: end}), actuator)) for end in (-1e9, 1e9))
    return high - low


def _limited(pedals: Pedals, positions: dict[str, float]) -> Pedals:
    """Pedals with some of them at given positions, each within its limits; the others are left as they are."""
    limited = pedals._replace(**positions).within_limits()  # type: ignore[arg-type]
    return pedals._replace(**{name: getattr(limited, name) for name in positions})


class Actuators(Stateful):
    """All actuators of one vehicle; call `moved` once every PERIOD_S. Without lags and faults it changes no bit."""

    STATE = ("_positions", "_given")

    def __init__(self, lags: ActuatorLags | None = None, faults: Iterable[ActuatorFault] = ()) -> None:
        lags = lags or ActuatorLags()
        self._lags_s = {joints.THROTTLE: lags.throttle_lag_s, joints.BRAKE: lags.brake_lag_s}
        self._faults = tuple(faults)
        self.reset()

    def reset(self) -> None:
        """Return to the initial state: pedals released, wheels straight ahead."""
        self._positions = {name: float(getattr(Pedals(), name)) for name in ACTUATORS}  # of the lags, without offsets
        self._given = dict(self._positions)  # with offsets

    def faults_at(self, now: float) -> tuple[ActuatorFault, ...]:
        """Faults active at a time since the start [s]."""
        return faults_at(self._faults, now)

    def moved(self, now: float, asked: Pedals) -> Pedals:
        """Pedals of the vehicle during the next PERIOD_S, for those commanded; now: since the start [s].

        A lagging pedal is held where the lag would have it at the end of the period. Raises ValueError for a command
        that is not finite.
        """
        commands = {name: getattr(asked, name) for name in ACTUATORS}
        for name, command in commands.items():
            if not math.isfinite(command):
                raise ValueError(f"{name}: must be a finite number, got {command}")
        active = self.faults_at(now)
        given = {
            name: self._moved(name, command, [fault for fault in active if fault.actuator == name])
            for name, command in commands.items()
        }
        changed = {name: value for name, value in given.items() if value is not commands[name]}
        pedals = _limited(asked, changed) if changed else asked
        self._given = {name: getattr(pedals, name) for name in ACTUATORS}
        return pedals

    def _moved(self, name: str, command: float, faults: list[ActuatorFault]) -> float:
        """Position of one actuator, not limited; the command itself if it follows at once."""
        if any(fault.kind == STUCK for fault in faults):
            return self._given[name]
        lag_s = self._lags_s.get(name, 0.0) + sum(fault.value for fault in faults if fault.kind == SLOW)
        position = command
        if lag_s > 0.0:  # exact for a command that is constant within the period
            position = command + (self._positions[name] - command) * math.exp(-PERIOD_S / lag_s)
        self._positions[name] = position
        offsets = [fault.value for fault in faults if fault.kind == OFFSET]
        return position + sum(offsets) if offsets else position
