"""Scripted faults, to test consumers of sensor data: distorted readings and disturbed delivery.

>>> fault = Fault(kind="bias", start_s=10.0, length_s=5.0, value=2.0, channel="east")
>>> line = FaultLine([fault], ("east", "north"), seed=1, name="gps")
>>> line.distort(12.0, np.array([100.0, 200.0])).tolist()
[102.0, 200.0]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.faults import TimedFault, faults_at
from proving_ground.saving.stateful import Stateful, restored
from proving_ground.settings import setting
from sensors.streams import stream

Array = NDArray[np.float64]

SPIKES = 0.1  # share of samples affected by a spike fault
FREEZE = "freeze"
FAULTS = MappingProxyType(
    {  # kind: what happens, and what `value` means
        FREEZE: "the last reading is repeated",
        "bias": "value is added",
        "drift": "value per second is added, from 0",
        "scale": "readings are multiplied by value",
        "noise": "white noise of standard deviation value is added",
        "spike": f"value is added to or taken from {SPIKES:.0%} of the samples",
        "nan": "readings are not a number",
        "outage": "nothing is sent",
        "drop": "a share of value (0 to 1) of the samples is lost",
        "delay": "samples arrive value seconds later",
        "duplicate": "each sample is sent twice",
        "reorder": "samples arrive up to value seconds later, in any order",
    }
)
DELIVERY_FAULTS = ("outage", "drop", "delay", "duplicate", "reorder")


@dataclass(frozen=True, kw_only=True)
class Fault(TimedFault):
    """A fault of a sensor with its start and length."""

    form: ClassVar[str] = "KIND START_S LENGTH_S [VALUE [CHANNEL]]"
    where_field: ClassVar[str] = "channel"

    kind: str = setting(..., "Kind of the fault", choices=tuple(FAULTS))
    value: float = setting(
        0.0, "Size of the fault, as its kind defines it, in the channel's unit", minimum=-1e9, maximum=1e9
    )
    channel: str = setting("", "Beginning of the names of the affected channels; empty: all")

    def __post_init__(self) -> None:
        if self.kind == "drop" and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"value: of drop must be from 0 to 1, got {self.value:g}")
        if self.kind in ("delay", "reorder", "noise") and self.value < 0.0:
            raise ValueError(f"value: of {self.kind} must not be negative, got {self.value:g}")
        if self.kind in DELIVERY_FAULTS and self.channel:
            raise ValueError(f"channel: {self.kind} affects whole samples, leave it empty")

    def mask(self, channels: Sequence[str]) -> NDArray[np.bool_]:
        """Affected channels; raises ValueError if there are none."""
        return channel_mask(self.channel, channels)


def channel_mask(beginning: str, channels: Sequence[str]) -> NDArray[np.bool_]:
    """Channels whose name begins with a text; raises ValueError if there are none."""
    mask = np.array([name.startswith(beginning) for name in channels])
    if not mask.any():
        raise ValueError(f"channel: must be the beginning of one of {', '.join(channels)}, got {beginning!r}")
    return mask


class _Part(NamedTuple):
    """A fault with its own random numbers, which do not depend on the sensor's other faults."""

    fault: Fault
    mask: NDArray[np.bool_]
    random: np.random.Generator
    since_s: float  # when it began, or was set if that is later


class FaultLine(Stateful):
    """The faults of one sensor. Without faults it changes nothing and draws no random numbers."""

    STATE = ("_time_s", "_sent", "_parts")

    def __init__(self, faults: Iterable[Fault], channels: Sequence[str], seed: int, name: str) -> None:
        """channels: names of a reading's elements. Raises ValueError for a fault of an unknown channel."""
        self._channels, self._seed, self._name = channels, seed, name
        self._parts: dict[str, _Part] = {}
        self._time_s = -math.inf
        self.set(faults)
        self.reset()

    def set(self, faults: Iterable[Fault]) -> None:
        """Replace the faults; those that stay continue undisturbed."""
        faults = tuple(faults)
        parts: dict[str, _Part] = {}
        for fault in faults:
            words = f"{fault.kind} {fault.start_s!r} {fault.length_s!r} {fault.value!r} {fault.channel}"
            alike = sum(key.startswith(f"{words} #") for key in parts)
            key = f"{words} #{alike}"
            parts[key] = self._parts.get(key) or self._part(key, fault)
        self.faults, self._parts = faults, parts

    def reset(self) -> None:
        """Return to the initial state."""
        self._time_s = -math.inf
        self._sent: Array | None = None
        self._parts = {key: self._part(key, part.fault) for key, part in self._parts.items()}

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """Restore as Stateful does; the faults stay those of the settings, from their saved state if any."""
        own, saved = self._parts, state["_parts"]
        super().restore_state(state, keep_random=keep_random)
        self._parts = {key: restored(part, saved.get(key, part), keep_random) for key, part in own.items()}

    def faults_at(self, time_s: float) -> tuple[Fault, ...]:
        """Faults active at a time since the start [s]."""
        return faults_at(self.faults, time_s)

    def distort(self, time_s: float, reading: Array) -> Array:
        """Reading with the active faults; channels are along the last axis."""
        self._time_s = time_s
        if not self._parts:
            self._sent = reading.copy()
            return reading
        wrong = reading
        frozen = np.zeros(len(self._channels), dtype=bool)
        for part in self._parts.values():
            if not part.fault.is_on(time_s) or part.fault.kind in DELIVERY_FAULTS:
                continue
            if part.fault.kind == FREEZE:
                frozen |= part.mask
            else:
                wrong = np.where(part.mask, _distorted(part, time_s, wrong), wrong)
        if self._sent is not None and frozen.any():
            wrong = np.where(frozen, self._sent, wrong)
        self._sent = wrong.copy()
        return wrong

    def delays(self, time_s: float) -> list[float]:
        """Extra delay of each copy of a sample that is sent [s]; empty if it is lost."""
        is_lost, late, copies = False, 0.0, 1
        for fault, _, random, _ in self._parts.values():
            if not fault.is_on(time_s):
                continue
            if fault.kind == "outage":
                is_lost = True
            elif fault.kind == "drop":
                is_lost |= random.random() < fault.value
            elif fault.kind == "delay":
                late += fault.value
            elif fault.kind == "reorder":
                late += fault.value * random.random()
            elif fault.kind == "duplicate":
                copies *= 2
        return [] if is_lost else [late] * copies

    def _part(self, key: str, fault: Fault) -> _Part:
        random = stream(self._seed, self._name, "faults", key)
        return _Part(fault, fault.mask(self._channels), random, max(fault.start_s, self._time_s))


def _distorted(part: _Part, time_s: float, reading: Array) -> Array:
    fault, _, random, since_s = part
    if fault.kind == "bias":
        return reading + fault.value
    if fault.kind == "drift":
        return reading + fault.value * (time_s - since_s)
    if fault.kind == "scale":
        # Keep infinite readings (no return of a LIDAR): 0 times infinity is NaN.
        return np.multiply(reading, fault.value, out=np.array(reading), where=np.isfinite(reading))
    if fault.kind == "noise":
        return reading + fault.value * random.normal(size=reading.shape)
    if fault.kind == "spike":
        share, sign = random.random(size=2)
        return reading + (math.copysign(fault.value, sign - 0.5) if share < SPIKES else 0.0)
    return np.full_like(reading, np.nan)
