"""Common behaviour of all sensors, on two of them: processing order, faults, repeatability, independence."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proving_ground.settings import SettingsError, build
from sensors.encoders import Encoders, EncoderSettings
from sensors.faults import DELIVERY_FAULTS, FAULTS, Fault
from sensors.imu import Imu, ImuSettings
from sensors.mounting import Mount
from sensors.samples import DriveTruth, ImuSample
from vehicle_dynamics.base_motion import BaseMotion

Judge = Callable[..., bool]

S = 1_000_000_000
DATE = 1_790_000_000 * S
PERIOD = S // 100


def run(sensor: Imu, base: BaseMotion, count: int, first: int = 0) -> list[ImuSample]:
    return [sample for k in range(first, first + count) for sample in sensor.update(DATE + k * PERIOD, base)]


def numbers(samples: list[Any]) -> list[bytes]:
    """Contents of samples, to the bit."""
    return [b"".join(np.asarray(0.0 if part is None else part).tobytes() for part in sample) for sample in samples]


def imu(*faults: Fault, name: str = "imu", seed: int = 4, **settings: Any) -> Imu:
    return Imu(build(ImuSettings, settings), seed=seed, name=name, faults=faults, start_ns=DATE)


def test_stamps_are_sampling_times_not_arrival_times(at_rest: BaseMotion) -> None:
    sensor = imu(latency_s=0.05)
    arrivals = {k: [s.time_ns for s in sensor.update(DATE + k * PERIOD, at_rest)] for k in range(20)}

    assert not any(arrivals[k] for k in range(5))
    assert all(arrivals[k] == [DATE + (k - 5) * PERIOD] for k in range(5, 20))


def test_dropout_loses_its_share(at_rest: BaseMotion, has_share: Judge) -> None:
    sensor = imu(dropout=0.1)
    arrived = len(run(sensor, at_rest, 3000))

    assert arrived + sensor.lost == 3000
    assert has_share(sensor.lost, 3000, 0.1)


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_can_be_switched_on_and_off_while_running(kind: str, at_rest: BaseMotion) -> None:
    sound, broken = imu(), imu()
    whole = numbers(run(sound, at_rest, 300))
    before = numbers(run(broken, at_rest, 100))
    broken.change(build(ImuSettings, {"fault": kind, "fault_value": 0.5}))
    during = numbers(run(broken, at_rest, 100, first=100))
    broken.change(ImuSettings())
    after = numbers(run(broken, at_rest, 100, first=200))

    assert before == whole[:100]
    assert during != whole[100:200]
    # Samples delayed by the fault arrive among later ones; those sampled after it are correct.
    assert after[-40:] == whole[-40:] if kind not in ("delay", "reorder") else set(after) >= set(whole[200:])


@pytest.mark.parametrize("kind", FAULTS)
def test_scripted_faults_count_from_the_start_of_the_run(kind: str, at_rest: BaseMotion) -> None:
    fault = Fault(kind=kind, start_s=1.0, length_s=1.0, value=0.5)
    sound, broken = run(imu(), at_rest, 400), run(imu(fault), at_rest, 400)

    good = {sample.time_ns: numbers([sample]) for sample in sound}
    wrong = {sample.time_ns for sample in broken if numbers([sample]) != good[sample.time_ns]}
    assert all(DATE + S <= time < DATE + 2 * S for time in wrong)
    assert bool(wrong) is (kind not in DELIVERY_FAULTS)


def test_a_fault_set_by_hand_lasts_as_long_as_a_run_may(at_rest: BaseMotion) -> None:
    sensor = Imu(build(ImuSettings, {"fault": "nan"}), start_ns=0)  # 1970
    assert np.isnan(run(sensor, at_rest, 1)[0].angular_velocity).all()


def test_a_fault_of_an_unknown_channel_is_rejected_by_name() -> None:
    with pytest.raises(SettingsError, match="fault_channel: must be the beginning of one of gyro_x"):
        build(ImuSettings, {"fault": "bias", "fault_channel": "wheel"})
    with pytest.raises(ValueError, match="channel: must be the beginning of one of gyro_x"):
        imu(Fault(kind="bias", channel="wheel"))


def test_an_unknown_channel_is_rejected_even_without_a_fault() -> None:
    with pytest.raises(SettingsError, match="fault_channel: must be the beginning of one of gyro_x"):
        build(ImuSettings, {"fault_channel": "giro"})
    assert build(ImuSettings, {"fault_channel": "gyro"}).present_fault() == ()


def test_faults_are_reported_while_active() -> None:
    early, late = Fault(kind="bias", value=1.0, length_s=2.0), Fault(kind="nan", start_s=1.0, length_s=2.0)
    sensor = imu(early, late, fault="noise", fault_value=0.1)

    found = [[fault.kind for fault in sensor.faults_at(DATE + s * S)] for s in range(4)]

    assert found == [["bias", "noise"], ["bias", "nan", "noise"], ["nan", "noise"], ["noise"]]


def test_reset_repeats_to_the_bit_with_faults_and_late_samples(at_rest: BaseMotion) -> None:
    faults = [Fault(kind=kind, value=0.3, start_s=0.5) for kind in ("noise", "spike", "drop", "reorder")]
    sensor = imu(*faults, latency_jitter_s=0.1, dropout=0.1, has_attitude=True)
    first = numbers(run(sensor, at_rest, 500))
    sensor.reset()

    assert numbers(run(sensor, at_rest, 500)) == first


def test_time_may_go_back_after_a_reset(at_rest: BaseMotion) -> None:
    sensor = imu(latency_s=1.0)
    run(sensor, at_rest, 50, first=1000)
    sensor.reset()

    assert [sample.time_ns for sample in run(sensor, at_rest, 101)] == [DATE]


def test_another_sensor_does_not_change_this_one(at_rest: BaseMotion) -> None:
    drive = DriveTruth(np.zeros(4), np.zeros(4), 0.0, 0.0, 0.0, 80.0)
    alone = numbers(run(imu(), at_rest, 200))
    one, other, wheels = imu(), imu(name="second_imu", dropout=0.5), Encoders(EncoderSettings(), seed=4, start_ns=DATE)
    together = []
    for k in range(200):
        other.update(DATE + k * PERIOD, at_rest)
        wheels.update(DATE + k * PERIOD, at_rest, drive)
        together += one.update(DATE + k * PERIOD, at_rest)

    assert numbers(together) == alone


def test_sensors_of_other_names_or_seeds_have_other_noise(at_rest: BaseMotion) -> None:
    runs = [numbers(run(sensor, at_rest, 5)) for sensor in (imu(), imu(name="second"), imu(seed=5))]
    assert all(first[k] != second[k] for k in range(5) for first, second in itertools.pairwise(runs))


@pytest.mark.parametrize(
    "fault",
    [Fault(kind=kind, value=0.3, channel="" if kind in DELIVERY_FAULTS else "accel") for kind in FAULTS],
    ids=lambda fault: fault.kind,
)
def test_a_fault_changes_nothing_outside_its_channels(fault: Fault, at_rest: BaseMotion) -> None:
    sound = {sample.time_ns: sample.angular_velocity for sample in run(imu(), at_rest, 200)}
    broken = run(imu(fault), at_rest, 200)

    assert all((sound[sample.time_ns] == sample.angular_velocity).all() for sample in broken)


def test_faults_of_one_sensor_do_not_affect_another(at_rest: BaseMotion) -> None:
    fault = Fault(kind="noise", value=9.0)
    assert numbers(run(imu(name="other"), at_rest, 50)) == numbers(run(imu(name="other"), at_rest, 50))
    run(imu(fault), at_rest, 50)
    assert numbers(run(imu(fault), at_rest, 50)) != numbers(run(imu(fault, name="other"), at_rest, 50))


def test_a_truth_that_is_not_finite_is_rejected_without_effect(at_rest: BaseMotion) -> None:
    sensor = imu()
    with pytest.raises(ValueError, match="base motion: acceleration must be finite"):
        sensor.update(DATE, at_rest._replace(acceleration=(math.nan, 0.0, 0.0)))

    assert numbers(run(sensor, at_rest, 20)) == numbers(run(imu(), at_rest, 20))


def test_settings_of_a_mount_are_those_of_the_mounting() -> None:
    settings = dataclasses.replace(ImuSettings(), mount=Mount(xyz_m=(1.0, 2.0, 3.0), rpy_deg=(0.0, 0.0, 90.0)))
    mounting = settings.mounting()

    assert mounting.arm.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(mounting.base_from_sensor @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)
