"""Input values of each run: a pure function of campaign, seed and the run's number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.campaigns.campaign_file import EXTENSIBLE, MOST_RUNS, Campaign
from proving_ground.campaigns.distributions import Value
from proving_ground.settings import SettingsError
from proving_ground.settings.units import LARGEST_SEED
from sensors.streams import stream

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Job:
    """One run: its values in the order of the campaign's inputs, and the seed of its noise."""

    number: int
    values: tuple[Value, ...]
    seed: int


class Plan:
    """All runs of a campaign."""

    def __init__(self, campaign: Campaign, runs: int | None = None) -> None:
        """runs: in place of the campaign's; raises SettingsError if that is not possible."""
        self._campaign = campaign
        self._distributions = [item.distribution for item in campaign.vary]
        points = math.prod(len(item.values) for item in self._distributions if hasattr(item, "values"))
        self._lengths = [len(getattr(item, "values", ())) for item in self._distributions]
        self.runs = runs or campaign.runs or points
        if not 1 <= self.runs <= MOST_RUNS:
            raise SettingsError(f"runs: must be a whole number from 1 to {MOST_RUNS}, got {self.runs}")
        self._table = self._whole_table()

    @property
    def is_extensible(self) -> bool:
        """Whether runs stay the same when more are requested."""
        return self._campaign.sampling in EXTENSIBLE

    def job(self, number: int) -> Job:
        """The run with a number, from 0 on."""
        return Job(number, self._values(number), self._seed(number))

    def _seed(self, number: int) -> int:
        return int(stream(self._campaign.seed, "campaign", str(number), "seed").integers(0, LARGEST_SEED))

    def _values(self, number: int) -> tuple[Value, ...]:
        if self._campaign.sampling == "grid":
            return self._grid_point(number)
        return tuple(item.at(share) for item, share in zip(self._distributions, self._shares(number), strict=True))

    def _shares(self, number: int) -> list[float]:
        if self._table is not None:
            return [float(share) for share in self._table[number]]
        # A stream for each input, so that one more input changes no other.
        seed, items = self._campaign.seed, self._campaign.vary
        return [stream(seed, "campaign", str(number), "input", item.key).random() for item in items]

    def _grid_point(self, number: int) -> tuple[Value, ...]:
        """The last input changes fastest; after the last point the grid repeats with other noise."""
        found: list[Value] = []
        for item, length in zip(reversed(self._distributions), reversed(self._lengths), strict=True):
            number, index = divmod(number, length)
            found.append(item.values[index])  # type: ignore[union-attr]
        return tuple(reversed(found))

    def _whole_table(self) -> Array | None:
        sampling, count = self._campaign.sampling, len(self._campaign.vary)
        if sampling not in ("sobol", "latin_hypercube"):
            return None
        from scipy.stats import qmc

        random: Any = stream(self._campaign.seed, "campaign", sampling)
        table: Array
        if sampling == "sobol":  # Owen's scrambling; whole powers of two keep the balance
            table = qmc.Sobol(count, scramble=True, rng=random).random_base2(math.ceil(math.log2(max(self.runs, 2))))
        else:
            table = qmc.LatinHypercube(count, rng=random).random(self.runs)
        return table[: self.runs]
