"""Accuracy of the estimates: [Sanjurjo]'s two tests, wrong models, an outage, and the INS on the same samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from benchmark.observer_drives import altered, drive, sense, vehicle_parameters, wrong_parameters
from sensors.samples import GpsSample
from state_observer.vehicle.drive import Drive
from state_observer.vehicle.observer import InsObserver, VehicleObserver
from state_observer.vehicle.settings import VehicleObserverSettings
from state_observer.vehicle.track import Errors, errors, observe
from state_observer.vehicle.validation import Sample
from vehicle_dynamics.control.helm import Helm
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.pedals import REVERSE, Pedals

RTK_ERROR = 0.01 * np.sqrt(2.0)  # [m] horizontal, of config/sensors/gps/rtk.yaml
SANJURJO_ERROR = 0.562  # [m] horizontal: [Sanjurjo] Section 5.8.2
OUTAGE = (8.0, 18.0)  # [s]


def test_with_rtk_the_estimate_is_better_than_the_receiver_and_comes_at_250_hz(
    block: Drive, rtk_samples: list[Sample], observer: VehicleObserver
) -> None:
    track = observe(rtk_samples, observer)
    assert set(np.diff(track.time_ns).tolist()) == {4_000_000}
    assert errors(track, block).horizontal_rmse < RTK_ERROR


def test_cheap_gps_and_a_wrong_model_give_a_third_of_a_metre(
    town: Drive, town_samples: list[Sample], wrong_observer: VehicleObserver
) -> None:
    """Test 2 of [Sanjurjo]; one noise seed here, ten in the benchmark."""
    found = errors(observe(town_samples, wrong_observer), town)
    assert found.horizontal_rmse < 0.35 < SANJURJO_ERROR
    assert np.degrees(found.yaw_rmse) < 1.0
    assert found.speed_rmse < 0.15


def test_height_roll_and_pitch_are_estimated_too(
    block: Drive, block_samples: list[Sample], wrong_observer: VehicleObserver
) -> None:
    track = observe(block_samples, wrong_observer)
    found = errors(track, block).after(15.0)
    assert np.sqrt((found.position[:, 2] ** 2).mean()) < 1.0  # the receiver's own: 2.55 m
    x, y, z, w = track.estimates["attitude"].T
    pitch, roll = np.arcsin(2.0 * (w * y - z * x)), np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    assert np.degrees(np.abs(pitch).max()) < 3.0  # a flat road; braking dips the nose
    assert np.degrees(np.abs(roll).max()) < 4.0


@pytest.mark.parametrize(("mass", "tyre"), [(1.1, 0.8), (1.2, 0.7), (0.8, 1.3)])
def test_sideslip_in_quick_swerves_is_within_half_a_degree_and_better_than_the_ins(
    lane: Drive,
    lane_samples: list[Sample],
    settings: VehicleObserverSettings,
    ins: InsObserver,
    mass: float,
    tyre: float,
) -> None:
    wrong = wrong_parameters(vehicle_parameters(), mass=mass, tyre=tyre, rolling=1.3, inertia=1.15)
    ours = errors(observe(lane_samples, VehicleObserver(settings, parameters=wrong)), lane).after(10.0)
    theirs = errors(observe(lane_samples, ins), lane).after(10.0)
    assert np.degrees(np.abs(lane.sideslip).max()) > 2.0  # the manoeuvre has sideslip
    assert np.degrees(ours.sideslip_rmse) < 0.5
    assert ours.sideslip_rmse < theirs.sideslip_rmse


@pytest.mark.parametrize("full", [True, False])
def test_both_jacobians_of_the_gps_position_work(
    block: Drive, block_samples: list[Sample], settings: VehicleObserverSettings, full: bool
) -> None:
    """Eq. 5.46 and Eq. 5.47."""
    observer = VehicleObserver(replace(settings, full_position_jacobian=full))
    assert errors(observe(block_samples, observer), block).horizontal_rmse < SANJURJO_ERROR


def test_the_course_alone_holds_the_yaw(
    block: Drive, block_samples: list[Sample], settings: VehicleObserverSettings
) -> None:
    """The variant of [Sanjurjo]: no attitude terms for the velocity (Eq. 5.50), the course as yaw above 0.5 m/s."""
    observer = VehicleObserver(replace(settings, heading_from="course"))
    found = errors(observe(block_samples, observer), block).after(8.0)
    assert np.degrees(found.yaw_rmse) < 1.0
    assert observer.health().used["course"] > 20


def test_twenty_states_alone_work_as_in_sanjurjo(
    block: Drive, block_samples: list[Sample], settings: VehicleObserverSettings
) -> None:
    noise = replace(settings.noise, along_mps2=0.05, across_mps2=0.05)  # instead of the disturbance states
    few = replace(settings, estimates_biases=False, estimates_disturbance=False, knows_ground=True, noise=noise)
    bare = VehicleObserver(few)
    track = observe(block_samples, bare)
    assert errors(track, block).horizontal_rmse < SANJURJO_ERROR
    assert not track.estimates["gyro_bias"].any()


def test_dead_reckoning_for_ten_seconds_stays_within_its_own_bounds(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    without = altered(block_samples, GpsSample, 10.0, 20.0)
    found = errors(observe(without, observer), block)
    blind = found.after(10.5, 20.0)
    std = np.sqrt(blind.covariance[:, [0, 1], [0, 1]])
    assert (np.abs(blind.position[:, :2]) < 3.0 * std).mean() >= 0.99
    assert (std[-1] > std[0]).all()
    assert np.hypot(*blind.position[-1, :2]) < 1.0  # after 45 m including a turn


def test_estimates_come_back_after_an_outage_without_a_step_in_odom(
    town: Drive, block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    track = observe(altered(block_samples, GpsSample, *OUTAGE), observer)
    assert errors(track, block).after(OUTAGE[1] + 10.0).horizontal_rmse < SANJURJO_ERROR
    steps = np.linalg.norm(np.diff(track.estimates["odom"][:, :2], axis=0), axis=1)
    assert steps.max() < 0.004 * (np.abs(town.velocity[:, 0]).max() + 1.0)


def test_reversing_works_if_the_wheels_know_their_direction(settings: VehicleObserverSettings) -> None:
    def back(time: float, way: float, helm: Helm, seen: SnapshotRecord) -> Pedals:
        return Pedals(0.0, 0.0, 0.5) if time < 2.0 else Pedals(0.1 if time > 6.0 else 0.0, 0.5, 0.0, REVERSE)

    truth = drive(back, 14.0)
    assert truth.velocity[-1, 0] < -2.0
    quadrature = replace(settings.sensors, wheel_pulses=2048)
    observer = VehicleObserver(replace(settings, wheels_know_direction=True, sensors=quadrature))
    found = errors(observe(sense(truth, seed=8, encoders="quadrature"), observer), truth).after(6.0)
    assert np.degrees(found.yaw_rmse) < 1.5
    assert found.speed_rmse < 0.15
    assert found.horizontal_rmse < 1.0


def test_unmeasured_forces_follow_the_truth(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    turning = 1500  # 15 s: in the first turn
    for sample in block_samples:
        if sample.time_ns > int(block.time_ns[turning]):
            break
        observer.process(sample)
    found, truth = observer.forces(), block.history[turning]
    assert np.abs(found.load - truth["load"]).max() < 500.0  # of 6.3 kN each
    assert np.abs(found.across - truth["force_across"]).max() < 4.0 * np.sqrt(found.across_variance.max())
    assert np.abs(found.across.sum() - truth["force_across"].sum()) < 0.25 * np.abs(truth["force_across"].sum())
    assert (found.friction_use >= 0.0).all()
    assert (found.friction_use < 0.8).all()


def test_errors_are_as_large_as_the_covariance_says(block: Drive, observer: VehicleObserver) -> None:
    """Position and yaw, mean over 5 seeds, right model. The 95 % band applies to the mean at each instant."""
    runs = [errors(observe(sense(block, seed=seed), _new(observer)), block).after(6.0) for seed in range(40, 45)]
    mean = np.mean([run.nees() for run in runs], axis=0)
    low, high = chi2.ppf([0.025, 0.975], 3 * len(runs)) / len(runs)
    assert ((mean > low) & (mean < high)).mean() >= 0.8  # few seeds: instants are correlated
    assert 0.5 < _error_over_std(runs, 2) < 2.0


def test_innovations_of_the_gps_are_as_large_as_expected_and_white(
    town: Drive, town_samples: list[Sample], observer: VehicleObserver
) -> None:
    track = observe(town_samples, observer, keep_innovations=True)
    count = track.health.used["gps_position"]
    low, high = chi2.ppf([0.005, 0.995], 3 * count) / (3 * count)
    assert low < track.health.mean_nis["gps_position"] < high
    east = track.innovations["gps_position"][:, 0]
    assert abs(np.corrcoef(east[1:], east[:-1])[0, 1]) < 2.6 / np.sqrt(count)  # 99 %


def _new(observer: VehicleObserver) -> VehicleObserver:
    observer.reset()
    return observer


def _error_over_std(runs: list[Errors], index: int) -> float:
    """Mean square of yaw errors over their variance."""
    return float(np.mean([np.mean(run.yaw**2 / run.covariance[:, index, index]) for run in runs]))
