"""Any multibody mechanism: bodies in a tree of hinges, and cut joints that close its loops.

Everything is described at the design position, where all coordinates are zero, in one frame, that of the root body; no
body needs a frame of its own. A point, axis or inertia "at design" is carried along with its body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROOT = "root"


class Motion(Enum):
    """Kind of motion of one coordinate of a hinge."""

    REVOLUTE = "revolute"
    SLIDE = "slide"


@dataclass(frozen=True)
class Axis:
    """One coordinate of a hinge: a rotation about, or a translation along, a line through a point (at design)."""

    motion: Motion
    direction: tuple[float, float, float]  # unit
    point: tuple[float, float, float]


@dataclass(frozen=True)
class Body:
    """A rigid body hung from its parent by a hinge of one or more axes, the first one fixed to the parent."""

    name: str
    parent: str
    axes: tuple[Axis, ...]
    mass: float  # [kg]
    centre: tuple[float, float, float]  # of mass, at design [m]
    inertia: Array = field(repr=False)  # 3x3 about the centre of mass, at design [kg m^2]

    def __post_init__(self) -> None:
        inertia = np.asarray(self.inertia, dtype=float)
        if not (np.isfinite(self.mass) and self.mass >= 0.0 and np.isfinite(self.centre).all()):
            raise ValueError(f"body {self.name}: mass must be finite and not negative, got {self.mass}")
        moments = np.linalg.eigvalsh(inertia)
        if (
            not np.allclose(inertia, inertia.T)
            or moments[0] < 0.0
            or moments[2] > (moments[0] + moments[1]) * (1 + 1e-9)
        ):
            raise ValueError(f"body {self.name}: no rigid body has the principal moments {moments.tolist()}")


@dataclass(frozen=True)
class Cut:
    """A joint that closes a loop: a point of one body coincides with a point of another, along given directions.

    The directions are fixed to the first body. All three make a ball joint; two suffice for a planar loop, where the
    third holds by itself and would make the equations singular.
    """

    name: str
    first: str
    second: str
    point: tuple[float, float, float]  # of both bodies, at design
    directions: tuple[tuple[float, float, float], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Mechanism:
    """Bodies (each after its parent) and cuts. The root moves freely or is held; its mass may be zero when held."""

    bodies: tuple[Body, ...]
    cuts: tuple[Cut, ...] = ()
    root_mass: float = 0.0
    root_centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    root_inertia: Array = field(default_factory=lambda: np.zeros((3, 3)), repr=False)

    def __post_init__(self) -> None:
        seen = {ROOT}
        for body in self.bodies:
            if body.name in seen:
                raise ValueError(f"body {body.name}: the name is taken")
            if body.parent not in seen:
                raise ValueError(f"body {body.name}: its parent {body.parent} must come before it")
            seen.add(body.name)
        for cut in self.cuts:
            for name in (cut.first, cut.second):
                if name not in seen:
                    raise ValueError(f"cut {cut.name}: there is no body {name}")

    @property
    def coordinate_names(self) -> list[str]:
        """One name per axis: the body's, numbered when its hinge has several."""
        return [
            body.name if len(body.axes) == 1 else f"{body.name}.{number}"
            for body in self.bodies
            for number in range(len(body.axes))
        ]

    def path_to_root(self, name: str) -> list[str]:
        """The body and its ancestors, the root last."""
        parents = {body.name: body.parent for body in self.bodies}
        path = [name]
        while path[-1] != ROOT:
            path.append(parents[path[-1]])
        return path


def aggregates(mechanism: Mechanism) -> list[tuple[str, tuple[str, ...]]]:
    """Groups of bodies connected by loops, each with the body it hangs from ([Jain], section 3.1).

    For each cut: the smallest sub-tree that contains both its bodies, without that sub-tree's root. Groups that share a
    body are joined. Bodies in no loop are groups of one. Each group is listed after the one it hangs from.
    """
    groups: list[set[str]] = []
    for cut in mechanism.cuts:
        first, second = mechanism.path_to_root(cut.first), mechanism.path_to_root(cut.second)
        common = next(name for name in first if name in second)
        loop = set(first[: first.index(common)]) | set(second[: second.index(common)])
        touching = [group for group in groups if group & loop]
        groups = [group for group in groups if not group & loop] + [loop.union(*touching)]
    alone = [{body.name} for body in mechanism.bodies if not any(body.name in group for group in groups)]
    order = {body.name: number for number, body in enumerate(mechanism.bodies)}
    parents = {body.name: body.parent for body in mechanism.bodies}
    result = []
    for group in sorted(groups + alone, key=lambda group: min(order[name] for name in group)):
        members = tuple(sorted(group, key=order.__getitem__))
        outside = {parents[name] for name in members} - group
        if len(outside) != 1:
            raise ValueError(
                f"the loop of {', '.join(members)} hangs from several bodies: {', '.join(sorted(outside))}"
            )
        result.append((outside.pop(), members))
    return result
