"""A vehicle with its workspace as one object for kernels, and the kernels called from Python with it.

numba unpacks nested tuples and arrays on every call, 12 us for this vehicle. A structref is one pointer to what
was unpacked once: a call takes 3 us.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core.types import StructRef, unliteral  # type: ignore[attr-defined]
from numba.experimental import structref

from proving_ground.kernels.jit import kernel
from terrain.ground import Ground
from vehicle_dynamics.driving.balance import balance_rates
from vehicle_dynamics.driving.model import DrivingVehicle, DrivingWorkspace
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord, fill_snapshot
from vehicle_dynamics.driving.stepping import Array, make_steps
from vehicle_dynamics.pedals import Pedals

ADVANCE, OBSERVE, BALANCE, BALANCE_ROLLING = range(4)
_BLANK, _HANDS_OFF = np.zeros(1, SNAPSHOT), Pedals()


@structref.register
class _HandleType(StructRef):
    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, unliteral(kind)) for name, kind in fields)


class Handle(structref.StructRefProxy):
    """A vehicle, its workspace and its method as one object for kernels, made by `handle`.

    The arrays of the workspace stay the caller's own.
    """


structref.define_constructor(Handle, _HandleType, ["vehicle", "work", "method"])
structref.define_boxing(_HandleType, Handle)


@kernel
def handle(vehicle: DrivingVehicle, work: DrivingWorkspace, method: int) -> Handle:
    """Vehicle, workspace and the method of its steps as one object."""
    return Handle(vehicle, work, method)


@kernel
def _act(
    held: Any, what: int, ground: Ground, pedals: Pedals, step: float, steps: int, state: Array, out: SnapshotRecord
) -> int:
    """All operations on a vehicle in one kernel: three kernels would compile the same code three times."""
    if what == ADVANCE:
        return make_steps(held.vehicle, ground, pedals, held.method, step, steps, state, held.work)
    if what == OBSERVE:
        return 1 if fill_snapshot(held.vehicle, ground, pedals, state, held.work, out) else 0
    balance_rates(held.vehicle, ground, state, what == BALANCE_ROLLING, held.work)
    return 0


def advance(held: Any, ground: Ground, pedals: Pedals, step: float, steps: int, state: Array) -> int:
    """Advance the state in place by steps of `step` [s] with the pedals held; returns the number of steps made.

    Fewer than requested means that the motion diverged: the state is the last valid one.
    """
    return _act(held, ADVANCE, ground, pedals, step, steps, state, _BLANK)


def observe(held: Any, ground: Ground, pedals: Pedals, state: Array, out: SnapshotRecord) -> bool:
    """Fill the first record of out with the present snapshot; False for a state that is not physically admissible."""
    return _act(held, OBSERVE, ground, pedals, 0.0, 0, state, out) == 1


def balanced_rates(held: Any, ground: Ground, state: Array, is_rolling: bool) -> None:
    """Rates of a standing or freely rolling vehicle, from Python; see balance.balance_rates."""
    _act(held, BALANCE_ROLLING if is_rolling else BALANCE, ground, _HANDS_OFF, 0.0, 0, state, _BLANK)
