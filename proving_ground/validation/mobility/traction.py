"""Tests of differentials and transfer case: split friction, a wheel without grip, wind-up, steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from proving_ground.validation.mobility.figure import Figure
from proving_ground.validation.mobility.rig import (
    CELL_M,
    HIGH,
    HIGH_LOCKED,
    LOW,
    CellGround,
    LineDriver,
    SpeedHold,
    Subject,
    circle_radius,
    smooth,
    straight,
)
from proving_ground.validation.parts import YES, Bound
from vehicle_dynamics.drive.drive_parameters import Differential
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rig import Rig, mass_of

REAR_LEFT = 2  # wheel
LAST = slice(-2500, None)  # snapshots of steady turning: 25 s


def split_friction(subject: Subject) -> list[Figure]:
    """Pull with friction 0.8 under the right wheels and 0.1 under the left ones, as the throttle opens in 4 s."""
    columns, rows = round(80.0 / CELL_M), round(8.0 / CELL_M)
    icy = np.zeros((rows, columns), np.uint8)
    icy[rows // 2 :] = 1
    ground = CellGround(np.zeros((rows, columns), np.float32), (-10.0, -4.0), icy=icy)
    as_built, opened = subject.vehicle(), with_open_axles(subject).vehicle()
    found = []
    for words, vehicle, transfer, expected in (
        ("H", as_built, HIGH, 0.25),
        ("H/L", as_built, HIGH_LOCKED, 0.25),
        ("H/L, open axles", opened, HIGH_LOCKED, 0.1),
    ):
        pull, bound = _pull_over_weight(vehicle, ground, transfer), Bound(0.85 * expected, 1.15 * expected)
        found.append(Figure(f"pull over weight, {words}", pull, bound, "", "d"))
    return found


def with_open_axles(subject: Subject) -> Subject:
    """The vehicle with open differentials in both axles."""

    def change(parameters: VehicleParameters) -> VehicleParameters:
        changed = subject.change(parameters) if subject.change else parameters
        return replace(changed, driveline=replace(changed.driveline, front=Differential(), rear=Differential()))

    return replace(subject, change=change)


def _pull_over_weight(vehicle: Hmmwv, ground: CellGround, transfer: int) -> float:
    """Largest force of all tyres along the vehicle over its weight, mean of 0.3 s, while the throttle opens."""
    rig, line = Rig(vehicle, ground), LineDriver(vehicle, straight)

    def driver(time: float, seen: SnapshotRecord) -> Pedals:
        return Pedals(line.steering(seen), min(0.3 * time, 1.0), transfer_range=transfer)

    rig.drive(driver, 4.0)
    pull = smooth(rig.series("force_along").sum(axis=1), 0.3).max()
    return float(pull / (mass_of(vehicle) * vehicle.kernel.gravity))


def lifted_wheel(subject: Subject) -> list[Figure]:
    """The left rear wheel without grip on a 5 % grade: does not climb in H, but in H/L, and in H with some brake.

    Distances are positive uphill: in H the vehicle may roll back, as nothing holds it.

    The wheel stands on ground without friction that goes with it, as on rollers. A wheel that hangs in the air unloads
    the one diagonally opposite, here to 1.5 % of the weight: then no axle can pull, whatever the centre.
    """
    vehicle = subject.vehicle()
    open_centre = Pedals(throttle=0.4)
    locked_centre = Pedals(throttle=0.4, transfer_range=HIGH_LOCKED)
    braked = Pedals(throttle=0.7, brake=0.2)
    stays, goes = Bound(most=1.0), Bound(least=1.0)
    stuck = _goes_without_grip(vehicle, open_centre, spins_up=True)
    return [
        Figure("H: climbs in 10 s after spin-up", stuck, stays, "m", "d"),
        Figure("H/L: climbs in 10 s", _goes_without_grip(vehicle, locked_centre), goes, "m", "d"),
        Figure("H with 20 % brake: climbs in 10 s", _goes_without_grip(vehicle, braked), goes, "m", "d"),
    ]


def _goes_without_grip(vehicle: Hmmwv, pedals: Pedals, *, spins_up: bool = False) -> float:
    """Distance [m] in 10 s, from rest or after the wheel without grip has reached its speed."""
    rig = Rig(vehicle, _slippery(0.0))
    rig.drive(Pedals(brake=1.0), 1.0)

    def follow(time: float, seen: SnapshotRecord) -> Pedals:
        rig.replace_ground(_slippery(float(seen["position"][0]) - 1.65))
        return pedals

    while spins_up and rig.time < 30.0:
        before = _free_spin(rig)
        rig.drive(follow, 0.5)
        spins_up = abs(_free_spin(rig) - before) >= 0.1
    start = rig.position()
    rig.drive(follow, 10.0)
    return float(rig.position()[0] - start[0])


def _free_spin(rig: Rig) -> float:
    """Speed of the wheel without grip [rad/s]."""
    return float(rig.seen["spin_rate"][REAR_LEFT])


def _slippery(x: float) -> CellGround:
    """A grade of 5 % with a patch without friction about the left rear wheel's position along x [m]."""
    cells = round(3.0 / CELL_M)
    patch = np.zeros((round(8.0 / CELL_M), cells + 2), np.uint8)
    y = -4.0 + CELL_M * np.arange(len(patch))
    patch[np.abs(y - 0.91) < 0.4, 1:-1] = 1
    flat = np.zeros(patch.shape, np.float32)
    return CellGround(flat, (x - 1.5, -4.0), slope=0.05, icy=patch, frictions=(0.8, 0.0))


