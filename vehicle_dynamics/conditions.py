"""Conditions that can change while a run goes on: friction of hard ground, payload, tyre pressures.

They change on a timeline or on request, always at the beginning of a control period. Friction and payload change at
once, pressures at the rate of the vehicle's central tyre inflation.

>>> conditions = Conditions([ConditionChange(what="friction", at_s=1.0, value=0.3)])
>>> conditions.advance(0.99), conditions.advance(1.0), conditions.present.friction
(False, True, 0.3)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from proving_ground.interfaces.joints import CORNERS
from proving_ground.saving.stateful import Stateful
from proving_ground.settings import SettingsError, build, declarations, setting
from proving_ground.settings.units import FOREVER_S
from terrain.ground import FlatGround, GroundModel
from terrain.own_friction import hard_friction
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.drive.drive_parameters import Inflation
from vehicle_dynamics.parameters import Cargo, VehicleParameters

FRICTION, PAYLOAD, PRESSURE = "friction", "payload_kg", "tyre_pressure_pa"
# The settings whose ranges the values have.
_RANGES = {
    FRICTION: declarations(FlatGround)["friction"],
    PAYLOAD: declarations(Cargo)["mass_kg"],
    PRESSURE: declarations(Inflation)["reference_pressure_pa"],
}
ALL, AXLES = "all", ("front", "rear")
WHEELS = (ALL, *AXLES, *CORNERS)
SHARED_BY = {1: (ALL,), 2: AXLES, 4: CORNERS}  # wheels of each value of a list, by its length
MULTIBODY_ONLY = "need vehicle.fidelity multibody; single_track has neither tyres nor mass"
NEVER_S = -1.0  # before the first change


@dataclass(frozen=True, kw_only=True)
class ConditionChange:
    """A change on the timeline of a run; it lasts until the next one of its kind."""

    form: ClassVar[str] = "WHAT AT_S VALUE [WHEELS]"

    what: str = setting(..., "Condition that changes", choices=tuple(_RANGES))
    at_s: float = setting(
        0.0, "Time of the change, since the start of the run", unit="s", minimum=0.0, maximum=FOREVER_S
    )
    value: float = setting(..., "Value from then on, in the unit of the condition and within its range")
    wheels: str = setting(ALL, "Wheels whose tyre pressure changes", choices=WHEELS)

    def __post_init__(self) -> None:
        declared = _RANGES[self.what]
        low, high, unit = declared.minimum, declared.maximum, f" {declared.unit}" if declared.unit else ""
        if low is not None and high is not None and not low <= self.value <= high:
            raise ValueError(f"value: of {self.what} must be from {low:g} to {high:g}{unit}, got {self.value:g}")
        if self.wheels != ALL and self.what != PRESSURE:
            raise ValueError(f"wheels: only {PRESSURE} is of single wheels, got {self.wheels} for {self.what}")

    @property
    def words(self) -> str:
        """Text that `change_from_words` reads back exactly."""
        wheels = f" {self.wheels}" if self.wheels != ALL else ""
        return f"{self.what} {self.at_s!r} {self.value!r}{wheels}"

    def is_of(self, wheel: int) -> bool:
        """Whether it changes the tyre pressure of a wheel: 0 front left, 1 front right, 2 rear left, 3 rear right."""
        return self.wheels == ALL or CORNERS[wheel].startswith(self.wheels)


def change_from_words(words: str) -> ConditionChange:
    """Parse a change; raises ValueError with one line."""
    what, *rest = words.split() or [""]
    if not 2 <= len(rest) <= 3:
        raise ValueError(f"{words!r} is not a change; write {ConditionChange.form}")
    try:
        at_s, value = (float(word) for word in rest[:2])
        wheels = {"wheels": rest[2]} if len(rest) == 3 else {}
        return build(ConditionChange, {"what": what, "at_s": at_s, "value": value, **wheels})
    except SettingsError as error:
        raise ValueError(f"{words!r}: {error}") from None
    except ValueError:
        raise ValueError(f"{words!r} has text in place of a number; write {ConditionChange.form}") from None


@dataclass(frozen=True, kw_only=True)
class ConditionSettings:
    """Conditions of a running vehicle, as parameters of its node."""

    friction: float = setting(
        -1.0,
        "Friction coefficient between tyres and all hard ground; -1: that of the world",
        minimum=-1.0,
        maximum=_RANGES[FRICTION].maximum,
    )
    payload_kg: float = setting(
        -1.0,
        "Mass of the payload; -1: that of the start, vehicle.payload_kg",
        unit="kg",
        minimum=-1.0,
        maximum=_RANGES[PAYLOAD].maximum,
    )
    tyre_pressure_pa: tuple[float, ...] = setting(
        (),
        "Inflation pressure: one for all wheels, one for each axle, or front left, front right, rear left, rear right; "
        "empty: that of the vehicle's file",
        unit="Pa",
        minimum=_RANGES[PRESSURE].minimum,
        maximum=_RANGES[PRESSURE].maximum,
    )

    def __post_init__(self) -> None:
        if len(self.tyre_pressure_pa) not in (0, *SHARED_BY):
            raise ValueError(f"{PRESSURE}: must have 0, 1, 2 or 4 values, got {len(self.tyre_pressure_pa)}")
        for name in (FRICTION, PAYLOAD):
            if -1.0 < getattr(self, name) < 0.0:
                raise ValueError(f"{name}: must be -1 or not negative, got {getattr(self, name):g}")
        tuple(self.changes())

    def changes(self) -> Iterator[ConditionChange]:
        """Changes that bring these conditions about."""
        for name in (FRICTION, PAYLOAD):
            if getattr(self, name) >= 0.0:
                yield ConditionChange(what=name, value=getattr(self, name))
        for wheels, pressure in zip(SHARED_BY.get(len(self.tyre_pressure_pa), ()), self.tyre_pressure_pa, strict=True):
            yield ConditionChange(what=PRESSURE, value=pressure, wheels=wheels)


class Condition(NamedTuple):
    """Conditions at an instant. None: as in the world, or in the vehicle's file."""

    friction: float | None = None
    payload_kg: float | None = None
    pressures_pa: tuple[float | None, ...] = (None,) * 4

    def after(self, changes: Iterable[ConditionChange]) -> Condition:
        """The conditions after some changes."""
        found = self
        for change in changes:
            if change.what == FRICTION:
                found = found._replace(friction=change.value)
            elif change.what == PAYLOAD:
                found = found._replace(payload_kg=change.value)
            else:
                changed = (change.value if change.is_of(wheel) else old for wheel, old in enumerate(found.pressures_pa))
                found = found._replace(pressures_pa=tuple(changed))
        return found

    def over(self, other: Condition) -> Condition:
        """These conditions, with the other's values where these are None."""
        return Condition(
            _first(self.friction, other.friction),
            _first(self.payload_kg, other.payload_kg),
            tuple(map(_first, self.pressures_pa, other.pressures_pa)),
        )

    @property
    def words(self) -> str:
        """One line for diagnostics: what differs from the world and the vehicle's file."""
        found = [f"friction {self.friction:g}"] if self.friction is not None else []
        found += [f"payload {self.payload_kg:g} kg"] if self.payload_kg is not None else []
        if any(pressure is not None for pressure in self.pressures_pa):
            shown = ("-" if pressure is None else f"{pressure / 1e3:.3g}" for pressure in self.pressures_pa)
            found.append(f"tyre pressures {', '.join(shown)} kPa")
        return ", ".join(found) or "as in the world and the vehicle's file"


