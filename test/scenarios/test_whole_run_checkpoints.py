"""Checkpoints of whole runs: a fork goes on to the bit as the unbroken run, also through a file in another process."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assigned import changed_attributes
from planner.arcs import ArcPlanner
from planner.manoeuvre import Leg, ManoeuvreDriver
from planner.maps.lidar_source import LidarSource
from planner.maps.terrain_truth import TerrainTruth
from proving_ground.campaigns.overrides import Change, altered
from proving_ground.cli.main import main
from proving_ground.report.watching import WatchedLockStep
from proving_ground.saving.codec import decoded, encoded
from proving_ground.saving.stateful import Stateful
from proving_ground.scenarios.checkpoint import FORMAT
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.scenarios.simulation import Command, Simulation
from proving_ground.settings import SettingsError
from sensors.lidar.levels import Level
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from state_observer.vehicle.error_ekf import ErrorEkf
from state_observer.vehicle.estimate_log import EstimateLog
from state_walk import ROOMS, differences
from vehicle_dynamics.pedals import Pedals

# All kinds of parts at once: soft soil, fast and late sensors, faults, a target, observer and planner in the loop.
EVERYTHING = """version: 1
description: everything
world: {named: {name: off_road}}
start: {x_m: 110.8, y_m: 66.9, heading_deg: -164.2}
driver: {to_goal: {sensing: lidar, pose: observer, goal: {x_m: 60.0, y_m: 52.0}}}
duration_s: 4.0
seed: 5
sensors:
  - imu: {preset: industrial_mems, rate_hz: 250.0}
  - gps: {preset: low_cost, latency_s: 0.25, latency_jitter_s: 0.1}
  - encoders: {preset: quadrature}
  - lidar: {preset: spinning_16, columns: 240}
faults:
  - {sensor: imu, kind: noise, value: 0.01, start_s: 0.5, length_s: 3.0}
  - {sensor: gps, kind: drop, value: 0.3, start_s: 1.0}
  - {sensor: lidar, kind: freeze, start_s: 1.2, length_s: 0.4}
  - {actuator: throttle, kind: slow, value: 0.2, start_s: 0.3}
  - {actuator: steering, kind: stuck, start_s: 2.0, length_s: 0.3}
changes:
  - {what: payload_kg, at_s: 1.7, value: 300.0}
targets:
  - {cylinder: {radius_m: 0.5, height_m: 1.8}, x_m: 100.0, y_m: 75.0, heading_deg: 180.0, speed_mps: 2.0}
