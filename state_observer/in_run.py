"""An observer in a run, as a node or in lock-step: initialise at a known start, publish at a fixed rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from proving_ground.interfaces.digest import Digest
from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.observer import BasicObserver, Verdict
from vehicle_dynamics.start import Origin

SAMPLES = (EncoderSample, ImuSample, GpsSample)  # as state_observer.vehicle.layout.KINDS

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


class EstimateTimes(Stateful):
    """Times at which an observer publishes: once per period, at the newest sample; also after time jumps back."""

    STATE = ("estimate_ns",)

    def __init__(self, rate_hz: float) -> None:
        self._period_ns = round(NS_PER_S / rate_hz)
        self.estimate_ns = 0

    def is_due(self, time_ns: int) -> bool:
        """Whether to publish at this sample time; records it as published if so."""
        if time_ns // self._period_ns == self.estimate_ns // self._period_ns:
            return False
        self.estimate_ns = time_ns
        return True


class InstantObserver(Stateful):
    """An observer that gets all samples of an instant at once, as in lock-step and in a synchronous run."""

    STATE = ("_start", "times")  # the observer is a part of its owner

    def __init__(self, observer: BasicObserver, start: Origin | None, start_ns: int, rate_hz: float) -> None:
        """start: pose at start_ns, if it is known; rate_hz: of the estimates."""
        self.observer = observer
        self._begin, self._start_ns = start, start_ns
        self._start = start  # until it is used
        self.times = EstimateTimes(rate_hz)
        self.digest: Digest | None = None  # hashes inputs and outputs

    def reset(self) -> None:
        """Return to the initial state."""
        self.observer.reset()
        self._start = self._begin

    def process(
        self, arrival_ns: int, samples: Iterable[Any], on_verdict: Callable[[Verdict], None] = lambda verdict: None
    ) -> Any:
        """The estimate, a record of ESTIMATE, if one is due after the samples of an instant; else None.

        Samples that the observer does not use are ignored. Those of one time are passed in the filter's order: else
        it would have to rewind.
        """
        usable = [sample for sample in samples if isinstance(sample, SAMPLES)]
        for sample in sorted(usable, key=lambda item: (item.time_ns, SAMPLES.index(type(item)))):
            if self.digest is not None:
                self.digest.received(arrival_ns, _used(sample))
            on_verdict(self.observer.process(sample, arrival_ns))
            if self._start is not None and self.observer.filter.time_ns and not self.observer.is_running:
                on_verdict(begin_at(self.observer, self._start, self._start_ns))
                self._start = None
        if not (self.observer.is_running and self.times.is_due(self.observer.filter.time_ns)):
            return None
        estimate = self.observer.estimate()
        if self.digest is not None:
            self.digest.produced(arrival_ns, estimate)
        return estimate


def _used(sample: EncoderSample | ImuSample | GpsSample) -> tuple[Any, ...]:
    """The part of a sample that an observer uses; messages carry no more of it."""
    if isinstance(sample, ImuSample):
        return sample.time_ns, sample.angular_velocity, sample.force, sample.is_clipped
    if isinstance(sample, EncoderSample):
        return sample[:8]
    return (sample.time_ns, *(sample[2:8] if sample.quality else ()))
