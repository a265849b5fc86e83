"""The observer of a scenario: hears its sensors, and is compared with the truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import SettingsError, setting
from sensors.gps import LocalFrame
from sensors.rig import SensorChoice
from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.node_settings import ObserverNodeSettings
from state_observer.vehicle.estimate_log import EstimateLog
from state_observer.vehicle.observer import BasicObserver, InsObserver, VehicleObserver
from state_observer.vehicle.settings import load_ins, load_observer
from terrain.georeference import Georeference
from terrain.ground import GroundModel

KINDS = ("vehicle", "ins")
START_VARIANCE = 0.1**2  # [m^2] of a start that is told
HEADING_VARIANCE = 0.02**2  # [rad^2]
SAMPLES = (EncoderSample, ImuSample, GpsSample)  # as state_observer.vehicle.layout.KINDS


@dataclass(frozen=True, kw_only=True)
class ObserverChoice:
    """Which observer hears the sensors."""

    kind: str = setting("vehicle", "errorEKF around the vehicle's model, or a strapdown INS", choices=KINDS)
    settings: str = setting("", "YAML file relative to this one; none: that of config/observers")
    knows_start: bool = setting(True, "Is told where the run begins, as by /initialpose; else it finds out")


def make_observer(
    choice: ObserverChoice,
    sensors: tuple[SensorChoice, ...],
    *,
    ground: GroundModel | None,
    georeference: Georeference | None,
    folder: Path,
) -> BasicObserver:
    """With the mounts and pulses of the scenario's sensors; raises SettingsError when one that it needs is missing."""
    known = ObserverNodeSettings(kind=choice.kind, **sensor_params(sensors))  # as its node would be told
    path = folder / choice.settings if choice.settings else None
    frame = LocalFrame(georeference)
    if choice.kind == "ins":
        return InsObserver(known.complete(load_ins(path), frame))
    settings = replace(
        known.complete(load_observer(path), frame),
        full_brake_pa=known.full_brake_pressure_pa,
        wheels_know_direction=known.knows_direction,
    )
    return VehicleObserver(settings, ground=ground, folder=folder)


def sensor_params(sensors: tuple[SensorChoice, ...]) -> dict[str, Any]:
    """What an observer's node must know of a scenario's sensors, as its parameters."""
    gps, imu, encoders = (_first(sensors, kind) for kind in ("gps", "imu", "encoders"))
    return {
        "gps_xyz_m": gps.mount_xyz_m,
        "imu_xyz_m": imu.mount_xyz_m,
        "imu_rpy_deg": imu.mount_rpy_deg,
        "gyro_std_radps": imu.gyro_errors().noise,
        "force_std_mps2": imu.accel_errors().noise,
        "gyro_bias_std_radps": imu.gyro_errors().constant_bias,
        "force_bias_std_mps2": imu.accel_errors().constant_bias,
        "wheel_pulses": encoders.wheel_pulses,
        "knows_direction": encoders.knows_direction,
        "full_brake_pressure_pa": encoders.full_brake_pressure_pa,
    }


def _first(sensors: tuple[SensorChoice, ...], kind: str) -> Any:
    for choice in sensors:
        if getattr(choice, kind) is not None:
            return getattr(choice, kind)
    raise SettingsError(f"observer: needs a sensor of kind {kind}")


class Observation:
    """An observer in a run: every estimate that it makes is kept."""

    def __init__(self, observer: BasicObserver, start: tuple[float, float, float, float] | None) -> None:
        """start: where the run begins, x, y [m], heading [rad], speed [m/s], if the observer is told."""
        self.observer = observer
        self._start = start
        self._log = EstimateLog(observer.filter)

    def hear(self, arrival_ns: int, samples: Iterable[Any]) -> None:
        """What arrives at an instant; samples that the observer does not use are left alone.

        In the order that a filter has samples of one time in: else it would go back and forth.
        """
        usable = [sample for sample in samples if isinstance(sample, SAMPLES)]
        for sample in sorted(usable, key=lambda item: (item.time_ns, SAMPLES.index(type(item)))):
            self._take(arrival_ns, sample)

    def _take(self, arrival_ns: int, sample: Any) -> None:
        self.observer.take(sample, arrival_ns)
        if self._start is not None and self.observer.filter.time_ns and not self.observer.is_running:
            x, y, heading, speed = self._start
            variances = {"position_variance": START_VARIANCE, "heading_variance": HEADING_VARIANCE}
            self.observer.set_pose(x, y, heading, speed=speed, **variances)
            self._start = None

    @property
    def estimates(self) -> NDArray[np.void]:
        """Records of ESTIMATE so far."""
        return self._log.estimates
