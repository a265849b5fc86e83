"""Tractive effort of each gear and range over speed, from the vehicle's parameters, and what grades ask for.

A closed form beside the simulation: steady state of engine and converter, no wheel slip, no inertia.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.validation.mobility.rig import RPM
from vehicle_dynamics.drive.drive_parameters import ConverterPowertrain
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.rig import Array, Rig
from vehicle_dynamics.tyre.inflation import tyre_of_wheel

HALVINGS = 60  # of the range in which the engine's speed is sought
SLOWEST = 1e-6  # [rad/s]
FASTEST_MPS = 40.0


class Curve(NamedTuple):
    """Tractive effort of one gear in one range at full throttle."""

    transfer: str  # name of the range
    gear: int  # from 1
    speed: Array  # [m/s]
    effort: Array  # torque of all wheels over their loaded radius [N]
    is_used: NDArray[np.bool_]  # where the gearbox stays in this gear
    is_governed: NDArray[np.bool_]  # where the governor holds the engine back

    def name(self) -> str:
        """Range and gear, such as H1."""
        return f"{self.transfer}{self.gear}"


class Wheels(NamedTuple):
    """Means of the four tyres of a standing vehicle."""

    loaded_radius: float  # from the axle to the ground [m]
    rolling_radius: float  # distance per angle of a free wheel [m]
    rolling_resistance: float  # torque over load and loaded radius


def turbine_torque(powertrain: ConverterPowertrain, turbine_speed: Array) -> Array:
    """Torque [N m] of the converter's output at full throttle and speeds [rad/s].

    The engine runs where its torque is what the converter's pump takes, (speed / capacity)^2. Where it has less than
    the pump takes at equal speeds, as beyond the governed speed, both turn together and its torque passes through.
    """
    engine_speed = engine_speed_at(powertrain, turbine_speed)
    ratio = turbine_speed / engine_speed
    taken = (engine_speed / np.interp(ratio, powertrain.capacity_speed_ratio, powertrain.capacity)) ** 2
    torque = taken * np.interp(ratio, powertrain.torque_speed_ratio, powertrain.torque_ratio)
    found: Array = np.where(is_coupled(powertrain, turbine_speed), engine_torque(powertrain, turbine_speed), torque)
    return found


def engine_speed_at(powertrain: ConverterPowertrain, turbine_speed: Array) -> Array:
    """Speed [rad/s] of the engine at full throttle, with the converter's output at given speeds [rad/s]."""
    slow: Array = turbine_speed.copy()
    fast: Array = np.full_like(turbine_speed, powertrain.full_throttle_rpm[-1] * RPM)
    for _ in range(HALVINGS):
        middle = 0.5 * (slow + fast)
        is_below = _surplus(powertrain, middle, turbine_speed) > 0.0
        slow, fast = np.where(is_below, middle, slow), np.where(is_below, fast, middle)
    return slow


def is_governed(powertrain: ConverterPowertrain, turbine_speed: Array) -> NDArray[np.bool_]:
    """Whether the engine is faster than any speed at which it has three quarters of its largest torque."""
    torque = engine_torque(powertrain, np.multiply(powertrain.full_throttle_rpm, RPM))
    rated = max(rpm for rpm, nm in zip(powertrain.full_throttle_rpm, torque, strict=True) if nm >= 0.75 * torque.max())
    beyond: NDArray[np.bool_] = engine_speed_at(powertrain, turbine_speed) > rated * RPM
    return beyond


def is_coupled(powertrain: ConverterPowertrain, turbine_speed: Array) -> NDArray[np.bool_]:
    """Whether the engine at full throttle has less torque than the pump takes at equal speeds [rad/s]."""
    coupled: NDArray[np.bool_] = _surplus(powertrain, np.maximum(turbine_speed, SLOWEST), turbine_speed) < 0.0
    return coupled


def engine_torque(powertrain: ConverterPowertrain, speed: Array) -> Array:
    """Torque [N m] of the engine at full throttle and speeds [rad/s]."""
    torque: Array = np.interp(speed / RPM, powertrain.full_throttle_rpm, powertrain.full_throttle_nm)
    if not powertrain.has_net_torque:
        torque = torque + np.interp(speed / RPM, powertrain.losses_rpm, powertrain.losses_nm)
    return torque


