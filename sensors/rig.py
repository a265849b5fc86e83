"""The sensors of a scenario on one vehicle: made from settings, fed from snapshots, in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from proving_ground.interfaces.digest import Digest
from proving_ground.interfaces.samples import RUT_CELL
from proving_ground.kernels.vector3 import Vector3
from proving_ground.saving.stateful import Stateful
from proving_ground.settings import SettingsError, setting
from proving_ground.settings.fields import close_name
from proving_ground.settings.one_of import one_of
from proving_ground.settings.units import NS_PER_S
from sensors.drive_truth import drive_truth
from sensors.faults import Fault
from sensors.kinds import SENSOR_KINDS, SeenWorld, SensorKind
from sensors.samples import DriveTruth
from sensors.sensor import NO_FAULT
from vehicle_dynamics.base_motion import BaseMotion, base_motion
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.stepper import ticks_between

WARM_PERIODS = 3


class _Choice:
    """One sensor of a scenario: exactly one kind."""

    name: str

    def __post_init__(self) -> None:
        one_of(self, "name")

    @property
    def kind(self) -> str:
        """Name of the given kind."""
        return one_of(self, "name")[0]

    @property
    def called(self) -> str:
        """Name of the sensor, by default that of its kind."""
        return self.name or self.kind

    @property
    def settings(self) -> Any:
        """Settings of the given kind."""
        return one_of(self, "name")[1]


if TYPE_CHECKING:

    class SensorChoice(_Choice):
        """One sensor of a scenario: a field for each registered kind, of which exactly one is set."""

        def __init__(self, **chosen: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...

else:
    SensorChoice = make_dataclass(
        "SensorChoice",
        [
            ("name", str, setting("", "Name of the sensor, its node and its random numbers; empty: the kind's name")),
            *((kind.name, kind.settings | None, None) for kind in SENSOR_KINDS.values()),
        ],
        bases=(_Choice,),
        frozen=True,
        kw_only=True,
    )
    SensorChoice.__module__ = __name__  # for pickling


@dataclass(frozen=True, kw_only=True)
class SensorFault(Fault):
    """A fault of a sensor of a scenario."""

    known_by: ClassVar[str] = "sensor"

    sensor: str = setting(..., "Name of the sensor")


def check_sensors(choices: Sequence[SensorChoice], faults: Sequence[SensorFault]) -> None:
    """Raise ValueError for sensors of equal name, or a fault of an unknown sensor."""
    names = [choice.called for choice in choices]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"sensors: two are called {name}; give each a name of its own")
    for fault in faults:
        if fault.sensor not in names:
            raise ValueError(f"faults: sensor {fault.sensor}: {close_name(fault.sensor, names)}")
        (choice,) = (choice for choice in choices if choice.called == fault.sensor)
        try:
            fault.mask(choice.settings.channels)
        except ValueError as error:
            raise ValueError(f"faults: {fault.sensor}: {error}") from None


class SensorRig(Stateful):
    """All sensors; `update` at every tick returns the samples that arrive."""

    STATE = ("sensors", "seen")

    def __init__(
        self, sensors: Mapping[str, tuple[SensorKind, Any]], *, start_ns: int, base_in_chassis: Vector3, seen: SeenWorld
    ) -> None:
        """sensors: kinds and settings of parts by name; seen: the world for LIDAR and GPS.

        start_ns: start of the run; base_in_chassis: base_link's origin in the chassis frame [m].
        """
        self._base, self.seen, self._start_ns = base_in_chassis, seen, start_ns
        self.kinds = {name: kind for name, (kind, _) in sensors.items()}
        self.digests: dict[str, Digest] = {}  # by name, of sensors whose inputs and outputs are hashed
        self.sensors: dict[str, Any] = {
            name: make_sensor(kind, settings, seen, name=name, start_ns=start_ns)
            for name, (kind, settings) in sensors.items()
        }

    def update(self, time_ns: int, seen: SnapshotRecord) -> list[tuple[str, Any]]:
        """Samples that arrive at this instant, each with the name of its sensor; seen: the vehicle's snapshot."""
        motion = base_motion(seen, self._base)
        self.seen.move_to((time_ns - self._start_ns) / NS_PER_S)
        there: list[tuple[str, Any]] = []
        for name, sensor in self.sensors.items():
            kind = self.kinds[name]
            truth = Truth(time_ns, motion, drive_truth(seen) if kind.needs_drive else None)
            there += [(name, sample) for sample in sampled(kind, sensor, truth, self.digests.get(name))]
        return there


class Truth(NamedTuple):
    """Input of a sensor at an instant."""

    time_ns: int
    motion: BaseMotion
    drive: DriveTruth | None  # for kinds that need it


def sampled(kind: SensorKind, sensor: Any, truth: Truth, digest: Digest | None = None) -> list[Any]:
    """Samples that arrive at an instant, in a sensor's node and in the rig; digest: hashes what the kind uses."""
    time_ns, motion, drive = truth
    found: list[Any] = sensor.update(time_ns, motion, *((drive,) if kind.needs_drive else ()))
    if digest is not None:
        digest.received(time_ns, motion[:4], motion[4:] if kind.needs_accel else (), drive)
        for sample in found:
            digest.produced(time_ns, sample)
    return found


def make_sensor(kind: SensorKind, settings: Any, seen: SeenWorld | None, *, name: str, start_ns: int) -> Any:
    """A sensor of a run, for its node and for the rig; raises SettingsError."""
    try:
        return kind.make(settings, seen, seed=settings.seed, name=name, faults=settings.scripted(), start_ns=start_ns)
    except ValueError as error:
        raise SettingsError(f"sensors: {name}: {error}") from None


def warm_up(kind: SensorKind, settings: Any, seen: SeenWorld | None, name: str) -> None:
    """Compile all kernels that a sensor needs, on one of its own: no state and no random number of a run changes."""
    rest, level = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    drive = (DriveTruth(np.zeros(4), np.zeros(4), 0.0, 0.0, 0.0, 80.0),) if kind.needs_drive else ()
    if seen is not None and seen.has_ruts:
        seen.press(np.array([(0, 0, 0.1)], RUT_CELL))
    for fault in (NO_FAULT, "bias"):
        sensor = make_sensor(kind, replace(settings, fault=fault, fault_channel=""), seen, name=name, start_ns=0)
        for count in range(4 * WARM_PERIODS):
            time_ns = round((1.0 + 0.25 * count / settings.rate_hz) * NS_PER_S)
            if seen is not None:
                seen.move_to(time_ns / NS_PER_S)
            sensor.update(time_ns, BaseMotion((0.01 * count, 0.0, 2.0), level, rest, rest, rest, rest), *drive)
    if seen is not None:
        seen.move_to(0.0)
        seen.clear_ruts()


def steps_between_ticks(choices: Sequence[SensorChoice], step_s: float, control_steps: int) -> int:
    """Time steps between updates that fit the rates of all sensors; raises SettingsError if there are none."""
    steps = control_steps
    for choice in choices:
        try:
            steps = math.gcd(steps, ticks_between("rate_hz", choice.settings.rate_hz, step_s))
        except ValueError as error:
            raise SettingsError(f"sensors: {choice.called}: {error}") from None
    return steps
