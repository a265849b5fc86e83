"""Success rates with their confidence, and rules that end a campaign early."""

from __future__ import annotations

import math
from collections.abc import Mapping

from proving_ground.campaigns.campaign_file import Stop
from proving_ground.campaigns.perform import PASSED

DEVIATIONS = 1.959963984540054  # standard deviations that contain 95 % of a normal distribution


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """95 % confidence interval of the rate of successes in trials.

    Wilson 1927, Eq. 7: the rates that a score test does not reject.

    >>> tuple(round(end, 4) for end in wilson(45, 50))
    (0.7864, 0.9565)
    """
    if trials == 0:
        return 0.0, 1.0
    rate, square = successes / trials, DEVIATIONS**2
    scale = 1.0 + square / trials
    middle = (rate + 0.5 * square / trials) / scale
    half = DEVIATIONS / scale * math.sqrt(rate * (1.0 - rate) / trials + 0.25 * square / trials**2)
    low = 0.0 if successes == 0 else max(middle - half, 0.0)
    return low, 1.0 if successes == trials else min(middle + half, 1.0)


class EarlyStop:
    """Decides whether a campaign ends early, by its Stop rules.

    It looks at verdicts in the order of run numbers, so that the answer does not depend on which worker is faster.
    """

    def __init__(self, rules: Stop) -> None:
        self._rules = rules
        self._early: dict[int, str] = {}  # verdicts waiting for those of earlier runs
        self._seen = self._passed = 0
        self.last_run: int | None = None  # no run after this one counts
        self.why = ""

    def record(self, verdicts: Mapping[int, str]) -> None:
        """Record verdicts by run number."""
        self._early |= verdicts
        while self._seen in self._early and self.last_run is None:
            self._passed += self._early.pop(self._seen) == PASSED
            self._seen += 1
            self.why = self._reason()
            if self.why:
                self.last_run = self._seen - 1

    def _reason(self) -> str:
        rules, failures = self._rules, self._seen - self._passed
        if self._seen < rules.after_runs:
            return ""
        if rules.max_failures and failures >= rules.max_failures:
            return f"{failures} of {self._seen} runs did not pass (stop.max_failures)"
        low, high = wilson(self._passed, self._seen)
        if rules.interval_below and high - low < rules.interval_below:
            return f"after {self._seen} runs the success rate is known to {high - low:.3g} (stop.interval_below)"
        return ""
