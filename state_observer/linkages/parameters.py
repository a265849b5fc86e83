"""A planar linkage as data: pivots, points, uniform bars and which of them are cranks. A new one is a YAML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proving_ground.settings import SettingsError, setting
from proving_ground.settings.fields import close_name
from proving_ground.settings.nested import load_settings
from proving_ground.settings.share import share_file


@dataclass(frozen=True, kw_only=True)
class PointParameters:
    """A joint: a pivot on the ground, or the initial guess of a moving point."""

    name: str = setting(..., "Name of the joint, by which bars refer to it")
    x_m: float = setting(..., "Horizontal position, positive to the right", unit="m", minimum=-1e3, maximum=1e3)
    y_m: float = setting(..., "Vertical position, positive upwards", unit="m", minimum=-1e3, maximum=1e3)


@dataclass(frozen=True, kw_only=True)
class BarParameters:
    """A uniform slender bar between two joints."""

    name: str = setting(..., "Name of the bar, by which cranks and couplers refer to it")
    start: str = setting(..., "Point or pivot where the bar starts")
    end: str = setting(..., "Point or pivot where the bar ends")
    length_m: float = setting(..., "Length of the bar", unit="m", minimum=1e-3, maximum=1e3)
    mass_kg: float = setting(..., "Mass of the bar", unit="kg", minimum=1e-6, maximum=1e6)


@dataclass(frozen=True, kw_only=True)
class CrankParameters:
    """A bar that turns about the pivot where it starts; its angle is a degree of freedom."""

    bar: str = setting(..., "Name of a bar that starts at a pivot")
    start_angle_rad: float = setting(..., "True angle at the start", unit="rad", minimum=-10.0, maximum=10.0)


@dataclass(frozen=True, kw_only=True)
class LinkageParameters:
    """A planar linkage whose degrees of freedom are the angles of its cranks."""

    description: str = setting(..., "Description in one line for human readers")
    pivots: tuple[PointParameters, ...]
    points: tuple[PointParameters, ...]
    bars: tuple[BarParameters, ...]
    cranks: tuple[CrankParameters, ...]
    couplers: tuple[str, ...] = setting(..., "Bars that carry a gyroscope in the set-up of that name")

    def __post_init__(self) -> None:
        joints = [joint.name for joint in (*self.pivots, *self.points)]
        for kind, names in (("joint", joints), ("bar", [bar.name for bar in self.bars])):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{kind} {name}: defined {names.count(name)} times")
        for bar in self.bars:
            for end in (bar.start, bar.end):
                if end not in joints:
                    raise ValueError(f"bar {bar.name}: joint {end}: {close_name(end, joints)}")
            if bar.start == bar.end:
                raise ValueError(f"bar {bar.name}: starts and ends at {bar.end}")
        free = 2 * len(self.points) - len(self.bars)
        if free < 1 or free != len(self.cranks):
            raise ValueError(
                f"{len(self.points)} points and {len(self.bars)} bars leave {free} degrees of freedom, "
                f"but cranks has {len(self.cranks)}"
            )
        for crank in self.cranks:
            bar = self.bars[self.bar_index(crank.bar)]
            if bar.start not in [pivot.name for pivot in self.pivots] or bar.end in [p.name for p in self.pivots]:
                raise ValueError(f"crank {crank.bar}: must start at a pivot and end at a point")
        for coupler in self.couplers:
            self.bar_index(coupler)

    def bar_index(self, name: str) -> int:
        """Index of the bar with this name."""
        return _index(name, [bar.name for bar in self.bars], "bar")


def load_linkage(name: str) -> LinkageParameters:
    """A linkage of config/observers by its name, or from a YAML file by its path."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else share_file(f"config/observers/{name}.yaml")
    return load_settings(path, LinkageParameters)


def _index(name: str, names: Sequence[str], kind: str) -> int:
    if name not in names:
        raise SettingsError(f"{kind} {name}: {close_name(name, names)}")
    return list(names).index(name)
