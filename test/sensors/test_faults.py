"""Scripted faults: each kind has its effect in its time on its channels, independently of the others."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from sensors.faults import DELIVERY_FAULTS, FAULTS, SPIKES, Fault, FaultLine

Array = NDArray[np.float64]
Judge = Callable[..., bool]

CHANNELS = ("gyro_x", "gyro_y", "accel_x")


def line(*faults: Fault, seed: int = 3) -> FaultLine:
    return FaultLine(faults, CHANNELS, seed, "imu")


def readings(faults: FaultLine, count: int, rate: float = 10.0) -> Array:
    """Distorted readings of k, k + 100, k + 200 at each k."""
    return np.array([faults.distort(k / rate, np.array([0.0, 100.0, 200.0]) + k) for k in range(count)])


SOUND = readings(line(), 100)
DURING = slice(20, 50)  # readings during a fault from 2 s for 3 s


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind not in DELIVERY_FAULTS])
def test_a_fault_affects_only_its_channels_in_its_time(kind: str) -> None:
    read = readings(line(Fault(kind=kind, start_s=2.0, length_s=3.0, value=0.5, channel="gyro")), 100)

    is_wrong = read != SOUND  # NaN too
    assert is_wrong[DURING, :2].any(axis=0).all()
    assert not is_wrong[:, 2].any()
    assert not is_wrong[:20].any()
    assert not is_wrong[50:].any()


def test_freeze_repeats_the_last_reading() -> None:
    read = readings(line(Fault(kind="freeze", start_s=2.0, length_s=3.0)), 100)
    assert_array_equal(read[DURING], np.tile(SOUND[19], (30, 1)))


def test_two_freezes_hold_each_channel_from_its_own_time() -> None:
    early = Fault(kind="freeze", start_s=2.0, length_s=3.0, channel="gyro_x")
    late = Fault(kind="freeze", start_s=4.0, length_s=1.0, channel="accel")
    read = readings(line(early, late), 100)

    assert (read[40:50, 0] == SOUND[19, 0]).all()
    assert (read[40:50, 2] == SOUND[39, 2]).all()


@pytest.mark.parametrize("order", [1, -1])
def test_a_frozen_reading_includes_the_other_faults_of_its_time(order: int) -> None:
    faults = [Fault(kind="bias", value=1000.0), Fault(kind="freeze", start_s=2.0, length_s=3.0)]
    read = readings(line(*faults[::order]), 100)

    assert_array_equal(read[DURING], np.tile(SOUND[19] + 1000.0, (30, 1)))


def test_frozen_from_the_start_is_frozen_at_the_first_reading() -> None:
    assert (readings(line(Fault(kind="freeze")), 10) == SOUND[0]).all()


def test_bias_drift_scale_and_nan_have_their_effect() -> None:
    time = np.arange(30)[:, None] / 10.0
    expected: dict[str, Array] = {
        "bias": SOUND[DURING] + 0.5,
        "drift": SOUND[DURING] + 0.5 * time,
        "scale": SOUND[DURING] * 0.5,
        "nan": np.full((30, 3), np.nan),
    }
    for kind, wrong in expected.items():
        read = readings(line(Fault(kind=kind, value=0.5, start_s=2.0, length_s=3.0)), 100)
        assert_allclose(read[DURING], wrong, atol=1e-12)


def test_noise_has_its_deviation(has_deviation: Judge) -> None:
    error = readings(line(Fault(kind="noise", value=0.5)), 2000) - readings(line(), 2000)
    assert has_deviation(error.ravel(), 0.5)


def test_spikes_have_both_signs_and_affect_their_share(has_share: Judge) -> None:
    error = (readings(line(Fault(kind="spike", value=7.0)), 5000) - readings(line(), 5000))[:, 0]

    assert set(error.round(9)) == {-7.0, 0.0, 7.0}
    hits = int((error != 0.0).sum())
    assert has_share(hits, 5000, SPIKES)
    assert has_share(int((error > 0.0).sum()), hits, 0.5)


def test_a_drift_that_is_switched_on_later_begins_at_zero() -> None:
    faults = line()
    readings(faults, 100)
    faults.set([Fault(kind="drift", value=2.0)])

    assert faults.distort(9.9, np.zeros(3))[0] == pytest.approx(0.0)
    assert faults.distort(12.9, np.zeros(3))[0] == pytest.approx(6.0)


def delays(faults: FaultLine, count: int) -> list[list[float]]:
    return [faults.delays(k / 10.0) for k in range(count)]


def test_outage_loses_all_samples_in_its_time_and_no_others() -> None:
    sent = [len(found) for found in delays(line(Fault(kind="outage", start_s=2.0, length_s=3.0)), 100)]
    assert sent == [1] * 20 + [0] * 30 + [1] * 50


def test_drop_loses_its_share(has_share: Judge) -> None:
    found = delays(line(Fault(kind="drop", value=0.3)), 5000)
    assert has_share(sum(not item for item in found), 5000, 0.3)


def test_delay_and_duplicate_add_up() -> None:
    both = line(Fault(kind="delay", value=0.2), Fault(kind="duplicate"), Fault(kind="delay", value=0.1))
    assert both.delays(0.0) == [pytest.approx(0.3)] * 2


def test_reorder_delays_uniformly_up_to_its_value() -> None:
    found = np.array(delays(line(Fault(kind="reorder", value=2.0)), 4000)).ravel()

    assert found.min() >= 0.0
    assert found.max() <= 2.0
    # Mean and deviation of a uniform distribution, 99.9 %.
    assert abs(found.mean() - 1.0) < 3.3 * 2.0 / math.sqrt(12.0 * 4000)
    assert found.std() == pytest.approx(2.0 / math.sqrt(12.0), rel=0.04)


@pytest.mark.parametrize(
    "other", [Fault(kind=kind, value=0.3) for kind in FAULTS if kind != "nan"], ids=lambda f: f.kind
)
@pytest.mark.parametrize("kind", ["noise", "spike"])
def test_adding_a_fault_leaves_the_random_numbers_of_others_alone(kind: str, other: Fault) -> None:
    fault = Fault(kind=kind, value=0.5, channel="gyro_x")
    other_channel = Fault(kind=other.kind, value=0.3, channel="" if other.kind in DELIVERY_FAULTS else "accel")
    alone, together = line(fault), line(other_channel, fault)
    for k in range(200):
        alone.delays(k / 10.0), together.delays(k / 10.0)
        first, second = (faults.distort(k / 10.0, np.zeros(3)) for faults in (alone, together))
        assert first[0] == second[0]


def test_losing_samples_leaves_the_order_of_the_others_alone() -> None:
    reorder, drop = Fault(kind="reorder", value=1.0), Fault(kind="drop", value=0.5)
    alone, together = delays(line(reorder), 200), delays(line(drop, reorder), 200)

    assert all(second in (first, []) for first, second in zip(alone, together, strict=True))


def test_faults_that_stay_continue_when_others_are_set() -> None:
    noise = Fault(kind="noise", value=1.0, channel="gyro")
    steady, changed = line(noise), line(noise)
    first = readings(steady, 40)
    second = readings(changed, 20)
    changed.set([Fault(kind="bias", value=9.0, channel="accel"), noise])
    third = np.array([changed.distort(k / 10.0, np.array([0.0, 100.0, 200.0]) + k) for k in range(20, 40)])

    assert_array_equal(first[:20], second)
    assert_array_equal(first[20:, :2], third[:, :2])


def test_two_equal_faults_have_their_own_random_numbers(has_deviation: Judge) -> None:
    noise = Fault(kind="noise", value=1.0)
    error = readings(line(noise, noise), 2000) - readings(line(), 2000)

    assert has_deviation(error.ravel(), math.sqrt(2.0))


@pytest.mark.parametrize("kind", FAULTS)
def test_reset_repeats_to_the_bit(kind: str) -> None:
    faults = line(Fault(kind=kind, value=0.5))
    first = readings(faults, 50), delays(faults, 50)
    faults.reset()

    assert_array_equal(first[0], readings(faults, 50))
    assert first[1] == delays(faults, 50)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"kind": "drop", "value": 1.5}, "value: of drop must be from 0 to 1, got 1.5"),
        ({"kind": "delay", "value": -1.0}, "value: of delay must not be negative"),
        ({"kind": "outage", "channel": "gyro"}, "channel: outage affects whole samples"),
    ],
)
def test_impossible_faults_are_rejected(wrong: dict[str, str | float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Fault(**wrong)  # type: ignore[arg-type]


def test_a_fault_of_an_unknown_channel_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="must be the beginning of one of gyro_x, gyro_y, accel_x, got 'gps'"):
        line(Fault(kind="bias", channel="gps"))
