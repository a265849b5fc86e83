"""End of a run: its time is up, or its drive is over and the vehicle stands."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.settings import setting
from proving_ground.settings.units import LONGEST_RUN_S
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.motion import STANDS_MPS

STANDS_FOR_S = 1.0  # standstill that ends a finished drive


@dataclass
class Standing:
    """Records since when the vehicle stands."""

    since_s: float | None = None

    def record(self, time_s: float, speed: float) -> None:
        """Record the speed [m/s] at a time since the start."""
        if abs(speed) >= STANDS_MPS:
            self.since_s = None
        elif self.since_s is None:
            self.since_s = time_s

    def ends(self, time_s: float, *, is_over: bool) -> bool:
        """The driver has arrived or given up, and the vehicle has stood for a second."""
        return is_over and self.since_s is not None and time_s - self.since_s >= STANDS_FOR_S


def periods_of(duration_s: float) -> int:
    """Control periods of a run of a duration, at least one."""
    return max(round(duration_s / PERIOD_S), 1)


@dataclass(frozen=True, kw_only=True)
class EndSettings:
    """Conditions under which time stops by itself."""

    duration_s: float = setting(
        0.0,
        "Simulated time after which time stops; 0: never",
        unit="s",
        minimum=0.0,
        maximum=LONGEST_RUN_S,
        read_only=True,
    )
    with_drive: bool = setting(
        False, "Stop time when the planner has arrived or given up and the vehicle stands", read_only=True
    )


class RunEnd:
    """Whether a run is over, asked at the beginning of each control period."""

    def __init__(self, settings: EndSettings) -> None:
        self._periods = periods_of(settings.duration_s) if settings.duration_s else None
        self._with_drive = settings.with_drive
        self.reset()

    def reset(self) -> None:
        """Reset to the initial state."""
        self._standing, self._is_over = Standing(), False

    def record(self, time_s: float, speed: float, *, is_over: bool) -> None:
        """Record the speed [m/s] at a control instant, and whether the driver has ended its drive by then."""
        self._standing.record(time_s, speed)
        self._is_over = self._with_drive and self._standing.ends(time_s, is_over=is_over)

    def is_over(self, period: int) -> bool:
        """Whether the run ends before this period."""
        return self._is_over or (self._periods is not None and period >= self._periods)
