"""Branches of a run in lock-step: go back, change something, run on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from proving_ground.cockpit.branches import BranchedRun
from proving_ground.interfaces import topics
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario
from proving_ground.scenarios.simulation import Command
from proving_ground.settings import SettingsError
from proving_ground.settings.nested import build_nested

LANE = {
    "version": 1,
    "description": "along a lane",
    "duration_s": 3.0,
    "world": {"flat": {"friction": 0.9}},
    "start": {"speed_mps": 12.0},
    "driver": {"lane_change": {"speed_mps": 12.0, "change_at_s": 0.5, "lasting_s": 1.0, "back_at_s": 1.6}},
    "sensors": [
        {"imu": {"preset": "industrial_mems"}},
        {"gps": {"preset": "low_cost"}},
        {"encoders": {"preset": "quadrature"}},
    ],
    "observer": {"kind": "vehicle"},
    "criteria": [{"channel": "speed_mps", "statistic": "minimum", "at_least": 5.0}],
}


class Messages:
    """Counts what a page would be shown."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def write(self, topic: str, message: Any, log_ns: int, qos: Any = None) -> None:
        self.counts[topic] = self.counts.get(topic, 0) + 1


@pytest.fixture
def scenario() -> Scenario:
    return build_nested(Scenario, LANE, "lane")


def history(run: BranchedRun) -> bytes:
    return bytes(run.runner.result().history.tobytes())


def test_page_is_shown_what_a_launch_would_publish(scenario: Scenario) -> None:
    messages = Messages()
    run = BranchedRun(scenario, messages)

    run.advance(100)

    assert messages.counts["/ground_truth/odom"] == 100
    assert messages.counts[topics.ESTIMATE.absolute] > 50


def test_a_branch_without_a_change_is_the_same_run_to_the_bit(scenario: Scenario) -> None:
    unbroken = LockStep(scenario).run().history.tobytes()
    run = BranchedRun(scenario, Messages())
    run.advance(120)
    checkpoint = run.save()
    run.advance(50)

    run.go_back(checkpoint)
    run.advance(300)

    assert run.branch == 2
    assert run.runner.has_ended
    assert history(run) == unbroken


def test_friction_changes_the_motion_from_then_on_only(scenario: Scenario) -> None:
    run = BranchedRun(scenario, Messages())
    run.advance(50)
    checkpoint = run.save()
    run.advance(250)
    dry = run.runner.result().channels["y_m"]

    run.go_back(checkpoint)
    run.set_friction(0.15)
    run.advance(250)
    icy = run.runner.result().channels["y_m"]

    assert np.array_equal(icy[:51], dry[:51])
    assert np.abs(icy - dry).max() > 0.3  # the tyres slide out of the lane change
    assert run.changes == ["friction 0.15"]
    assert run.endings[0].words == "branch 1: PASSED after 3.00 s"


def test_a_fault_of_a_sensor_misleads_the_observer_and_ends_again(scenario: Scenario) -> None:
    run = BranchedRun(scenario, Messages())
    run.advance(50)

    run.add_fault("imu", "bias", 3.0)
    run.advance(150)
    run.clear_faults()

    assert run.changes == ["bias 3 of imu", "no faults"]
    assert run.scenario.faults == ()
    with pytest.raises(SettingsError, match="compass"):
        run.add_fault("compass", "bias", 1.0)
    with pytest.raises(SettingsError, match="value: of drop must be from 0 to 1"):
        run.add_fault("imu", "drop", 2.0)
    assert run.changes == ["bias 3 of imu", "no faults"]


def test_a_fault_of_an_actuator_begins_now_and_ends_again(scenario: Scenario) -> None:
    run = BranchedRun(scenario, Messages())
    run.advance(50)

    run.add_fault("brake", "offset", 0.5)
    run.advance(1)

    assert run.runner.pedals.brake >= 0.5
    run.clear_faults()
    run.advance(1)
    assert run.runner.pedals.brake < 0.5
    assert run.fallible["brake"] == ("stuck", "slow", "offset")
    with pytest.raises(SettingsError, match="kind: must be one of stuck, slow, offset, got 'outage'"):
        run.add_fault("throttle", "outage", 0.0)


def test_a_user_drives_and_gives_the_wheel_back(scenario: Scenario) -> None:
    run = BranchedRun(scenario, Messages())
    run.command(Command(speed=2.0))
    run.advance(150)
    braked = run.runner.result().channels["speed_mps"][-1]

    run.go_back(None)
    run.advance(150)

    assert braked < 10.0 < run.runner.result().channels["speed_mps"][-1]
    assert run.endings[0].changes == ("driven by hand",)
    assert run.runner.time == 1.5


def test_friction_changes_in_any_world_with_hard_ground(scenario: Scenario) -> None:
    kerb = replace(build_nested(Scenario, {**LANE, "world": {"named": {"name": "kerb"}}}, "kerb"), observer=None)
    run = BranchedRun(kerb, Messages())
    run.advance(10)

    run.set_friction(0.2)
    run.advance(1)

    assert run.friction == run.runner.condition.friction == 0.2


def test_friction_of_a_world_of_soft_soil_is_rejected(scenario: Scenario) -> None:
    field = build_nested(Scenario, {**LANE, "world": {"field": {"soil": "dry_sand"}}}, "field")
    run = BranchedRun(field, Messages())

    assert run.friction is None
    with pytest.raises(SettingsError, match="friction: cannot change, the world has soft soil only"):
        run.set_friction(0.5)
