"""Sensors in scenarios: in lock-step, repeatable to the bit, each with random numbers of its own."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.cli import main
from scenarios.lock_step import LockStep
from scenarios.scenario import Scenario, load_scenario
from settings import SettingsError

SCENARIO = """
version: 1
description: A drive with sensors
world:
  named: {name: urban}
vehicle: {fidelity: single_track}
start: {x_m: 10.0, y_m: -2.0, speed_mps: 5.0}
driver:
  straight: {speed_mps: 5.0}
duration_s: 2.0
seed: 3
"""
IMU, GPS = "  - imu: {preset: consumer_mems}", "  - gps: {preset: low_cost, rate_hz: 10}"
ENCODERS, LIDAR = "  - encoders: {preset: seed}", "  - lidar: {preset: spinning_16}"


def scenario(folder: Path, *sensors: str, faults: str = "") -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text("\n".join([SCENARIO, "sensors:", *sensors, faults]))
    return load_scenario(path)


def heard(described: Scenario) -> dict[str, list[Any]]:
    samples: dict[str, list[Any]] = {choice.called: [] for choice in described.sensors}
    LockStep(described, listener=lambda name, sample: samples[name].append(sample)).run()
    return samples


def same(a: Any, b: Any) -> bool:
    """To the bit; NaN is like NaN."""
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.fixture(scope="module")
def all_sensors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return heard(scenario(tmp_path_factory.mktemp("all"), IMU, GPS, ENCODERS, LIDAR))


def test_sensors_sample_at_their_own_rates(all_sensors: dict[str, list[Any]]) -> None:
    counts = {name: len(samples) for name, samples in all_sensors.items()}
    assert counts == {"imu": 200, "gps": 20, "encoders": 200, "lidar": 19}


def test_repeated_run_gives_the_same_samples_to_the_bit(all_sensors: dict[str, list[Any]], tmp_path: Path) -> None:
    again = heard(scenario(tmp_path, IMU, GPS, ENCODERS, LIDAR))
    assert all(same(all_sensors[name], again[name]) for name in all_sensors)


@pytest.mark.parametrize("others", [(GPS,), (GPS, IMU), (ENCODERS, GPS), (LIDAR, GPS)])
def test_another_sensor_changes_nothing_of_a_sensor(
    all_sensors: dict[str, list[Any]], tmp_path: Path, others: tuple[str, ...]
) -> None:
    assert same(heard(scenario(tmp_path, *others))["gps"], all_sensors["gps"])


def test_fault_hits_one_sensor_in_its_time_and_leaves_the_rest(
    all_sensors: dict[str, list[Any]], tmp_path: Path
) -> None:
    fault = "faults:\n  - {sensor: imu, kind: bias, start_s: 0.5, length_s: 0.5, value: 1.0, channel: accel_x}"
    broken = heard(scenario(tmp_path, IMU, GPS, ENCODERS, LIDAR, faults=fault))

    assert all(same(broken[name], all_sensors[name]) for name in ("gps", "encoders", "lidar"))
    off = np.array([b.force - a.force for a, b in zip(all_sensors["imu"], broken["imu"], strict=True)])
    assert off[:50] == pytest.approx(0.0, abs=1e-12)
    assert off[50:100] == pytest.approx(np.tile([1.0, 0.0, 0.0], (50, 1)), abs=0.02)  # a reading has steps
    assert off[100:] == pytest.approx(0.0, abs=1e-12)


def test_sensors_faster_than_the_driver_look_in_between_and_leave_the_motion_as_it_is(tmp_path: Path) -> None:
    fast = scenario(tmp_path, "  - imu: {preset: ideal, rate_hz: 500}")
    samples: list[Any] = []
    sensed = LockStep(fast, listener=lambda name, sample: samples.append(sample)).run()

    assert len(samples) == 1000
    assert {b.time_ns - a.time_ns for a, b in itertools.pairwise(samples)} == {2_000_000}
    path = tmp_path / "bare.yaml"
    path.write_text(SCENARIO)
    bare = load_scenario(path)
    assert LockStep(bare).run().history.tobytes() == sensed.history.tobytes()


def test_restored_run_gives_the_same_samples(all_sensors: dict[str, list[Any]], tmp_path: Path) -> None:
    samples: dict[str, list[Any]] = {name: [] for name in all_sensors}
    runner = LockStep(
        scenario(tmp_path, IMU, GPS, ENCODERS, LIDAR), listener=lambda name, sample: samples[name].append(sample)
    )
    runner.advance_to(73)
    checkpoint = runner.checkpoint()
    runner.advance_to(150)
    for found in samples.values():
        found.clear()
    runner.restore(checkpoint)
    runner.run()

    for name, found in samples.items():
        assert found
        assert same(found, all_sensors[name][-len(found) :])


@pytest.mark.parametrize(
    ("sensors", "faults", "reason"),
    [
        ("  - gps: {preset: rkt}", "", "sensors.0.gps.preset: rkt: unknown; did you mean rtk?"),
        ("  - gps: {preset: rtk, horizontal_std: 1}", "", "did you mean horizontal_std_m?"),
        ("  - gps: {rate_hz: -1}", "", "sensors.0.gps.rate_hz: must be a number from 0.1"),
        ("  - {name: a}", "", "must have exactly one of imu, gps, encoders, lidar"),
        (f"{GPS}\n{GPS}", "", "two are called gps"),
        (GPS, "faults: [{sensor: imu, kind: nan}]", "faults: sensor imu: unknown; Known: gps"),
        (GPS, "faults: [{sensor: gps, kind: melt}]", "faults.0.kind: must be one of freeze"),
        (GPS, "faults: [{sensor: gps, kind: bias, channel: x}]", "must be the beginning of one of east"),
    ],
)
def test_mistakes_are_one_line_with_the_key(tmp_path: Path, sensors: str, faults: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        scenario(tmp_path, sensors, faults=faults)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "scenario.yaml"))


def test_rate_that_fits_no_step_is_refused_with_rates_that_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="sensors: gps: rate_hz: must be a whole number of steps"):
        LockStep(scenario(tmp_path, "  - gps: {rate_hz: 7}"))


def test_pictures_of_all_sensors_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario(tmp_path, IMU, GPS, ENCODERS, LIDAR)
    assert main(["sensors", "show", str(tmp_path / "scenario.yaml"), "--at", "0.5", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.glob("*.png")} == {"imu.png", "gps.png", "lidar.png"}
    assert "returns of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["show"], "show needs a SCENARIO"),
        (["show", "lane_change"], "has no sensors to show; sensor_drive has"),
        (["show", "sensor_drive", "--at", "100"], "--at 100: must be from 0 to 20"),
    ],
)
def test_show_says_what_is_wrong(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sensors", *arguments]) == 2
    assert reason in capsys.readouterr().err
