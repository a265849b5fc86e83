"""Actuators in scenarios: their faults on the timeline, in lock-step, in the report, and in one line when wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.campaigns.overrides import Change, altered
from proving_ground.report.from_run import fault_events
from proving_ground.report.run_record import Event
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.scenario import Scenario, load_scenario
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file

DRIVE = """version: 1
description: a drive that brakes twice
world: {flat: {}}
start: {speed_mps: 12.0}
duration_s: 3.0
driver:
  program: {time_s: [0.0, 0.5, 0.51, 1.0, 1.01, 2.0, 2.01], brake: [0.0, 0.0, 0.2, 0.2, 0.0, 0.0, 0.3], gear: neutral}
"""
AT_ONCE = "vehicle: {model: hmmwv_chrono}\n"  # its pedals have no lag
STUCK = "faults: [{actuator: brake, kind: stuck, start_s: 0.8, length_s: 0.7}]\n"


def loaded(folder: Path, *texts: str) -> Scenario:
    path = folder / "own.yaml"
    path.write_text(DRIVE + "".join(texts))
    return load_scenario(path)


def runs(folder: Path, *texts: str) -> Run:
    return LockStep(loaded(folder, *texts)).run()


def at(run: Run, channel: str, time_s: float) -> float:
    """Value at the beginning of a period."""
    return float(run.channels[channel][round(100 * time_s)])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runs(tmp_path_factory.mktemp("sound"), AT_ONCE)


def test_a_brake_that_sticks_slows_the_vehicle_until_the_fault_ends(tmp_path: Path, sound: Run) -> None:
    stuck = runs(tmp_path, AT_ONCE, STUCK)

    until, during = slice(0, 101), slice(102, 151)  # it sticks from 0.8 s, but is let go no sooner than at 1 s
    assert stuck.history[until].tobytes() == sound.history[until].tobytes()
    assert (stuck.channels["brake"][during] == 0.2).all()
    assert (sound.channels["brake"][during] == 0.0).all()
    assert at(stuck, "speed_mps", 1.5) < at(sound, "speed_mps", 1.5) - 0.5
    np.testing.assert_array_equal(stuck.channels["brake"][152:], sound.channels["brake"][152:])
    assert at(stuck, "speed_mps", 1.9) == pytest.approx(at(stuck, "speed_mps", 1.6), abs=0.1)  # it rolls again


def test_a_slow_brake_stops_later_and_an_offset_throttle_drives(tmp_path: Path, sound: Run) -> None:
    slow = runs(tmp_path, AT_ONCE, "faults: [{actuator: brake, kind: slow, value: 0.5}]\n")
    offset = runs(
        tmp_path, AT_ONCE, "faults: [{actuator: throttle, kind: offset, value: 0.25, start_s: 1.0, length_s: 1.0}]\n"
    )
    steered = runs(tmp_path, AT_ONCE, "faults: [{actuator: steering, kind: offset, value: -0.2, start_s: 1.0}]\n")

    assert at(slow, "brake", 0.8) == pytest.approx(0.2 * (1.0 - np.exp(-0.3 / 0.5)), rel=0.05)
    assert set(offset.channels["throttle"].tolist()) == {0.0, 0.25}
    assert steered.channels["y_m"][-1] < sound.channels["y_m"][-1] - 0.5  # to the right


def test_lags_are_those_of_the_vehicle_file(tmp_path: Path, sound: Run) -> None:
    own = tmp_path / "own_vehicle.yaml"
    own.write_text(share_file("config/vehicles/hmmwv_chrono.yaml").read_text() + "actuators: {brake_lag_s: 0.2}\n")

    lagging = runs(tmp_path, "vehicle: {model: ./own_vehicle.yaml}\n")

    assert at(lagging, "brake", 1.0) == pytest.approx(0.2 * (1.0 - np.exp(-0.5 / 0.2)), rel=0.05)
    assert lagging.channels["speed_mps"][-1] != sound.channels["speed_mps"][-1]


@pytest.mark.parametrize("tick", [75, 110, 160])
def test_a_run_with_faults_goes_on_from_a_checkpoint_to_the_bit(tmp_path: Path, tick: int) -> None:
    slow = "  - {actuator: brake, kind: slow, value: 0.3, start_s: 0.4}\n"
    scenario = loaded(tmp_path, "faults:\n  - {actuator: brake, kind: stuck, start_s: 0.8, length_s: 0.7}\n", slow)
    whole = LockStep(scenario)
    whole.advance_to(tick)
    saved = whole.save()
    result = whole.run()

    later = LockStep(scenario)
    later.restore(saved)

    assert later.run().history.tobytes() == result.history.tobytes()


def test_faults_are_in_the_events_of_the_run(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, "faults:\n  - {actuator: brake, kind: stuck, start_s: 0.8, length_s: 0.7}\n",
                      "  - {actuator: throttle, kind: offset, value: -0.1, start_s: 2.0}\n",
                      "  - {actuator: throttle, kind: stuck, start_s: 9.0}\n")  # fmt: skip

    assert fault_events(scenario) == [
        Event(0.8, "fault", "brake: stuck", 0.7),
        Event(2.0, "fault", "throttle: offset, -0.1", 1.0),
    ]


def test_campaigns_vary_a_fault_of_an_actuator(tmp_path: Path) -> None:
    varied: Any = altered(loaded(tmp_path, STUCK), {"faults.0.length_s": Change(0.1)})

    assert varied.faults[0] == dataclasses.replace(loaded(tmp_path, STUCK).faults[0], length_s=0.1)


def test_sensors_and_actuators_fail_on_one_timeline(tmp_path: Path) -> None:
    both = "faults: [{actuator: brake, kind: stuck}, {sensor: gps, kind: outage}, {actuator: steering, kind: slow}]\n"
    scenario = loaded(tmp_path, "sensors: [{gps: {}}]\n", both)

    assert [fault.sensor for fault in scenario.sensor_faults] == ["gps"]
    assert [fault.actuator for fault in scenario.actuator_faults] == ["brake", "steering"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("{actuator: clutch, kind: stuck}", "faults.0.actuator: must be one of steering, throttle, brake, got"),
        ("{actuator: brake, kind: melt}", "faults.0.kind: must be one of stuck, slow, offset, got 'melt'"),
        ("{actuator: brake, kind: bias}", "faults.0.kind: must be one of stuck, slow, offset, got 'bias'"),
        ("{actuator: brake}", "faults.0.kind: missing"),
        ("{actuator: brake, kind: slow, value: -1}", "faults.0: value: of slow must not be negative, got -1"),
        ("{actuator: brake, kind: offset, value: 2}", "within the travel of the brake, -1 to 1, got 2"),
        ("{actuator: brake, kind: stuck, value: 0.5}", "faults.0: value: stuck has none"),
        ("{actuator: brake, kind: stuck, channel: x}", "faults.0.channel: unknown; "),
        ("{kind: stuck}", "faults.0: must have exactly one of sensor, actuator, got none"),
        ("{sensor: gps, actuator: brake, kind: stuck}", "exactly one of sensor, actuator, got sensor, actuator"),
        ("stuck", "faults.0: must map names to values, got str"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_with_the_key(tmp_path: Path, fault: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, f"faults: [{fault}]\n")
    assert reason in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "own.yaml"))
    assert "\n" not in str(caught.value)


def test_a_lag_that_is_wrong_is_rejected_with_file_and_range(tmp_path: Path) -> None:
    own = tmp_path / "own_vehicle.yaml"
    own.write_text(share_file("config/vehicles/hmmwv_chrono.yaml").read_text() + "actuators: {brake_lag_s: -0.2}\n")

    with pytest.raises(SettingsError, match=r"actuators.brake_lag_s: must be a number from 0 to 10 \[s\], got -0.2"):
        runs(tmp_path, "vehicle: {model: ./own_vehicle.yaml}\n")
