"""Pictures of a scenario's sensor data: a LIDAR scan, the scatter of a GPS, the noise of an IMU."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole
from proving_ground.settings.progress import progress_on_stderr
from sensors.allan import AllanCurve, allan_deviation, expected_deviation
from sensors.gps import Gps, LocalFrame
from sensors.imu import Imu
from sensors.picture import gps_picture, imu_picture, lidar_picture
from sensors.rig import SensorChoice
from sensors.samples import LidarScan
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.stepper import CONTROL_NS

Array = NDArray[np.float64]

FIXES = 2000
STILL_S = 3600.0
LEVEL = BaseMotion((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), *[(0.0, 0.0, 0.0)] * 4)


def show_sensors(name: str, at_s: float | None, out: Path | None) -> int:
    """Draw a LIDAR scan taken during the scenario, a stationary GPS, and an hour of an IMU at rest."""
    path = scenario_file(name)
    scenario = load_scenario(path)
    if not scenario.sensors:
        raise SettingsError(f"scenario {path.stem}: has no sensors to show; sensor_drive has")
    if at_s is not None and not 0.0 <= at_s <= scenario.duration_s:
        raise SettingsError(f"--at {at_s:g}: must be from 0 to {scenario.duration_s:g}, the scenario's duration")
    folder = out or Path("runs") / path.stem
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--out {folder}: {error.strerror or error}") from None
    scans = _scans(scenario, path, 0.5 * scenario.duration_s if at_s is None else at_s)
    print(f"{path.stem}: {scenario.description}")
    for choice in scenario.sensors:
        picture, line = _picture(scenario, choice, scans)
        if picture is not None:
            write_whole(folder / f"{choice.called}.png", picture)
            line += f"; drawn to {folder / choice.called}.png"
        print(f"  {choice.called}: {line}")
    return 0


def _scans(scenario: Scenario, path: Path, at_s: float) -> dict[str, LidarScan]:
    """The scan of each LIDAR that is complete at that time, or soon after."""
    lidars = {choice.called for choice in scenario.sensors if choice.lidar is not None}
    scans: dict[str, LidarScan] = {}
    if not lidars:
        return scans

    def record(name: str, sample: Any) -> None:
        if name in lidars:
            scans[name] = sample

    runner = LockStep(scenario, listener=record)
    progress = progress_on_stderr(path.stem)
    last = round(scenario.duration_s * 1e9 / CONTROL_NS)
    wanted = round(at_s * 1e9 / CONTROL_NS)
    for period in range(0, last + 1, 20):
        runner.advance_to(period)
        progress(min(period / max(wanted, 1), 1.0))
        if period >= wanted and len(scans) == len(lidars):
            break
    progress(1.0)
    return scans


def _picture(scenario: Scenario, choice: SensorChoice, scans: dict[str, LidarScan]) -> tuple[bytes | None, str]:
    if choice.lidar is not None:
        if choice.called not in scans:
            return None, "no scan to draw"
        scan = scans[choice.called]
        seconds = (scan.time_ns - scenario.start.time_ns()) * 1e-9
        title = f"{choice.called}: {scenario.description}, at {seconds:.1f} s"
        unit = choice.lidar.fitted("lidar", scenario.vehicle.parameters().equipment)
        picture = lidar_picture(title, scan, unit.mounting())
        return picture, f"{len(scan.points)} returns of {scan.ranges.size} rays"
    if choice.gps is not None:
        return _gps(scenario, choice)
    if choice.imu is not None:
        return _imu(scenario, choice)
    return None, "no picture of this kind"


def _gps(scenario: Scenario, choice: SensorChoice) -> tuple[bytes | None, str]:
    assert choice.gps is not None
    settings = choice.gps
    frame = LocalFrame()
    receiver = Gps(settings, seed=scenario.seed, name=choice.called, sky=_OpenSky())
    step_ns = round(1e9 / settings.rate_hz)
    samples = [sample for tick in range(FIXES) for sample in receiver.update(tick * step_ns, LEVEL)]
    fixes = [sample for sample in samples if sample.quality and math.isfinite(sample.latitude_deg)]
    if not fixes:
        return None, "no fixes to draw"
    positions = frame.enu_from_geodetic([(fix.latitude_deg, fix.longitude_deg, fix.altitude_m) for fix in fixes])
    errors = positions[:, :2] - receiver.mounting.arm[:2]
    east, north = np.sqrt(np.mean([fix.variance[:2] for fix in fixes], axis=0)).tolist()
    plane = float(np.sqrt((errors**2).sum(axis=1).mean()))
    return gps_picture(choice.called, errors, (east, north)), f"{plane:.3g} m RMS in the plane"


def _imu(scenario: Scenario, choice: SensorChoice) -> tuple[bytes | None, str]:
    assert choice.imu is not None
    settings = choice.imu
    unit = Imu(settings, seed=scenario.seed, name=choice.called)
    gyro, accel = unit.still(0, round(STILL_S * settings.rate_hz), LEVEL)
    degrees, milli_g = math.degrees(1.0), 1e3 / 9.80665
    curves: dict[str, tuple[AllanCurve, Array] | None] = {}
    for title, readings, errors, factor in (
        ("Gyroscopes [deg/s]", gyro, settings.gyro_errors(), degrees),
        ("Accelerometers [mg]", accel, settings.accel_errors(), milli_g),
    ):
        if not np.ptp(readings, axis=0).any():
            curves[title] = None
            continue
        curve = allan_deviation(readings, settings.rate_hz)
        expected = expected_deviation(errors, settings.rate_hz, curve.tau) * factor
        curves[title] = (curve._replace(deviation=curve.deviation * factor), expected)
    if not any(curves.values()):
        return None, "no noise to draw"
    return imu_picture(f"{choice.called}: an hour at rest", curves), f"an hour at {settings.rate_hz:g} Hz at rest"


class _OpenSky:
    """A sky for GPS receivers that nothing hides."""

    def is_blocked(self, origin: Any, directions: Any) -> Any:
        """False for every ray: nothing hides satellites."""
        return np.zeros(len(directions), dtype=bool)
