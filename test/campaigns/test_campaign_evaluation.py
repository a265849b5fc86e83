"""Evaluation of a campaign's results: intervals, stop rules, sensitivity, and merged tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from proving_ground.campaigns.campaign_file import Stop
from proving_ground.campaigns.rules import EarlyStop, wilson
from proving_ground.campaigns.sensitivity import influences, variance_share
from proving_ground.campaigns.table import merged


def test_the_interval_of_a_rate_holds_the_true_rate_as_often_as_it_says() -> None:
    """Coverage of Wilson's interval at n = 60, computed exactly: near 95 % at every rate, not only on average."""
    trials = 60
    for rate in (0.05, 0.2, 0.5, 0.9):
        holds = [low <= rate <= high for low, high in (wilson(good, trials) for good in range(trials + 1))]
        coverage = float(stats.binom.pmf(np.arange(trials + 1), trials, rate)[holds].sum())
        assert 0.92 < coverage < 0.985


def test_the_interval_agrees_with_another_implementation_and_with_certainty_at_the_ends() -> None:
    expected = stats.binomtest(45, 50).proportion_ci(method="wilson")
    assert wilson(45, 50) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(0, 30)[0] == 0.0
    assert wilson(30, 30)[1] == 1.0
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_stop_rule_gives_the_same_answer_in_whatever_order_runs_end() -> None:
    verdicts = {number: "failed" if number % 7 == 3 else "passed" for number in range(200)}
    rules = Stop(max_failures=5, after_runs=10)
    in_order = EarlyStop(rules)
    in_order.record(verdicts)
    shuffled = EarlyStop(rules)
    for number in np.random.default_rng(1).permutation(200).tolist():
        shuffled.record({number: verdicts[number]})
    assert in_order.last_run == shuffled.last_run == 31
    assert "5 of 32 runs did not pass" in in_order.why


def test_a_campaign_ends_when_the_rate_is_known_well_enough() -> None:
    stop = EarlyStop(Stop(interval_below=0.1, after_runs=20))
    stop.record(dict.fromkeys(range(500), "passed"))
    assert stop.last_run == next(n for n in range(20, 500) if 1.0 - wilson(n, n)[0] < 0.1) - 1


def test_sensitivity_ranks_inputs_as_the_formula_that_made_the_metric_does() -> None:
    """y = 3 a + b + c^2 of uniform inputs: the true first-order indices are known, c has no rank correlation."""
    random = np.random.default_rng(5)
    a, b, c = random.uniform(-1.0, 1.0, (3, 4000))
    y = 3.0 * a + b + 2.0 * c**2 + 0.0 * b
    variances = np.array([9.0 / 3.0, 1.0 / 3.0, 4.0 * (1.0 / 5.0 - 1.0 / 9.0)])
    table = pa.table({"input.a": a, "input.b": b, "input.c": c, "metric.y": y})
    found = {item.name: item for item in influences(table, "y")}
    np.testing.assert_allclose([found[name].share for name in "abc"], variances / variances.sum(), atol=0.03)
    assert next(iter(found)) == "a"
    assert abs(found["c"].rank_correlation or 0.0) < 0.1


def test_an_input_without_influence_has_no_share_of_the_variance() -> None:
    random = np.random.default_rng(6)
    explained = [variance_share(random.integers(0, 5, 200), random.normal(size=200)) for _ in range(50)]
    assert np.mean(explained) < 0.02


def test_rows_of_one_run_in_two_pieces_count_once() -> None:
    pieces = [pa.table({"run": [3, 0], "x": [1.0, 2.0]}), pa.table({"run": [1, 3], "x": [3.0, 1.0]})]
    assert merged(pieces)["run"].to_pylist() == [0, 1, 3]