def _first(own: float | None, other: float | None) -> float | None:
    return other if own is None else own


class Conditions(Stateful):
    """The conditions of one vehicle; call `advance` at the beginning of every PERIOD_S."""

    STATE = ("_until_s", "_changed", "present")

    def __init__(
        self,
        changes: Iterable[ConditionChange] = (),
        *,
        start: Condition | None = None,
        parameters: VehicleParameters | None = None,
    ) -> None:
        """start: conditions that differ from the world and the file; parameters: of the vehicle.

        Without parameters pressures change at once.
        """
        self._timeline = sorted(changes, key=lambda change: change.at_s)
        self._inflation = parameters.tyre.inflation if parameters is not None else None
        self._start = start or Condition()
        self._until_s = NEVER_S  # up to here changes of the timeline have been made
        self.reset()

    def reset(self) -> None:
        """Return to the conditions of the start. Changes of the timeline that are past do not happen again."""
        self._changed = Condition()  # relative to the start
        self.present = self._start

    def restart_time(self) -> None:
        """Time goes back to the start: the timeline begins again, with the present conditions."""
        self._until_s = NEVER_S

    def change(self, change: ConditionChange) -> None:
        """Change a condition from the next period on; its time does not matter."""
        self._changed = self._changed.after([change])

    def set_start(self, start: Condition) -> None:
        """Replace the conditions of the start; those that differ take effect from the next period on."""
        old, changed, self._start = self._start, self._changed, start
        self._changed = Condition(
            changed.friction if start.friction == old.friction else None,
            changed.payload_kg if start.payload_kg == old.payload_kg else None,
            changed.pressures_pa if start.pressures_pa == old.pressures_pa else (None,) * 4,
        )

    def advance(self, now: float) -> bool:
        """Conditions of the period that begins now [s], since the start; True if they differ from those before."""
        due = [change for change in self._timeline if self._until_s < change.at_s <= now]
        self._until_s = now
        if due:
            self._changed = self._changed.after(due)
        target = self._changed.over(self._start)
        if target == self.present:
            return False
        self.present = target._replace(pressures_pa=tuple(map(self._moved, range(4), target.pressures_pa)))
        return True

    def _moved(self, wheel: int, target: float | None) -> float | None:
        """Pressure of a wheel during the next period; that of the file once it has been reached again."""
        law, present = self._inflation, self.present.pressures_pa[wheel]
        if law is None or law.rate_paps == 0.0 or target == present:
            return target
        usual = law.of_wheel(wheel)
        begin, end = (usual if value is None else value for value in (present, target))
        step = law.rate_paps * PERIOD_S
        return target if abs(end - begin) <= step else begin + (step if end > begin else -step)


def scripted_changes(script: Iterable[str]) -> tuple[ConditionChange, ...]:
    """The changes of a node's parameter `change_script`; raises ValueError that begins with its name."""
    try:
        return tuple(change_from_words(words) for words in script)
    except ValueError as error:
        raise ValueError(f"change_script: {error}") from None


def check_changes(changes: Iterable[ConditionChange], parameters: VehicleParameters, ground: GroundModel) -> None:
    """Raise SettingsError for a change that a vehicle on a ground cannot have."""
    for change in changes:
        if change.what == FRICTION and hard_friction(ground) is None:
            raise SettingsError(f"{FRICTION}: cannot change, the world has soft soil only")
        most = parameters.cargo.max_kg
        if change.what == PAYLOAD and change.value > most:
            raise SettingsError(f"{PAYLOAD}: {parameters.name} carries 0 to {most:g} kg, got {change.value:g}")
        if change.what == PRESSURE and parameters.tyre.inflation is None:
            raise SettingsError(f"{PRESSURE}: cannot change, the file of {parameters.name} has no tyre.inflation")
