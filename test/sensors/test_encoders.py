"""Encoders and the other drive sensors of [Sanjurjo]'s vehicle, with errors and faults."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from proving_ground.settings import SettingsError, build
from proving_ground.settings.nested import load_preset, preset_names
from proving_ground.settings.share import share_file
from sensors.drive_truth import drive_truth
from sensors.encoders import Encoders, EncoderSettings
from sensors.faults import Fault
from sensors.samples import DriveTruth, EncoderSample
from terrain.ground import FlatGround
from vehicle_dynamics.base_motion import BaseMotion, base_motion
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import Pedals

Judge = Callable[..., bool]

S = 1_000_000_000
DATE = 1_790_000_000 * S
PERIOD = S // 100
STANDING = DriveTruth(np.zeros(4), np.zeros(4), 0.0, 0.0, 0.0, 80.0)
IDEAL = load_preset(EncoderSettings, "ideal")
HALL = load_preset(EncoderSettings, "hall_40")


def rolling(k: int, rate: float = 20.0) -> DriveTruth:
    """Wheels at slightly different speeds, at the k-th period."""
    spin = rate * np.array([1.0, 1.01, 0.99, 1.02]) * k * 0.01
    return DriveTruth(spin, np.array([100.0, 200.0, -300.0, 400.0]), 0.2, 0.4, 0.3, 150.0)


def run(
    settings: EncoderSettings,
    base: BaseMotion,
    truth: Callable[[int], DriveTruth],
    count: int,
    *faults: Fault,
    seed: int = 3,
) -> list[EncoderSample]:
    sensor = Encoders(settings, seed=seed, faults=faults, start_ns=DATE)
    return [sample for k in range(count) for sample in sensor.update(DATE + k * PERIOD, base, truth(k))]


def test_the_presets_are_sanjurjos_vehicle_a_better_one_and_the_truth() -> None:
    assert preset_names(EncoderSettings.presets) == ["hall_40", "ideal", "quadrature"]
    assert EncoderSettings() == HALL  # the documented defaults
    assert (HALL.wheel_pulses, HALL.knows_direction) == (40, False)  # [Sanjurjo] Section 5.6.5
    quadrature = load_preset(EncoderSettings, "quadrature")
    assert (quadrature.wheel_pulses, quadrature.knows_direction) == (2048, True)


def test_ideal_encoders_read_the_truth(at_rest: BaseMotion) -> None:
    last = run(IDEAL, at_rest, rolling, 101)[-1]
    truth = rolling(100)

    assert_allclose(last.wheel_angle, truth.spin, atol=1e-5)
    assert_allclose(last.wheel_rate, 20.0 * np.array([1.0, 1.01, 0.99, 1.02]), rtol=1e-6)
    assert_array_equal(last.wheel_torque, truth.wheel_torque)
    assert (last.steering, last.throttle) == (0.2, 0.4)
    assert last.brake_pressure == pytest.approx(0.3e7)
    assert last.engine_speed == pytest.approx(150.0, rel=1e-6)
    assert_allclose(last.tilt, 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", ["bias", "spike", "scale"])
@pytest.mark.parametrize("value", [1e6, -1e6])
def test_faults_keep_readings_within_their_range(kind: str, value: float, at_rest: BaseMotion) -> None:
    samples = run(HALL, at_rest, rolling, 100, Fault(kind=kind, value=value))

    assert np.abs([sample.wheel_torque for sample in samples]).max() == HALL.wheel_torque_range_nm
    throttle = np.array([sample.throttle for sample in samples])
    assert ((throttle >= 0.0) & (throttle <= 1.0)).all()


def test_a_nan_fault_stays_nan_despite_ranges(at_rest: BaseMotion) -> None:
    (sample,) = run(HALL, at_rest, rolling, 1, Fault(kind="nan"))
    assert np.isnan([*sample.wheel_torque, sample.throttle]).all()


@pytest.mark.parametrize("faults", [(), (Fault(kind="scale", value=-1.0),)], ids=["no fault", "inverted"])
def test_a_pedal_at_rest_never_reads_negative_zero(faults: tuple[Fault, ...], at_rest: BaseMotion) -> None:
    samples = run(HALL, at_rest, lambda k: STANDING, 100, *faults)

    assert not np.signbit([sample.throttle for sample in samples]).any()
    assert min(sample.throttle for sample in samples) == 0.0


def test_wheel_angles_of_hall_40_are_multiples_of_nine_degrees(at_rest: BaseMotion) -> None:
    angles = np.array([sample.wheel_angle for sample in run(HALL, at_rest, rolling, 200)])
    pulses = np.degrees(angles) / 9.0

    assert_allclose(pulses, np.round(pulses), atol=1e-9)
    assert (np.abs(angles[-1] - rolling(199).spin) <= math.radians(9.0)).all()


def test_wheels_do_not_pulse_together(at_rest: BaseMotion) -> None:
    def straight(k: int) -> DriveTruth:
        return STANDING._replace(spin=np.full(4, 0.02 * k))

    pulses = np.diff([sample.wheel_angle for sample in run(HALL, at_rest, straight, 200)], axis=0) > 0.0
    assert not (pulses[:, 0] == pulses[:, 1]).all()


@pytest.mark.parametrize(("preset", "sign"), [("hall_40", 1.0), ("quadrature", -1.0)])
def test_only_quadrature_knows_the_direction(preset: str, sign: float, at_rest: BaseMotion) -> None:
    last = run(load_preset(EncoderSettings, preset), at_rest, lambda k: rolling(k, rate=-20.0), 200)[-1]

    assert (np.sign(last.wheel_angle) == sign).all()
    assert_allclose(last.wheel_rate, sign * 20.0 * np.array([1.0, 1.01, 0.99, 1.02]), rtol=0.05)


def test_noises_are_those_configured(at_rest: BaseMotion, has_deviation: Judge) -> None:
    settings = dataclasses.replace(
        IDEAL, steering_noise_deg=0.1, wheel_torque_noise_nm=10.0, throttle_noise=0.01, brake_pressure_noise_pa=2e4,
        tilt_noise_deg=0.2,
    )  # fmt: skip
    samples = run(settings, at_rest, rolling, 1000)
    errors = {
        math.radians(0.1): [sample.steering - 0.2 for sample in samples],
        10.0: [sample.wheel_torque - rolling(0).wheel_torque for sample in samples],
        0.01: [sample.throttle - 0.4 for sample in samples],
        2e4: [sample.brake_pressure - 0.3e7 for sample in samples],
        math.radians(0.2): [sample.tilt for sample in samples],
    }
    for deviation, values in errors.items():
        assert has_deviation(np.array(values).ravel(), deviation)


def test_offsets_are_those_configured_and_stay(at_rest: BaseMotion, has_deviation: Judge) -> None:
    settings = dataclasses.replace(IDEAL, steering_offset_deg=0.1, wheel_torque_offset_nm=5.0, tilt_offset_deg=0.2)
    runs = [run(settings, at_rest, rolling, 2, seed=seed) for seed in range(200)]

    assert all(first.steering == second.steering for first, second in runs)
    assert has_deviation(np.array([first.steering - 0.2 for first, _ in runs]), math.radians(0.1))
    torque = np.array([first.wheel_torque - rolling(0).wheel_torque for first, _ in runs])
    assert has_deviation(torque.ravel(), 5.0)
    assert has_deviation(np.array([first.tilt for first, _ in runs]).ravel(), math.radians(0.2))


def test_readings_are_quantised_and_within_their_ranges(at_rest: BaseMotion) -> None:
    settings = dataclasses.replace(HALL, wheel_torque_range_nm=250.0)
    for sample in run(settings, at_rest, lambda k: rolling(k)._replace(throttle=1.0), 100):
        for value, step in (
            (sample.steering, math.radians(HALL.steering_resolution_deg)),
            (sample.throttle, HALL.throttle_resolution),
            (sample.brake_pressure, HALL.brake_pressure_resolution_pa),
            (sample.wheel_torque, HALL.wheel_torque_resolution_nm),
            (sample.tilt, math.radians(HALL.tilt_resolution_deg)),
        ):
            assert_allclose(np.asarray(value) / step, np.round(np.asarray(value) / step), atol=1e-6)
        assert 0.0 <= sample.throttle <= 1.0
        assert np.abs(sample.wheel_torque).max() == 250.0


def test_engine_speed_is_timed_from_its_pulses(at_rest: BaseMotion) -> None:
    rates = [sample.engine_speed for sample in run(HALL, at_rest, lambda k: STANDING, 300)]

    assert rates[0] == 0.0  # no pulse yet
    assert np.mean(rates[10:]) == pytest.approx(80.0, rel=2e-3)
    assert np.std(rates[10:]) < 0.01 * 80.0  # 36 pulses per revolution, each misplaced by 1 % of a pulse


def leaning(base: BaseMotion, roll: float, pitch: float) -> BaseMotion:
    x, y, z, w = Rotation.from_euler("ZYX", [50.0, pitch, roll], degrees=True).as_quat().tolist()
    return base._replace(attitude=(x, y, z, w))


def test_inclinometers_measure_roll_and_pitch_of_a_vehicle_at_rest(at_rest: BaseMotion) -> None:
    sample = run(IDEAL, leaning(at_rest, roll=-12.0, pitch=7.0), lambda k: STANDING, 1)[0]
    assert_allclose(np.degrees(sample.tilt), [-12.0, 7.0], atol=1e-9)


def test_inclinometers_mistake_acceleration_for_tilt(at_rest: BaseMotion) -> None:
    braking = at_rest._replace(acceleration=(-3.0, 0.0, 0.0))
    turning_left = at_rest._replace(acceleration=(0.0, 3.0, 0.0))
    lean = math.atan2(3.0, 9.81)

    assert_allclose(run(IDEAL, braking, lambda k: STANDING, 1)[0].tilt, [0.0, lean], atol=1e-12)  # as if nose down
    assert_allclose(run(IDEAL, turning_left, lambda k: STANDING, 1)[0].tilt, [lean, 0.0], atol=1e-12)


def test_inclinometers_are_slow(at_rest: BaseMotion) -> None:
    sensor = Encoders(dataclasses.replace(IDEAL, tilt_smoothing_s=0.5), start_ns=DATE)
    sensor.update(DATE, at_rest, STANDING)
    braking = at_rest._replace(acceleration=(-3.0, 0.0, 0.0))
    tilts = [sensor.update(DATE + k * PERIOD, braking, STANDING)[0].tilt[1] for k in range(1, 301)]

    # Forward force rises as 1 - exp(-t / 0.5 s): 63 % at 0.5 s.
    assert math.tan(tilts[49]) * 9.81 == pytest.approx(3.0 * (1.0 - math.exp(-1.0)), rel=1e-9)
    assert math.tan(tilts[-1]) * 9.81 == pytest.approx(3.0, rel=0.01)


def test_inclinometers_stay_finite_in_free_fall(at_rest: BaseMotion) -> None:
    falling = at_rest._replace(acceleration=(0.0, 0.0, -9.81))
    assert np.isfinite(run(HALL, falling, lambda k: STANDING, 5)[-1].tilt).all()


def flat(sample: EncoderSample) -> np.ndarray[Any, np.dtype[np.float64]]:
    """All readings in the order of the channels."""
    single = [sample.steering, sample.throttle, sample.brake_pressure, sample.engine_speed]
    return np.concatenate([sample.wheel_angle, sample.wheel_rate, sample.wheel_torque, single, sample.tilt])


@pytest.mark.parametrize("channel", EncoderSettings.channels)
def test_a_fault_affects_the_channel_of_its_name(channel: str, at_rest: BaseMotion) -> None:
    sound = np.array([flat(sample) for sample in run(HALL, at_rest, rolling, 20)])
    broken = np.array([flat(s) for s in run(HALL, at_rest, rolling, 20, Fault(kind="nan", channel=channel))])

    is_wrong = np.isnan(broken)
    assert [name for name, wrong in zip(HALL.channels, is_wrong.all(axis=0), strict=True) if wrong] == [channel]
    assert_array_equal(sound[~is_wrong], broken[~is_wrong])


def test_a_stuck_wheel_encoder_repeats_its_angle_and_then_continues_correctly(at_rest: BaseMotion) -> None:
    stuck = Fault(kind="freeze", start_s=0.5, length_s=0.5, channel="wheel_angle_rear_left")
    sound = np.array([sample.wheel_angle for sample in run(HALL, at_rest, rolling, 200)])
    broken = np.array([sample.wheel_angle for sample in run(HALL, at_rest, rolling, 200, stuck)])

    assert (broken[50:100, 2] == sound[49, 2]).all()
    assert_array_equal(broken[100:], sound[100:])
    assert_array_equal(np.delete(broken, 2, axis=1), np.delete(sound, 2, axis=1))


def test_reset_repeats_to_the_bit(at_rest: BaseMotion) -> None:
    sensor = Encoders(dataclasses.replace(HALL, dropout=0.2, latency_jitter_s=0.1), seed=8, start_ns=DATE)
    runs = []
    for _ in range(2):
        found = [s for k in range(200) for s in sensor.update(DATE + k * PERIOD, at_rest, rolling(k))]
        runs.append(np.array([flat(sample) for sample in found]))
        sensor.reset()

    assert_array_equal(runs[0], runs[1])


def test_changing_noise_while_running_leaves_the_counts_alone(at_rest: BaseMotion) -> None:
    sensor = Encoders(HALL, seed=3, start_ns=DATE)
    steady = run(HALL, at_rest, rolling, 100)
    for k in range(50):
        sensor.update(DATE + k * PERIOD, at_rest, rolling(k))
    sensor.change(dataclasses.replace(HALL, steering_noise_deg=5.0))
    changed = [s for k in range(50, 100) for s in sensor.update(DATE + k * PERIOD, at_rest, rolling(k))]

    for before, after in zip(steady[50:], changed, strict=True):
        assert_array_equal(before.wheel_angle, after.wheel_angle)
        assert_array_equal(before.wheel_rate, after.wheel_rate)
    assert np.std([sample.steering for sample in changed]) > math.radians(3.0)


def test_slower_reading_than_updates_loses_no_pulse(at_rest: BaseMotion) -> None:
    slow = run(dataclasses.replace(HALL, rate_hz=5.0), at_rest, rolling, 201)

    assert len(slow) == 11
    assert (np.abs(slow[-1].wheel_angle - rolling(200).spin) <= math.radians(9.0)).all()
    assert_allclose(slow[-1].wheel_rate, 20.0 * np.array([1.0, 1.01, 0.99, 1.02]), rtol=0.01)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"spin": np.array([0.0, math.nan, 0.0, 0.0])}, "drive: spin must be finite"),
        ({"wheel_torque": np.full(4, math.inf)}, "drive: wheel_torque must be finite"),
        ({"engine_speed": math.nan}, "drive: pedals and engine must be finite"),
    ],
)
def test_a_drive_that_is_not_finite_is_rejected(wrong: dict[str, Any], words: str, at_rest: BaseMotion) -> None:
    sensor = Encoders(HALL, start_ns=DATE)
    with pytest.raises(ValueError, match=words):
        sensor.update(DATE, at_rest, STANDING._replace(**wrong))
    assert np.isfinite(flat(sensor.update(DATE, at_rest, STANDING)[0])).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"wheel_pulses": 0}, "wheel_pulses: must be a whole number from 1"),
        ({"wheel_pulse": 40}, "did you mean wheel_pulses"),
        ({"wheel_torque_range_nm": 1.0, "wheel_torque_resolution_nm": 2.0}, "must not be above the range"),
    ],
)
def test_impossible_settings_are_rejected_in_one_line(values: dict[str, float], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        build(EncoderSettings, values)
    assert "\n" not in str(caught.value)


def test_readings_follow_a_driving_vehicle() -> None:
    hmmwv = Hmmwv.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
    road, pedals = FlatGround(), Pedals(steering=0.3, throttle=0.4)
    x, y, z = hmmwv.base_in_chassis.tolist()
    state = hmmwv.start(road, speed=8.0)
    first = hmmwv.snapshot(state, pedals, road)["spin"].copy()
    sensor = Encoders(IDEAL, start_ns=DATE)
    for k in range(101):
        seen = hmmwv.snapshot(state, pedals, road)
        (sample,) = sensor.update(DATE + k * PERIOD, base_motion(seen, (x, y, z)), drive_truth(seen))
        hmmwv.advance(state, pedals, road, round(0.01 / hmmwv.step_s))

    assert_allclose(sample.wheel_angle, seen["spin"] - first, atol=2e-5)
    assert_allclose(sample.wheel_rate, seen["spin_rate"], atol=0.1)  # the mean of the last 10 ms
    assert_allclose(sample.wheel_torque, seen["drive_torque"] + seen["brake_torque"])
    assert sample.steering > 0.05  # to the left
    assert seen["steer_angle"][0] > 0.0
    assert sample.engine_speed == pytest.approx(float(seen["engine_speed"]), rel=0.01)
    assert (sample.throttle, sample.brake_pressure) == (0.4, 0.0)


def test_drive_truth_keeps_its_values_when_the_record_is_refilled() -> None:
    hmmwv = Hmmwv.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
    seen = hmmwv.snapshot(hmmwv.start(FlatGround(), speed=5.0), Pedals(brake=0.5), FlatGround())
    truth = drive_truth(seen)
    spin, torque = truth.spin.copy(), truth.wheel_torque.copy()
    seen["spin"], seen["brake_torque"] = 99.0, 99.0

    assert_array_equal(truth.spin, spin)
    assert_array_equal(truth.wheel_torque, torque)
    assert (torque < 0.0).all()  # brakes act on wheels that roll forward
