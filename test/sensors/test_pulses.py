"""Counting pulses: angles, directions, timing of rates, standstill."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from sensors.encoders.pulses import PulseCounter

Array = NDArray[np.float64]

MS = 1_000_000
DATE = 1_790_000_000_000_000_000
NO_SHIFT = np.zeros(1)


def counter(
    pulses: int = 40, *, knows_direction: bool = False, hysteresis: float = 0.1, phase: float = 0.3
) -> PulseCounter:
    return PulseCounter(
        pulses, np.array([phase]), knows_direction=knows_direction, hysteresis=hysteresis, stopped_after_s=0.5
    )


def drive(shaft: PulseCounter, angles: Array, tick: int = 10 * MS, first: int = 0) -> tuple[Array, Array]:
    """Counted angles and rates, read at every tick."""
    counted, rates = [], []
    for k, angle in enumerate(angles, start=first):
        shaft.rotate_to(DATE + k * tick, np.array([angle]))
        counted.append(shaft.angle[0])
        rates.append(shaft.read_rate(NO_SHIFT)[0])
    return np.array(counted), np.array(rates)


def test_forty_pulses_are_nine_degrees_each() -> None:
    counted, _ = drive(counter(), np.radians(np.arange(0.0, 3600.0)))

    assert_allclose(np.unique(np.diff(np.degrees(counted)).round(9)), [0.0, 9.0])
    assert counted[-1] == pytest.approx(math.radians(3600.0), abs=math.radians(9.0))


@given(
    steps=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50),
    pulses=st.integers(1, 4096),
    start=st.floats(-1e4, 1e4),
    phase=st.floats(0.0, 1.0),
)
def test_forward_the_count_is_within_one_pulse_of_the_angle(
    steps: list[float], pulses: int, start: float, phase: float
) -> None:
    shaft = counter(pulses, phase=phase)
    angles = start + np.cumsum([0.0, *steps])
    counted, rates = drive(shaft, angles)

    assert (np.abs(counted - (angles - start)) <= shaft.step + 1e-9).all()
    assert (np.diff(counted) >= 0.0).all()
    assert (rates >= 0.0).all()
    assert np.isfinite(rates).all()


@given(steps=st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=50), pulses=st.integers(1, 4096))
def test_with_direction_the_count_follows_back_and_forth(steps: list[float], pulses: int) -> None:
    shaft = counter(pulses, knows_direction=True)
    angles = np.cumsum([0.0, *steps])
    counted, rates = drive(shaft, angles)

    assert (np.abs(counted - angles) <= 1.1 * shaft.step + 1e-9).all()
    assert np.isfinite(rates).all()


def test_without_direction_reversing_counts_up_as_in_sanjurjo() -> None:
    there = np.linspace(0.0, 2.0 * math.pi, 200)
    counted, rates = drive(counter(), np.concatenate([there, there[::-1]]))

    assert counted[-1] == pytest.approx(4.0 * math.pi, abs=math.radians(18.0))
    assert (rates >= 0.0).all()


@pytest.mark.parametrize(("direction", "expected"), [(True, -3.0), (False, 3.0)])
def test_backward_rate_has_a_sign_only_with_direction(direction: bool, expected: float) -> None:
    _, rates = drive(counter(2048, knows_direction=direction), -3.0 * np.arange(100.0) * 0.01)
    assert rates[50:] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rate", [0.5, 3.0, 42.0])
def test_timing_measures_a_constant_rate_exactly_despite_the_coarse_angle(rate: float) -> None:
    _, rates = drive(counter(), rate * np.arange(400.0) * 0.01)
    seen = rates[200:]

    # Pulse timing avoids a ripple of one pulse per reading, which would be 15.7 rad/s for 40 pulses at 100 Hz.
    assert seen == pytest.approx(rate, rel=1e-9)


def test_an_increasing_rate_is_measured_with_the_delay_of_a_pulse() -> None:
    time = np.arange(1000.0) * 0.01
    _, rates = drive(counter(), 0.5 * 4.0 * time**2)  # 4 rad/s^2

    fast = time > 5.0  # several pulses per reading: the mean over about 20 ms
    assert np.abs(rates - 4.0 * time)[fast].max() < 4.0 * 0.02


def test_the_rate_of_a_stopped_wheel_decays_to_zero() -> None:
    shaft = counter()
    _, moving = drive(shaft, 10.0 * np.arange(100.0) * 0.01)
    _, after = drive(shaft, np.full(100, 9.9), first=100)

    assert moving[-1] == pytest.approx(10.0)
    assert (np.diff(after) <= 1e-12).all()
    assert after[20] < 1.0  # no pulse of 9 degrees in 0.2 s
    assert (after[52:] == 0.0).all()


def test_the_rate_recovers_soon_when_a_wheel_starts_again() -> None:
    shaft = counter()
    drive(shaft, 10.0 * np.arange(100.0) * 0.01)
    drive(shaft, np.full(100, 9.9), first=100)
    _, rates = drive(shaft, 9.9 + 10.0 * np.arange(10.0) * 0.01, first=200)

    assert rates[5:] == pytest.approx(10.0)


def test_a_wheel_that_vibrates_at_an_edge_does_not_count() -> None:
    shaft = counter(phase=0.0)
    trembling = 1e-3 * np.sin(np.arange(1000))  # about the edge at 0, less than the hysteresis of 0.9 degrees
    counted, _ = drive(shaft, trembling)

    assert counted.max() <= shaft.step
    assert (counted[20:] == counted[20]).all()


def test_without_hysteresis_it_would_count() -> None:
    counted, _ = drive(counter(phase=0.0, hysteresis=0.0), 1e-3 * np.sin(np.arange(1000)))
    assert counted[-1] > math.radians(9.0) * 100


@pytest.mark.parametrize("hysteresis", [0.0, 0.4])
@pytest.mark.parametrize("swing", [0.2, 0.9], ids=["forward", "back and forth"])
def test_finer_updates_than_readings_give_the_same_counts_and_rates(swing: float, hysteresis: float) -> None:
    angles = np.cumsum(0.3 + swing * np.sin(0.1 * np.arange(200.0)))
    coarse, fine = (counter(knows_direction=True, hysteresis=hysteresis) for _ in range(2))
    counted, rates = drive(coarse, angles)
    for k in range(1991):
        fine.rotate_to(DATE + k * MS, np.array([np.interp(k / 10.0, np.arange(200.0), angles)]))
        if k % 10 == 0:
            assert fine.angle[0] == counted[k // 10]
            assert fine.read_rate(NO_SHIFT)[0] == pytest.approx(rates[k // 10], rel=1e-6)


def test_misplaced_holes_make_the_rate_uneven_and_leave_its_mean() -> None:
    shaft = counter()
    shifts = 0.01 * np.sin(12.9898 * np.arange(2000) ** 2)  # irregular
    rates = []
    for k in range(2000):
        shaft.rotate_to(DATE + k * 10 * MS, np.array([42.0 * k * 0.01]))
        rates.append(shaft.read_rate(shifts[k : k + 1])[0])

    found = np.array(rates[10:])
    assert found.mean() == pytest.approx(42.0, rel=1e-3)
    assert 0.001 < found.std() / 42.0 < 0.02


def test_reset_restarts_the_count() -> None:
    shaft = counter()
    first = drive(shaft, np.linspace(0.0, 5.0, 50))
    shaft.reset()

    assert shaft.angle[0] == 0.0
    assert_array_equal(first, drive(shaft, np.linspace(0.0, 5.0, 50)))


def test_shafts_are_independent() -> None:
    together = PulseCounter(40, np.array([0.1, 0.8]), knows_direction=True, hysteresis=0.1, stopped_after_s=0.5)
    alone = counter(knows_direction=True, phase=0.8)
    for k in range(200):
        together.rotate_to(DATE + k * 10 * MS, np.array([-0.3 * k, 0.2 * k]))
        alone.rotate_to(DATE + k * 10 * MS, np.array([0.2 * k]))
        assert together.read_rate(np.zeros(2))[1] == alone.read_rate(NO_SHIFT)[0]

    assert together.angle[1] == alone.angle[0]
