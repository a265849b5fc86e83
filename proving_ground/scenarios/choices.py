"""Section of a scenario file that chooses an observer."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.settings import setting
from state_observer.kinds import OBSERVER_KINDS


@dataclass(frozen=True, kw_only=True)
class ObserverChoice:
    """Choice of the observer that estimates the motion from the sensors."""

    kind: str = setting(
        "vehicle",
        "Kind of observer: vehicle (errorEKF around a vehicle model), ins (strapdown INS), or a registered kind",
    )
    settings: str = setting(
        "", "YAML file of the observer's settings, relative to this one; empty: that of config/observers"
    )
    knows_start: bool = setting(
        True, "Whether the observer is given the initial pose, as by /initialpose; else it initialises itself"
    )

    def __post_init__(self) -> None:
        if self.kind not in OBSERVER_KINDS:
            raise ValueError(f"kind: must be one of {', '.join(OBSERVER_KINDS)}, got {self.kind!r}")
