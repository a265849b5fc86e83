"""An observer in a run, as a node or in lock-step: initialise at a known start, publish at a fixed rate."""

from __future__ import annotations

from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.observer import BasicObserver, Verdict
from vehicle_dynamics.start import Origin

START_VARIANCE, HEADING_VARIANCE = 0.1**2, 0.02**2  # of the start pose [m^2, rad^2]
LATEST_START_S = 1.0  # within this time of the start, dead-reckon from the start pose
FORCES_EVERY = 10  # estimates per message of tyre forces
UNSURE_START_S = 0.1  # uncertainty of when a rolling start began, if its time is unknown


def begin_at(observer: BasicObserver, start: Origin, start_ns: int) -> Verdict:
    """Initialise at a start pose of a given time [ns since 1970]; the observer must have received a sample."""
    variance, late_s = START_VARIANCE, (observer.filter.time_ns - start_ns) / NS_PER_S
    if 0.0 <= late_s < LATEST_START_S:
        start = start.rolled(late_s)
    else:  # unknown start time, or a reset while time ran on
        variance += (UNSURE_START_S * start.speed) ** 2
    return observer.set_pose(
        start.x, start.y, start.heading, speed=start.speed, position_variance=variance,
        heading_variance=HEADING_VARIANCE,
    )  # fmt: skip


class EstimateTimes:
    """When an observer publishes: one estimate per period, at the newest sample; also after time jumps back."""

    def __init__(self, rate_hz: float) -> None:
        self._period_ns = round(NS_PER_S / rate_hz)
        self.estimate_ns = 0

    def is_due(self, time_ns: int) -> bool:
        """Whether to publish at this sample time; records it as published if so."""
        if time_ns // self._period_ns == self.estimate_ns // self._period_ns:
            return False
        self.estimate_ns = time_ns
        return True
