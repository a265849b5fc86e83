"""Transfer case, differential locks and parking brake: what a vehicle has, what is commanded, when ranges change."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from proving_ground.saving.stateful import Stateful
from proving_ground.settings import SettingsError, setting
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import STANDS_MPS, forward_speed, rise_of
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import KEEP, Pedals

LOCKS = ("none", "front", "rear", "both")  # by their bits in Pedals.locks
CHOICES = ("keep", "auto")
# Automatic choice of the low range
STUCK_MPS = 1.0  # slower than this at full throttle, the vehicle cannot go on
FULL_THROTTLE = 0.99
LASTING_S = 1.0  # of what makes the choice change
EASY_RISE = 0.09  # sine of the pitch, 5 degrees: steeper, a vehicle that rolls back cannot go on either


@dataclass(frozen=True, kw_only=True)
class LeverSettings:
    """Transfer range, locks and parking brake, until a command changes them; and how ranges change."""

    transfer_range: str = setting(
        "", "Range of the transfer case, by its name or number in the vehicle's file; empty: the first"
    )
    locks: str = setting("none", "Lockable differentials that are locked: none, front, rear or both", choices=LOCKS)
    parking_brake: float = setting(0.0, "Position of the parking brake, 0 to 1", minimum=0.0, maximum=1.0)
    range_choice: str = setting(
        "keep",
        "Choice of the range while speeds are commanded: keep = the commanded one, "
        "auto = the lowest when the vehicle is stuck at full throttle or rolls back, until it stands on easy ground",
        choices=CHOICES,
    )
    change_below_mps: float = setting(
        1.5, "Speed below which the transfer case changes to a range of another reduction",
        unit="m/s", minimum=0.0, maximum=40.0,
    )  # fmt: skip

    @property
    def is_default(self) -> bool:
        """Whether every vehicle can follow."""
        return (self.transfer_range, self.locks, self.parking_brake) == ("", LOCKS[0], 0.0)


class Positions(NamedTuple):
    """Commanded positions, as in Pedals; KEEP leaves one as it is."""

    transfer_range: int = KEEP
    locks: int = KEEP
    parking_brake: float = KEEP


@dataclass(frozen=True)
class VehicleLevers:
    """Lever positions that a vehicle has."""

    ranges: tuple[str, ...]  # names
    reductions: tuple[float, ...]
    lockable: int  # bits, as Pedals.locks
    has_parking_brake: bool

    @staticmethod
    def of(parameters: VehicleParameters) -> VehicleLevers:
        """Levers of the vehicle in a file."""
        driveline = parameters.driveline
        ranges = driveline.all_ranges()
        return VehicleLevers(
            tuple(item.name for item in ranges),
            tuple(item.reduction for item in ranges),
            sum(1 << bit for bit, axle in enumerate((driveline.front, driveline.rear)) if axle.kind == "lockable"),
            parameters.brakes.parking_torque_nm > 0.0,
        )

    @property
    def lowest(self) -> int:
        """The range with the largest reduction."""
        return self.reductions.index(max(self.reductions))

    def positions(self, settings: LeverSettings) -> Positions:
        """Positions of the settings as numbers; raises SettingsError for one that the vehicle does not have."""
        try:
            return self.checked(
                Positions(
                    self.range_index(settings.transfer_range), LOCKS.index(settings.locks), settings.parking_brake
                )
            )
        except ValueError as error:
            raise SettingsError(f"levers.{error}") from None

    def checked(self, asked: Positions) -> Positions:
        """The positions; raises ValueError for one that the vehicle does not have."""
        problem = self.problem(asked.transfer_range, asked.locks)
        if not problem and asked.parking_brake > 0.0 and not self.has_parking_brake:
            problem = f"parking_brake: must be 0, this vehicle has none, got {asked.parking_brake:g}"
        if problem:
            raise ValueError(problem)
        return asked

    def range_index(self, name: str) -> int:
        """Number of a range, given its name or its number as text; empty is the first. Raises ValueError."""
        if not name:
            return 0
        if name in self.ranges:
            return self.ranges.index(name)
        if name.isdecimal() and len(name) < 3 and int(name) < len(self.ranges):
            return int(name)
        raise ValueError(self._wrong_range(repr(name)))

    def problem(self, transfer_range: float, locks: float) -> str:
        """Why the vehicle cannot have this range or these locks, in one line; empty if it can. KEEP is possible."""
        if transfer_range != KEEP and transfer_range not in range(len(self.ranges)):
            return self._wrong_range(f"{transfer_range:g}")
        allowed = [bits for bits in range(len(LOCKS)) if not bits & ~self.lockable]
        if locks != KEEP and locks not in allowed:
            none = "" if self.lockable else ", this vehicle has no lockable differentials"
            return f"locks: must be {_either(allowed, LOCKS)}{none}, got {locks:g}"
        return ""

    def _wrong_range(self, got: str) -> str:
        count = len(self.ranges)
        none = "" if count > 1 else ", this vehicle has no transfer case"
        return f"transfer_range: must be {_either(range(count), self.ranges)}{none}, got {got}"


class Levers(Stateful):
    """Present positions of a vehicle's levers. A position that was not commanded is that of the settings."""

    STATE = ("_given", "_range", "_speed", "_is_low", "_lasting_s")

    def __init__(self, own: VehicleLevers, settings: LeverSettings) -> None:
        """Raises SettingsError for settings that the vehicle cannot follow."""
        self.own, self.settings = own, settings
        self._set = own.positions(settings)
        self.reset()

    def reset(self) -> None:
        """Back to the settings' positions."""
        self._given = Positions()
        self._speed = 0.0  # [m/s], when it was last seen
        self._is_low, self._lasting_s = False, 0.0  # of the automatic choice
        self._range = self._wanted.transfer_range

    def change(self, new: LeverSettings) -> None:
        """Apply changed settings: each that changes counts as the newest command."""
        self._set = self.own.positions(new)
        names = [name for name in Positions._fields if getattr(self.settings, name) != getattr(new, name)]
        self.settings = new
        self._given = self._given._replace(**dict.fromkeys(names, KEEP))
        if "transfer_range" in names:
            self._is_low = False

    def command(self, asked: Positions) -> list[str]:
        """Take over commanded positions, which the vehicle has; returns why some do not come about, or not yet."""
        given = {name: value for name, value in asked._asdict().items() if value != KEEP}
        reasons = []
        if given.get("parking_brake") and not self.own.has_parking_brake:
            given["parking_brake"] = 0.0
            reasons.append("this vehicle has no parking brake")
        if "transfer_range" in given:
            self._is_low = False
        self._given = self._given._replace(**given)
        if "transfer_range" in given and self.waiting:
            reasons.append(self.waiting)
        return reasons

    @property
    def waiting(self) -> str:
        """Condition that the transfer case waits for; empty if it has the wanted range."""
        wanted = self._wanted.transfer_range
        if wanted == self._range or self._may_change(wanted):
            return ""
        limit = self.settings.change_below_mps
        return f"range {self.own.ranges[wanted]} waits until the vehicle is slower than {limit:g} m/s"

    def onto(self, pedals: Pedals, seen: SnapshotRecord) -> Pedals:
        """The pedals with the levers of this instant."""
        self._speed = forward_speed(seen)
        wanted = self._wanted
        if self._may_change(wanted.transfer_range):
            self._range = wanted.transfer_range
        return pedals._replace(transfer_range=self._range, locks=wanted.locks, parking_brake=wanted.parking_brake)

    def choose(self, period: float, throttle: float, speed: float, seen: SnapshotRecord) -> None:
        """Automatic choice of the range, every period [s] in which a speed [m/s] is commanded."""
        if self.settings.range_choice != "auto":
            self._is_low, self._lasting_s = False, 0.0
            return
        present, rise = forward_speed(seen), rise_of(seen)
        if self._is_low:
            is_due = speed == 0.0 and abs(present) < STANDS_MPS and abs(rise) < EASY_RISE
        else:
            is_stuck = throttle >= FULL_THROTTLE and abs(present) < min(STUCK_MPS, abs(speed))
            ahead = math.copysign(1.0, speed) if speed else 0.0
            is_due = is_stuck or (ahead * rise > EASY_RISE and ahead * present < -STANDS_MPS)  # or rolls back
        self._lasting_s = self._lasting_s + period if is_due else 0.0
        if self._lasting_s > LASTING_S:
            self._is_low, self._lasting_s = not self._is_low, 0.0

    @property
    def _wanted(self) -> Positions:
        wanted = self._set._replace(**{name: value for name, value in self._given._asdict().items() if value != KEEP})
        return wanted._replace(transfer_range=self.own.lowest) if self._is_low else wanted

    def _may_change(self, wanted: int) -> bool:
        reductions = self.own.reductions
        return reductions[wanted] == reductions[self._range] or abs(self._speed) < self.settings.change_below_mps


def _either(numbers: Iterable[int], names: tuple[str, ...]) -> str:
    """Words for a choice.

    >>> _either(range(3), ("H", "H/L", "L"))
    '0 (H), 1 (H/L) or 2 (L)'
    """
    words = [f"{number} ({names[number]})" for number in numbers]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
