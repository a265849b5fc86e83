"""Wrong, repeated, late and missing samples (fault_cases.md rows 1-9)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from benchmark.observer_drives import START_NS, altered, drive, lane_change, moved_fix, sense
from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.drive import Drive
from state_observer.vehicle.health import ALIGNED, DEAD_RECKONING, INVALID
from state_observer.vehicle.observer import BasicObserver, VehicleObserver
from state_observer.vehicle.track import errors, observe
from state_observer.vehicle.validation import Sample
from terrain.ground import FlatGround
from vehicle_dynamics.control.helm import Helm
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.pedals import Pedals

NS = 1_000_000_000


@pytest.fixture(params=["errorEKF", "INS"])
def any_observer(request: pytest.FixtureRequest) -> BasicObserver:
    """Both observers in turn: the same faults must not harm either."""
    name = "observer" if request.param == "errorEKF" else "ins"
    found: BasicObserver = request.getfixturevalue(name)
    return found


def test_a_glitch_does_no_more_harm_than_fixes_without_a_position(
    block: Drive, block_samples: list[Sample], any_observer: BasicObserver
) -> None:
    """Only the drift of dead reckoning is left: 0.07 m of the errorEKF in 5 s, 0.53 m of the INS."""
    for metres, lasting in ((10.0, 5.0), (50.0, 1.0), (50.0, 5.0)):
        until = 15.0 + lasting
        vague = altered(block_samples, GpsSample, 15.0, until, lambda fix: fix._replace(variance=fix.variance * 1e8))
        lied = altered(block_samples, GpsSample, 15.0, until, lambda fix, m=metres: moved_fix(fix, m))
        any_observer.reset()
        without = observe(vague, any_observer).estimates["position"]
        any_observer.reset()
        track = observe(lied, any_observer)
        assert np.abs(track.estimates["position"][:, :2] - without[:, :2]).max() < 1e-9
        assert track.health.gated["gps_position"] >= 5 * lasting - 1
        assert track.health.resets == 0


def test_the_position_is_reset_after_seven_seconds_of_gps_disagreement(
    block_samples: list[Sample], any_observer: BasicObserver
) -> None:
    lied = altered(block_samples, GpsSample, 15.0, 40.0, lambda fix: moved_fix(fix, 30.0))
    track = observe(lied, any_observer)
    assert track.health.resets == 1
    assert 27.0 < track.health.jump_m < 33.0
    jumped = track.time_ns[np.argmax(track.estimates["resets"] > 0)]
    assert 7.0 <= (int(jumped) - START_NS) / NS - 15.0 < 7.5


def test_a_slow_drift_of_the_gps_is_detected(block_samples: list[Sample], observer: VehicleObserver) -> None:
    def drifts(fix: Any) -> Any:
        return moved_fix(fix, 0.5 * ((fix.time_ns - START_NS) / NS - 10.0))

    warned = []
    for sample in altered(sense_fast(block_samples), GpsSample, 10.0, 40.0, drifts):
        observer.process(sample)
        warned += [text for text in observer.health().warnings if "gps_position" in text] if _is_fix(sample) else []
    assert warned


def sense_fast(samples: list[Sample]) -> list[Sample]:
    """Fixes with a variance of 1.6 m^2: the drift is small against it, and detected all the same."""
    return [
        sample._replace(variance=np.full(3, 1.6)) if isinstance(sample, GpsSample) else sample for sample in samples
    ]


def _is_fix(sample: Sample) -> bool:
    return isinstance(sample, GpsSample)


def test_status_reports_an_outage_within_a_second_and_its_end(
    block_samples: list[Sample], any_observer: BasicObserver
) -> None:
    statuses = {}
    for sample in altered(block_samples, GpsSample, 12.0, 20.0):
        any_observer.process(sample)
        statuses[round((sample.time_ns - START_NS) / NS, 2)] = any_observer.health().status if _whole(sample) else ""
    assert statuses[11.9] == ALIGNED
    assert statuses[13.1] == DEAD_RECKONING
    assert statuses[17.0] == INVALID
    assert statuses[20.5] == ALIGNED


def _whole(sample: Sample) -> bool:
    return sample.time_ns % (NS // 10) == 0


def test_a_frozen_receiver_is_ignored(block_samples: list[Sample], observer: VehicleObserver) -> None:
    stuck: list[Any] = []

    def freeze(fix: Any) -> Any:
        stuck.append(fix)
        return stuck[0]._replace(time_ns=fix.time_ns)

    track = observe(altered(block_samples, GpsSample, 12.0, 16.0, freeze), observer)
    assert track.health.rejected["gps: frozen"] > 10


FIELDS = [
    *((EncoderSample, name) for name in ("wheel_angle", "wheel_rate", "steering", "throttle", "brake_pressure")),
    (EncoderSample, "engine_speed"),
    *((ImuSample, name) for name in ("angular_velocity", "force", "angular_velocity_variance", "force_variance")),
    *((GpsSample, name) for name in ("latitude_deg", "longitude_deg", "altitude_m", "velocity")),
    *((GpsSample, name) for name in ("variance", "velocity_variance")),
]
NO_NUMBERS = [
    (kind, field, value)
    for kind, field in FIELDS
    for value in (np.nan, np.inf, -np.inf)
    if not (field.endswith("variance") and value == np.inf)  # which leaves elements out and is not an error
]


@pytest.mark.parametrize(("kind", "field", "value"), NO_NUMBERS)
def test_nan_and_infinity_have_no_effect_to_the_bit(
    short_samples: list[Sample], observer: VehicleObserver, kind: type, field: str, value: float
) -> None:
    """It holds in any field, and from the first message on."""
    samples = short_samples

    def spoil(sample: Any) -> Any:
        good = getattr(sample, field)
        return sample._replace(**{field: np.full_like(good, value) if isinstance(good, np.ndarray) else value})

    spoilt = altered(samples, kind, 0.0, 1.0, spoil)
    verdicts = [observer.process(sample) for sample in spoilt]
    assert all(not v.is_accepted and v.reason for v, s in zip(verdicts, spoilt, strict=True) if _hit(s, kind))
    with_bad = observer.filter.filter_state.tobytes()
    observer.reset()
    for sample in altered(samples, kind, 0.0, 1.0):
        observer.process(sample)
    assert observer.filter.filter_state.tobytes() == with_bad


def _hit(sample: Sample, kind: type) -> bool:
    return isinstance(sample, kind) and sample.time_ns < START_NS + NS


@pytest.fixture(scope="module")
def short_samples(block_samples: list[Sample]) -> list[Sample]:
    return [sample for sample in block_samples if sample.time_ns < START_NS + 2 * NS]


def test_zero_variance_means_the_usual_one_and_a_huge_one_is_ignored(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    def quiet(fix: Any) -> Any:
        return fix._replace(variance=np.zeros(3), velocity_variance=np.array([0.0, 0.0, 1e308]))

    track = observe(altered(block_samples, GpsSample, 0.0, 40.0, quiet), observer)
    assert errors(track, block).horizontal_rmse < 0.6
    huge = block_samples[-1]
    fix = next(sample for sample in reversed(block_samples) if isinstance(sample, GpsSample))
    assert not observer.process(fix._replace(time_ns=huge.time_ns + 1000, variance=np.full(3, 1e7))).is_accepted
    assert not observer.process(fix._replace(time_ns=huge.time_ns + 1000, variance=np.full(3, -1.0))).is_accepted


def test_late_fixes_give_the_same_estimate_to_the_bit(block_samples: list[Sample], any_observer: BasicObserver) -> None:
    in_time = _final_state(any_observer, block_samples)
    late = sorted(block_samples, key=lambda sample: sample.time_ns + (3 * NS // 10 if _is_fix(sample) else 0))
    assert _final_state(any_observer, late) == in_time
    assert any_observer.health().replays > 100


def test_shuffled_samples_give_the_same_estimate_to_the_bit(
    block_samples: list[Sample], observer: VehicleObserver
) -> None:
    chosen = block_samples[:1600]  # 8 s
    in_order = _final_state(observer, chosen)
    shuffle = random.Random(7)
    assert _final_state(observer, sorted(chosen, key=lambda s: s.time_ns + shuffle.uniform(0.0, 0.2 * NS))) == in_order


def test_duplicate_samples_count_once(block_samples: list[Sample], any_observer: BasicObserver) -> None:
    chosen = block_samples[:2000]
    once = _final_state(any_observer, chosen)
    assert _final_state(any_observer, [sample for sample in chosen for _ in range(2)]) == once
    assert sum(any_observer.health().rejected.values()) == len(chosen)


def test_samples_older_than_the_buffer_are_dropped_and_counted(
    block_samples: list[Sample], observer: VehicleObserver
) -> None:
    before = _final_state(observer, block_samples[:2000])
    old = next(sample for sample in block_samples[500:] if isinstance(sample, GpsSample))
    verdict = observer.process(old._replace(time_ns=old.time_ns + 1))
    assert verdict == (False, "gps: too late")
    assert observer.filter.filter_state.tobytes() == before


def test_samples_from_the_future_are_held_until_their_time(
    block_samples: list[Sample], observer: VehicleObserver
) -> None:
    chosen = [sample for sample in block_samples if sample.time_ns < START_NS + 8 * NS]
    usual = _final_state(observer, chosen)
    observer.reset()
    early = [sample for sample in chosen if isinstance(sample, GpsSample) and sample.time_ns >= START_NS + 5 * NS]
    first = True
    for sample in chosen:
        if first and sample.time_ns >= START_NS + 5 * NS:
            for fix in early[:3]:  # up to 0.4 s early
                observer.process(fix, arrival_ns=sample.time_ns - 1)
            first = False
        observer.process(sample, arrival_ns=sample.time_ns)
    assert observer.filter.filter_state.tobytes() == usual
    assert observer.health().held >= 2


def test_samples_from_the_far_future_are_dropped(block_samples: list[Sample], observer: VehicleObserver) -> None:
    fix = next(sample for sample in block_samples if isinstance(sample, GpsSample))
    for index, sample in enumerate(block_samples[:1000]):
        if index == 300:
            observer.process(fix._replace(time_ns=START_NS + 3600 * NS), arrival_ns=sample.time_ns)
        observer.process(sample, arrival_ns=sample.time_ns)
    assert observer.health().rejected["gps: in the future for too long"] == 1


def test_time_that_goes_back_restarts_the_observer(block_samples: list[Sample], any_observer: BasicObserver) -> None:
    chosen = block_samples[:2000]
    once = _final_state(any_observer, chosen)
    for sample in chosen:  # the bag loops
        any_observer.process(sample)
    assert any_observer.filter.filter_state.tobytes() == once


def test_a_gap_of_seconds_is_not_integrated_over(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    cut = [sample for sample in block_samples if not 10 * NS < sample.time_ns - START_NS < 15 * NS]
    track = observe(cut, observer)
    assert track.health.restarts == 1
    assert errors(track, block).after(17.0).horizontal_rmse < 1.5


def test_half_a_second_without_imu_does_no_harm(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    found = errors(observe(altered(block_samples, ImuSample, 14.0, 14.5), observer), block)
    assert found.horizontal_rmse < 0.6


def test_clipped_imu_samples_are_rejected_and_counted(block_samples: list[Sample], observer: VehicleObserver) -> None:
    clipped = altered(block_samples, ImuSample, 14.0, 14.5, lambda sample: sample._replace(is_clipped=True))
    assert observe(clipped, observer).health.rejected["imu: clipped"] == 50


def test_wheels_that_lock_on_ice_do_not_stop_the_estimate(observer: VehicleObserver) -> None:
    """The model assumes a dry road, the wheels are locked, the vehicle slides on."""

    def brakes(time: float, way: float, helm: Helm, seen: SnapshotRecord) -> Pedals:
        if time < 9.0:
            return lane_change(10.0, at_s=100.0)(time, way, helm, seen)
        return Pedals(0.0, 0.0, 0.6)

    truth = drive(brakes, 13.0, ground=FlatGround(friction=0.15))
    slides = (truth.velocity[:, 0] > 2.0) & (np.abs(truth.history["spin_rate"]).max(axis=1) < 0.5)
    assert slides.sum() > 50  # locked
    track = observe(sense(truth, seed=6), observer)
    found = errors(track, truth)
    assert np.isfinite(track.estimates["position"]).all()
    assert np.abs(found.velocity[:, 0]).max() < 3.0
    assert found.horizontal_rmse < 1.5
    assert track.health.gated["wheels"] > 0


def test_estimates_are_always_finite(block_samples: list[Sample], any_observer: BasicObserver) -> None:
    """Spikes of all kinds; covariances stay symmetric and positive."""
    shuffle = random.Random(5)

    def spike(sample: Any) -> Any:
        if shuffle.random() > 0.1:
            return sample
        if isinstance(sample, ImuSample):
            return sample._replace(angular_velocity=sample.angular_velocity + shuffle.uniform(-5.0, 5.0))
        if isinstance(sample, EncoderSample):
            return sample._replace(wheel_angle=sample.wheel_angle + shuffle.uniform(-3.0, 3.0))
        return moved_fix(sample, shuffle.uniform(-100.0, 100.0))

    track = observe(altered(block_samples, tuple, 6.0, 40.0, spike), any_observer)
    for name in track.estimates.dtype.names or ():
        assert np.isfinite(track.estimates[name]).all(), name
    lengths = np.linalg.norm(track.estimates["attitude"], axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-9)
    covariance = any_observer.filter.filter_state["covariance"][0]
    assert np.abs(covariance - covariance.T).max() <= 1e-12 * np.abs(covariance).max()
    assert np.linalg.eigvalsh(track.estimates["covariance"][-1]).min() > -1e-9


def _final_state(observer: BasicObserver, samples: list[Sample]) -> bytes:
    observer.reset()
    for sample in samples:
        observer.process(sample)
    return bytes(observer.filter.filter_state.tobytes())


def test_without_encoders_gps_and_imu_carry_on(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    """The last driver inputs are no longer used; the covariance stays consistent."""
    found = errors(observe(altered(block_samples, EncoderSample, 12.0, 1e9), observer), block)
    assert np.hypot(found.position[:, 0], found.position[:, 1]).max() < 1.5
    std = np.sqrt(found.covariance[:, 0, 0] + found.covariance[:, 1, 1])
    assert (np.hypot(found.position[:, 0], found.position[:, 1]) < 3.0 * std).mean() > 0.95


def test_warming_up_leaves_the_observer_in_its_initial_state(any_observer: BasicObserver) -> None:
    before = any_observer.filter.filter_state.tobytes()
    any_observer.warm_up()
    assert any_observer.filter.filter_state.tobytes() == before
    assert any_observer.health().used == dict.fromkeys(any_observer.health().used, 0)
