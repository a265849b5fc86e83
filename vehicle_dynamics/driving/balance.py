"""Accelerations of a vehicle that stands or rolls steadily: what a search for its balance asks for."""

from __future__ import annotations

from terrain.ground import Ground
from vehicle_dynamics.driving.model import DrivingVehicle, DrivingWorkspace
from vehicle_dynamics.driving.stepping import AXLE_MOMENT, Array, moving_rate
from vehicle_dynamics.kernels.jit import part

LONG = 1e6  # [s]: a roll that has lasted this long is steady
SQUEEZES = 30


@part
def balance_rates(
    vehicle: DrivingVehicle,
    ground: Ground,
    moving: Array,
    soil: Array,
    is_rolling: bool,
    work: DrivingWorkspace,
    rate: Array,
) -> None:
    """Rates with the brakes holding a standing vehicle's wheels, or with free wheels; soil (12) as it is in balance."""
    for index in range(4):
        work.brake_torque[index] = 0.0
    work.shaft[0], work.shaft[1] = 0.0, 0.0
    elapsed = LONG if is_rolling else 0.0
    for k in range(len(soil)):
        soil[k] = 0.0
    for _ in range(SQUEEZES):  # Newton's method for tyres in series with soft soil; on hard ground one would do
        moving_rate(vehicle, ground, moving, soil, 0.0, elapsed, LONG, work, rate)
        change = 0.0
        for index in range(4):
            change = max(change, abs(soil[3 * index + 2] - work.soil[3 * index + 2]))
            soil[3 * index + 1], soil[3 * index + 2] = work.soil[3 * index + 1], work.soil[3 * index + 2]
        if change < 1e-12:
            break
    if not is_rolling:
        for index in range(4):
            work.brake_torque[index] = -work.tyre[index, AXLE_MOMENT]
        moving_rate(vehicle, ground, moving, soil, 0.0, 0.0, LONG, work, rate)
    for k in range(len(soil)):
        soil[k] = work.soil[k]
