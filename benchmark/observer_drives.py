"""Simulated drives with sensors, for tests and benchmarks of the observers.

A drive is the truth, computed once. Sensors with any seed then sample it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.scripted import Program
from proving_ground.kernels.vector3 import vector
from proving_ground.scenarios import scenario as scenarios
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, World
from proving_ground.settings.nested import load_preset
from proving_ground.settings.share import share_file
from sensors.drive_truth import drive_truth
from sensors.encoders import Encoders, EncoderSettings
from sensors.faults import Fault
from sensors.gps import DEFAULT_DATUM, Gps, GpsSettings
from sensors.imu import Imu, ImuSettings
from sensors.mounting import Mount
from state_observer.vehicle.drive import Drive
from state_observer.vehicle.settings import Mounts
from state_observer.vehicle.validation import Sample
from terrain.georeference import Datum
from terrain.ground import FlatGround
from vehicle_dynamics.base_motion import base_motion
from vehicle_dynamics.control.helm import PERIOD_S, Helm
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import STANDS_MPS, forward_speed
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.start import Start
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE

Array = NDArray[np.float64]
Driver = Callable[[float, float, Helm, SnapshotRecord], Pedals]  # time [s], distance [m]

SHORT = 0.8  # [m]: distance before a leg's end at which stops are made
START = Start(x_m=20.0, y_m=-10.0, heading_deg=math.degrees(0.6), date="2023-11-14T22:13:20Z")
START_NS = START.time_ns()
MOUNTS = Mounts(gps_xyz_m=(0.5, 0.3, 1.9), imu_xyz_m=(1.6, 0.0, 0.8))
DATUM = Datum(
    latitude_deg=DEFAULT_DATUM.latitude_deg,
    longitude_deg=DEFAULT_DATUM.longitude_deg,
    altitude_m=DEFAULT_DATUM.altitude_m,
)


class Leg(NamedTuple):
    """Section of a path with constant curvature and speed."""

    length: float  # [m]
    curvature: float  # [1/m]
    speed: float  # [m/s]
    stop: float = 0.0  # standstill at its end [s]


TOWN = (
    Leg(50.0, 0.0, 7.0),
    Leg(18.85, 1.0 / 12.0, 4.5),
    Leg(40.0, 0.0, 7.0, 4.0),
    Leg(15.71, -1.0 / 10.0, 4.0),
    Leg(60.0, 0.0, 8.0),
    Leg(18.85, 1.0 / 12.0, 4.5, 3.0),
    Leg(40.0, 0.0, 7.0),
    Leg(31.42, -1.0 / 20.0, 6.0),
    Leg(30.0, 0.0, 6.0),
)  # 305 m with two stops and four turns


def vehicle_parameters(path: str = f"config/vehicles/{DEFAULT_VEHICLE}.yaml") -> VehicleParameters:
    """Parameters of the vehicle in a file."""
    return VehicleParameters.from_yaml(share_file(path))


def wrong_parameters(
    right: VehicleParameters, *, mass: float = 1.0, tyre: float = 1.0, rolling: float = 1.0, inertia: float = 1.0
) -> VehicleParameters:
    """The same vehicle with factors on chassis mass, tyre forces, rolling resistance and moments of inertia."""
    x, y, z = right.chassis.inertia_kgm2
    chassis = replace(
        right.chassis,
        mass_kg=right.chassis.mass_kg * mass,
        inertia_kgm2=(x * inertia, y * inertia, z * inertia),
    )

    def scaled(direction: Any) -> Any:
        names = ("slope_n", "max_n", "slide_n")
        return replace(direction, **{name: tuple(tyre * v for v in getattr(direction, name)) for name in names})

    rubber = replace(
        right.tyre,
        longitudinal=scaled(right.tyre.longitudinal),
        lateral=scaled(right.tyre.lateral),
        rolling_resistance=right.tyre.rolling_resistance * rolling,
    )
    return replace(right, chassis=chassis, tyre=rubber)


def along_legs(legs: Sequence[Leg], standing_s: float = 3.0) -> Driver:
    """Stand, then follow legs by the distance driven; slow down before a slower one or a stop."""
    ends = np.cumsum([leg.length for leg in legs]).tolist()
    stopped: dict[int, float] = {}  # when each stop began [s]

    def waits(index: int, time: float) -> bool:
        stop = legs[index].stop
        return bool(stop) and (index not in stopped or time < stopped[index] + stop)

    def act(time: float, distance: float, helm: Helm, seen: SnapshotRecord) -> Pedals:
        if time < standing_s:
            return Pedals(0.0, 0.0, 0.5)
        index = 0
        while (
            index < len(legs) - 1
            and distance > ends[index] - (SHORT if legs[index].stop else 0.0)
            and not waits(index, time)
        ):
            index += 1
        leg, left = legs[index], max(ends[index] - distance, 0.0)
        beyond = legs[index + 1].speed if index + 1 < len(legs) else 0.0
        after = 0.0 if leg.stop else beyond
        speed = min(leg.speed, math.sqrt(after**2 + 2.0 * 1.0 * max(left - 0.3, 0.0)))
        if left < SHORT and after == 0.0:
            if forward_speed(seen) < STANDS_MPS:
                stopped.setdefault(index, time)
            return helm.pedals(seen, 0.0, leg.curvature)._replace(throttle=0.0, brake=0.4)
        return helm.pedals(seen, max(speed, 0.4), leg.curvature)

    return act


def lane_change(speed: float, steering: float = 0.08, at_s: float = 8.0, period_s: float = 2.5) -> Driver:
    """Accelerate to a speed [m/s], then steer a sine to the left and one to the right; steering: amplitude, of 1."""

    def act(time: float, distance: float, helm: Helm, seen: SnapshotRecord) -> Pedals:
        if time < 2.0:
            return Pedals(0.0, 0.0, 0.5)
        pedals = helm.pedals(seen, min(2.5 * (time - 2.0), speed), 0.0)
        for begin, sign in ((at_s, 1.0), (at_s + period_s + 1.0, -1.0)):
            if begin <= time < begin + period_s:
                angle = sign * steering * math.sin(2.0 * math.pi * (time - begin) / period_s)
                return pedals._replace(steering=angle)
        return pedals

    return act


class _Seat:
    """A driver by the distance driven, for lock-step."""

    def __init__(self, driver: Driver) -> None:
        self._driver, self._distance = driver, 0.0
        self.helm: Helm | None = None

    def act(self, time: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for the next 10 ms."""
        assert self.helm is not None
        pedals = self._driver(time, self._distance, self.helm, seen)
        self._distance += PERIOD_S * forward_speed(seen)
        return pedals


