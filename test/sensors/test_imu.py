"""The IMU: readings of motions with closed forms, grades, saturation."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.settings import SettingsError, build
from proving_ground.settings.nested import load_preset, preset_names
from sensors.faults import Fault
from sensors.imu import Imu, ImuSettings
from sensors.imu.settings import DPH, DPS, STANDARD_GRAVITY, UG
from sensors.mounting import Mount
from sensors.samples import ImuSample
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.hmmwv import Hmmwv

Array = NDArray[np.float64]
Judge = Callable[..., bool]

G = 9.81
S = 1_000_000_000
PERIOD = S // 100
GRADES = ["tactical", "industrial_mems", "consumer_mems"]  # best first
IDEAL = load_preset(ImuSettings, "ideal")
ANGLE = st.floats(-180.0, 180.0)


def read(settings: ImuSettings, base: BaseMotion) -> ImuSample:
    (sample,) = Imu(settings, seed=1).update(0, base)
    return sample


def read_with(settings: ImuSettings, seed: int, base: BaseMotion) -> ImuSample:
    (sample,) = Imu(settings, seed=seed).update(0, base)
    return sample


def mounted(
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0), rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> ImuSettings:
    return dataclasses.replace(IDEAL, mount=Mount(xyz_m=xyz, rpy_deg=rpy))


def leaning(base: BaseMotion, roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0) -> BaseMotion:
    """Angles in degrees about x, y, z; positive pitch is nose down."""
    x, y, z, w = Rotation.from_euler("ZYX", [yaw, pitch, roll], degrees=True).as_quat().tolist()
    return base._replace(attitude=(x, y, z, w))


def test_gravity_is_the_vehicles() -> None:
    assert ImuSettings().gravity_mps2 == inspect.signature(Hmmwv).parameters["gravity"].default == G


def test_at_rest_on_level_ground_the_specific_force_is_g_upward(at_rest: BaseMotion) -> None:
    sample = read(mounted((1.7, 0.3, 0.8)), at_rest)

    assert_allclose(sample.force, [0.0, 0.0, G], atol=1e-15)
    assert_array_equal(sample.angular_velocity, 0.0)
    assert not sample.is_clipped


def test_on_a_slope_gravity_pulls_backward_and_sideways(at_rest: BaseMotion) -> None:
    uphill = read(IDEAL, leaning(at_rest, pitch=-20.0)).force
    assert_allclose(uphill, [G * math.sin(math.radians(20.0)), 0.0, G * math.cos(math.radians(20.0))], atol=1e-12)

    left_side_up = read(IDEAL, leaning(at_rest, roll=10.0, yaw=77.0)).force
    assert_allclose(left_side_up, [0.0, G * math.sin(math.radians(10.0)), G * math.cos(math.radians(10.0))], atol=1e-12)


def test_in_free_fall_the_specific_force_is_zero(at_rest: BaseMotion) -> None:
    falling = leaning(at_rest, roll=30.0, pitch=40.0)
    down = Rotation.from_quat(falling.attitude).inv().apply([0.0, 0.0, -G])

    assert_allclose(read(IDEAL, falling._replace(acceleration=tuple(down))).force, 0.0, atol=1e-12)


def test_turning_on_the_spot_gives_the_centripetal_force_of_the_lever_arm(at_rest: BaseMotion) -> None:
    arm, angular_velocity = (1.5, 0.5, 0.8), 2.0
    sample = read(mounted(arm), at_rest._replace(angular_velocity=(0.0, 0.0, angular_velocity)))

    assert_allclose(sample.force, [-(angular_velocity**2) * 1.5, -(angular_velocity**2) * 0.5, G], atol=1e-12)
    assert_allclose(sample.angular_velocity, [0.0, 0.0, angular_velocity])


def test_angular_acceleration_gives_the_tangential_force_of_the_lever_arm(at_rest: BaseMotion) -> None:
    sample = read(mounted((1.5, 0.0, 0.0)), at_rest._replace(angular_acceleration=(0.0, 0.0, 3.0)))
    assert_allclose(sample.force, [0.0, 3.0 * 1.5, G], atol=1e-12)


def test_mounted_upside_down_it_reads_minus_g_and_the_opposite_yaw_rate(at_rest: BaseMotion) -> None:
    sample = read(mounted(rpy=(180.0, 0.0, 0.0)), at_rest._replace(angular_velocity=(0.1, 0.2, 0.3)))

    assert_allclose(sample.force, [0.0, 0.0, -G], atol=1e-12)
    assert_allclose(sample.angular_velocity, [0.1, -0.2, -0.3], atol=1e-12)


def test_mounted_facing_left_forward_is_its_right(at_rest: BaseMotion) -> None:
    sample = read(mounted(rpy=(0.0, 0.0, 90.0)), at_rest._replace(acceleration=(2.0, 0.0, 0.0)))
    assert_allclose(sample.force, [0.0, -2.0, G], atol=1e-12)


@given(roll=ANGLE, pitch=ANGLE, yaw=ANGLE, tilt=ANGLE)
def test_magnitudes_do_not_depend_on_the_mount(roll: float, pitch: float, yaw: float, tilt: float) -> None:
    still = (0.0, 0.0, 0.0)
    base = BaseMotion(still, (0.0, 0.0, 0.0, 1.0), still, (0.3, -0.2, 0.1), (1.0, 2.0, 3.0), (0.4, 0.1, 0.2))
    base = leaning(base, roll=tilt)
    straight, rotated = read(mounted((1.0, 1.0, 1.0)), base), read(mounted((1.0, 1.0, 1.0), (roll, pitch, yaw)), base)

    assert np.linalg.norm(rotated.force) == pytest.approx(float(np.linalg.norm(straight.force)))
    assert np.linalg.norm(rotated.angular_velocity) == pytest.approx(float(np.linalg.norm(straight.angular_velocity)))


def test_ideal_attitude_is_that_of_the_sensor(at_rest: BaseMotion) -> None:
    sample = read(mounted(rpy=(0.0, 90.0, 0.0)), leaning(at_rest, yaw=30.0))
    expected = Rotation.from_euler("ZYX", [30.0, 90.0, 0.0], degrees=True)

    assert sample.attitude is not None
    assert (Rotation.from_quat(sample.attitude) * expected.inv()).magnitude() < 1e-9


def test_raw_units_report_no_attitude(at_rest: BaseMotion) -> None:
    assert read(ImuSettings(), at_rest).attitude is None


def test_attitude_errors_are_those_configured_and_reported(at_rest: BaseMotion, has_deviation: Judge) -> None:
    settings = dataclasses.replace(IDEAL, attitude_std_deg=0.5, heading_std_deg=2.0)
    base = leaning(at_rest, roll=5.0, pitch=10.0, yaw=70.0)
    truth = Rotation.from_quat(base.attitude)
    errors = []
    for seed in range(300):
        (sample,) = Imu(settings, seed=seed).update(0, base)
        assert sample.attitude is not None
        errors.append((Rotation.from_quat(sample.attitude) * truth.inv()).as_rotvec())

    found = np.array(errors)
    assert has_deviation(found[:, :2].ravel(), math.radians(0.5))
    assert has_deviation(found[:, 2], math.radians(2.0))
    assert sample.attitude_variance == pytest.approx(math.radians(0.5) ** 2)
    assert sample.heading_variance == pytest.approx(math.radians(2.0) ** 2)


@pytest.mark.parametrize("kind", ["bias", "scale", "noise", "drift", "spike"])
def test_faults_leave_an_attitude_of_length_one(kind: str, at_rest: BaseMotion) -> None:
    sensor = Imu(IDEAL, faults=[Fault(kind=kind, value=3.0)])
    for k in range(50):
        (sample,) = sensor.update(k * PERIOD, leaning(at_rest, yaw=40.0))
        assert sample.attitude is not None
        assert np.linalg.norm(sample.attitude) == pytest.approx(1.0)


def test_excessive_angular_velocity_is_clipped_and_flagged(at_rest: BaseMotion) -> None:
    settings = build(ImuSettings, {"gyro_range_dps": 100.0})
    sample = read(settings, at_rest._replace(angular_velocity=(0.0, 0.0, 5.0)))

    assert sample.is_clipped
    assert sample.angular_velocity[2] == pytest.approx(math.radians(100.0))
    assert not read(settings, at_rest._replace(angular_velocity=(0.0, 0.0, 1.0))).is_clipped


def test_excessive_acceleration_is_clipped_and_flagged(at_rest: BaseMotion) -> None:
    sample = read(build(ImuSettings, {"accel_range_g": 2.0}), at_rest._replace(acceleration=(-100.0, 0.0, 0.0)))

    assert sample.is_clipped
    assert sample.force[0] == pytest.approx(-2.0 * STANDARD_GRAVITY, rel=1e-5)


def test_readings_are_whole_steps_of_the_resolution(at_rest: BaseMotion) -> None:
    settings = load_preset(ImuSettings, "consumer_mems")
    angular_velocity, force = Imu(settings, seed=2).still(0, 1000, at_rest)

    for values, step in (
        (angular_velocity, settings.gyro_resolution_dps * DPS),
        (force, settings.accel_resolution_mg * 1e3 * UG),
    ):
        assert_allclose(values / step, np.round(values / step), atol=1e-6)


@pytest.mark.parametrize("rate", [50.0, 100.0, 1000.0])
def test_noise_of_one_sample_is_density_times_root_rate(rate: float, at_rest: BaseMotion, has_deviation: Judge) -> None:
    settings = dataclasses.replace(
        IDEAL, rate_hz=rate, gyro_noise_density_dps_per_rthz=0.01, accel_noise_density_ug_per_rthz=100.0
    )
    angular_velocity, force = Imu(settings, seed=2).still(0, 20_000, at_rest)

    assert has_deviation(angular_velocity.ravel(), 0.01 * DPS * math.sqrt(rate))
    assert has_deviation((force - [0.0, 0.0, G]).ravel(), 100.0 * UG * math.sqrt(rate))


@pytest.mark.parametrize("grade", GRADES)
def test_reported_variances_are_the_actual_ones(grade: str, at_rest: BaseMotion, has_deviation: Judge) -> None:
    # Scale and misalignment act differently on the axes: see the next test.
    settings = dataclasses.replace(load_preset(ImuSettings, grade), accel_scale_ppm=0.0, accel_misalignment_mrad=0.0)
    samples = []
    for seed in range(200):
        sensor = Imu(settings, seed=seed)
        sensor.update(0, at_rest)
        samples += sensor.update(600 * S, at_rest)

    angular_velocity, force = (
        np.array([s.angular_velocity for s in samples]),
        np.array([s.force for s in samples]) - [0.0, 0.0, G],
    )
    assert has_deviation(angular_velocity.ravel(), math.sqrt(samples[0].angular_velocity_variance))
    assert has_deviation(force.ravel(), math.sqrt(samples[0].force_variance))


@pytest.mark.parametrize("grade", GRADES)
def test_variance_of_the_worst_axis_includes_scale_and_misalignment(
    grade: str, at_rest: BaseMotion, has_deviation: Judge
) -> None:
    settings = dataclasses.replace(load_preset(ImuSettings, grade), mount=Mount())
    turning = at_rest._replace(angular_velocity=(0.0, 0.0, 2.0))  # about z, as g is along z
    samples = [read_with(settings, seed, turning) for seed in range(400)]
    angular_velocity = np.array([sample.angular_velocity for sample in samples]) - turning.angular_velocity
    force = np.array([sample.force for sample in samples]) - [0.0, 0.0, G]

    for errors, reported, kind in (
        (angular_velocity, samples[0].angular_velocity_variance, settings.gyro_errors()),
        (force, samples[0].force_variance, settings.accel_errors()),
    ):
        # Scale acts on the measured axis, misalignment on the other two.
        worst = errors[:, 2] if kind.scale > kind.misalignment else errors[:, 0]
        assert has_deviation(worst, math.sqrt(reported))
        # No axis is worse than reported: 99.9 % of 400 samples.
        assert (errors**2).mean(axis=0).max() < reported * (1.0 + 3.29 * math.sqrt(2.0 / 400))


@pytest.mark.parametrize("kind", ["spike", "bias", "scale"])
def test_faults_keep_readings_within_the_range(kind: str, at_rest: BaseMotion) -> None:
    settings = build(ImuSettings, {"gyro_range_dps": 100.0, "accel_range_g": 2.0})
    sensor = Imu(settings, seed=1, faults=[Fault(kind=kind, value=1e3)])
    samples = [sensor.update(k * PERIOD, at_rest)[0] for k in range(100)]

    angular_velocity, force = (
        np.abs([getattr(sample, name) for sample in samples]) for name in ("angular_velocity", "force")
    )
    assert angular_velocity.max() == pytest.approx(math.radians(100.0))
    assert force.max() == pytest.approx(2.0 * STANDARD_GRAVITY, rel=1e-5)
    assert any(sample.is_clipped for sample in samples)


def test_a_nan_fault_stays_nan_despite_the_range(at_rest: BaseMotion) -> None:
    (sample,) = Imu(ImuSettings(), faults=[Fault(kind="nan")]).update(0, at_rest)

    assert np.isnan(sample.angular_velocity).all()
    assert np.isnan(sample.force).all()
    assert sample.angular_velocity_variance > 0.0


def test_a_better_grade_is_better_in_everything() -> None:
    for better, worse in itertools.pairwise(GRADES):
        first, second = load_preset(ImuSettings, better), load_preset(ImuSettings, worse)
        for kind in ("gyro_errors", "accel_errors"):
            for name in (
                "noise",
                "constant_bias",
                "drifting_bias",
                "random_walk",
                "scale",
                "misalignment",
                "resolution",
            ):
                assert getattr(getattr(first, kind)(), name) < getattr(getattr(second, kind)(), name), (better, name)
        assert first.attitude_std_deg < second.attitude_std_deg
        assert first.heading_std_deg < second.heading_std_deg


def test_the_presets_are_the_grades_and_the_truth() -> None:
    assert preset_names(ImuSettings.presets) == sorted([*GRADES, "ideal"])
    assert load_preset(ImuSettings, "industrial_mems") == ImuSettings()  # the documented defaults


def test_units_of_data_sheets_are_converted() -> None:
    settings = build(ImuSettings, {"gyro_random_walk_dph_per_rth": 60.0, "accel_constant_bias_mg": 1.0})

    assert settings.gyro_errors().random_walk == pytest.approx(math.radians(1.0 / 3600.0))
    assert settings.accel_errors().constant_bias == pytest.approx(9.80665e-3)
    assert settings.gyro_errors().drifting_bias == pytest.approx(8.0 * DPH / 0.617364, rel=1e-6)


def test_changing_noise_while_running_takes_effect_at_once(at_rest: BaseMotion, has_deviation: Judge) -> None:
    sensor = Imu(dataclasses.replace(IDEAL, gyro_noise_density_dps_per_rthz=0.01), seed=6)
    quiet = np.array([sensor.update(k * PERIOD, at_rest)[0].angular_velocity for k in range(500)])
    sensor.change(dataclasses.replace(IDEAL, gyro_noise_density_dps_per_rthz=0.1))
    loud = [sensor.update(k * PERIOD, at_rest)[0] for k in range(500, 1000)]

    assert has_deviation(quiet.ravel(), 0.1 * DPS)
    assert has_deviation(np.array([sample.angular_velocity for sample in loud]).ravel(), 1.0 * DPS)
    assert loud[0].angular_velocity_variance == pytest.approx(DPS**2)


def test_a_bias_outlasts_a_change_of_noise(at_rest: BaseMotion) -> None:
    settings = dataclasses.replace(IDEAL, gyro_constant_bias_dps=1.0)
    sensor = Imu(settings, seed=6)
    (before,) = sensor.update(0, at_rest)
    sensor.change(dataclasses.replace(settings, accel_noise_density_ug_per_rthz=100.0))
    (after,) = sensor.update(PERIOD, at_rest)

    assert_array_equal(before.angular_velocity, after.angular_velocity)
    assert before.angular_velocity.any()


def test_a_static_block_equals_updates_to_the_bit(at_rest: BaseMotion) -> None:
    settings, base = load_preset(ImuSettings, "consumer_mems"), leaning(at_rest, roll=3.0, pitch=-7.0)
    angular_velocity, force = Imu(settings, seed=9).still(0, 300, base)
    sensor = Imu(settings, seed=9)
    samples = [sample for k in range(300) for sample in sensor.update(k * PERIOD, base)]

    assert_array_equal(angular_velocity, [sample.angular_velocity for sample in samples])
    assert_array_equal(force, [sample.force for sample in samples])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"gyro_noise_density_dps_per_rthz": -1.0}, "gyro_noise_density_dps_per_rthz: must be a number from 0 to 10"),
        ({"gyro_noise_density_dps_per_rtHz": 1.0}, "did you mean gyro_noise_density_dps_per_rthz"),
        ({"rate_hz": 1001.0}, "rate_hz: must be a number from 0.1 to 1000"),
        ({"accel_range_g": 0.001, "accel_resolution_mg": 5.0}, "accel_resolution_mg: must not be above the range"),
        ({"accel_noise_density_ug_per_rthz": math.nan}, "accel_noise_density_ug_per_rthz: must be a number"),
    ],
)
def test_impossible_settings_are_rejected_in_one_line(values: dict[str, float], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        build(ImuSettings, values)
    assert "\n" not in str(caught.value)
