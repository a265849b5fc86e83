"""The IMU on a vehicle that changes lanes: its integrated readings reproduce the drive."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario, scenario_file
from proving_ground.settings.nested import load_preset
from sensors.imu import Imu, ImuSettings
from sensors.mounting import Mount, SensorMotion
from sensors.samples import ImuSample
from vehicle_dynamics.base_motion import BaseMotion, base_motion
from vehicle_dynamics.control.helm import PERIOD_S

GRAVITY = np.array([0.0, 0.0, -9.81])
MOUNTED = {"mount": Mount(xyz_m=(1.7, 0.0, 0.8))}
ROTATED = {"mount": Mount(xyz_m=(1.7, 0.5, 0.8), rpy_deg=(180.0, 20.0, -70.0))}


@pytest.fixture(scope="module")
def drive() -> list[BaseMotion]:
    """20 m/s for 9 s, to the left lane and back with up to 3 m/s^2.

    Of the vehicle that holds its speed with the least throttle. The pedals move in steps of 10 ms, and so do the forces
    of driven wheels: readings between them are not linear, and integrate to 2 mm/s where the throttle opens by a third.
    """
    slow = load_scenario(scenario_file("lane_change"))
    assert slow.driver.lane_change is not None
    quick = dataclasses.replace(slow.driver.lane_change, change_at_s=1.0, back_at_s=5.0, lasting_s=3.0)
    runner = LockStep(
        dataclasses.replace(
            slow,
            vehicle=dataclasses.replace(slow.vehicle, model="hmmwv_chrono"),
            driver=dataclasses.replace(slow.driver, lane_change=quick),
            start=dataclasses.replace(slow.start, speed_mps=20.0),
            duration_s=9.0,
        )
    )
    x, y, z = runner.vehicle.base_in_chassis.tolist()
    return [base_motion(seen, (x, y, z)) for seen in runner.run().history]


def measured(
    drive: list[BaseMotion], **mount: tuple[float, float, float]
) -> tuple[list[SensorMotion], list[ImuSample]]:
    """True motion of a perfect IMU and its samples."""
    imu = Imu(dataclasses.replace(load_preset(ImuSettings, "ideal"), **mount))  # type: ignore[arg-type]
    period_ns = round(PERIOD_S * 1e9)
    samples = [sample for k, base in enumerate(drive) for sample in imu.update(k * period_ns, base)]
    return [imu.mounting.motion(base) for base in drive], samples


@pytest.mark.parametrize("mount", [MOUNTED, ROTATED], ids=["straight", "upside down"])
def test_integrated_readings_reproduce_the_drive(
    drive: list[BaseMotion], mount: dict[str, tuple[float, float, float]]
) -> None:
    truth, samples = measured(drive, **mount)
    attitude, velocity, position = (
        Rotation.from_matrix(truth[0].world_from_sensor),
        truth[0].velocity,
        truth[0].position,
    )
    for now, then in itertools.pairwise(samples):
        # Readings change linearly between samples; the second term is the rotation of the axis (coning).
        rotation = 0.5 * PERIOD_S * (now.angular_velocity + then.angular_velocity) + PERIOD_S**2 / 12.0 * np.cross(
            now.angular_velocity, then.angular_velocity
        )
        later = attitude * Rotation.from_rotvec(rotation)
        first, second = attitude.apply(now.force) + GRAVITY, later.apply(then.force) + GRAVITY
        position = position + velocity * PERIOD_S + PERIOD_S**2 * (first / 3.0 + second / 6.0)
        velocity = velocity + 0.5 * PERIOD_S * (first + second)
        attitude = later

    end = truth[-1]
    # After 180 m and two lane changes; the rest is due to the 10 ms between samples and the vehicle's 1 ms steps.
    assert_allclose(position, end.position, atol=0.005)
    assert_allclose(velocity, end.velocity, atol=0.002)
    assert (attitude.inv() * Rotation.from_matrix(end.world_from_sensor)).magnitude() < 5e-5
    assert max(motion.position[1] for motion in truth) > 3.5  # there was a lane change
    assert max(abs(motion.acceleration[1]) for motion in truth) > 2.0


def test_specific_forces_are_the_differences_of_velocities(drive: list[BaseMotion]) -> None:
    truth, samples = measured(drive, **MOUNTED)
    velocity = np.array([motion.velocity for motion in truth])
    forces = [motion.world_from_sensor @ s.force + GRAVITY for motion, s in zip(truth, samples, strict=True)]
    differences = (velocity[2:] - velocity[:-2]) / (2.0 * PERIOD_S)

    assert np.sqrt(np.mean((differences - forces[1:-1]) ** 2)) < 0.002  # of up to 3 m/s^2
