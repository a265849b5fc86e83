"""Settings, tuning and options of `proving-ground observe`, and rejection of absurd ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from observed_bags import Output, copied, metrics, run
from proving_ground.recording.observe_settings import load_either, settings_text
from proving_ground.settings import SettingsError
from state_observer.kinds import INS
from state_observer.vehicle.settings import InsSettings, VehicleObserverSettings

# Settings and tuning.


def test_tuning_writes_settings_that_load_and_are_used(drive: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(drive, tmp_path / "out", "--observer", "ins", "--tune", "force_mps2") == 0

    tuning = metrics(tmp_path / "out")["tuning"]
    assert tuning["after"] <= tuning["before"]
    tuned = load_either(str(tmp_path / "out" / "tuned.yaml"))
    assert isinstance(tuned, InsSettings)
    before, after = INS.load().noise, tuned.noise
    assert (after.gyro_radps, after.gyro_bias_radps2) == (before.gyro_radps, before.gyro_bias_radps2)
    wanted = tuning["steps"][-1][1] if tuning["steps"] else before.force_mps2
    assert after.force_mps2 == pytest.approx(wanted)
    assert tuned.mounts.gps_xyz_m == (0.3, 0.0, 1.9)
    assert run(drive, tmp_path / "again", "--observer", str(tmp_path / "out" / "tuned.yaml")) == 0
    assert metrics(tmp_path / "again")["rmse"] == metrics(tmp_path / "out")["rmse"]


def test_an_unknown_parameter_is_reported_in_one_line(drive: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(drive, tmp_path / "out", "--tune", "charm") == 2
    assert "--tune: parameters: unknown charm" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["vehicle", "ins"])
def test_settings_come_back_from_their_text(tmp_path: Path, kind: str) -> None:
    settings = load_either(kind)
    (tmp_path / "own.yaml").write_text(settings_text(settings))

    assert load_either(str(tmp_path / "own.yaml")) == settings
    assert isinstance(settings, InsSettings if kind == "ins" else VehicleObserverSettings)


@pytest.mark.parametrize("name", ["magic", "nowhere.yaml"])
def test_invalid_settings_are_rejected(name: str) -> None:
    with pytest.raises(SettingsError):
        load_either(name)


def test_three_names_for_four_wheels_are_rejected(drive: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(drive, tmp_path / "out", "--wheel-names", "a,b,c") == 2
    assert "--wheel-names a,b,c: must be 4 names separated by commas" in capsys.readouterr().err


# Invalid options.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--datum", "nan", "0", "0"], "--datum: latitude_deg"),
        (["--datum", "91", "0", "0"], "--datum: latitude_deg"),
        (["--datum", "43", "inf", "0"], "--datum: longitude_deg"),
        (["--datum", "43", "8", "inf"], "--datum: altitude_m"),
        (["--gps-at", "inf", "0", "0"], "--gps-at: gps_xyz_m"),
        (["--gps-at", "100", "0", "0"], "--gps-at: gps_xyz_m"),
        (["--imu-at", "0", "nan", "0"], "--imu-at: imu_xyz_m"),
        (["--wheel-names", "a,b,c,d"], "--wheel-names a,b,c,d: /wheels/joint_states has no joint a, but front_left"),
        (["--actuation-names", "a,b,c,d"], "--actuation-names a,b,c,d: /vehicle/actuation has no joint a, but steer"),
    ],
)
def test_absurd_options_are_reported_in_one_line(
    drive: Path, tmp_path: Path, capsys: Output, options: list[str], words: str
) -> None:
    assert run(drive, tmp_path / "out", *options) == 2

    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error
    assert not (tmp_path / "out" / "estimate").exists()


def test_wheels_of_other_names_are_reported_and_not_used(drive: Path, tmp_path: Path, capsys: Output) -> None:
    def rename(topic: str, message: Any) -> tuple[str, Any]:
        if topic == "/wheels/joint_states":
            message.name = ["w1", "w2", "w3", "w4"]
        return topic, message

    bag = copied(drive, tmp_path / "copy", rename)

    assert run(bag, tmp_path / "out") == 0

    said = capsys.readouterr().out
    assert "wheels: /wheels/joint_states has no joint front_left_wheel, but w1, w2, w3, w4; it is not used" in said
    assert "observer: ins, because the vehicle's model needs wheels" in said
    assert metrics(tmp_path / "out")["observer"] == "ins"


def test_an_absurd_mount_of_the_bag_is_not_used(drive: Path, tmp_path: Path, capsys: Output) -> None:
    def move(topic: str, message: Any) -> tuple[str, Any]:
        if topic == "/tf_static":
            for link in message.transforms:
                link.transform.translation.x += 1000.0
        return topic, message

    bag = copied(drive, tmp_path / "copy", move)

    assert run(bag, tmp_path / "out") == 0

    assert "fix: its position in base_link is absurd in the bag" in capsys.readouterr().out
    assert metrics(tmp_path / "out")["mounts"]["gps_xyz_m"] == [0.3, 0.0, 1.9]
