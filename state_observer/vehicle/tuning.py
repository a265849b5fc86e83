"""Process noise from a recording alone ([Sanjurjo] Section 3.6): innovations must be white, and as large as expected.

No truth is needed. Coordinate search: each parameter is tried at a few factors, the best is kept, for some rounds. The
objective is noisy; a finer search would not help.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from state_observer.vehicle.observer import BasicObserver
from state_observer.vehicle.settings import ObserverSettings
from state_observer.vehicle.track import Track, observe
from state_observer.vehicle.validation import Sample

Array = NDArray[np.float64]

FACTORS = (0.1, 1.0 / 3.0, 3.0, 10.0)
FEWEST = 20  # samples of a sensor for a meaningful result
LOST = 1e3  # objective of an observer that never starts


@dataclass(frozen=True)
class Tuned:
    """Settings found by tuning, with the objective before and after."""

    settings: Any  # as given, with tuned noise
    objective: float
    before: float  # objective of the settings given
    history: tuple[tuple[str, float, float], ...]  # parameter, value and objective of each improvement


@dataclass(frozen=True)
class Whiteness:
    """Whiteness of one sensor's innovations."""

    nis: float  # per degree of freedom; 1 is consistent
    correlation: float  # between successive samples; 0 is white

    @property
    def cost(self) -> float:
        """Deviation from white innovations: 0 is perfect; too small a NIS costs as much as too large a one."""
        return math.log(max(self.nis, 1e-6)) ** 2 + self.correlation**2


def whiteness(track: Track) -> dict[str, Whiteness]:
    """Whiteness of each sensor with enough samples; the track must have kept its innovations."""
    found = {}
    for name, values in track.innovations.items():
        if len(values) < FEWEST:
            continue
        used = values[:, np.any(values != 0.0, axis=0)]
        if not used.size:
            continue
        deviation = used - used.mean(axis=0)
        correlation = (deviation[1:] * deviation[:-1]).sum() / max((deviation**2).sum(), 1e-12)
        found[name] = Whiteness(track.health.mean_nis[name], float(correlation))
    return found


def tune(
    samples: Sequence[Sample],
    settings: ObserverSettings,
    make: Callable[[Any], BasicObserver],
    *,
    parameters: Sequence[str] | None = None,
    sensors: Sequence[str] = ("gps_position", "gps_velocity", "gyro", "accelerometer"),
    rounds: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> Tuned:
    """The settings with the noise parameters that make the innovations of a recording whitest.

    make: an observer from settings, as VehicleObserver or InsObserver; parameters: names in settings.noise, by default
    all; sensors: whose innovations count (those of the wheels are quantised, never white).
    """
    noise: Any = settings.noise  # type: ignore[attr-defined]
    names = list(parameters) if parameters is not None else [item.name for item in fields(noise)]
    unknown = set(names) - {item.name for item in fields(noise)}
    if unknown:
        raise ValueError(f"parameters: unknown {', '.join(sorted(unknown))}")

    def cost(candidate: Any) -> float:
        track = observe(samples, make(candidate), keep_innovations=True)
        found = [value.cost for name, value in whiteness(track).items() if name in sensors]
        return float(np.mean(found)) if found else LOST

    best: Any = settings
    before = lowest = cost(best)
    history: list[tuple[str, float, float]] = []
    for _ in range(rounds):
        improved = False
        for name in names:
            start = getattr(best.noise, name)
            for factor in FACTORS if start > 0.0 else ():
                tried = replace(best, noise=replace(best.noise, **{name: start * factor}))
                value = cost(tried)
                if value < lowest:
                    best_now, lowest, improved = tried, value, True
                    history.append((name, start * factor, value))
                    say(f"{name} {start * factor:g}: {value:.4f}")
            if history and history[-1][0] == name:
                best = best_now
        if not improved:
            break
    return Tuned(best, lowest, before, tuple(history))
