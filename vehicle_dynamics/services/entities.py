"""Entities of a simulation: the vehicle and spawned obstacles. World axes, metres, radians."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

import numpy as np

from terrain.obstacles import Box, Cylinder, Obstacles
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.services.rejection import FAILED, RejectionError

ROBOT, STATIC_OBJECT = "CATEGORY_ROBOT", "CATEGORY_STATIC_OBJECT"  # constants of simulation_interfaces/EntityCategory
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
NAMESPACE = re.compile(r"/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
POSIX_CLASSES = {
    "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:alnum:]": "a-zA-Z0-9", "[:upper:]": "A-Z", "[:lower:]": "a-z",
    "[:space:]": r"\s", "[:punct:]": r"!-/:-@\[-`{-~", "[:xdigit:]": "0-9A-Fa-f",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Entity:
    """An entity of simulation_interfaces: its shape, category, description and tags."""

    name: str
    shape: Box | Cylinder  # the vehicle as the box around it
    category: int
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Body:
    """The box around the vehicle, in base_link [m]."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    @staticmethod
    def of(parameters: VehicleParameters, base_in_chassis: Iterable[float]) -> Body:
        """Body of a vehicle from its file."""
        contact, base = parameters.body_contact, list(base_in_chassis)
        corners = zip((contact.points_x_m, contact.points_y_m, contact.points_z_m), base, strict=True)
        spans = [(min(points) - float(origin), max(points) - float(origin)) for points, origin in corners]
        (x_low, x_high), (y_low, y_high), (_, z_high) = spans
        return Body((x_low, y_low, 0.0), (x_high, y_high, z_high))

    def at(self, x: float, y: float, z: float, heading: float) -> Box:
        """The box with base_link at x, y, z [m] and a heading [rad]."""
        middle_x, middle_y = (0.5 * (self.low[k] + self.high[k]) for k in (0, 1))
        length, width, height = (self.high[k] - self.low[k] for k in range(3))
        cos, sin = math.cos(heading), math.sin(heading)
        return Box(
            x=x + cos * middle_x - sin * middle_y,
            y=y + sin * middle_x + cos * middle_y,
            base=z,
            length=length,
            width=width,
            height=height,
            yaw=heading,
        )


def overlap(box: Box, obstacles: Obstacles) -> bool:
    """Whether a box touches an obstacle, seen from above; looks at points of the box 0.2 m apart."""
    if not len(obstacles):
        return False
    along, across = (np.linspace(-0.5, 0.5, math.ceil(size / 0.2) + 1) * size for size in (box.length, box.width))
    u, v = np.meshgrid(along, across)
    cos, sin = math.cos(box.yaw), math.sin(box.yaw)
    return bool((obstacles.distance(box.x + cos * u - sin * v, box.y + sin * u + cos * v) <= 0.1).any())


def limits(shape: Box | Cylinder) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Lowest and highest x, y, z [m] of a shape."""
    vertices = shape.mesh().vertices
    low, high = vertices.min(axis=0).tolist(), vertices.max(axis=0).tolist()
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def own_limits(shape: Box | Cylinder) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Lowest and highest x, y, z [m] of a shape, from the middle of its underside, in its own axes."""
    if isinstance(shape, Box):
        half_length, half_width = 0.5 * shape.length, 0.5 * shape.width
    else:
        half_length = half_width = shape.radius
    return (-half_length, -half_width, 0.0), (half_length, half_width, shape.height)


def name_pattern(text: str) -> re.Pattern[str]:
    """A filter of names, a POSIX extended regular expression; empty: all names."""
    for name, members in POSIX_CLASSES.items():
        text = text.replace(name, members)
    try:
        return re.compile(text)
    except re.error as error:
        raise RejectionError(FAILED, f"filter: is not a regular expression: {error}") from None


def has_tags(tags: Container[str], wanted: Iterable[str], needs_all: bool) -> bool:
    """Whether tags pass a filter; no wanted tags let all pass."""
    found = [tag in tags for tag in wanted]
    return not found or (all(found) if needs_all else any(found))


def free_name(name: str, kind: str, taken: Container[str], allow_renaming: bool) -> str:
    """The name of a new entity: the given one, or, if allow_renaming, one with a number where it is taken or empty.

    kind: beginning of the name where it is empty. Raises RejectionError for an invalid name, and for one that would
    have to be changed but may not.
    """
    if name and not NAME.fullmatch(name):
        raise RejectionError(
            "NAME_INVALID", f"name: must be letters, digits and _, beginning with a letter, got {name!r}"
        )
    if name and name not in taken:
        return name
    if name and not allow_renaming:
        raise RejectionError("NAME_NOT_UNIQUE", f"name: {name} is taken; give another one or allow renaming")
    if not name and not allow_renaming:
        raise RejectionError("NAME_INVALID", "name: is empty; give one or allow renaming")
    stem = name or kind
    return next(found for number in itertools.count(1) if (found := f"{stem}_{number}") not in taken)
