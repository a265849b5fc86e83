"""Inconsistent stamps, time jumps, silent sensors (fault_cases.md rows 2, 5, 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmark.observer_drives import START_NS, altered
from proving_ground.settings.units import NS_PER_S
from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.clock import Line, SampleClock
from state_observer.vehicle.health import ALIGNED, DEAD_RECKONING, INVALID
from state_observer.vehicle.observer import HELD, BasicObserver, VehicleObserver
from state_observer.vehicle.validation import Sample

ENCODERS, IMU, GPS = 0, 1, 2
BEGIN = 1_000 * NS_PER_S
HOUR = 3600 * NS_PER_S
STEP = NS_PER_S // 100


def running_clock() -> SampleClock:
    """Encoders and IMU at 100 Hz and GPS at 5 Hz, for a second."""
    clock = SampleClock(0.1)
    for count in range(101):
        for kind in (ENCODERS, IMU, *([GPS] if count % 20 == 0 else [])):
            assert clock.judge(kind, BEGIN + count * STEP) is Line.IN
    return clock


def test_one_stamp_far_ahead_is_held_and_time_stays() -> None:
    clock = running_clock()
    assert clock.judge(IMU, BEGIN + HOUR) is Line.AHEAD
    assert clock.now_ns == BEGIN + NS_PER_S
    assert clock.judge(IMU, BEGIN + NS_PER_S + STEP) is Line.IN


def test_the_same_stray_twice_is_still_a_stray() -> None:
    clock = running_clock()
    assert [clock.judge(IMU, BEGIN + HOUR) for _ in range(3)] == [Line.AHEAD] * 3
    assert [clock.judge(IMU, BEGIN - HOUR) for _ in range(3)] == [Line.BEHIND] * 3


def test_two_consecutive_stamps_ahead_are_a_jump() -> None:
    clock = running_clock()
    assert clock.judge(ENCODERS, BEGIN + HOUR) is Line.AHEAD
    assert clock.judge(IMU, BEGIN + HOUR) is Line.IN
    assert clock.now_ns == BEGIN + HOUR


def test_two_consecutive_stamps_behind_are_a_jump_back() -> None:
    clock = running_clock()
    assert clock.judge(ENCODERS, BEGIN - HOUR) is Line.BEHIND
    assert clock.judge(IMU, BEGIN - HOUR) is Line.WENT_BACK


def test_old_stamps_between_good_ones_are_not_a_jump() -> None:
    clock = running_clock()
    for count in range(1, 20):
        assert clock.judge(IMU, BEGIN - HOUR + count * STEP) is Line.BEHIND
        assert clock.judge(ENCODERS, BEGIN + NS_PER_S + count * STEP) is Line.IN


def test_a_receiver_on_another_time_base_does_not_move_the_clock() -> None:
    clock = running_clock()
    for count in range(1, 10):
        assert clock.judge(IMU, BEGIN + NS_PER_S + count * STEP) is Line.IN
        assert clock.judge(GPS, BEGIN + HOUR + count * STEP) is Line.AHEAD
        assert clock.judge(GPS, BEGIN - HOUR + count * STEP) is Line.BEHIND


def test_a_receiver_alone_sets_the_time() -> None:
    clock = SampleClock(0.1)
    lines = [clock.judge(GPS, BEGIN + count * NS_PER_S) for count in range(6)]
    assert lines[2:] == [Line.IN] * 4


def test_a_first_stamp_in_the_future_is_detected() -> None:
    clock = SampleClock(0.1)
    clock.judge(GPS, BEGIN + HOUR)
    assert clock.judge(ENCODERS, BEGIN) is Line.BEHIND
    assert clock.judge(IMU, BEGIN) is Line.WENT_BACK


def test_silence_is_three_periods_and_a_missing_sensor_is_reported_too() -> None:
    clock = SampleClock(0.1)
    for count in range(301):
        clock.judge(IMU, BEGIN + count * STEP)
        if count % 20 == 0:
            clock.judge(GPS, BEGIN + count * STEP)
    now = BEGIN + 3 * NS_PER_S
    assert [clock.silence(kind, now) for kind in (ENCODERS, IMU, GPS)] == ["none has come", "", ""]
    assert clock.silence(IMU, now + NS_PER_S // 5) == "silent"
    assert clock.silence(GPS, now + NS_PER_S // 2) == ""
    assert clock.silence(GPS, now + 7 * NS_PER_S // 10) == "silent"  # at 5 Hz


# Observer with strays.


@pytest.fixture(scope="module")
def samples(block_samples: list[Sample]) -> list[Sample]:
    """8 s: standstill, start, driving."""
    return [sample for sample in block_samples if sample.time_ns < START_NS + 8 * NS_PER_S]


def with_stray(samples: list[Sample], kind: type, change: Callable[[Any], Any]) -> list[Sample]:
    """One extra sample after the first of a kind from 6 s on."""
    at = next(i for i, s in enumerate(samples) if isinstance(s, kind) and s.time_ns >= START_NS + 6 * NS_PER_S)
    return [*samples[: at + 1], change(samples[at]), *samples[at + 1 :]]


def state_after(observer: BasicObserver, samples: list[Sample]) -> bytes:
    observer.reset()
    for sample in samples:
        observer.process(sample)
    return bytes(observer.filter.filter_state.tobytes())


def nan(sample: Any) -> Any:
    return sample._replace(angular_velocity=np.full(3, np.nan))


STRAYS: dict[str, tuple[type, Callable[[Any], Any], str]] = {
    "imu in an hour": (
        ImuSample, lambda s: s._replace(time_ns=s.time_ns + HOUR), "imu: in the future for too long"),
    "wheels in an hour": (
        EncoderSample, lambda s: s._replace(time_ns=s.time_ns + HOUR), "encoders: in the future for too long"),
    "gps in an hour": (
        GpsSample, lambda s: s._replace(time_ns=s.time_ns + HOUR), "gps: in the future for too long"),
    "imu of 2 s ago": (ImuSample, lambda s: s._replace(time_ns=s.time_ns - 2 * NS_PER_S), "imu: too late"),
    "imu of 1970": (ImuSample, lambda s: s._replace(time_ns=1), "imu: too late"),
    "wheels of an hour ago": (EncoderSample, lambda s: s._replace(time_ns=s.time_ns - HOUR), "encoders: too late"),
    "NaN of 1970": (ImuSample, lambda s: nan(s._replace(time_ns=1)), "imu: not finite"),
    "NaN in an hour": (ImuSample, lambda s: nan(s._replace(time_ns=s.time_ns + HOUR)), "imu: not finite"),
}  # fmt: skip


@pytest.mark.parametrize("name", STRAYS)
def test_a_stray_leaves_no_trace_to_the_bit(samples: list[Sample], observer: VehicleObserver, name: str) -> None:
    kind, change, reason = STRAYS[name]
    without = state_after(observer, samples)
    assert observer.is_running

    assert state_after(observer, with_stray(samples, kind, change)) == without

    assert observer.health().rejected == {reason: 1}
    assert observer.times_back == 0


def test_two_samples_of_an_earlier_time_restart_and_are_counted(
    samples: list[Sample], observer: VehicleObserver
) -> None:
    once = state_after(observer, samples)

    for _ in range(2):  # a looping bag
        for sample in samples:
            observer.process(sample)
        assert observer.filter.filter_state.tobytes() == once

    assert observer.times_back == observer.health().rejected["time: went back, restarted"] == 2


def test_held_samples_are_not_rejected(samples: list[Sample], observer: VehicleObserver) -> None:
    half = [sample for sample in samples if sample.time_ns < START_NS + 4 * NS_PER_S]
    state_after(observer, half)
    fix = next(sample for sample in samples if isinstance(sample, GpsSample))

    verdict = observer.process(fix._replace(time_ns=half[-1].time_ns + NS_PER_S // 2))

    assert verdict == (True, HELD)
    assert observer.health().held == 1
    assert observer.health().rejected == {}


def test_endless_strays_do_not_exhaust_memory(samples: list[Sample], observer: VehicleObserver) -> None:
    state_after(observer, samples)
    imu = next(sample for sample in samples if isinstance(sample, ImuSample))

    for count in range(1000):  # none continues from the one before
        observer.process(imu._replace(time_ns=imu.time_ns + (1000 - count) * HOUR))

    assert observer.health().held - observer.health().rejected["imu: in the future for too long"] <= 200


# Silence.


def test_when_all_inputs_stop_the_callers_clock_detects_it(samples: list[Sample], observer: VehicleObserver) -> None:
    state_after(observer, samples)
    assert observer.health().status == ALIGNED
    assert observer.health().warnings == ()

    assert [observer.health(silent_s=s).status for s in (0.0, 2.0, 6.0)] == [ALIGNED, DEAD_RECKONING, INVALID]
    assert {"encoders: silent", "imu: silent", "gps: silent"} <= set(observer.health(silent_s=2.0).warnings)


@pytest.mark.parametrize(("kind", "words"), [(ImuSample, "imu"), (EncoderSample, "encoders"), (GpsSample, "gps")])
def test_a_sensor_that_never_sends_is_reported(
    samples: list[Sample], observer: VehicleObserver, kind: type, words: str
) -> None:
    state_after(observer, altered(samples, kind, 0.0, 8.0))

    assert f"{words}: none has come" in observer.health().warnings


def test_a_late_receiver_is_not_silent(samples: list[Sample], observer: VehicleObserver) -> None:
    late = sorted(samples, key=lambda s: s.time_ns + (NS_PER_S // 2 if isinstance(s, GpsSample) else 0))
    for sample in late:
        observer.process(sample)
        assert "gps: silent" not in observer.health().warnings