observer: {kind: vehicle, knows_start: true}
"""
# What may differ: work arrays that are overwritten before they are read, and caches of what depends on position alone.
SCRATCH: dict[type, tuple[str, ...]] = {
    ArcPlanner: ("fan",),
    ErrorEkf: ("_before",),
    EstimateLog: ("_rows",),  # room for further estimates; those that are there are compared with the state
    Level: ("surface", "_here", "_kept", "_next", "_building"),
    Lidar: ("_work",),
    LidarSource: ("_room",),
    Scene: ("_segments", "_travelled"),
    TerrainTruth: ("_tiles",),
}
# What methods change, but a checkpoint need not have.
FOLLOWS = {
    "Conditions": {"_start"},  # settings
    "DriveByWire": {"settings"},
    "ErrorEkf": {"_before", "_state"},  # work, a view of the record
    "ErrorModel": {"_no_kicks"},  # zeros
    "EstimateLog": {"_filter"},  # whose call it is
    "FaultLine": {"faults"},  # settings
    "FilterBase": {"_bytes", "_held", "_time"},  # views of the record
    "Frame": {"_plane"},  # from the origin
    "Gps": {"_open_sky", "_position_std", "_satellites"},  # settings
    "History": {"_filter"},  # which the observer saves
    "Levers": {"settings", "_set"},
    "Lidar": {"_reading", "_work"},  # settings, work
    "LidarSource": {"_room"},  # work
    # Saved without the room for what is to come; hashes; the last instant is for nobody else.
    "LockStep": {"_history", "_driver", "_listener", "on_instant"},
    "Navigator": {"_settings", "_source", "_spawned", "_world"},  # settings; what only nodes are sent
    "Scene": {"_segments", "_travelled"},  # work
    "SeenWorld": {"_spawned"},  # what only nodes are sent
    "Sensor": {"settings"},
    "Stepper": {"_start"},  # likewise, another world
}
ON = 40  # periods that a fork goes on: four scans, plans at 10 Hz, two fixes


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    path = tmp_path_factory.mktemp("scenario") / "everything.yaml"
    path.write_text(EVERYTHING)
    return load_scenario(path)


def shortened(name: str, duration_s: float) -> Scenario:
    return dataclasses.replace(load_scenario(scenario_file(name)), duration_s=duration_s)


def state(runner: LockStep) -> Any:
    """A copy of the whole state."""
    return decoded(encoded(runner.saved_state()))


def is_nothing_left_out(kind: type, name: str) -> bool:
    return False


def may_differ(kind: type, name: str) -> bool:
    return name in SCRATCH.get(kind, ())


def forks_go_on(scenario: Scenario, count: int) -> None:
    """Check that forks at random ticks, one in each of equal parts of the run, give the same samples and end state."""
    chance, received = random.Random(21), list[tuple[str, Any]]()
    runner = LockStep(scenario, listener=lambda *sample: received.append(sample))
    every = round(100 * scenario.duration_s) // count
    for part in range(count):
        tick = part * every + chance.randrange(every - ON)
        runner.advance_to(tick)
        own, before = list[tuple[str, Any]](), len(received)
        fork = runner.fork(lambda *sample, own=own: own.append(sample))  # type: ignore[misc]
        fork.advance_to(tick + ON)
        runner.advance_to(tick + ON)
        assert runner.period == tick + ON
        assert differences(own, received[before:], is_nothing_left_out) == []
        # Vehicle, ruts, history, estimates, commands, maps: all of it.
        assert differences(state(fork), state(runner), is_nothing_left_out) == []


@pytest.mark.slow  # 15 s of LIDAR, observer and planner, and 20 forks of them
def test_forks_of_a_drive_by_lidar_go_on_as_the_unbroken_run() -> None:
    forks_go_on(shortened("urban", 15.0), 20)


@pytest.mark.slow  # a minute of soft soil
def test_forks_of_a_drive_on_soft_soil_go_on_as_the_unbroken_run() -> None:
    forks_go_on(shortened("off_road", 60.0), 20)


def test_forks_of_a_run_with_everything_go_on_as_the_unbroken_run(everything: Scenario) -> None:
    forks_go_on(everything, 3)


def test_no_attribute_of_any_part_is_forgotten(everything: Scenario) -> None:
    runner = WatchedLockStep(everything, world=everything.world.load())
    runner.advance_to(317)

    assert differences(runner, runner.fork(), may_differ) == []
    fresh = WatchedLockStep(everything, world=everything.world.load())
    changed = differences(runner, fresh, may_differ)
    assert len(changed) > 100  # the walk does find what changes


def kinds(base: type = Stateful) -> set[type[Stateful]]:
    return {kind for child in base.__subclasses__() for kind in {child, *kinds(child)} if is_shipped(kind)}


def is_shipped(kind: type) -> bool:
    return kind.__module__.split(".")[0] in ROOMS


def test_whatever_a_method_changes_is_in_the_state_of_its_class() -> None:
    """Also what did not happen to change in the run above: manoeuvres, collisions, strays."""
    missing = {kind.__name__: changed_attributes(kind) - set(kind.state_names()) for kind in kinds()}

    assert {name: found for name, found in missing.items() if found} == FOLLOWS


def test_a_manoeuvre_under_way_goes_on(everything: Scenario) -> None:
    runner = LockStep(everything)
    assert runner.autonomy is not None
    core = runner.autonomy.core
    core._manoeuvre = ManoeuvreDriver(core.settings, [Leg.of_arc(np.arange(12.0).reshape(4, 3), 0.1, -1)])
    core._manoeuvre._index = 2

    fork = runner.fork()

    assert fork.autonomy is not None
    assert differences(core, fork.autonomy.core, may_differ) == []


def test_a_planner_without_a_state_cannot_be_saved(everything: Scenario) -> None:
    class Own:
        """A user's planner."""

    runner = LockStep(everything)
    assert runner.autonomy is not None
    runner.autonomy.core._planner._planner = Own()  # type: ignore[assignment]

    with pytest.raises(SettingsError, match=r"a value of class .*Own cannot be saved; see Stateful"):
        runner.save()


