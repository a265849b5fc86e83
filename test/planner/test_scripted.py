"""Scripted drivers on the vehicle they drive."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest

from planner.kinds import DRIVER_KINDS, SCRIPT_NODE
from planner.scripted import (
    JTurn,
    LaneChange,
    Program,
    ScriptedDriver,
    SineSteer,
    SineSweep,
    Straight,
)
from proving_ground.saving.codec import decoded, encoded
from proving_ground.scenarios.scenario import Driver
from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.control.helm import PERIOD_S, Helm
from vehicle_dynamics.control.levers import VehicleLevers
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import heading
from vehicle_dynamics.pedals import KEEP, NEUTRAL, Pedals
from vehicle_dynamics.start import Origin

ROAD = FlatGround()


@pytest.fixture(scope="module")
def vehicle() -> Hmmwv:
    return Hmmwv.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"), powertrain="map")


def driven(vehicle: Hmmwv, script: Any, seconds: float, speed: float, start_heading: float = 0.0) -> Any:
    """Last snapshot of a drive."""
    state, pedals = vehicle.start(ROAD, x=5.0, y=-2.0, heading=start_heading, speed=speed), Pedals()
    driver = ScriptedDriver(script, Helm(vehicle), Origin(5.0, -2.0, start_heading, speed))
    for period in range(round(seconds / PERIOD_S)):
        pedals = driver.act(period * PERIOD_S, vehicle.snapshot(state, pedals, ROAD))
        assert vehicle.advance(state, pedals, ROAD, 10) == 10
    return vehicle.snapshot(state, pedals, ROAD)


@pytest.mark.parametrize("start_heading", [0.0, 2.5])
def test_lane_change_ends_in_the_other_lane_whatever_the_heading(vehicle: Hmmwv, start_heading: float) -> None:
    script = LaneChange(speed_mps=15.0, change_at_s=1.0, back_at_s=20.0, lasting_s=3.0, offset_m=3.5)

    seen = driven(vehicle, script, 8.0, 15.0, start_heading)

    away = seen["position"] - [5.0, -2.0, 0.0]
    left = -math.sin(start_heading) * away[0] + math.cos(start_heading) * away[1]
    assert left == pytest.approx(3.5, abs=0.1)
    assert heading(seen) == pytest.approx(start_heading, abs=0.01)


def test_straight_driver_comes_back_to_its_line(vehicle: Hmmwv) -> None:
    state, pedals = vehicle.start(ROAD, y=1.0, speed=10.0), Pedals()
    driver = ScriptedDriver(Straight(speed_mps=10.0), Helm(vehicle), Origin(0.0, 0.0, 0.0, 10.0))
    for period in range(1000):
        pedals = driver.act(period * PERIOD_S, vehicle.snapshot(state, pedals, ROAD))
        vehicle.advance(state, pedals, ROAD, 10)

    assert state[1] == pytest.approx(0.0, abs=0.02)


def test_sine_steer_is_the_references_program() -> None:
    script = SineSteer()

    def steering(time: float) -> float:
        return script.act(None, Origin(0.0, 0.0, 0.0), time, None).steering  # type: ignore[arg-type]

    assert steering(1.0 + 2.5 / 4.0) == pytest.approx(0.08)
    assert steering(4.5 + 2.5 / 4.0) == pytest.approx(-0.08)
    assert steering(4.0) == steering(8.0) == 0.0


def test_speed_is_reached_at_the_wanted_acceleration(vehicle: Hmmwv) -> None:
    script = Straight(speed_mps=10.0, acceleration_mps2=1.5)

    assert driven(vehicle, script, 4.0, 0.0)["velocity"][0] == pytest.approx(6.0, abs=0.3)
    assert driven(vehicle, script, 12.0, 0.0)["velocity"][0] == pytest.approx(10.0, abs=0.1)


def test_j_turn_leaves_the_line_only_at_its_time(vehicle: Hmmwv) -> None:
    script = JTurn(speed_mps=10.0, turn_at_s=2.0, lasting_s=0.5, steering=0.3)

    assert abs(driven(vehicle, script, 2.0, 10.0)["angular_velocity"][2]) < 1e-3
    assert driven(vehicle, script, 5.0, 10.0)["angular_velocity"][2] > 0.2


def test_sweep_ends_straight(vehicle: Hmmwv) -> None:
    script = SineSweep(speed_mps=10.0, begin_s=1.0, lasting_s=4.0, amplitude=0.1, from_hz=0.5, to_hz=2.0)

    assert driven(vehicle, script, 8.0, 10.0)["steering"] == 0.0


def test_program_holds_its_last_pedals_and_its_gear() -> None:
    script = Program(time_s=(0.0, 1.0, 2.0), throttle=(0.0, 1.0, 1.0), brake=(0.0,), gear="neutral")

    def at(time: float) -> Pedals:
        return script.act(None, Origin(0.0, 0.0, 0.0), time, None)  # type: ignore[arg-type]

    assert at(0.5) == Pedals(0.0, 0.5, 0.0, NEUTRAL)
    assert at(99.0).throttle == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_s": (1.0, 0.0)},
        {"time_s": (0.0, 1.0), "throttle": (0.0, 0.5, 1.0)},
        {"time_s": ()},
        {"time_s": (0.0, 1.0), "transfer_range": ("H", "L", "H")},
        {"time_s": (0.0, 1.0), "parking_brake": (0.0, 0.5, 1.0)},
    ],
)
def test_inconsistent_program_is_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        Program(**wrong)


M998 = VehicleLevers(ranges=("H", "H/L", "L"), reductions=(1.0, 1.0, 2.62), lockable=3, has_parking_brake=True)


def test_program_commands_levers_from_an_instant_on(vehicle: Hmmwv) -> None:
    script = Program(
        time_s=(0.0, 1.0, 2.0),
        transfer_range=("H", "L", "1"),
        locks=("none", "none", "rear"),
        parking_brake=(0.0, 0.0, 1.0),
    )
    driver = ScriptedDriver(script, Helm(vehicle), Origin(0.0, 0.0, 0.0), levers=M998)
    seen = vehicle.snapshot(vehicle.start(ROAD), Pedals(), ROAD)

    found = {time: tuple(driver.act(time, seen)[4:]) for time in (0.0, 0.99, 1.0, 1.5, 2.0, 99.0)}

    assert found == {
        0.0: (0, 0, 0.0), 0.99: (0, 0, 0.0), 1.0: (2, 0, 0.0), 1.5: (2, 0, 0.5), 2.0: (1, 2, 1.0), 99.0: (1, 2, 1.0),
    }  # fmt: skip


@pytest.mark.parametrize("script", [Straight(), Program()])
def test_levers_that_a_script_does_not_name_are_kept(vehicle: Hmmwv, script: Any) -> None:
    driver = ScriptedDriver(script, Helm(vehicle), Origin(0.0, 0.0, 0.0), levers=M998)

    pedals = driver.act(0.0, vehicle.snapshot(vehicle.start(ROAD), Pedals(), ROAD))

    assert pedals[4:] == (KEEP, KEEP, KEEP)


def test_levers_of_a_script_that_the_vehicle_lacks_are_rejected(vehicle: Hmmwv) -> None:
    own = VehicleLevers.of(vehicle.parameters)
    for given, words in (
        ({"transfer_range": ("L",)}, r"transfer_range: must be 0 \(H\), this vehicle has no transfer case, got 'L'"),
        ({"locks": ("rear",)}, "locks: must be .* no lockable differentials, got 2"),
        ({"parking_brake": (1.0,)}, "parking_brake: must be 0, this vehicle has none, got 1"),
    ):
        with pytest.raises(ValueError, match=words):
            ScriptedDriver(Program(**given), Helm(vehicle), Origin(0.0, 0.0, 0.0), levers=own)  # type: ignore[arg-type]


def test_a_checkpoint_needs_only_the_state_of_a_driver(vehicle: Hmmwv) -> None:
    state, pedals = vehicle.start(ROAD, speed=5.0), Pedals()
    first = ScriptedDriver(Straight(speed_mps=12.0), Helm(vehicle), Origin(0.0, 0.0, 0.0))
    for period in range(200):
        pedals = first.act(period * PERIOD_S, vehicle.snapshot(state, pedals, ROAD))
        vehicle.advance(state, pedals, ROAD, 10)
    second = ScriptedDriver(Straight(speed_mps=12.0), Helm(vehicle), Origin(0.0, 0.0, 0.0))
    second.restore_state(decoded(encoded(first.saved_state())))
    seen = vehicle.snapshot(state, pedals, ROAD)

    assert second.act(2.0, seen) == first.act(2.0, seen)


def test_every_kind_of_script_is_registered_under_its_name_in_scenarios() -> None:
    scripts = [kind.settings for kind in DRIVER_KINDS.values() if kind.node == SCRIPT_NODE]

    assert [item.name for item in fields(Driver)] == list(DRIVER_KINDS)
    assert all(callable(script.act) and script() == script() for script in scripts)
