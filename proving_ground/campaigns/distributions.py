"""Distributions of a campaign's inputs, each a quantile function: maps a number from 0 to 1 to a value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from proving_ground.settings import setting

Value = float | int | str

LARGEST = 1e12


def _bound(words: str) -> float:
    return setting(..., words, minimum=-LARGEST, maximum=LARGEST)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Uniform between two bounds."""

    low: float = _bound("Lower bound of the values")
    high: float = _bound("Upper bound of the values")

    def __post_init__(self) -> None:
        _check_order(self.low, self.high)

    def at(self, share: float) -> Value:
        """The quantile of a share from 0 to 1."""
        return self.low + share * (self.high - self.low)

    def shown(self) -> str:
        """The distribution as text for a table."""
        return f"uniform {self.low:g} .. {self.high:g}"


@dataclass(frozen=True, kw_only=True)
class LogUniform:
    """Uniform in the logarithm, between two bounds above 0."""

    low: float = _bound("Lower bound of the values")
    high: float = _bound("Upper bound of the values")

    def __post_init__(self) -> None:
        if self.low <= 0.0:
            raise ValueError(f"low: must be above 0, got {self.low:g}")
        _check_order(self.low, self.high)

    def at(self, share: float) -> Value:
        """The quantile of a share from 0 to 1."""
        return float(self.low * (self.high / self.low) ** share)

    def shown(self) -> str:
        """The distribution as text for a table."""
        return f"log-uniform {self.low:g} .. {self.high:g}"


@dataclass(frozen=True, kw_only=True)
class Normal:
    """The normal distribution, without bounds."""

    mean: float = _bound("Mean of the distribution")
    std: float = setting(..., "Standard deviation of the distribution", minimum=0.0, maximum=LARGEST)

    def at(self, share: float) -> Value:
        """The quantile of a share; the tails are cut off at seven standard deviations, beyond which lies 1e-12."""
        from scipy.special import ndtri

        return float(self.mean + self.std * np.clip(ndtri(share), -7.0, 7.0))

    def shown(self) -> str:
        """The distribution as text for a table."""
        return f"normal {self.mean:g} +- {self.std:g}"


@dataclass(frozen=True, kw_only=True)
class TruncatedNormal:
    """The normal distribution truncated to two bounds."""

    mean: float = _bound("Mean, before the ends are cut off")
    std: float = setting(..., "Standard deviation, before the ends are cut off", minimum=1e-12, maximum=LARGEST)
    low: float = _bound("Lower bound of the values")
    high: float = _bound("Upper bound of the values")

    def __post_init__(self) -> None:
        _check_order(self.low, self.high)
        if self.low > self.mean + 8.0 * self.std or self.high < self.mean - 8.0 * self.std:
            raise ValueError("low, high: lie more than 8 standard deviations off the mean")

    def at(self, share: float) -> Value:
        """The quantile of a share from 0 to 1."""
        from scipy.stats import truncnorm

        low, high = (self.low - self.mean) / self.std, (self.high - self.mean) / self.std
        value = float(truncnorm.ppf(share, low, high, loc=self.mean, scale=self.std))
        return min(max(value, self.low), self.high)  # rounding must not leave the bounds

    def shown(self) -> str:
        """The distribution as text for a table."""
        return f"normal {self.mean:g} +- {self.std:g} within {self.low:g} .. {self.high:g}"


@dataclass(frozen=True, kw_only=True)
class Integers:
    """Whole numbers, both ends included, equally likely."""

    low: int = setting(..., "Lowest of the whole numbers", minimum=-(2**31) + 1, maximum=2**31 - 1)
    high: int = setting(..., "Highest of the whole numbers", minimum=-(2**31) + 1, maximum=2**31 - 1)

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"high: must not be below low ({self.low}), got {self.high}")

    def at(self, share: float) -> Value:
        """The quantile of a share from 0 to 1."""
        return min(self.low + math.floor(share * (self.high - self.low + 1)), self.high)

    def shown(self) -> str:
        """The distribution as text for a table."""
        return f"whole {self.low} .. {self.high}"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of some numbers or words, equally likely or by weights."""

    numbers: tuple[float, ...] = setting((), "Numbers to choose from", minimum=-LARGEST, maximum=LARGEST)
    words: tuple[str, ...] = setting((), "Words to choose from")
    weights: tuple[float, ...] = setting(
        (), "Relative frequency of each value; empty: all equally likely", minimum=0.0, maximum=LARGEST
    )

    def __post_init__(self) -> None:
        if bool(self.numbers) == bool(self.words):
            raise ValueError("must have either numbers or words")
        if self.weights and (len(self.weights) != len(self.values) or sum(self.weights) <= 0.0):
            raise ValueError(f"weights: must be as many as there are values ({len(self.values)}), with a sum above 0")

    @property
    def values(self) -> tuple[Value, ...]:
        """The values to choose from."""
        return self.numbers or self.words

    def at(self, share: float) -> Value:
        """The quantile of a share from 0 to 1."""
        weights = np.array(self.weights or (1.0,) * len(self.values))
        ends = np.cumsum(weights / weights.sum())
        return self.values[min(int(np.searchsorted(ends, share, side="right")), int(np.flatnonzero(weights)[-1]))]

    def shown(self) -> str:
        """The choice as text for a table."""
        return f"one of {', '.join(_short(value) for value in self.values)}"


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Values combined with those of all other inputs in a grid; with other samplings one of them, equally likely."""

    values: tuple[Value, ...]

    def at(self, share: float) -> Value:
        """The quantile of a share from 0 to 1."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def shown(self) -> str:
        """The values as text for a table."""
        return f"grid {', '.join(_short(value) for value in self.values)}"


@dataclass(frozen=True, kw_only=True)
class Constant:
    """One value for all runs, instead of the base scenario's."""

    value: float

    @property
    def values(self) -> tuple[Value, ...]:
        """The only value, as a grid of length one."""
        return (self.value,)

    def at(self, share: float) -> Value:
        """The value, whatever the share."""
        return self.value

    def shown(self) -> str:
        """The value as text for a table."""
        return f"always {self.value:g}"


Distribution = Uniform | LogUniform | Normal | TruncatedNormal | Integers | Choice | Grid | Constant


def _short(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _check_order(low: float, high: float) -> None:
    if not low < high:
        raise ValueError(f"high: must be above low ({low:g}), got {high:g}")
