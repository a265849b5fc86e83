"""Stop and continue a run, to the bit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import SettingsError
from terrain.ruts import EMPTY
from terrain.world_ground import RUT_CELLS, RutsCopy
from vehicle_dynamics.pedals import Pedals

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Checkpoint:
    """Complete state of a run."""

    period: int
    state: Array
    pedals: Pedals
    driver_state: tuple[float, ...]  # the driver's
    ruts: RutsCopy | None = None  # of soft ground
    sensors: dict[str, Any] | None = None  # if the scenario has sensors; not in the JSON text

    def to_json(self) -> str:
        """Text that from_json reads back to the bit, without the state of the sensors."""
        values = {
            "period": self.period,
            "state": self.state.tolist(),
            "pedals": self.pedals,
            "driver_state": self.driver_state,
        }
        if self.ruts is not None:
            used = np.flatnonzero(self.ruts.keys != EMPTY)
            keys, depth = self.ruts.keys[used].tolist(), self.ruts.depth[used].tolist()
            values["ruts"] = {"size": len(self.ruts.keys), "slot": used.tolist(), "key": keys, "depth": depth}
        return json.dumps(values)

    @staticmethod
    def from_json(text: str) -> Checkpoint:
        """Read the text; raises SettingsError when it is not a checkpoint."""
        try:
            values = json.loads(text)
            pedals = Pedals(*values["pedals"]).within_limits()
            state = np.array(values["state"], dtype=float)
            driver_state = tuple(float(value) for value in values["driver_state"])
            period = int(values["period"])
            ruts = _ruts_from(values["ruts"]) if "ruts" in values else None
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"not a checkpoint: {error}") from None
        if state.ndim != 1 or not np.isfinite(state).all() or period < 0:
            raise SettingsError("not a checkpoint: its state must be a list of finite numbers")
        return Checkpoint(period, state, pedals, driver_state, ruts)


def _ruts_from(values: dict[str, Any]) -> RutsCopy:
    """Ruts of a checkpoint's text; raises ValueError, TypeError or KeyError for malformed text."""
    size = int(values["size"])
    if not 1 <= size <= RUT_CELLS:
        raise ValueError(f"ruts: size must be from 1 to {RUT_CELLS}, got {size}")
    keys, depth = np.full(size, EMPTY), np.zeros(size, np.float32)
    slot = np.array(values["slot"], dtype=np.int64)
    if slot.size and not (slot.min() >= 0 and slot.max() < size):
        raise ValueError("ruts: a slot is beyond the size")
    keys[slot], depth[slot] = values["key"], values["depth"]
    return RutsCopy(keys, depth)
