"""Engine, converter and gearbox: torques at given speeds, shifting, power, and a run with a flywheel as the vehicle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from vehicle_dynamics.drive.powertrain import (
    DRIVE,
    NEUTRAL,
    REVERSE,
    RPM,
    PowertrainState,
    converter_record,
    map_record,
    shaft_drive,
)
from vehicle_dynamics.parameters import VehicleParameters

FIRST = PowertrainState(0.0, 1, 10.0)


@pytest.fixture(scope="module")
def by_map(parameters: VehicleParameters) -> Any:
    return map_record(parameters.powertrain.map)


@pytest.fixture(scope="module")
def by_converter(parameters: VehicleParameters) -> Any:
    return converter_record(parameters.powertrain.converter)


@pytest.mark.parametrize(("throttle", "torque"), [(0.0, -30.0), (1.0, 1300.2), (0.5, 635.1)])
def test_map_gives_the_tables_torque_through_the_gear(by_map: Any, throttle: float, torque: float) -> None:
    speed = 146.608  # a value of the table

    drive = shaft_drive(by_map, FIRST, DRIVE, throttle, 0.1708 * speed, 1e-3)

    assert drive.torque == pytest.approx(torque / 0.1708, rel=1e-9)
    assert drive.state.engine_speed == pytest.approx(speed)


def test_map_shifts_up_and_down_through_all_gears(by_map: Any) -> None:
    state, gears = FIRST, []
    for shaft in [*np.linspace(0.0, 400.0, 4000), *np.linspace(400.0, 0.0, 4000)]:
        state = shaft_drive(by_map, state, DRIVE, 0.5, float(shaft), 1e-3).state
        gears.append(state.gear)

    assert gears[0] == gears[-1] == 1
    assert max(gears) == 6
    assert set(gears) == {1, 2, 3, 4, 5, 6}


def test_converter_doubles_the_torque_at_standstill(by_converter: Any) -> None:
    engine = 200.0

    drive = shaft_drive(by_converter, PowertrainState(engine, 1, 0.0), DRIVE, 1.0, 0.0, 0.0)

    assert drive.torque == pytest.approx(2.0 * (engine / 15.0) ** 2 / 0.2)


def test_stalled_engine_settles_where_converter_and_engine_torque_match(by_converter: Any) -> None:
    state = PowertrainState(0.0, 1, 0.0)
    for _ in range(20000):
        state = shaft_drive(by_converter, state, DRIVE, 1.0, 0.0, 1e-3).state

    engine = np.interp(state.engine_speed / RPM, [2400.0, 2500.0, 2700.0], [593.0, 558.0, -400.0])
    losses = np.interp(state.engine_speed / RPM, [2000.0, 3000.0], [-70.0, -90.0])
    assert 2400.0 < state.engine_speed / RPM < 2700.0
    assert (state.engine_speed / 15.0) ** 2 == pytest.approx(engine + losses, rel=1e-6)


@pytest.mark.parametrize("gear", [1, 2, 3])
def test_converter_loses_power_and_never_makes_any(by_converter: Any, gear: int) -> None:
    for engine in np.linspace(10.0, 280.0, 15):
        for ratio in np.linspace(0.0, 1.5, 31):
            shaft = float(ratio * engine) * (0.2, 0.4, 0.8)[gear - 1]
            state = PowertrainState(float(engine), gear, 0.0)
            drive = shaft_drive(by_converter, state, DRIVE, 0.0, shaft, 1e-6)
            losses = float(
                np.interp(engine / RPM, [-50.0, 0.0, 50.0, 1000.0, 2000.0, 3000.0], [30, 0, -30, -50, -70, -90])
            )
            taken = losses - float(by_converter["engine_inertia"]) * (drive.state.engine_speed - engine) / 1e-6
            assert drive.torque * shaft <= taken * engine + 1e-3 * (1.0 + abs(taken * engine))


def test_coasting_in_gear_is_braked_by_the_engine(by_converter: Any) -> None:
    state = PowertrainState(100.0, 3, 0.0)
    for _ in range(5000):
        drive = shaft_drive(by_converter, state, DRIVE, 0.0, 160.0, 1e-3)
        state = PowertrainState(drive.state.engine_speed, 3, 0.0)

    assert drive.torque < -20.0
    assert state.engine_speed < 200.0


def test_shifts_wait_for_the_pause(by_converter: Any) -> None:
    fast = 2600.0 * RPM
    early = shaft_drive(by_converter, PowertrainState(fast, 1, 0.5), DRIVE, 1.0, 0.2 * fast, 1e-3)
    late = shaft_drive(by_converter, PowertrainState(fast, 1, 1.0), DRIVE, 1.0, 0.2 * fast, 1e-3)

    assert early.state.gear == 1
    assert (late.state.gear, late.state.since_shift) == (2, 0.0)


@pytest.mark.parametrize("kind", ["by_map", "by_converter"])
def test_neutral_transmits_nothing_and_reverse_drives_backwards(kind: str, request: pytest.FixtureRequest) -> None:
    record = request.getfixturevalue(kind)
    state = PowertrainState(150.0, 1, 0.0)

    assert shaft_drive(record, state, NEUTRAL, 1.0, 5.0, 1e-3).torque == 0.0
    assert shaft_drive(record, state, REVERSE, 1.0, 0.0, 1e-3).torque < -1000.0


@pytest.mark.parametrize("kind", ["by_map", "by_converter"])
def test_any_input_gives_finite_torque(kind: str, request: pytest.FixtureRequest) -> None:
    record = request.getfixturevalue(kind)
    random = np.random.default_rng(0)
    for _ in range(2000):
        gears = int(record["gears"])
        state = PowertrainState(float(400.0 * random.uniform()), int(random.integers(1, gears + 1)), 0.0)
        speed = float(random.choice([0.0, 1e-12, random.normal() * 100.0, 1e4, -1e4]))
        drive = shaft_drive(record, state, int(random.integers(-1, 2)), float(random.uniform()), speed, 1e-3)
        assert math.isfinite(drive.torque)
        assert math.isfinite(drive.state.engine_speed)
        assert 1 <= drive.state.gear <= gears
