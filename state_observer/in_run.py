"""What an observer does in a run, in its node and in lock-step: begins at a start that is known, tells at a rate."""

from __future__ import annotations

from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.observer import BasicObserver, Verdict
from vehicle_dynamics.start import Origin

START_VARIANCE, HEADING_VARIANCE = 0.1**2, 0.02**2  # of the start [m^2, rad^2]
LATEST_START_S = 1.0  # within this time of the start, dead-reckon from the start pose
FORCES_EVERY = 10  # estimates
UNSURE_START_S = 0.1  # uncertainty of when a rolling start began, if its date is unknown


def begin_at(observer: BasicObserver, start: Origin, start_ns: int) -> Verdict:
    """Begin at a start of a date [ns since 1970]; the observer has heard its first sample."""
    variance, late_s = START_VARIANCE, (observer.filter.time_ns - start_ns) / NS_PER_S
    if 0.0 <= late_s < LATEST_START_S:
        start = start.rolled(late_s)
    else:  # no date, or a reset while time ran on
        variance += (UNSURE_START_S * start.speed) ** 2
    return observer.set_pose(
        start.x, start.y, start.heading, speed=start.speed, position_variance=variance,
        heading_variance=HEADING_VARIANCE,
    )  # fmt: skip


class EstimateTimes:
    """When an observer tells: one estimate a period, at the newest sample; also when time went back."""

    def __init__(self, rate_hz: float) -> None:
        self._period_ns = round(NS_PER_S / rate_hz)
        self.told_ns = 0

    def is_due(self, time_ns: int) -> bool:
        """Whether to tell at a time of the samples; if so, it is told."""
        if time_ns // self._period_ns == self.told_ns // self._period_ns:
            return False
        self.told_ns = time_ns
        return True