def test_a_run_goes_back_and_on_again(everything: Scenario) -> None:
    runner = LockStep(everything)
    runner.advance_to(150)
    saved = runner.save()
    runner.advance_to(250)
    first, result = state(runner), runner.result()
    history = result.history.tobytes()
    runner.restore(saved)
    assert runner.period == 150
    runner.advance_to(200)
    assert result.history.tobytes() == history  # results of before stay as they are
    runner.advance_to(250)

    assert differences(state(runner), first, is_nothing_left_out) == []


def test_a_checkpoint_goes_on_in_another_process(tmp_path: Path) -> None:
    scenario = tmp_path / "everything.yaml"
    scenario.write_text(EVERYTHING.replace("duration_s: 4.0", "duration_s: 2.0"))
    whole, later = tmp_path / "whole", tmp_path / "later"
    options = ["--no-pictures", "--save-at", "1.3", "--save-at", "1.3", "--save-at", "0"]
    assert main(["run", str(scenario), "--out", str(whole), *options]) == 0
    assert {path.name for path in whole.glob("*.checkpoint")} == {"at_0s.checkpoint", "at_1.3s.checkpoint"}

    command = [sys.executable, "-m", "proving_ground", "run", str(scenario), "--no-pictures", "--out", str(later)]
    command += ["--from", str(whole / "at_1.3s.checkpoint"), "--save-at", "2"]
    subprocess.run(command, check=True)

    assert (later / "history.csv").read_bytes() == (whole / "history.csv").read_bytes()
    with np.load(whole / "estimates.npz") as first, np.load(later / "estimates.npz") as second:
        assert first.files == second.files
        assert all(first[name].tobytes() == second[name].tobytes() for name in first.files)


def test_a_simulation_forks_with_its_samples_and_branches_differ() -> None:
    with Simulation("sensor_drive", seed=2) as simulation:
        simulation.reset()
        simulation.step(Command(4.0), seconds=1.5)
        fork, saved = simulation.fork(), simulation.save()
        same, other = simulation.step(seconds=0.5), fork.step(seconds=0.5)
        assert encoded(dict(same.observation.sensors)) == encoded(dict(other.observation.sensors))
        assert same.observation.truth.position.tobytes() == other.observation.truth.position.tobytes()

        there = simulation.restore(saved)
        assert there.time == pytest.approx(1.5)
        assert set(there.sensors) == set(same.observation.sensors)
        again = simulation.step(seconds=0.5)
        braked = fork.fork().step(Pedals(brake=1.0), seconds=1.0)
        assert again.observation.truth.position.tobytes() == same.observation.truth.position.tobytes()
        assert braked.observation.truth.position[0] < fork.step(seconds=1.0).observation.truth.position[0]


def test_a_simulation_takes_over_from_a_run() -> None:
    scenario = shortened("sensor_drive", 3.0)
    runner = LockStep(scenario)
    runner.advance_to(100)
    simulation = Simulation(scenario)
    simulation.reset()

    observation = simulation.restore(runner.save())
    step = simulation.step(seconds=1.0)

    runner.advance_to(200)
    assert all(sample.time_ns > scenario.start.time_ns() for sample in observation.sensors.values())
    assert step.observation.truth.velocity[0] > 0.0
    assert simulation.result().history.tobytes() == runner.result().history.tobytes()


