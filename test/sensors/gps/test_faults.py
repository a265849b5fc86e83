"""Faults of a receiver: their effects, and what they leave unchanged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from proving_ground.settings import build
from sensors.faults import Fault
from sensors.gps import Gps, GpsSettings
from sensors.samples import GpsSample
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]
Moving = Callable[..., BaseMotion]
Drive = Callable[..., list[GpsSample]]
Positions = Callable[[Gps, list[GpsSample]], Array]
START_NS = 1_700_000_000_000_000_000  # of the run: a realistic date, not 1970
FINE_M = 1e-6


@pytest.fixture
def run(moving: Moving) -> Callable[..., tuple[Gps, list[GpsSample]]]:
    """Ten seconds at 5 m/s north, with faults."""

    def make(*faults: Fault, **others: object) -> tuple[Gps, list[GpsSample]]:
        gps = Gps(build(GpsSettings, others), seed=21, faults=faults, start_ns=START_NS)
        samples: list[GpsSample] = []
        for time_ns in range(0, 10_000_000_000, 50_000_000):
            position = (0.0, 5e-9 * time_ns, 0.0)
            samples += gps.update(START_NS + time_ns, moving(position, heading=math.pi / 2, velocity=(5.0, 0.0, 0.0)))
        return gps, samples

    return make


Run = Callable[..., tuple[Gps, list[GpsSample]]]


def during(samples: Iterable[GpsSample], since_s: float, until_s: float) -> list[GpsSample]:
    return [item for item in samples if since_s <= (item.time_ns - START_NS) * 1e-9 < until_s]


def outside(samples: Iterable[GpsSample], since_s: float, until_s: float) -> list[str]:
    return [repr(item) for item in samples if not since_s <= (item.time_ns - START_NS) * 1e-9 < until_s]


def finite(sample: GpsSample) -> bool:
    numbers = [value for value in sample if value is not None]
    return all(bool(np.isfinite(value).all()) for value in numbers)


@pytest.mark.parametrize("kind", ["freeze", "bias", "drift", "scale", "noise", "spike", "nan", "outage", "drop"])
def test_samples_before_and_after_a_fault_are_bit_identical_to_those_without(run: Run, kind: str) -> None:
    _, sound = run()
    _, broken = run(Fault(kind=kind, start_s=4.0, length_s=3.0, value=0.5))

    assert outside(broken, 4.0, 7.0) == outside(sound, 4.0, 7.0)
    assert len(outside(sound, 4.0, 7.0)) == 35
    assert [repr(item) for item in during(broken, 4.0, 7.0)] != [repr(item) for item in during(sound, 4.0, 7.0)]


def test_outage_sends_nothing_and_counts_it(run: Run) -> None:
    gps, samples = run(Fault(kind="outage", start_s=4.0, length_s=3.0))

    assert during(samples, 4.0, 7.0) == []
    assert gps.lost == 15


def test_frozen_receiver_repeats_its_last_fix_with_new_stamps(run: Run) -> None:
    _, samples = run(Fault(kind="freeze", start_s=4.0, length_s=3.0))

    (last,) = during(samples, 3.8, 4.0)
    for sample in during(samples, 4.0, 7.0):
        assert sample[2:5] == last[2:5]
        assert sample.velocity.tolist() == last.velocity.tolist()
        assert sample.course == last.course
        assert sample.time_ns > last.time_ns


def test_bias_moves_its_channel_and_leaves_the_others_and_the_covariance(run: Run, positions: Positions) -> None:
    gps, sound = run()
    _, broken = run(Fault(kind="bias", start_s=4.0, length_s=3.0, value=30.0, channel="east"))

    moved = positions(gps, during(broken, 4.0, 7.0)) - positions(gps, during(sound, 4.0, 7.0))

    assert_allclose(moved, [[30.0, 0.0, 0.0]] * 15, atol=FINE_M)
    for with_fault, without in zip(broken, sound, strict=True):
        assert with_fault.velocity.tolist() == without.velocity.tolist()
        assert with_fault.variance.tolist() == without.variance.tolist()  # a faulty sensor does not know about it


def test_slow_drift_grows_by_its_rate(run: Run, positions: Positions) -> None:
    gps, sound = run()
    _, broken = run(Fault(kind="drift", start_s=4.0, value=0.2, channel="north"))

    moved = (positions(gps, broken) - positions(gps, sound))[:, 1]

    assert_allclose(moved, [max(0.0, 0.2 * (0.2 * k - 4.0)) for k in range(50)], atol=FINE_M)


def test_velocity_faults_affect_all_channels_and_speed_and_course(run: Run) -> None:
    _, sound = run()
    _, broken = run(Fault(kind="bias", value=10.0, channel="velocity"))

    for with_fault, without in zip(broken, sound, strict=True):
        assert_allclose(with_fault.velocity, without.velocity + 10.0)
        assert with_fault.speed == pytest.approx(math.hypot(*with_fault.velocity[:2]))
        assert with_fault.course == pytest.approx(math.atan2(with_fault.velocity[0], with_fault.velocity[1]))
        assert with_fault[2:5] == without[2:5]


def test_spikes_change_some_samples_by_their_value(run: Run, positions: Positions) -> None:
    gps, sound = run()
    _, broken = run(Fault(kind="spike", value=50.0, channel="up"))

    moved = (positions(gps, broken) - positions(gps, sound))[:, 2]

    hit = np.abs(moved) > 1.0
    assert 0 < hit.sum() < 20  # a tenth of fifty
    assert_allclose(np.abs(moved[hit]), 50.0, atol=FINE_M)
    assert_allclose(moved[~hit], 0.0, atol=FINE_M)


def test_nan_is_sent_only_while_the_fault_lasts(run: Run) -> None:
    _, samples = run(Fault(kind="nan", start_s=4.0, length_s=3.0))

    for sample in during(samples, 4.0, 7.0):
        assert np.isnan([*sample[2:5], *sample.velocity, sample.speed]).all()
        assert sample.course is None
        assert np.isfinite(sample.variance).all()
    assert all(finite(sample) for sample in samples if not during([sample], 4.0, 7.0))


def test_without_a_fix_after_a_nan_fault_the_last_valid_position_repeats(moving: Moving, drive: Drive) -> None:
    gps = Gps(GpsSettings(), faults=[Fault(kind="nan", start_s=1.0, length_s=1.0)])
    before = drive(gps, moving((7.0, 0.0, 0.0)), until_s=1.0)
    drive(gps, moving((7.0, 0.0, 0.0)), since_s=1.0, until_s=2.0)
    gps.change(GpsSettings(quality=0))

    without = drive(gps, moving((7.0, 0.0, 0.0)), since_s=2.0, until_s=3.0)

    assert all(finite(sample) and sample[2:5] == before[-1][2:5] for sample in without)


@pytest.mark.parametrize("kind", ["bias", "drift", "scale", "noise", "spike"])
def test_the_largest_fault_there_is_stays_finite(run: Run, kind: str) -> None:
    _, samples = run(Fault(kind=kind, value=1e9))

    assert all(finite(sample) for sample in samples)
    assert all(abs(sample.latitude_deg) <= 90.0 and abs(sample.longitude_deg) <= 180.0 for sample in samples)


def test_delay_and_duplicates_leave_the_samples_as_they_are(run: Run) -> None:
    _, sound = run()
    _, late = run(Fault(kind="delay", value=1.0))
    _, doubled = run(Fault(kind="duplicate"))

    assert [repr(sample) for sample in late] == [repr(sample) for sample in sound[: len(late)]]
    assert len(late) == 45
    assert [repr(sample) for sample in doubled] == [repr(sample) for sample in sound for _ in range(2)]


def test_a_fault_by_settings_lasts_until_they_change(run: Run) -> None:
    gps, samples = run(fault="bias", fault_value=20.0, fault_channel="up")
    _, sound = run()

    rises = [broken.altitude_m - item.altitude_m for broken, item in zip(samples, sound, strict=True)]

    assert_allclose(rises, 20.0, atol=1e-4)
    assert [fault.kind for fault in gps.faults_at(samples[-1].time_ns)] == ["bias"]
    gps.change(GpsSettings())
    assert gps.faults_at(samples[-1].time_ns) == ()


def test_a_fault_of_an_unknown_channel_is_rejected() -> None:
    with pytest.raises(ValueError, match="channel: must be the beginning of one of east, north, up"):
        Gps(GpsSettings(), faults=[Fault(kind="bias", value=1.0, channel="heading")])
