"""Folders of runs: they read back as written, and damaged ones are rejected in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from proving_ground.report.run_record import Event, RunRecord, load_run, save_run
from proving_ground.scenarios.channels import CHANNELS
from proving_ground.scenarios.estimates import thinned_estimates
from proving_ground.scenarios.lock_step import Run
from proving_ground.settings import SettingsError
from some_records import DRIVE, small
from state_observer.vehicle.layout import SENSORS


def test_a_run_leaves_a_folder_that_reads_back(drive: Path, record: RunRecord) -> None:
    said = json.loads((drive / "metrics.json").read_text())

    assert said["passed"] is False
    assert [item["passed"] for item in said["criteria"]] == [True, False]
    assert record.verdict == "failed"
    assert record.seed == 3
    assert record.scenario == DRIVE
    assert record.timing.real_time_factor is not None
    assert {"proving_ground", "Python", "numpy", "numba", "processor"} <= set(record.versions)
    assert set(record.channels) == set(CHANNELS)
    assert Event(1.0, "fault", "gps: outage", 1.5) in record.events
    assert any(event.kind == "observer" for event in record.events)
    assert {"gps_position", "gyro", "accelerometer", "wheels"} <= set(record.innovations) <= set(SENSORS)


def test_saving_what_was_loaded_changes_no_byte(drive: Path, record: RunRecord, tmp_path: Path) -> None:
    names = save_run(tmp_path, record)

    assert set(names) == {"history.csv", "metrics.json", "scenario.yaml", "estimates.npz"}
    for name in ("history.csv", "scenario.yaml"):
        assert (tmp_path / name).read_bytes() == (drive / name).read_bytes()
    again = load_run(tmp_path)
    assert again.estimates is not None
    assert record.estimates is not None
    assert again.estimates.tobytes() == record.estimates.tobytes()


def test_watching_a_run_changes_no_bit_of_it(unwatched: Run, record: RunRecord) -> None:
    assert unwatched.estimates is not None
    assert record.estimates is not None
    assert thinned_estimates(unwatched.estimates).tobytes() == record.estimates.tobytes()


def test_files_of_an_earlier_run_do_not_stay(tmp_path: Path, record: RunRecord) -> None:
    save_run(tmp_path, record)

    save_run(tmp_path, small())

    assert load_run(tmp_path).estimates is None
    assert load_run(tmp_path).scenario == ""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("metrics.json", b"{", "not JSON"),
        ("metrics.json", b"[]", "names no scenario"),
        ("metrics.json", b'{"scenario": "x"}', "not the metrics of a run"),
        ("metrics.json", b'{"scenario": "x", "passed": true, "figures": {"a": NaN}}', "not finite"),
        ("metrics.json", b'{"scenario": "x", "passed": true, "timing": {"odd": 1}}', "not the metrics of a run"),
        ("history.csv", b"time_s,x_m\n0,1\n0,2\n", "times that rise"),
        ("history.csv", b"time_s,x_m\n0,nan\n", "finite"),
        ("history.csv", b"time_s,x_m\n0,one\n", "not a table of numbers"),
        ("history.csv", b"x_m\n1\n", "needs a row of names with time_s"),
        ("estimates.npz", b"PK no archive", "not the estimates of a run"),
    ],
)
def test_a_damaged_folder_is_one_clear_line(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    save_run(tmp_path, small())
    (tmp_path / name).write_bytes(content)

    with pytest.raises(SettingsError, match=words) as caught:
        load_run(tmp_path)

    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_estimates_are_loaded_without_pickle(tmp_path: Path) -> None:
    save_run(tmp_path, small())
    np.savez(tmp_path / "estimates.npz", estimates=np.array([{"code": "runs"}], dtype=object))

    with pytest.raises(SettingsError, match="not the estimates of a run"):
        load_run(tmp_path)


def test_a_folder_of_an_older_version_is_read_too(tmp_path: Path) -> None:
    save_run(tmp_path, small())
    said = json.loads((tmp_path / "metrics.json").read_text())
    old = ("scenario", "passed", "diverged_at_s", "duration_s", "figures", "criteria", "channels")
    (tmp_path / "metrics.json").write_text(json.dumps({key: said[key] for key in old}))

    assert load_run(tmp_path).passed is True
