"""Obstacles that are put up and removed while a run goes on, and the ground of a world that can be replaced."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from proving_ground.interfaces.fields import read_quaternion, read_vector
from proving_ground.interfaces.map_codec import read_shapes
from proving_ground.settings import setting
from proving_ground.settings.one_of import one_of
from terrain import obstacle_contact
from terrain.ground import Ground, GroundModel
from terrain.limits import LARGEST_COORDINATE
from terrain.obstacle_ground import with_obstacles
from terrain.obstacles import Box, Cylinder, Obstacles

LEVEL = 0.02  # sine of the largest tilt that counts as upright


def _size(default: float, words: str) -> float:
    value: float = setting(default, words, unit="m", minimum=0.01, maximum=1000.0)
    return value


@dataclass(frozen=True, kw_only=True)
class BoxSize:
    """Size of a box."""

    length_m: float = _size(2.0, "Length along the box's own x")
    width_m: float = _size(2.0, "Width along the box's own y")
    height_m: float = _size(1.5, "Height above the underside")

    def at(self, position: Sequence[float], yaw: float) -> Box:
        """The box with the middle of its underside at a position [m], rotated by a yaw [rad]."""
        x, y, base = position
        return Box(
            x=x, y=y, base=base, yaw=yaw, length=self.length_m, width=self.width_m, height=self.height_m,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CylinderSize:
    """Size of an upright cylinder."""

    radius_m: float = _size(0.3, "Radius of the cylinder")
    height_m: float = _size(1.8, "Height above the underside")

    def at(self, position: Sequence[float], yaw: float) -> Cylinder:
        """The cylinder with the middle of its underside at a position [m]."""
        x, y, base = position
        return Cylinder(x=x, y=y, base=base, radius=self.radius_m, height=self.height_m)


@dataclass(frozen=True, kw_only=True)
class Spawnable:
    """An obstacle without its pose: exactly one shape."""

    box: BoxSize | None = None
    cylinder: CylinderSize | None = None

    def __post_init__(self) -> None:
        one_of(self)

    @property
    def size(self) -> BoxSize | CylinderSize:
        """Size of the shape that is given."""
        size: BoxSize | CylinderSize = one_of(self)[1]
        return size


class ReplaceableGround:
    """Implements GroundModel by another ground, to which obstacles can be added; either may change between steps."""

    def __init__(self, ground: GroundModel) -> None:
        self.spawned = Obstacles()
        self.replace(ground)

    def kernel(self) -> Ground:
        """The ground in the form that kernels use."""
        return self._kernel

    def replace(self, ground: GroundModel) -> None:
        """Use another ground, with the same spawned obstacles."""
        self.ground = ground
        self.set_spawned(self.spawned)

    def set_spawned(self, spawned: Obstacles) -> None:
        """Use these obstacles besides those of the ground."""
        self.spawned = spawned
        self._kernel = with_obstacles(self.ground.kernel(), obstacle_contact.Obstacles(*spawned.solid_arrays()))


def obstacles_of(items: Iterable[Box | Cylinder]) -> Obstacles:
    """Boxes and cylinders as the obstacles of a world."""
    found = list(items)
    return Obstacles(
        boxes=tuple(item for item in found if isinstance(item, Box)),
        cylinders=tuple(item for item in found if isinstance(item, Cylinder)),
    )


def read_obstacles(message: Any) -> Obstacles:
    """Obstacles of a visualization_msgs/MarkerArray of cubes and cylinders; raises ValueError for an invalid one."""
    found: list[Box | Cylinder] = []
    for kind, marker in read_shapes(message):
        x, y, z = read_vector(marker.pose.position, "position", LARGEST_COORDINATE)
        length, width, height = read_vector(marker.scale, "scale", LARGEST_COORDINATE)
        common = {"x": x, "y": y, "base": z - 0.5 * height, "height": height}
        if kind == "cube":
            found.append(Box(**common, length=length, width=width, yaw=upright_yaw(marker.pose.orientation)))
        else:
            found.append(Cylinder(**common, radius=0.5 * length))
    return obstacles_of(found)


def upright_yaw(orientation: Any) -> float:
    """Yaw [rad] of a quaternion message; raises ValueError unless its z axis points upwards."""
    x, y, z, w = read_quaternion(orientation)
    if not math.hypot(2.0 * (x * z + y * w), 2.0 * (y * z - x * w)) <= LEVEL or w * w + z * z < 0.5:
        raise ValueError("must stand upright: only a rotation about z is allowed")
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