def wind_up(subject: Subject) -> list[Figure]:
    """Full lock at 1.5 m/s on friction 0.8 with the centre differential open (H) and locked (H/L)."""
    vehicle = subject.vehicle()
    open_centre, locked_centre = (_turning(vehicle, transfer) for transfer in (HIGH, HIGH_LOCKED))
    free, held = (circle_radius(rig.series("position")[LAST, :2]) for rig in (open_centre, locked_centre))
    drive = locked_centre.series("drive_torque")[LAST]
    between = np.abs(drive[:, 2:].sum(axis=1) - drive[:, :2].sum(axis=1)).mean()
    return [
        Figure("larger turning radius in H/L", 100.0 * (held / free - 1.0), Bound(3.0, 10.0), "%"),
        Figure("torque between the axles in H/L, at the wheels", float(between), Bound(least=200.0), "N m"),
    ]


def _turning(vehicle: Hmmwv, transfer: int) -> Rig:
    """The vehicle after 40 s with full lock to the left."""
    rig, hold = Rig(vehicle), SpeedHold(1.5, transfer)
    rig.drive(lambda time, seen: hold.pedals(seen, min(time / 3.0, 1.0)), 40.0)
    return rig


def steps(subject: Subject) -> list[Figure]:
    """A step of 0.30 m in H/L, and of 0.46 m in L, at 1 m/s with the brake on against the throttle."""
    vehicle = subject.vehicle()
    return [
        Figure("0.30 m in H/L climbed", float(_climbs_step(vehicle, 0.30, HIGH_LOCKED)), YES),
        Figure("0.46 m in L climbed", float(_climbs_step(vehicle, 0.46, LOW)), YES),
    ]


def _climbs_step(vehicle: Hmmwv, height: float, transfer: int) -> bool:
    """Whether all wheels get up a step [m] at 5 m with one of several throttles."""
    columns, rows = round(30.0 / CELL_M), round(8.0 / CELL_M)
    heights = np.zeros((rows, columns), np.float32)
    heights[:, -10.0 + CELL_M * np.arange(columns) > 5.0] = height
    ground = CellGround(heights, (-10.0, -4.0))
    return any(_gets_up(Rig(vehicle, ground), throttle, transfer) for throttle in (0.4, 0.6, 0.8, 1.0))


def _gets_up(rig: Rig, throttle: float, transfer: int) -> bool:
    def driver(time: float, seen: SnapshotRecord) -> Pedals:
        speed = forward_speed(seen)
        brake = min(max(0.4 * (speed - 1.0), 0.0), 0.5)
        return Pedals(throttle=throttle if speed < 1.0 else 0.1, brake=brake, transfer_range=transfer)

    last = rig.drive(driver, 25.0, until=_is_up)
    return _is_up(last)


def _is_up(seen: SnapshotRecord) -> bool:
    """Whether the chassis origin has passed 7.5 m, with the rear wheels past the step."""
    return bool(seen["position"][0] > 7.5)
