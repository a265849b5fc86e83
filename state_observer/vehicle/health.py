"""Health of an observer: status, warnings and counts, for diagnostics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.filter_base import FROZEN, FilterBase
from state_observer.vehicle.layout import KINDS, SENSORS

Array = NDArray[np.float64]

STARTING, ALIGNING, ALIGNED = "starting", "aligning", "aligned"
DEAD_RECKONING, INVALID = "dead reckoning", "invalid"
FEWEST = 30  # samples for a meaningful mean
MUCH_TOO_LARGE = 4.0  # recent mean NIS per degree of freedom; 1 is consistent


class Health(NamedTuple):
    """Status of an observer, warnings, and counts of used and rejected samples."""

    status: str  # starting, aligning, aligned, dead reckoning, invalid
    warnings: tuple[str, ...]
    rejected: dict[str, int]  # by reason
    gated: dict[str, int]  # by sensor
    used: dict[str, int]
    mean_nis: dict[str, float]  # per degree of freedom; NaN without samples
    recent_nis: dict[str, float]
    resets: int  # of the position, after lasting disagreement with GPS
    jump_m: float  # size of the latest reset
    restarts: int  # after divergence
    replays: int  # late samples inserted by replay
    held: int  # samples held until their time


def assess(
    filter_: FilterBase,
    clock_ns: int,
    silences: Mapping[str, str],
    rejected: Mapping[str, int],
    held: int,
    replays: int,
) -> Health:
    """Health of a filter.

    clock_ns: current time; silences: warning for each of KINDS, or empty; rejected: counts by reason;
    held: number of samples held until their time comes; replays: how often late samples made the filter go back.
    """
    now = filter_.filter_state[0]
    with np.errstate(invalid="ignore"):
        mean = now["nis"] / now["degrees_of_freedom"]
    return Health(
        status=_status(filter_, clock_ns),
        warnings=tuple(_warnings(filter_, silences)),
        rejected=dict(rejected),
        gated=_named(now["gated"], int),
        used=_named(now["used"], int),
        mean_nis=_named(mean, float),
        recent_nis=_named(now["recent"], float),
        resets=int(now["resets"]),
        jump_m=float(np.hypot(now["jump"][0], now["jump"][1])),
        restarts=int(now["restarts"]),
        replays=replays,
        held=held,
    )


def _status(filter_: FilterBase, clock_ns: int) -> str:
    now, settings = filter_.filter_state[0], filter_.settings
    if not filter_.is_running:
        return STARTING
    silent = (max(clock_ns, int(now["time_ns"])) - int(now["fixed_ns"])) / NS_PER_S
    if silent > settings.timing.invalid_after_s:
        return INVALID
    if silent > settings.timing.dead_reckoning_after_s:
        return DEAD_RECKONING
    yaw_std = math.sqrt(max(float(filter_.estimate()["covariance"][5, 5]), 0.0))
    return ALIGNED if yaw_std < settings.start.aligned_std else ALIGNING


def _warnings(filter_: FilterBase, silences: Mapping[str, str]) -> list[str]:
    now = filter_.filter_state[0]
    found = [f"start: {filter_.start_trouble}"] if filter_.start_trouble else []
    for index, kind in enumerate(KINDS):
        if silences[kind]:
            found.append(f"{kind}: {silences[kind]}")
        if now["same"][index] >= FROZEN[index]:
            found.append(f"{kind}: frozen")
    for k, name in enumerate(SENSORS):
        if now["used"][k] + now["gated"][k] > FEWEST and now["recent"][k] > MUCH_TOO_LARGE:
            found.append(f"{name}: innovations too large, NIS {now['recent'][k]:.1f}")
    if now["disagreed_ns"]:
        found.append("gps: disagrees with the other sensors")
    return found


def _named(values: Array, kind: Any) -> dict[str, Any]:
    return {name: kind(value) for name, value in zip(SENSORS, values, strict=True)}
