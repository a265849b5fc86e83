"""Times of sampling, and of the arrival of samples."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.settings.units import NS_PER_S
from sensors.faults import Fault, FaultLine
from sensors.timing import Delivery, Sampler

Judge = Callable[..., bool]

MS = NS_PER_S // 1000
DATE = 1_790_000_000 * NS_PER_S  # some day in 2026


@pytest.mark.parametrize(("rate", "tick_ms"), [(100.0, 10), (100.0, 1), (5.0, 10), (1000.0, 1), (0.5, 10), (30.0, 1)])
def test_the_requested_rate_is_achieved(rate: float, tick_ms: int) -> None:
    sampler = Sampler(rate)
    due = sum(sampler.is_due(DATE + k * tick_ms * MS) for k in range(20 * 1000 // tick_ms))

    assert abs(due - 20 * rate) <= 1


def test_samples_fall_on_whole_periods_when_ticks_do() -> None:
    sampler = Sampler(50.0)
    due = [k for k in range(100) if sampler.is_due(DATE + k * 5 * MS)]

    assert due == list(range(0, 100, 4))


def test_sensors_of_equal_rate_sample_together_whenever_they_start() -> None:
    early, late = Sampler(10.0), Sampler(10.0)
    times = [DATE + k * 10 * MS for k in range(100)]
    first = [time for time in times if early.is_due(time)]
    second = [time for time in times[37:] if late.is_due(time)]

    assert second == [time for time in first if time >= times[37]]


def test_a_gap_in_time_is_not_made_up_for() -> None:
    sampler = Sampler(100.0)
    sampler.is_due(DATE)

    assert sampler.is_due(DATE + 5 * NS_PER_S)
    assert not sampler.is_due(DATE + 5 * NS_PER_S + MS)


def test_after_a_reset_time_may_go_back() -> None:
    sampler = Sampler(10.0)
    sampler.is_due(DATE)
    sampler.reset()

    assert sampler.is_due(DATE - 60 * NS_PER_S)


@given(start=st.integers(0, 10**18), rate=st.floats(0.1, 1000.0), ticks=st.lists(st.integers(1, 10**9), max_size=50))
def test_there_is_at_most_one_sample_in_a_period(start: int, rate: float, ticks: list[int]) -> None:
    sampler, time = Sampler(rate), start
    due = []
    for tick in ticks:
        time += tick
        if sampler.is_due(time):
            due.append(time // sampler.period_ns)

    assert len(due) == len(set(due))


def delivery(*faults: Fault) -> Delivery[int]:
    return Delivery(FaultLine(faults, ("x",), 3, "gps"), 3, "gps")


def send_all(made: Delivery[int], count: int, tick: int = 10 * MS) -> dict[int, list[int]]:
    """Send samples 0, 1, 2 ... one per tick; returns what arrives at each tick."""
    there = {}
    for k in range(count):
        made.send(DATE + k * tick, k * tick / NS_PER_S, k)
        there[k] = made.arrived(DATE + k * tick)
    return there


def test_without_latency_a_sample_arrives_at_once() -> None:
    assert send_all(delivery(), 5) == {k: [k] for k in range(5)}


def test_a_latency_of_three_ticks_delays_samples_by_three_ticks() -> None:
    made = delivery()
    made.latency_s = 0.03

    assert send_all(made, 6) == {0: [], 1: [], 2: [], 3: [0], 4: [1], 5: [2]}


def test_jitter_delays_arrivals_up_to_its_bound() -> None:
    made = delivery()
    made.latency_s, made.jitter_s = 0.02, 0.05
    there = send_all(made, 2000, tick=MS)
    late = [now - sample for now, samples in there.items() for sample in samples]

    assert min(late) >= 20
    assert max(late) <= 70
    assert sum(late) / len(late) == pytest.approx(45.5, abs=1.2)  # mean of a uniform distribution, rounded up; 99.9 %


def test_dropout_loses_its_share_and_counts_it(has_share: Judge) -> None:
    made = delivery()
    made.dropout = 0.2
    arrived = sum(len(samples) for samples in send_all(made, 5000).values())

    assert has_share(made.lost, 5000, 0.2)
    assert arrived + made.lost == 5000


def test_duplicates_arrive_together_in_order() -> None:
    assert send_all(delivery(Fault(kind="duplicate")), 2) == {0: [0, 0], 1: [1, 1]}


def test_reordered_samples_all_arrive_in_another_order() -> None:
    made = delivery(Fault(kind="reorder", value=0.1, length_s=1.0))
    there = [sample for samples in send_all(made, 200).values() for sample in samples]

    assert there != sorted(there)
    assert sorted(there) == list(range(200))


def test_dropout_leaves_the_random_numbers_of_faults_alone() -> None:
    arrivals = []
    for dropout in (0.0, 0.5):
        made = delivery(Fault(kind="drop", value=0.5))
        made.dropout = dropout
        arrivals.append({sample for samples in send_all(made, 300).values() for sample in samples})

    assert arrivals[1] < arrivals[0]  # arrivals with dropout are a subset of those without


def test_reset_drops_samples_in_transit_and_repeats() -> None:
    made = delivery()
    made.dropout = made.jitter_s = 0.3
    first, lost = send_all(made, 300), made.lost
    made.reset()

    assert made.lost == 0
    assert send_all(made, 300) == first
    assert made.lost == lost