def drive(
    driver: Driver,
    seconds: float,
    *,
    ground: FlatGround | None = None,
    start: Start = START,
    parameters: VehicleParameters | None = None,
) -> Drive:
    """Motion of the true vehicle under a driver for some seconds, in lock-step."""
    scenario = Scenario(
        version=1,
        description="A drive for observers",
        world=World(flat=ground or FlatGround()),
        start=start,
        driver=scenarios.Driver(program=Program()),  # replaced by ours
        duration_s=seconds,
    )
    seat = _Seat(driver)
    runner = LockStep(scenario, parameters=parameters, take_over=lambda own: seat)
    seat.helm = Helm(runner.vehicle)
    run = runner.run()
    if run.diverged_at is not None:
        raise RuntimeError(f"the drive diverges at {run.diverged_at:g} s")
    return Drive.of(START_NS, run.history, runner.vehicle.base_in_chassis)


def sense(
    truth: Drive,
    *,
    seed: int = 0,
    gps: str = "low_cost",
    imu: str = "industrial_mems",
    encoders: str = "hall_40",
    gps_faults: Iterable[Fault] = (),
    imu_faults: Iterable[Fault] = (),
    encoder_faults: Iterable[Fault] = (),
    gps_changes: dict[str, Any] | None = None,
) -> list[Sample]:
    """Samples of the sensors on a drive, in order of arrival; gps, imu, encoders: presets of config/sensors."""
    gps_settings = replace(load_preset(GpsSettings, gps), mount=Mount(xyz_m=MOUNTS.gps_xyz_m), **(gps_changes or {}))
    imu_settings = replace(load_preset(ImuSettings, imu), mount=Mount(xyz_m=MOUNTS.imu_xyz_m))
    receiver = Gps(gps_settings, seed=seed, faults=gps_faults, start_ns=START_NS)
    unit = Imu(imu_settings, seed=seed, faults=imu_faults, start_ns=START_NS)
    board = Encoders(load_preset(EncoderSettings, encoders), seed=seed, faults=encoder_faults, start_ns=START_NS)
    samples: list[Sample] = []
    base = vector(truth.base_in_chassis)
    for time_ns, seen in zip(truth.time_ns.tolist(), truth.history, strict=True):
        motion = base_motion(seen, base)
        samples += board.update(time_ns, motion, drive_truth(seen))
        samples += unit.update(time_ns, motion)
        samples += receiver.update(time_ns, motion)
    return samples


def altered(
    samples: Iterable[Sample],
    kind: type,
    from_s: float,
    to_s: float,
    change: Callable[[Any], Sample | None] = lambda sample: None,
) -> list[Sample]:
    """The samples, with those of a kind between two times [s] changed; None: dropped."""
    found: list[Sample] = []
    for sample in samples:
        hit = isinstance(sample, kind) and from_s <= (sample.time_ns - START_NS) * 1e-9 < to_s
        new = change(sample) if hit else sample
        if new is not None:
            found.append(new)
    return found


def moved_fix(sample: Any, north_m: float) -> Any:
    """A GPS fix shifted north by some metres."""
    return sample._replace(latitude_deg=sample.latitude_deg + north_m / 111_200.0)
