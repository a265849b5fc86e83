"""When a drive to a goal ends, in lock-step and over ROS."""

from __future__ import annotations

from dataclasses import dataclass

from planner.progress import Status
from vehicle_dynamics.motion import STANDS_MPS

STANDS_FOR_S = 1.0  # standstill that ends a finished drive
OVER = (Status.ARRIVED.value, Status.FAILED.value)


@dataclass
class Standing:
    """Time since which the vehicle stands."""

    since_s: float | None = None

    def record(self, time_s: float, speed: float) -> None:
        """Record the speed [m/s] at a time since the start."""
        if abs(speed) >= STANDS_MPS:
            self.since_s = None
        elif self.since_s is None:
            self.since_s = time_s

    def ends(self, time_s: float, status: str) -> bool:
        """The planner has arrived or given up, and the vehicle has stood for a second; status: the planner's."""
        return status in OVER and self.since_s is not None and time_s - self.since_s >= STANDS_FOR_S