def test_settings_may_change_from_a_checkpoint_on() -> None:
    shipped = shortened("lane_change", 33.0)
    # The distances to the side, compared below, are of this vehicle.
    dry = dataclasses.replace(shipped, vehicle=dataclasses.replace(shipped.vehicle, model="hmmwv_chrono"))
    ice = dataclasses.replace(
        dry, world=dataclasses.replace(dry.world, flat=dataclasses.replace(dry.world.flat, friction=0.1))
    )
    runner = LockStep(dry)
    runner.advance_to(3000)
    slippery = LockStep(ice)

    with pytest.raises(SettingsError, match="does not fit: the settings of vehicle must be as in its run"):
        slippery.restore(runner.save())
    slippery.restore(runner.save(), changed=True)

    before, after = (run.run().history for run in (runner, slippery))
    assert before[:3000].tobytes() == after[:3000].tobytes()
    assert abs(before["position"][-1, 1]) > 1.5 * abs(after["position"][-1, 1])


def test_another_seed_gives_other_noise_from_a_checkpoint_on(everything: Scenario) -> None:
    runner, other = LockStep(everything), LockStep(dataclasses.replace(everything, seed=6))
    runner.advance_to(100)
    other.restore(runner.save(), changed=True)
    runner.advance_to(101)
    other.advance_to(101)

    assert other.rig is not None
    assert runner.rig is not None
    states = [run.rig.sensors["imu"]._gyro._noise.bit_generator.state for run in (runner, other)]
    assert states[0] != states[1]


def test_a_lidar_with_other_beams_is_rejected(everything: Scenario) -> None:
    other = altered(everything, {"sensors.3.lidar.columns": Change(180)})
    runner = LockStep(everything)
    runner.advance_to(5)

    rejecting = LockStep(other)
    with pytest.raises(SettingsError, match="ranges of Lidar must be"):
        rejecting.restore(runner.save(), changed=True)

    assert differences(state(rejecting), state(LockStep(other)), is_nothing_left_out) == []  # as if not tried


def test_a_checkpoint_that_does_not_fit_is_rejected_in_one_line() -> None:
    scenario = shortened("lane_change", 2.0)
    runner = LockStep(scenario)
    runner.advance_to(150)
    saved = runner.save()
    flipped = saved[:-1] + bytes([saved[-1] ^ 1])
    older = saved.replace(FORMAT, FORMAT.replace(b"format 1", b"format 0"))

    for data, reason in (
        (b"", "is not a checkpoint"),
        (b'{"period": 0}', "is not a checkpoint"),
        (flipped, "is damaged: its content does not have the hash"),
        (saved[:-100], "is damaged"),
        (older, "has another format"),
    ):
        with pytest.raises(SettingsError, match=reason):
            runner.restore(data)
    for other, reason in (
        (shortened("j_turn", 2.0), "the settings of (script|vehicle) must be as in its run"),
        (shortened("sensor_drive", 2.0), "only one of the runs has the settings of"),
        (dataclasses.replace(scenario, duration_s=1.0), "is of 1.5 s, but the run ends at 1 s"),
    ):
        with pytest.raises(SettingsError, match=reason):
            LockStep(other).restore(saved)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--save-at", "0.005"], "--save-at 0.005: must be a whole number of 0.01 s"),
        (["--save-at", "nan"], "--save-at nan: must be a whole number of 0.01 s"),
        (["--save-at", "1000"], "--save-at 1000: must be from 0 to 60 s"),
        (["--from", "nowhere.checkpoint"], "nowhere.checkpoint: No such file or directory"),
    ],
)
def test_wrong_options_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    assert main(["run", "lane_change", "--out", str(tmp_path), *options]) == 2
    assert reason in capsys.readouterr().err
