"""Sensors in scenarios: in lock-step, repeatable to the bit, each with its own random stream."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.cli.main import main
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, load_scenario
from proving_ground.settings import SettingsError

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
ENCODERS, LIDAR = "  - encoders: {preset: hall_40}", "  - lidar: {preset: spinning_16}"


def scenario(folder: Path, *sensors: str, faults: str = "", text: str = SCENARIO) -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text("\n".join([text, "sensors:", *sensors, faults]))
    return load_scenario(path)


def received(described: Scenario) -> dict[str, list[Any]]:
    samples: dict[str, list[Any]] = {choice.called: [] for choice in described.sensors}
    LockStep(described, listener=lambda name, sample: samples[name].append(sample)).run()
    return samples


def same(a: Any, b: Any) -> bool:
    """Equal to the bit; NaN equals NaN."""
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.fixture(scope="module")
def all_sensors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return received(scenario(tmp_path_factory.mktemp("all"), IMU, GPS, ENCODERS, LIDAR))


def test_sensors_sample_at_their_own_rates(all_sensors: dict[str, list[Any]]) -> None:
    counts = {name: len(samples) for name, samples in all_sensors.items()}
    assert counts == {"imu": 200, "gps": 20, "encoders": 200, "lidar": 19}


def test_repeated_run_gives_the_same_samples_to_the_bit(all_sensors: dict[str, list[Any]], tmp_path: Path) -> None:
    again = received(scenario(tmp_path, IMU, GPS, ENCODERS, LIDAR))
    assert all(same(all_sensors[name], again[name]) for name in all_sensors)


@pytest.mark.parametrize("others", [(GPS,), (GPS, IMU), (ENCODERS, GPS), (LIDAR, GPS)])
def test_another_sensor_does_not_change_a_sensor(
    all_sensors: dict[str, list[Any]], tmp_path: Path, others: tuple[str, ...]
) -> None:
    assert same(received(scenario(tmp_path, *others))["gps"], all_sensors["gps"])


def test_fault_hits_one_sensor_in_its_time_and_leaves_the_rest(
    all_sensors: dict[str, list[Any]], tmp_path: Path
) -> None:
    fault = "faults:\n  - {sensor: imu, kind: bias, start_s: 0.5, length_s: 0.5, value: 1.0, channel: accel_x}"
    broken = received(scenario(tmp_path, IMU, GPS, ENCODERS, LIDAR, faults=fault))

    assert all(same(broken[name], all_sensors[name]) for name in ("gps", "encoders", "lidar"))
    off = np.array([b.force - a.force for a, b in zip(all_sensors["imu"], broken["imu"], strict=True)])
    assert off[:50] == pytest.approx(0.0, abs=1e-12)
    assert off[50:100] == pytest.approx(np.tile([1.0, 0.0, 0.0], (50, 1)), abs=0.02)  # a reading has steps
    assert off[100:] == pytest.approx(0.0, abs=1e-12)


def test_sensors_faster_than_the_driver_sample_in_between_and_do_not_change_the_motion(tmp_path: Path) -> None:
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
    checkpoint = runner.save()
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


def test_rate_that_fits_no_step_is_rejected_with_rates_that_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="sensors: gps: rate_hz: must be a whole number of steps"):
        LockStep(scenario(tmp_path, "  - gps: {rate_hz: 7}"))


CROSSING = """
targets:
  - cylinder: {radius_m: 0.5, height_m: 2.0}
    x_m: 25.0
    y_m: -6.0
    heading_deg: 90.0
    speed_mps: 4.0
