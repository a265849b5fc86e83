"""Engine and automatic gearbox: a torque on the drive shaft from throttle and its speed.

Two kinds. With a torque map the engine is geared to the drive shaft. With a torque converter it has a speed of
its own. Gear ratios are output over input speed, as in the source of the HMMWV's data: below one is a reduction.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from proving_ground.kernels.jit import inlined
from proving_ground.kernels.table import TABLE, clamped_value, fill_table
from vehicle_dynamics.drive.drive_parameters import MOST_GEARS, ConverterPowertrain, MapPowertrain
from vehicle_dynamics.pedals import DRIVE, NEUTRAL, REVERSE

MAP, CONVERTER = 0, 1

RPM = math.pi / 30.0  # [rad/s]

POWERTRAIN = np.dtype(
    [
        ("kind", "i8"),
        ("full", TABLE),  # engine torque [N m] at full throttle over speed [rad/s]
        ("idle", TABLE),  # at no throttle
        ("adds_losses", "i8"),  # 1: with a converter, losses of `idle` are added at any throttle
        ("governed", "f8"),  # speed at which the idle governor gives no fuel any more [rad/s]
        ("governor_gain", "f8"),  # fuel per speed below that; 0: no governor [s]
        ("gears", "i8"),
        ("ratio", "f8", MOST_GEARS),
        ("reverse", "f8"),  # ratio, negative
        ("shift_up", "f8", MOST_GEARS),  # input speed of the gearbox above which it shifts up at full throttle [rad/s]
        ("shift_down", "f8", MOST_GEARS),
        ("coast_up", "f8", MOST_GEARS),  # further input speed for that per part of throttle that is missing [rad/s]
        ("coast_down", "f8", MOST_GEARS),
        ("shift_pause", "f8"),  # least time between shifts [s]
        ("capacity", TABLE),  # of the converter, over speed ratio [rad/s per sqrt(N m)]
        ("torque_ratio", TABLE),
        ("engine_inertia", "f8"),  # with all that spins with it [kg m^2]
        ("input_inertia", "f8"),  # of the gearbox' input shaft [kg m^2]
        ("reaction", "f8"),  # moment about x on the chassis per acceleration of the engine [kg m^2]
    ]
)
PowertrainRecord: TypeAlias = Any

TURNING = 50.0  # [rad/s]: below, the drag of an engine geared to the wheels fades
SLOWEST = 1e-3  # [rad/s]: below, a converter transmits nothing


class PowertrainState(NamedTuple):
    """State of the powertrain."""

    engine_speed: float  # [rad/s]
    gear: int  # from 1
    since_shift: float  # [s]


class ShaftDrive(NamedTuple):
    """Output to the drive shaft."""

    torque: float  # [N m]
    inertia: float  # spinning with it [kg m^2]
    state: PowertrainState  # after the time step


@inlined
def shaft_drive(
    powertrain: PowertrainRecord,
    state: PowertrainState,
    selected: int,
    throttle: float,
    shaft_speed: float,
    step: float,
) -> ShaftDrive:
    """Output for a throttle from 0 to 1 and the drive shaft's speed [rad/s]; the state advances by the step [s].

    selected: gear lever, -1 reverse, 0 neutral, 1 drive.
    """
    p = powertrain
    ratio = p.reverse if selected == REVERSE else p.ratio[state.gear - 1]
    input_speed = shaft_speed / ratio if selected != NEUTRAL else 0.0
    if p.kind == MAP:
        engine_speed = max(input_speed, 0.0)
        drag = clamped_value(p.idle, engine_speed)
        if drag < 0.0:  # an engine at rest has no drag
            drag *= min(engine_speed / TURNING, 1.0)
        engine = (1.0 - throttle) * drag
        engine += throttle * clamped_value(p.full, engine_speed)
        output, inertia = engine, 0.0
    else:
        engine_speed = state.engine_speed
        taken, output = _converter(p, engine_speed, input_speed, selected != NEUTRAL)
        fuel = max(throttle, min(p.governor_gain * (p.governed - engine_speed), 1.0))
        losses = clamped_value(p.idle, engine_speed)
        if p.adds_losses == 0:
            losses *= 1.0 - fuel
        engine = fuel * clamped_value(p.full, engine_speed) + losses
        engine_speed += step * (engine - taken) / p.engine_inertia
        engine_speed = max(engine_speed, 0.0)  # an engine does not run backwards
        inertia = p.input_inertia
    gear, since_shift = _shift(p, state, selected, throttle, input_speed, step)
    after = PowertrainState(engine_speed, gear, since_shift)
    if selected == NEUTRAL:
        return ShaftDrive(0.0, 0.0, after)
    return ShaftDrive(output / ratio, inertia / (ratio * ratio), after)


@inlined
def _converter(p: PowertrainRecord, engine_speed: float, input_speed: float, is_in_gear: bool) -> tuple[float, float]:
    """Torque that the converter takes from the engine and passes to the gearbox [N m]."""
    if not is_in_gear:
        return 0.0, 0.0
    if input_speed <= engine_speed:
        if engine_speed < SLOWEST:
            return 0.0, 0.0
        speed_ratio = max(input_speed, 0.0) / engine_speed
        root = engine_speed / clamped_value(p.capacity, speed_ratio)
        taken = root * root
        return taken, taken * clamped_value(p.torque_ratio, speed_ratio)
    # Overrun: the gearbox drives the engine, without multiplication.
    root = input_speed / clamped_value(p.capacity, engine_speed / input_speed)
    return -root * root, -root * root


@inlined
def _shift(
    p: PowertrainRecord, state: PowertrainState, selected: int, throttle: float, input_speed: float, step: float
) -> tuple[int, float]:
    """Gear and time since the last shift after a step."""
    gear, since_shift = state.gear, state.since_shift + step
    if selected == DRIVE and since_shift >= p.shift_pause:
        lifted = 1.0 - throttle
        if input_speed > p.shift_up[gear - 1] + lifted * p.coast_up[gear - 1] and gear < p.gears:
            return gear + 1, 0.0
        if input_speed < p.shift_down[gear - 1] + lifted * p.coast_down[gear - 1] and gear > 1:
            return gear - 1, 0.0
    return gear, since_shift


def map_record(powertrain: MapPowertrain) -> PowertrainRecord:
    """Record for the kernel of a powertrain with a torque map."""
    record = np.zeros(1, POWERTRAIN)
    record["kind"] = MAP
    fill_table(record["full"], powertrain.speed_radps, powertrain.full_throttle_nm)
    fill_table(record["idle"], powertrain.speed_radps, powertrain.zero_throttle_nm)
    _fill_gears(record, powertrain.forward_ratios, powertrain.reverse_ratio)
    _fill_shifts(record, powertrain.upshift_rpm, powertrain.downshift_rpm)
    return record[0]


def converter_record(powertrain: ConverterPowertrain) -> PowertrainRecord:
    """Record for the kernel of a powertrain with a torque converter."""
    record = np.zeros(1, POWERTRAIN)
    record["kind"] = CONVERTER
    fill_table(record["full"], np.multiply(powertrain.full_throttle_rpm, RPM), powertrain.full_throttle_nm)
    fill_table(record["idle"], np.multiply(powertrain.losses_rpm, RPM), powertrain.losses_nm)
    _fill_gears(record, powertrain.forward_ratios, powertrain.reverse_ratio)
    _fill_shifts(record, powertrain.upshift_rpm, powertrain.downshift_rpm)
    gears = len(powertrain.forward_ratios)
    if powertrain.coast_upshift_rpm:
        record["coast_up"][0, :gears] = np.subtract(powertrain.coast_upshift_rpm, powertrain.upshift_rpm) * RPM
        record["coast_down"][0, :gears] = np.subtract(powertrain.coast_downshift_rpm, powertrain.downshift_rpm) * RPM
    record["shift_pause"] = powertrain.shift_pause_s
    record["adds_losses"] = not powertrain.has_net_torque
    if powertrain.idle_rpm:
        record["governed"], record["governor_gain"] = powertrain.idle_rpm * RPM, 1.0 / (powertrain.idle_band_rpm * RPM)
    fill_table(record["capacity"], powertrain.capacity_speed_ratio, powertrain.capacity)
    fill_table(record["torque_ratio"], powertrain.torque_speed_ratio, powertrain.torque_ratio)
    record["engine_inertia"] = powertrain.engine_inertia_kgm2
    record["input_inertia"] = powertrain.input_shaft_inertia_kgm2
    record["reaction"] = -powertrain.crankshaft_direction * powertrain.engine_inertia_kgm2
    return record[0]


def _fill_gears(record: Any, forward: tuple[float, ...], reverse: float) -> None:
    record["gears"], record["reverse"] = len(forward), reverse
    record["ratio"][0, : len(forward)] = forward


def _fill_shifts(record: Any, up: tuple[float, ...], down: tuple[float, ...]) -> None:
    record["shift_up"][0, : len(up)] = np.multiply(up, RPM)
    record["shift_down"][0, : len(down)] = np.multiply(down, RPM)
