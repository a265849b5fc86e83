"""The sensors of a scenario on one vehicle: made from settings, fed from snapshots, in a fixed order."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proving_ground.kernels.vector3 import Vector3
from proving_ground.settings import SettingsError, setting
from proving_ground.settings.fields import close_name
from proving_ground.settings.one_of import one_of
from proving_ground.settings.units import NS_PER_S
from sensors.drive_truth import drive_truth
from sensors.encoders import Encoders, EncoderSettings
from sensors.faults import Fault
from sensors.gps.receiver import Gps
from sensors.gps.settings import GpsSettings
from sensors.imu import Imu, ImuSettings
from sensors.lidar.lidar import Lidar
from sensors.lidar.moving import HeightAt, MovingTarget, level_ground
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.sensor import Sensor
from terrain.georeference import Georeference
from vehicle_dynamics.base_motion import base_motion
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.simulation import ticks_between


@dataclass(frozen=True, kw_only=True)
class SensorChoice:
    """One sensor of a scenario: exactly one kind."""

    name: str = setting("", "Whose random numbers; none: the kind's name")
    imu: ImuSettings | None = None
    gps: GpsSettings | None = None
    encoders: EncoderSettings | None = None
    lidar: LidarSettings | None = None

    def __post_init__(self) -> None:
        one_of(self, "name")

    @property
    def called(self) -> str:
        """Its name, or its kind's."""
        return self.name or one_of(self, "name")[0]

    @property
    def settings(self) -> Any:
        """Of the kind that is given."""
        return one_of(self, "name")[1]


@dataclass(frozen=True, kw_only=True)
class SensorFault(Fault):
    """A fault of a sensor of a scenario."""

    sensor: str = setting(..., "Name of the sensor")


def check_sensors(choices: Sequence[SensorChoice], faults: Sequence[SensorFault]) -> None:
    """Raise ValueError for two sensors of one name, or a fault of none."""
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


class SensorRig:
    """All sensors; `update` at every tick gives what arrives."""

    def __init__(
        self,
        choices: Sequence[SensorChoice],
        faults: Sequence[SensorFault] = (),
        *,
        seed: int,
        start_ns: int,
        base_in_chassis: Vector3,
        scene: Scene,
        georeference: Georeference | None = None,
        targets: Sequence[MovingTarget] = (),
        height_at: HeightAt = level_ground,
    ) -> None:
        """scene: what laser scanners and satellites see; georeference: where the world lies.

        targets: what moves in the scene, on a ground of this height.
        """
        self._base, self._scene, self._start_ns = base_in_chassis, scene, start_ns
        self._targets, self._height_at = targets, height_at
        self.sensors: dict[str, Sensor[Any, Any]] = {}
        for choice in choices:
            name = choice.called
            common: dict[str, Any] = {
                "seed": seed,
                "name": name,
                "faults": [fault for fault in faults if fault.sensor == name],
                "start_ns": start_ns,
            }
            if choice.imu is not None:
                self.sensors[name] = Imu(choice.imu, **common)
            elif choice.gps is not None:
                self.sensors[name] = Gps(choice.gps, georeference=georeference, sky=scene, **common)
            elif choice.encoders is not None:
                self.sensors[name] = Encoders(choice.encoders, **common)
            elif choice.lidar is not None:
                self.sensors[name] = Lidar(choice.lidar, scene, **common)

    def memory(self) -> dict[str, Sensor[Any, Any]]:
        """All that later samples depend on; `remember` takes it, as often as wanted."""
        return copy.deepcopy(self.sensors, {id(self._scene): self._scene})

    def remember(self, memory: dict[str, Sensor[Any, Any]]) -> None:
        """Go on as from there."""
        self.sensors = copy.deepcopy(memory, {id(self._scene): self._scene})

    def update(self, time_ns: int, seen: SnapshotRecord) -> list[tuple[str, Any]]:
        """Names and samples that arrive at this instant."""
        motion = base_motion(seen, self._base)
        if self._targets:
            seconds = (time_ns - self._start_ns) / NS_PER_S
            self._scene.set_targets([target.target(seconds, self._height_at) for target in self._targets])
        there: list[tuple[str, Any]] = []
        for name, sensor in self.sensors.items():
            if isinstance(sensor, Encoders):
                samples = sensor.update(time_ns, motion, drive_truth(seen))
            else:
                samples = sensor.update(time_ns, motion)  # type: ignore[attr-defined]
            there += [(name, sample) for sample in samples]
        return there


def steps_between_ticks(choices: Sequence[SensorChoice], step_s: float, control_steps: int) -> int:
    """Time steps between updates so that every sensor can sample when it shall; raises SettingsError if none fits."""
    steps = control_steps
    for choice in choices:
        try:
            steps = math.gcd(steps, ticks_between("rate_hz", choice.settings.rate_hz, step_s))
        except ValueError as error:
            raise SettingsError(f"sensors: {choice.called}: {error}") from None
    return steps