def _surplus(powertrain: ConverterPowertrain, engine_speed: Array, turbine_speed: Array) -> Array:
    """Torque [N m] of the engine at full throttle beyond what the pump takes."""
    capacity = np.interp(turbine_speed / engine_speed, powertrain.capacity_speed_ratio, powertrain.capacity)
    surplus: Array = engine_torque(powertrain, engine_speed) - (engine_speed / capacity) ** 2
    return surplus


def curves(vehicle: Hmmwv) -> list[Curve]:
    """Curves of all gears, once for each reduction of the transfer case."""
    parameters, wheels = vehicle.parameters, wheels_of(vehicle)
    powertrain, driveline = parameters.powertrain.converter, parameters.driveline
    speed = np.linspace(0.0, FASTEST_MPS, 1601)
    shaft_speed = speed / wheels.rolling_radius / driveline.bevel_ratio
    found = []
    for transfer in {item.reduction: item for item in reversed(driveline.all_ranges())}.values():
        for gear, ratio in enumerate(powertrain.forward_ratios, start=1):
            turbine_speed = shaft_speed * transfer.reduction / ratio
            at_wheels = transfer.reduction * transfer.efficiency / (ratio * driveline.bevel_ratio)
            effort = turbine_torque(powertrain, turbine_speed) * at_wheels / wheels.loaded_radius
            is_used = turbine_speed >= powertrain.downshift_rpm[gear - 1] * RPM
            if gear < len(powertrain.forward_ratios):
                is_used &= turbine_speed <= powertrain.upshift_rpm[gear - 1] * RPM
            governed = is_governed(powertrain, turbine_speed)
            found.append(Curve(transfer.name, gear, speed, effort, is_used, governed))
    return sorted(found, key=Curve.name)


def wheels_of(vehicle: Hmmwv) -> Wheels:
    """Radii of the tyres under the standing vehicle's loads, at their pressures."""
    loads = Rig(vehicle).seen["load"]
    tyres = [tyre_of_wheel(vehicle.parameters.tyre, wheel) for wheel in range(4)]
    sunk = np.array([load / tyre.stiffness_npm for load, tyre in zip(loads, tyres, strict=True)])
    share = np.array([tyre.rolling_deflection for tyre in tyres])
    resistance = float(np.mean([tyre.rolling_resistance for tyre in tyres]))
    radius = vehicle.wheel_radius
    loaded = float(np.mean(radius - sunk))
    return Wheels(loaded, float(np.mean(radius - share * sunk)), resistance * radius / loaded)


def resistance(vehicle: Hmmwv, mass: float, grade: float, speed: Array) -> Array:
    """Force [N] that a steady climb asks for: grade (rise over run), rolling resistance, drag at speeds [m/s]."""
    weight, angle = mass * vehicle.kernel.gravity, np.arctan(grade)
    rolling = wheels_of(vehicle).rolling_resistance
    force: Array = weight * (np.sin(angle) + rolling * np.cos(angle)) + vehicle.kernel.air.factor * speed**2
    return force


class Balance(NamedTuple):
    """Operating point at which effort and resistance are equal."""

    speed: float  # [m/s]; 0: no gear climbs
    gear: int  # 0: the gearbox shifts to and fro, as one gear has too much effort and the next too little


def balance(of_range: list[Curve], needed: Array) -> Balance:
    """The fastest steady speed, as the automatic gearbox finds it, for forces [N] that are needed at each speed."""
    crossings, shifts = [Balance(0.0, 0)], [Balance(0.0, 0)]
    for curve in of_range:
        is_enough = curve.is_used & (curve.effort >= needed)
        if is_enough.any():
            last = int(np.flatnonzero(is_enough)[-1])
            speed, is_steady = float(curve.speed[last]), bool(curve.is_used[min(last + 1, len(needed) - 1)])
            (crossings if is_steady else shifts).append(Balance(speed, curve.gear if is_steady else 0))
    best = max(crossings)
    return best if best.speed > 0.0 else max(shifts)
