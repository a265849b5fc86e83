"""A campaign file: a base scenario, what varies in it and how, what is kept, and when to stop early.

Every mistake is one line with file, line, key and what is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from proving_ground.campaigns.distributions import (
    LARGEST,
    Choice,
    Constant,
    Distribution,
    Grid,
    Integers,
    LogUniform,
    Normal,
    TruncatedNormal,
    Uniform,
)
from proving_ground.campaigns.figure_names import FIGURE_NAMES
from proving_ground.scenarios.channels import CHANNELS
from proving_ground.settings import SettingsError, setting
from proving_ground.settings.fields import close_name
from proving_ground.settings.named_files import is_path
from proving_ground.settings.nested import load_settings
from proving_ground.settings.one_of import one_of
from proving_ground.settings.share import share_directory
from proving_ground.settings.units import FOREVER_S, LARGEST_SEED

VERSION = 1
MOST_RUNS = 1_000_000
SAMPLINGS = ("random", "latin_hypercube", "sobol", "grid")
EXTENSIBLE = ("random", "sobol")  # first runs stay the same when more are requested
STATISTICS = ("minimum", "maximum", "mean", "end", "peak", "rms")  # peak and rms: of the absolute values
NOT_KINDS = ("key", "also", "name", "scale")
ROOT_NAMES = ("vehicle_parameters", "world_parameters")


@dataclass(frozen=True, kw_only=True)
class Vary:
    """One varied input of a campaign: its key, and exactly one distribution."""

    key: str = setting(..., "Dotted path into the scenario, as world.flat.friction or sensors.1.gps.rate_hz")
    also: tuple[str, ...] = setting((), "Further keys that get the same value")
    name: str = setting("", "Name in tables and pictures; empty: the key")
    scale: bool = setting(False, "Whether the value is a factor on the base's value")
    uniform: Uniform | None = None
    normal: Normal | None = None
    truncated_normal: TruncatedNormal | None = None
    log_uniform: LogUniform | None = None
    integers: Integers | None = None
    choice: Choice | None = None
    grid: tuple[float, ...] | None = setting(
        None,
        "Numbers that make up the grid, or one of which is drawn with other samplings",
        minimum=-LARGEST,
        maximum=LARGEST,
    )
    constant: float | None = setting(None, "Number that replaces the base's value", minimum=-LARGEST, maximum=LARGEST)

    def __post_init__(self) -> None:
        one_of(self, *NOT_KINDS)
        if self.grid is not None and not self.grid:
            raise ValueError("grid: must have at least one number")
        if self.scale and self.choice is not None and self.choice.words:
            raise ValueError("scale: words cannot be factors")

    @property
    def called(self) -> str:
        """Name of the input: as given, or its key."""
        return self.name or self.key

    @property
    def keys(self) -> tuple[str, ...]:
        """All settings that get this input's value: `key` and those in `also`."""
        return (self.key, *self.also)

    @property
    def distribution(self) -> Distribution:
        """The one distribution that is given."""
        kind, given = one_of(self, *NOT_KINDS)
        if kind == "grid":
            return Grid(values=given)
        if kind == "constant":
            return Constant(value=given)
        found: Distribution = given
        return found


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Result kept of each run: a statistic of a channel, or a figure by its name."""

    channel: str = setting("", "Name of a recorded channel")
    statistic: str = setting("", "Statistic taken of the channel", choices=("", *STATISTICS))
    from_s: float = setting(0.0, "Start of the part of the run that counts", unit="s", minimum=0.0, maximum=FOREVER_S)
    to_s: float = setting(FOREVER_S, "End of the part of the run that counts", unit="s", minimum=0.0, maximum=FOREVER_S)
    figure: str = setting("", "Figure kept instead of a channel, from the list in docs/campaigns.md")
    name: str = setting("", "Name in tables and pictures; empty: the figure, or channel and statistic")
    at_least: float = setting(-1e12, "Least value of a run that passes", minimum=-1e12, maximum=1e12)
    at_most: float = setting(1e12, "Largest value of a run that passes", minimum=-1e12, maximum=1e12)
    worse: str = setting("", "End of the range that is bad, for the list of worst runs", choices=("", "high", "low"))

    def __post_init__(self) -> None:
        if bool(self.figure) == bool(self.channel):
            raise ValueError("must have either a channel with its statistic or a figure")
        if self.figure and self.figure not in FIGURE_NAMES:
            raise ValueError(f"figure {self.figure}: {close_name(self.figure, FIGURE_NAMES)}")
        if self.channel and self.channel not in CHANNELS:
            raise ValueError(f"channel {self.channel}: {close_name(self.channel, CHANNELS)}")
        if self.channel and not self.statistic:
            raise ValueError(f"statistic: missing; one of {', '.join(STATISTICS)}")
        if self.from_s > self.to_s:
            raise ValueError(f"to_s: must not be before from_s ({self.from_s:g}), got {self.to_s:g}")
        if self.at_least > self.at_most:
            raise ValueError(f"at_most: must not be below at_least ({self.at_least:g}), got {self.at_most:g}")

    @property
    def has_bounds(self) -> bool:
        """Whether the metric has bounds, which decide if a run passes."""
        return self.at_least > -1e12 or self.at_most < 1e12

    def bounds(self) -> str:
        """The metric's bounds as text."""
        ends = [f"at least {self.at_least:g}"] * (self.at_least > -1e12)
        return ", ".join(ends + [f"at most {self.at_most:g}"] * (self.at_most < 1e12))

    @property
    def called(self) -> str:
        """Name of the metric: as given, or made from the figure or from channel and statistic."""
        return self.name or self.figure or f"{self.channel}.{self.statistic}"


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Rules that end a campaign before all its runs are done; 0 switches a rule off.

    The first two look at runs by their number, not by when they end: the same runs count on any machine.
    """

    max_failures: int = setting(
        0, "Number of runs not passed that ends the campaign; 0: no limit", minimum=0, maximum=MOST_RUNS
    )
    interval_below: float = setting(
        0.0,
        "Width of the 95 % interval of the success rate below which the campaign ends; 0: never",
        minimum=0.0,
        maximum=1.0,
    )
    after_runs: int = setting(
        50, "Number of runs before which only the wall time may end the campaign", minimum=1, maximum=MOST_RUNS
    )
    max_wall_s: float = setting(
        0.0,
        "Longest wall time of the campaign, counted from each start; 0: no limit",
        unit="s",
        minimum=0.0,
        maximum=1e8,
    )


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Contents of a campaign file: many runs of one scenario with varied inputs."""

    version: int = setting(..., "Version of this file's format", minimum=VERSION, maximum=VERSION)
    description: str = setting(..., "Description for human readers")
    base: str = setting(..., "Base scenario: name in config/scenarios, or a path to a YAML file relative to this one")
    checkpoint: str = setting(
        "", "Checkpoint of the base from which all runs go on: a path relative to this file; empty: from the start"
    )
    runs: int = setting(0, "Number of runs; 0: as many as a grid has", minimum=0, maximum=MOST_RUNS)
    seed: int = setting(0, "Seed of all random numbers", minimum=0, maximum=LARGEST_SEED)
    sampling: str = setting("random", "Method by which values are sampled", choices=SAMPLINGS)
    time_limit_s: float = setting(600.0, "Longest wall time of a run", unit="s", minimum=0.1, maximum=FOREVER_S)
    vary: tuple[Vary, ...]
    metrics: tuple[Metric, ...] = ()
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        if not self.vary:
            raise ValueError("vary: must have at least one input")
        _reject_twice("vary", [item.called for item in self.vary])
        _reject_twice("vary", [key for item in self.vary for key in item.keys])
        _reject_twice("metrics", [item.called for item in self.metrics])
        if self.sampling == "grid":
            for item in self.vary:
                if not hasattr(item.distribution, "values"):
                    kind = one_of(item, *NOT_KINDS)[0]
                    raise ValueError(f"vary: {item.called}: a grid needs grid, choice or constant, not {kind}")
        elif self.runs == 0:
            raise ValueError(f"runs: must be given for sampling {self.sampling}")


def _reject_twice(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what}: {name} is given twice")


def load_campaign(path: Path) -> Campaign:
    """Read and check; raises SettingsError with file, line, key and what is allowed."""
    return load_settings(path, Campaign)


def campaign_files() -> dict[str, Path]:
    """The campaigns in config/campaigns by name."""
    return {path.stem: path for path in sorted((share_directory() / "config/campaigns").glob("*.yaml"))}


def campaign_file(name: str) -> Path:
    """The file of a campaign given by its name in config/campaigns or by a path to a YAML file."""
    if is_path(name):
        return Path(name)
    known = campaign_files()
    if name not in known:
        raise SettingsError(f"campaign {name}: {close_name(name, known)}; or give a path to a YAML file")
    return known[name]
