"""Accelerations of a standing or steadily rolling vehicle: the residual of the equilibrium search."""

from __future__ import annotations

import numpy as np

from proving_ground.kernels.jit import part
from terrain.ground import Ground
from terrain.wheel import ContactStep
from vehicle_dynamics.driving.model import DrivingVehicle, DrivingWorkspace
from vehicle_dynamics.driving.state import MOVING_SIZE, SOIL
from vehicle_dynamics.driving.stepping import AXLE_MOMENT, Array, moving_rate

LONG = 1e6  # [s]: after this long, rolling is steady
SQUEEZES = 60
RATE = 0  # row of the work array `rates` with the result


@part
def balance_rates(
    vehicle: DrivingVehicle, ground: Ground, state: Array, is_rolling: bool, work: DrivingWorkspace
) -> None:
    """Rates of a standing vehicle whose brakes hold, or of one that rolls freely (is_rolling), into work.rates[RATE].

    The equilibrium state of wheels on soft soil is written into the state (62).
    """
    moving, soil, rate = state[:MOVING_SIZE], state[SOIL], work.rates[RATE]
    for index in range(4):
        work.brake_torque[index] = 0.0
    for k in range(len(work.shaft)):
        work.shaft[k] = 0.0
    span = ContactStep(LONG if is_rolling else 0.0, LONG, False)
    for k in range(len(soil)):
        soil[k] = 0.0
    # Newton's method for tyres in series with soft soil, with bounds: in a rut the soil's curve bends both ways.
    # On hard ground one step is enough.
    least, most = np.full(4, -1.0), np.full(4, np.inf)
    for _ in range(SQUEEZES):
        moving_rate(vehicle, ground, moving, soil, 0.0, span, work, rate)
        change = 0.0
        for index in range(4):
            before, after = soil[4 * index + 2], work.soil[4 * index + 2]
            if after > before:
                least[index] = before
            elif after < before:
                most[index] = before
            if not least[index] < after < most[index]:
                after = 0.5 * (least[index] + most[index])
            change = max(change, abs(after - before))
            soil[4 * index + 1], soil[4 * index + 2] = work.soil[4 * index + 1], after
            soil[4 * index + 3] = work.soil[4 * index + 3]
        if change < 1e-12:
            break
    if not is_rolling:
        for index in range(4):
            work.brake_torque[index] = -work.tyre[index, AXLE_MOMENT]
        moving_rate(vehicle, ground, moving, soil, 0.0, ContactStep(0.0, LONG, False), work, rate)
    for k in range(len(soil)):
        soil[k] = work.soil[k]
