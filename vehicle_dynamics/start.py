"""Pose and time at which a run begins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from proving_ground.settings import setting
from proving_ground.settings.dates import date_ns
from proving_ground.settings.units import FAR_M
from terrain.world import World

SLOWEST_MPS, FASTEST_MPS = -10.0, 40.0  # at the start


class Origin(NamedTuple):
    """Pose and speed of base_link at the first instant."""

    x: float  # [m]
    y: float
    heading: float  # [rad], from x to the left
    speed: float = 0.0  # [m/s]

    def rolled(self, seconds: float) -> Origin:
        """The origin after rolling straight ahead at constant speed for a time [s]."""
        distance = self.speed * seconds
        return self._replace(x=self.x + distance * math.cos(self.heading), y=self.y + distance * math.sin(self.heading))


@dataclass(frozen=True, kw_only=True)
class Start:
    """The first instant of a run; the vehicle starts in equilibrium."""

    x_m: float = setting(
        0.0, "Position of base_link at the start, along x of the world",
        unit="m", minimum=-FAR_M, maximum=FAR_M, read_only=True,
    )  # fmt: skip
    y_m: float = setting(
        0.0, "Position of base_link at the start, along y of the world",
        unit="m", minimum=-FAR_M, maximum=FAR_M, read_only=True,
    )  # fmt: skip
    heading_deg: float = setting(
        0.0, "Heading of base_link at the start, counter-clockwise from x of the world",
        unit="deg", minimum=-360.0, maximum=360.0, read_only=True,
    )  # fmt: skip
    speed_mps: float = setting(
        0.0, "Forward speed at the start", unit="m/s", minimum=SLOWEST_MPS, maximum=FASTEST_MPS, read_only=True
    )
    gear: int = setting(
        0, "Forward gear engaged at the start; 0: chosen by speed", minimum=0, maximum=12, read_only=True
    )
    at_world: bool = setting(
        False,
        "Start at the start pose of the world's file, unless start.x_m, y_m or heading_deg is set",
        read_only=True,
    )
    date: str = setting(
        "2026-01-01T00:00:00Z",
        "Simulated date and time at the start of the run, ISO 8601 with time zone",
        read_only=True,
    )

    def __post_init__(self) -> None:
        self.time_ns()

    def time_ns(self) -> int:
        """The date as nanoseconds since 1970."""
        return date_ns("date", self.date)

    def origin(self, world: World | None) -> Origin:
        """Pose and speed at the start, given the world if there is one."""
        x, y, heading = self.x_m, self.y_m, math.radians(self.heading_deg)
        if world is not None and self.at_world and (x, y, heading) == (0.0, 0.0, 0.0):
            x, y, heading = world.start.x, world.start.y, world.start.heading
        return Origin(x, y, heading, self.speed_mps)


RENAMED_START = {
    f"start_{name}": f"start.{name}" for name in ("x_m", "y_m", "heading_deg", "speed_mps", "gear", "at_world", "date")
}
