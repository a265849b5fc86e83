"""An engine with an idle governor, and a gearbox whose shift points follow the throttle: the M998's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.drive.powertrain import (
    DRIVE,
    NEUTRAL,
    REVERSE,
    RPM,
    PowertrainState,
    converter_record,
    shaft_drive,
)
from vehicle_dynamics.driving.state import ENGINE_SPEED, GEAR
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals

STEP = 1e-3
ROAD = FlatGround()
GEARS, PAUSE_S = 3, 0.5
# A vehicle as a flywheel on the drive shaft.
MASS, METRES_PER_RADIAN = 2573.0, 0.19 * 0.45


class Shift(NamedTuple):
    """A shift of a drive."""

    time: float
    before: int
    after: int


@pytest.fixture(scope="module")
def m998() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


@pytest.fixture(scope="module")
def record(m998: VehicleParameters) -> Any:
    return converter_record(m998.powertrain.converter)


def settled(record: Any, selected: int, throttle: float, engine_rpm: float) -> float:
    """Engine speed [rpm] after ten seconds with the wheels held."""
    state = PowertrainState(engine_rpm * RPM, 1, 10.0)
    for _ in range(10_000):
        state = shaft_drive(record, state, selected, throttle, 0.0, STEP).state
    return state.engine_speed / RPM


@pytest.mark.parametrize("engine_rpm", [0.0, 700.0, 3000.0])
@pytest.mark.parametrize("selected", [NEUTRAL, DRIVE, REVERSE])
def test_engine_idles_as_the_manual_says_in_any_lever_position(record: Any, selected: int, engine_rpm: float) -> None:
    idle = settled(record, selected, 0.0, engine_rpm)

    assert 625.0 < idle < 700.0  # 650 +- 25 rpm in gear, somewhat faster without load
    assert (idle > settled(record, DRIVE, 0.0, engine_rpm)) == (selected == NEUTRAL)


def test_engine_without_load_runs_up_to_its_governed_speed(record: Any) -> None:
    assert settled(record, NEUTRAL, 1.0, 700.0) == pytest.approx(4000.0, rel=1e-3)


def test_converter_stalls_where_its_source_says(record: Any) -> None:
    assert settled(record, DRIVE, 1.0, 700.0) == pytest.approx(1700.0, rel=0.02)


@pytest.mark.parametrize("throttle", [0.0, 0.3, 1.0])
def test_net_torque_is_what_reaches_a_free_engine(record: Any, m998: VehicleParameters, throttle: float) -> None:
    converter, rpm = m998.powertrain.converter, 2000.0
    full = np.interp(rpm, converter.full_throttle_rpm, converter.full_throttle_nm)
    losses = np.interp(rpm, converter.losses_rpm, converter.losses_nm)

    after = shaft_drive(record, PowertrainState(rpm * RPM, 1, 0.0), NEUTRAL, throttle, 0.0, STEP).state

    torque = converter.engine_inertia_kgm2 * (after.engine_speed - rpm * RPM) / STEP
    assert torque == pytest.approx(throttle * full + (1.0 - throttle) * losses, rel=1e-6)


@pytest.mark.parametrize("brake", [0.3, 1.0])
@pytest.mark.parametrize("selected", [DRIVE, NEUTRAL, REVERSE])
def test_engine_does_not_stall_when_the_vehicle_is_braked_to_a_stop(
    m998: VehicleParameters, selected: int, brake: float
) -> None:
    car = Hmmwv(m998)
    state = car.start(ROAD, speed=-8.0 if selected == REVERSE else 15.0)
    state[ENGINE_SPEED] = 1500.0 * RPM
    speeds = []
    for _ in range(800):
        assert car.advance(state, Pedals(brake=brake, selected=selected), ROAD, 10) == 10
        speeds.append(state[ENGINE_SPEED] / RPM)

    assert np.abs(state[15:18]).max() < 0.01
    assert min(speeds) > 600.0
    assert 625.0 < speeds[-1] < 700.0


def drive(record: Any, throttle_at: Callable[[float], float], seconds: float, grade: float = 0.0) -> list[Shift]:
    """Shifts of a flywheel vehicle with rolling resistance and drag, from standstill."""
    state, shaft, shifts = PowertrainState(670.0 * RPM, 1, 10.0), 0.0, []
    for count in range(round(seconds / STEP)):
        time = count * STEP
        given = shaft_drive(record, state, DRIVE, throttle_at(time), shaft, STEP)
        speed = shaft * METRES_PER_RADIAN
        force = MASS * 9.81 * (0.015 + grade) + 0.6 * 3.0 * speed**2
        inertia = MASS * METRES_PER_RADIAN**2 + given.inertia
        shaft = max(shaft + STEP * (0.88 * given.torque - force * METRES_PER_RADIAN) / inertia, 0.0)
        if given.state.gear != state.gear:
            shifts.append(Shift(time, state.gear, given.state.gear))
        state = given.state
    return shifts


@pytest.mark.parametrize("throttle", [0.3, 0.5, 0.7, 1.0])
def test_a_steady_throttle_shifts_up_once_per_gear_and_never_back(record: Any, throttle: float) -> None:
    shifts = drive(record, lambda _: throttle, 40.0)

    assert [item.after for item in shifts] == [2, 3][: len(shifts)]
    assert shifts


def test_less_throttle_shifts_up_at_lower_speed(record: Any) -> None:
    def input_speed_at_upshift(throttle: float) -> float:
        for speed in np.arange(500.0, 4000.0, 5.0):
            state = PowertrainState(speed * RPM, 1, 10.0)
            shaft = float(speed * RPM * record["ratio"][0])
            if shaft_drive(record, state, DRIVE, throttle, shaft, STEP).state.gear == 2:
                return float(speed)
        raise AssertionError("never shifts up")

    speeds = [input_speed_at_upshift(throttle) for throttle in np.linspace(0.0, 1.0, 11)]

    assert np.all(np.diff(speeds) > 0.0)
    assert speeds[0] == pytest.approx(1400.0, abs=6.0)
    assert speeds[-1] == pytest.approx(3350.0, abs=6.0)


def test_full_throttle_kicks_down_where_a_light_one_does_not(record: Any) -> None:
    third = PowertrainState(1900.0 * RPM, 3, 10.0)
    shaft = 1800.0 * RPM  # 3rd gear is direct

    assert shaft_drive(record, third, DRIVE, 0.2, shaft, STEP).state.gear == 3
    assert shaft_drive(record, third, DRIVE, 1.0, shaft, STEP).state.gear == 2


@pytest.mark.parametrize("seconds", [1.0, 5.0, 20.0, 60.0])
@pytest.mark.parametrize("rises", [True, False])
def test_a_monotone_throttle_does_not_hunt(record: Any, seconds: float, rises: bool) -> None:
    def throttle_at(time: float) -> float:
        share = min(time / seconds, 1.0)
        return share if rises else 1.0 - share

    upshifts = [item for item in drive(record, throttle_at, 70.0) if item.after > item.before]

    assert len(upshifts) <= GEARS - 1


@pytest.mark.parametrize("seed", range(4))
def test_random_throttle_never_shifts_twice_within_the_pause(record: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = random.uniform(size=400) * (random.uniform(size=400) > 0.2)
    grade = float(random.uniform(-0.02, 0.02))

    shifts = drive(record, lambda time: float(levels[int(time / 0.15)]), 60.0, grade)

    assert len(shifts) > 2
    assert np.diff([item.time for item in shifts]).min() > PAUSE_S - 2.0 * STEP
    assert all(abs(item.after - item.before) == 1 for item in shifts)


def test_no_shift_is_undone_at_the_same_throttle_and_speed(record: Any) -> None:
    """Hysteresis at every throttle: after a shift, the same shaft speed asks for no shift back."""

    def gear_after(gear: int, throttle: float, shaft: float) -> int:
        return int(shaft_drive(record, PowertrainState(150.0, gear, 10.0), DRIVE, throttle, shaft, STEP).state.gear)

    for throttle in np.linspace(0.0, 1.0, 21):
        for shaft in np.linspace(0.0, 400.0, 400):
            for gear in range(1, GEARS + 1):
                first = gear_after(gear, throttle, shaft)
                assert first == gear or gear_after(first, throttle, shaft) != gear


@pytest.mark.parametrize("powertrain", ["map", "converter"])
def test_low_range_multiplies_engine_speed_and_torque(m998: VehicleParameters, powertrain: str) -> None:
    high, low = m998.driveline.ranges[0], m998.driveline.ranges[2]
    car = Hmmwv(m998, powertrain=powertrain)
    start = car.start(ROAD, speed=3.0, gear=2)
    if powertrain == "map":  # geared to the wheels
        speeds = []
        for index in (0, 2):
            state = start.copy()
            car.advance(state, Pedals(throttle=0.5, transfer_range=index), ROAD, 1)
            speeds.append(state[ENGINE_SPEED])
        assert speeds[1] / speeds[0] == pytest.approx(low.reduction)
    # At a standstill the engine gives the same torque in both ranges. What the inertias take is proportional to it but
    # for the gearbox' own, which counts with the square of the reduction: so compare with a gearbox without.
    kernel = car.kernel.powertrain.copy()
    kernel["input_inertia"] = 0.0
    car.kernel = car.kernel._replace(powertrain=kernel)
    still = car.start(ROAD)
    still[ENGINE_SPEED], still[GEAR] = 150.0, 1.0
    totals = [
        car.snapshot(still, Pedals(throttle=1.0, transfer_range=index), ROAD)["drive_torque"].sum() for index in (0, 2)
    ]
    expected = low.reduction * low.efficiency / (high.reduction * high.efficiency)
    assert totals[1] / totals[0] == pytest.approx(expected, rel=1e-3)


def test_a_start_takes_the_first_ranges_reduction_into_account(m998: VehicleParameters) -> None:
    low_only = replace(m998, driveline=replace(m998.driveline, ranges=m998.driveline.ranges[2:]))

    high, low = (Hmmwv(item).start(ROAD, speed=3.0, gear=1)[ENGINE_SPEED] for item in (m998, low_only))

    assert low / high == pytest.approx(2.62)