"""


def test_lidar_sees_a_crossing_target_at_its_current_position(tmp_path: Path) -> None:
    quiet = "  - lidar: {preset: spinning_16, range_noise_m: 0.0, range_bias_m: 0.0, weak_signal: 0.0}"
    parked = SCENARIO.replace("speed_mps: 5.0", "speed_mps: 0.0")
    empty = received(scenario(tmp_path, quiet, text=parked))["lidar"]
    crossed = received(scenario(tmp_path, quiet, text=parked, faults=CROSSING))["lidar"]

    assert len(empty) == len(crossed) == 19
    start_ns, middles = empty[0].time_ns, []
    for without, scan in zip(empty, crossed, strict=True):
        new = scan.points[~np.isin(scan.points, without.points)]
        assert len(new) > 10
        seconds = (scan.time_ns - start_ns) * 1e-9
        x, y = new["x"] + 12.0, new["y"] - 2.0  # the unit is 2 m ahead of base_link
        away = np.hypot(x - 25.0, y - (-6.0 + 4.0 * (seconds + new["time"])))
        np.testing.assert_allclose(away, 0.5, atol=0.01)  # it moves by 40 cm from scan to scan
        middles.append(float(np.median(y)))
    assert middles[0] < -5.0
    assert middles[-1] > 0.5
    assert all(b > a for a, b in itertools.pairwise(middles))


def test_targets_do_not_change_other_sensors_and_the_motion(all_sensors: dict[str, list[Any]], tmp_path: Path) -> None:
    with_target = received(scenario(tmp_path, IMU, GPS, ENCODERS, LIDAR, faults=CROSSING))

    assert all(same(with_target[name], all_sensors[name]) for name in ("imu", "gps", "encoders"))
    assert not same(with_target["lidar"], all_sensors["lidar"])


def test_restored_run_sees_targets_where_they_were(tmp_path: Path) -> None:
    described = scenario(tmp_path, LIDAR, faults=CROSSING)
    whole, samples = received(described)["lidar"], []
    runner = LockStep(described, listener=lambda name, sample: samples.append(sample))
    runner.advance_to(73)
    checkpoint = runner.save()
    runner.advance_to(180)
    samples.clear()
    runner.restore(checkpoint)
    runner.run()

    assert len(samples) > 5
    assert same(samples, whole[-len(samples) :])


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("{x_m: 1.0}", "targets.0: must have exactly one of box, cylinder, got none"),
        ("{cylinder: {radius_m: 0.5}}", "targets.0.cylinder.height_m: missing"),
        ("{cylinder: {radius_m: -1, height_m: 1}}", "targets.0.cylinder.radius_m: must be a number from 0.01"),
        ("{cylinder: {radius_m: 1, height_m: 1}, speed: 3}", "targets.0.speed: unknown; did you mean speed_mps?"),
        ("{cylinder: {radius_m: 1, height_m: 1}, loop: true}", "loop: needs waypoints"),
        (
            "{cylinder: {radius_m: 1, height_m: 1}, x_m: 2, waypoints: [{x_m: 2, y_m: 0}]}",
            "waypoints: two positions in a row are the same, x_m 2, y_m 0",
        ),
    ],
)
def test_mistakes_of_targets_are_one_line_with_the_key(tmp_path: Path, target: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        scenario(tmp_path, LIDAR, faults=f"targets: [{target}]")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


NOTHING_TO_DRAW = [
    ("gps: {preset: low_cost, dropout: 1.0}", "gps: no fixes to draw"),
    ("gps: {preset: low_cost, quality: 0}", "gps: no fixes to draw"),
    ("gps: {preset: low_cost, fault: nan}", "gps: no fixes to draw"),
    ("imu: {preset: ideal}", "imu: no noise to draw"),
    ("lidar: {preset: flash, dropout: 1.0}", "lidar: no scan to draw"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("sensor", "line"), NOTHING_TO_DRAW)
def test_nothing_to_draw_is_reported_in_one_line(
    sensor: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario(tmp_path, f"  - {sensor}")
    assert main(["sensors", "show", str(tmp_path / "scenario.yaml"), "--at", "0.1", "--out", str(tmp_path)]) == 0

    assert f"  {line}\n" in capsys.readouterr().out
    assert not list(tmp_path.glob("*.png"))


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
def test_show_reports_mistakes(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sensors", *arguments]) == 2
    assert reason in capsys.readouterr().err
