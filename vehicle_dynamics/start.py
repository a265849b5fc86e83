"""Pose and time at which a run begins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from proving_ground.settings import setting
from proving_ground.settings.dates import date_ns
from terrain.world import World

FAR_M = 1e7


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

    x_m: float = setting(0.0, "Position of base_link along x", unit="m", minimum=-FAR_M, maximum=FAR_M, read_only=True)
    y_m: float = setting(0.0, "Position of base_link along y", unit="m", minimum=-FAR_M, maximum=FAR_M, read_only=True)
    heading_deg: float = setting(
        0.0, "Heading of base_link, from x to the left", unit="deg", minimum=-360.0, maximum=360.0, read_only=True
    )
    speed_mps: float = setting(
        0.0, "Forward speed at the start", unit="m/s", minimum=-10.0, maximum=40.0, read_only=True
    )
    gear: int = setting(0, "Gear engaged at the start; 0 picks one by speed", minimum=0, maximum=12, read_only=True)
    at_world: bool = setting(
        False,
        "Start at the world's start pose; false, or any start value other than 0: at the given x, y and heading",
        read_only=True,
    )
    date: str = setting("2026-01-01T00:00:00Z", "Date and time of the first instant, with time zone", read_only=True)

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
