"""Scenarios driven from Python step by step."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.scenarios.simulation import Command, Observation, Simulation
from proving_ground.settings import SettingsError
from some_sensors import SENSORS
from vehicle_dynamics.pedals import KEEP, Pedals

Write = Callable[[str], Path]
TOWN = """version: 1
description: a test
world:
  named: {name: urban}
start: {x_m: 10.0, y_m: -2.0}
driver:
  to_goal: {goal: {x_m: %s, y_m: %s}}
duration_s: 60.0
"""
M998 = """version: 1
description: a test
world:
  flat: {}
vehicle: {model: hmmwv}
levers: {transfer_range: L}
driver:
  program: {time_s: [0.0, 1.3], throttle: [0.1], transfer_range: [H, H/L]}
duration_s: 3.0
"""


def sensing(write: Write, text: str) -> Scenario:
    return load_scenario(write(text + SENSORS + "observer: {kind: vehicle}\n"))


# Driving by hand


def test_steps_without_an_action_are_the_scenarios_own_run_to_the_bit(
    write_scenario: Write, scenario_text: str
) -> None:
    chosen = sensing(write_scenario, scenario_text)
    simulation = Simulation(chosen)
    simulation.reset()

    while not simulation.step(seconds=0.03).has_ended:
        pass

    assert simulation.result().history.tobytes() == LockStep(chosen).run().history.tobytes()
    assert simulation.time == pytest.approx(1.0)


def test_the_same_actions_and_seed_give_the_same_run_again(write_scenario: Write, scenario_text: str) -> None:
    simulation = Simulation(sensing(write_scenario, scenario_text), seed=5)

    def drive(seed: int | None) -> tuple[bytes, bytes]:
        simulation.reset(seed)
        for number in range(20):
            step = simulation.step(Command(4.0, 0.02 * math.sin(number)), seconds=0.05)
        return simulation.result().history.tobytes(), step.observation.sensors["imu"].angular_velocity.tobytes()

    first, again, other = drive(None), drive(None), drive(6)

    assert first == again
    assert first[0] == other[0]  # sensors do not move the vehicle,
    assert first[1] != other[1]  # but their noise has another seed


def test_an_action_is_held_as_long_as_asked() -> None:
    long, short = (Simulation("j_turn") for _ in range(2))
    long.reset(), short.reset()

    for _ in range(10):
        short.step(Command(10.0, 0.01))
    long.step(Command(10.0, 0.01), seconds=0.1)

    assert long.result().history.tobytes() == short.result().history.tobytes()


LATE = pytest.mark.xfail(
    strict=True,
    reason="11.53 of 12 m/s after 8 s: the HMMWV as built needs more throttle to hold its speed; the speed controller,"
    " which does not know the resistance, has it from its slow integral",
)


@pytest.mark.parametrize("model", ["hmmwv_chrono", pytest.param("hmmwv", marks=LATE)])
def test_a_command_is_followed_by_the_helm(model: str) -> None:
    scenario = load_scenario(scenario_file("j_turn"))  # begins at 15 m/s
    simulation = Simulation(dataclasses.replace(scenario, vehicle=dataclasses.replace(scenario.vehicle, model=model)))
    simulation.reset()

    step = simulation.step(Command(speed=12.0, curvature=0.02), seconds=8.0)

    assert step.observation.truth.velocity[0] == pytest.approx(12.0, abs=0.2)
    assert step.observation.truth.angular_velocity[2] == pytest.approx(12.0 * 0.02, rel=0.05)


def test_levers_reach_the_vehicle_and_keep_leaves_those_of_the_scenario(write_scenario: Write) -> None:
    simulation = Simulation(load_scenario(write_scenario(M998)))
    simulation.reset()
    kept = Pedals(throttle=0.2, transfer_range=KEEP, locks=KEEP, parking_brake=KEEP)

    found = [simulation.step(action).info["pedals"].transfer_range for action in (kept, Command(1.0), Pedals(), kept)]

    assert found == [2, 2, 0, 0]
    with pytest.raises(ValueError, match="transfer_range: must be 0 to 3, got 9"):
        simulation.step(Pedals(transfer_range=9))


def test_a_script_changes_the_range_when_the_vehicle_is_slow_and_a_checkpoint_goes_on(write_scenario: Write) -> None:
    scenario = load_scenario(write_scenario(M998))
    whole, first = LockStep(scenario), LockStep(scenario)
    first.advance_to(120)

    whole.advance_to(150)
    fork = LockStep(scenario)
    fork.restore(first.save())
    fork.advance_to(150)

    assert whole.pedals.transfer_range == first.pedals.transfer_range + 1 == 1  # H at first, H/L from 1.3 s on
    assert fork.result().history.tobytes() == whole.result().history.tobytes()


def test_levers_that_the_vehicle_lacks_are_one_line(write_scenario: Write) -> None:
    for old, new, words in (
        ("transfer_range: L}", "transfer_range: LL}", r"^levers.transfer_range: must be 0 \(H\), .* got 'LL'$"),
        ("[H, H/L]", "[H, 4x4]", r"^driver.program.transfer_range: must be 0 \(H\), .* got '4x4'$"),
    ):
        with pytest.raises(SettingsError, match=words):
            LockStep(load_scenario(write_scenario(M998.replace(old, new))))


def test_pedals_reach_the_vehicle_within_their_limits() -> None:
    simulation = Simulation("acceleration")  # the pedals of its vehicle have no lag
    simulation.reset()

    step = simulation.step(Pedals(steering=3.0, brake=0.5))

    assert step.info["pedals"] == Pedals(steering=1.0, brake=0.5)
    assert simulation.result().channels["brake"][-1] == 0.5


def test_a_policy_drives_when_no_action_is_given() -> None:
    def gently(observation: Observation) -> Command:
        return Command(15.0, 0.001 * observation.time)

    by_policy, by_hand = Simulation("j_turn", driver=gently), Simulation("j_turn")
    by_policy.reset(), by_hand.reset()

    for number in range(20):
        by_policy.step(seconds=0.1)
        by_hand.step(Command(15.0, 0.001 * by_hand.time), seconds=0.1)
        assert by_hand.time == pytest.approx(0.1 * (number + 1))

    assert by_policy.result().history.tobytes() == by_hand.result().history.tobytes()


def test_a_command_that_drive_by_wire_rejects_is_named_and_stops_the_vehicle() -> None:
    simulation = Simulation("lane_change")
    simulation.reset()

    good = simulation.step(Command(10.0), seconds=0.5)
    absurd = simulation.step(Command(15.0, 0.7), seconds=0.5)  # 10.5 rad/s

    assert good.info["rejected"] == ""
    assert "yaw rate" in absurd.info["rejected"]
    assert absurd.info["pedals"].brake > 0.0


# Observations


def test_an_observation_is_of_the_time_it_states(write_scenario: Write, scenario_text: str) -> None:
    chosen = sensing(write_scenario, scenario_text)
    simulation = Simulation(chosen)

    first = simulation.reset()
    later = simulation.step(Command(5.0), seconds=0.5).observation

    assert first.time == 0.0
    assert set(first.sensors) == {"imu", "gps", "encoders"}
    assert later.time == pytest.approx(0.5)
    assert later.sensors["gps"].time_ns == chosen.start.time_ns() + 400_000_000  # at 5 Hz
    assert later.sensors["imu"].time_ns == chosen.start.time_ns() + 500_000_000
    assert later.estimate is not None
    assert math.dist(later.estimate["position"][:2], later.truth.position[:2]) < 0.3
    assert np.linalg.norm(later.truth.attitude) == pytest.approx(1.0)
    assert simulation.result().channels["x_m"][-1] == pytest.approx(later.truth.position[0], abs=1e-9)


def test_an_observation_does_not_change_when_time_goes_on(write_scenario: Write, scenario_text: str) -> None:
    simulation = Simulation(sensing(write_scenario, scenario_text))
    simulation.reset()
    kept = simulation.step(Command(5.0), seconds=0.2).observation
    position, stamp = kept.truth.position.copy(), kept.sensors["imu"].time_ns
    estimated = kept.estimate.tobytes()

    simulation.step(Command(5.0), seconds=0.2)

    assert kept.truth.position.tolist() == position.tolist()
    assert kept.sensors["imu"].time_ns == stamp
    assert kept.estimate.tobytes() == estimated


def test_the_planners_map_is_available_to_any_driver(write_scenario: Write) -> None:
    simulation = Simulation(write_scenario(TOWN % (40.0, -2.0)))
    begun = simulation.reset()

    driven = simulation.step(Command(2.0), seconds=0.2).observation

    assert begun.local_map is None
    assert driven.local_map is not None
    assert driven.truth.position[0] > 10.0


def test_contact_with_an_obstacle_is_reported(write_scenario: Write) -> None:
    simulation = Simulation(write_scenario(TOWN % (40.0, -2.0)))
    simulation.reset()

    # Off the road to the left, into a house.
    pushes = [simulation.step(Command(6.0, 0.02), seconds=0.5).info["collision_n"] for _ in range(20)]

    assert pushes[0] == 0.0
    assert max(pushes) > 1e3


# Ends


def test_a_run_that_has_ended_needs_a_reset() -> None:
    simulation = Simulation("bump")
    with pytest.raises(RuntimeError, match=r"reset\(\) comes first"):
        simulation.step(Command(1.0))
    simulation.reset()
    step = simulation.step(seconds=1000.0)

    assert step.has_ended
    assert not step.info["diverged"]
    assert all(finding.passed for finding in simulation.findings())
    with pytest.raises(RuntimeError, match="has ended"):
        simulation.step(Command(1.0))
    assert simulation.reset().time == 0.0


def test_a_run_ends_when_its_driver_has_arrived_and_stands(write_scenario: Write) -> None:
    run = LockStep(load_scenario(write_scenario(TOWN % (30.0, -2.0)))).run()

    assert math.dist((run.channels["x_m"][-1], run.channels["y_m"][-1]), (30.0, -2.0)) < 2.0
    assert run.time[-1] < 20.0
    assert abs(run.channels["speed_mps"][-1]) < 0.05


def test_a_run_ends_when_its_driver_has_given_up(write_scenario: Write) -> None:
    in_a_house = TOWN % (30.0, 20.0)

    run = LockStep(load_scenario(write_scenario(in_a_house))).run()

    assert run.time[-1] < 50.0
    assert abs(run.channels["speed_mps"][-1]) < 0.05


# For many learners


def test_an_unpickled_simulation_starts_afresh() -> None:
    simulation = Simulation("j_turn", seed=3)
    simulation.reset(seed=9)
    simulation.step(Command(15.0), seconds=0.5)

    copy = pickle.loads(pickle.dumps(simulation))
    copy.reset()
    copy.step(Command(15.0), seconds=0.5)

    assert copy.result().history.tobytes() == simulation.result().history.tobytes()
    assert pickle.dumps(copy) == pickle.dumps(simulation)  # including the seed


def test_a_closed_simulation_needs_a_reset() -> None:
    with Simulation("j_turn") as simulation:
        simulation.reset()

    with pytest.raises(RuntimeError, match=r"reset\(\) comes first"):
        simulation.step()


@pytest.mark.parametrize(
    ("action", "seconds", "words"),
    [
        (Command(math.nan), 0.01, "must be finite"),
        (Command(10**400), 0.01, "must be finite"),
        (Command("fast"), 0.01, "must be finite"),  # type: ignore[arg-type]
        (Command(1.0), "long", "must be finite"),
        (Command(1.0, math.inf), 0.01, "must be finite"),
        (Pedals(throttle=math.nan), 0.01, "must be finite"),
        ((1.0, 0.0), 0.01, "must be Pedals or a Command, got tuple"),
        (Command(1.0), 0.015, "a whole number of 0.01 s"),
        (Command(1.0), 0.0, "a whole number of 0.01 s"),
        (Command(1.0), math.nan, "must be finite"),
    ],
)
def test_an_invalid_action_is_rejected_and_changes_nothing(action: Any, seconds: float, words: str) -> None:
    simulation = Simulation("j_turn")
    simulation.reset()

    with pytest.raises(ValueError, match=words):
        simulation.step(action, seconds)

    assert simulation.time == 0.0


@pytest.mark.parametrize("seed", [-1, 2**31, 1.5, True])
def test_an_invalid_seed_is_rejected(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed: must be a whole number"):
        Simulation("j_turn", seed=seed)


def test_an_unknown_scenario_is_answered_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="j_turn"):
        Simulation("j_tern")
