"""Chapters of the validation page: figures of ours beside those of papers, and shared helpers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.metrics import load_reference
from proving_ground.scenarios.plots import png
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file

Array = NDArray[np.float64]
Say = Callable[[str], None]


class Bound(NamedTuple):
    """Required range of a figure."""

    least: float = -np.inf
    most: float = np.inf

    def words(self) -> str:
        """Text for the table; empty: no requirement."""
        if self == YES:
            return "yes"
        if np.isfinite(self.least) and np.isfinite(self.most):
            return f"{self.least:g} to {self.most:g}"
        if np.isfinite(self.most):
            return f"at most {self.most:g}"
        return f"at least {self.least:g}" if np.isfinite(self.least) else ""

    def holds(self, value: float) -> bool:
        """Whether a value is within the range; NaN is not."""
        return self.least <= value <= self.most


YES = Bound(1.0, 1.0)  # of a claim: 1 is true, 0 is not


class Row(NamedTuple):
    """A figure of ours beside one to compare with."""

    what: str
    ours: float
    theirs: str  # of the paper or the reference
    bound: Bound = Bound()
    unit: str = ""
    known: str = ""  # why it is outside, if known
    mark: str = ""  # what the range rests on, as a letter that the chapter explains

    @property
    def is_within(self) -> bool:
        """Whether the figure is within its range; NaN is not."""
        return self.bound.holds(self.ours)

    def value(self) -> str:
        """The figure of ours with its unit, or whether a claim is true."""
        if self.bound == YES:
            return "yes" if self.is_within else "no"
        return f"{self.ours:.4g}{' ' if self.unit else ''}{self.unit}"


class Section(NamedTuple):
    """A test within a chapter: how it is done, and figures with the ranges that they must be in."""

    title: str
    about: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Part:
    """Content of a chapter of the page."""

    about: str
    rows: Sequence[Row] = ()
    theirs: str = "reference"  # heading of the column
    pictures: Mapping[str, bytes] = field(default_factory=dict)  # by name, without .png
    after: str = ""
    sections: Sequence[Section] = ()

    def all_rows(self) -> list[Row]:
        """The figures of the chapter and of its sections."""
        return [*self.rows, *(row for section in self.sections for row in section.rows)]


class Chapter(NamedTuple):
    """A chapter of the page: its title, known without a run, and the function that makes its content."""

    title: str
    make: Callable[[Say], Part]


def played(name: str) -> tuple[Scenario, Run, Channels | None]:
    path = scenario_file(name)
    scenario = load_scenario(path)
    return scenario, LockStep(scenario).run(), load_reference(scenario)


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def over_time(panels: Sequence[tuple[str, Sequence[tuple[str, Array, Array]]]]) -> bytes:
    """Diagrams over time, one below the other: label of the axis, and lines by name; the last line is on top, thin."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    picture = Figure(figsize=(9.0, 2.2 * len(panels) + 0.5), layout="constrained")
    axes = np.atleast_1d(picture.subplots(len(panels), 1, sharex=True))
    looks = ({"color": "tab:orange", "linewidth": 2.6}, {"color": "black", "linewidth": 1.0})
    for axis, (label, lines) in zip(axes, panels, strict=True):
        for (name, across, values), look in zip(lines, looks[-len(lines) :], strict=True):
            axis.plot(across, values, label=name, **look)
        axis.set_ylabel(label)
        axis.grid(True, alpha=0.3)
        axis.legend(loc="upper right", fontsize=8, ncols=2)
    axes[-1].set_xlabel("time [s]")
    return png(picture)
