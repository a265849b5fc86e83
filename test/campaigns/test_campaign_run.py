"""Campaigns with real worker processes: whatever happens to them, the table is the same.

Runs are tiny: a kinematic vehicle for a second or two.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from proving_ground.campaigns.kit import load_kit
from proving_ground.campaigns.local_pool import LocalPool
from proving_ground.campaigns.perform import perform
from proving_ground.campaigns.plan import Job, Plan
from proving_ground.campaigns.repeat import prepared_run, run_of, scenario_of_run
from proving_ground.campaigns.store import load_results
from proving_ground.campaigns.table import read_table, without_host, write_table
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_directory
from some_campaigns import BASE, CAMPAIGN, LONG_RUNS, RUNS, children_of, command, in_process_of_its_own, kept, wait_for

MOODY = '''"""A planner whose margin selects a failure, for tests of broken workers."""
import os
import time

from planner.planning import ArcsAlone


class Moody(ArcsAlone):
    def __init__(self, settings, footprint, extent):
        super().__init__(settings, footprint, extent)
        self.mood = settings.margin_m
        if self.mood == 1.75:
            os._exit(7)
        if self.mood == 1.5:
            raise RuntimeError("what a\\nmood")

    def plan(self, *arguments):
        if self.mood == 1.25:
            time.sleep(6.0)
            self.mood = 0.0
        return super().plan(*arguments)
'''
TOWN = """version: 1
description: a pad
build:
  flat: {length_m: 60.0, width_m: 40.0, resolution_m: 1.0}
goal: {x_m: 20.0, y_m: 0.0}
"""


def rows(table: pa.Table) -> list[dict[str, object]]:
    return table.to_pylist()


def test_a_table_has_every_run_with_inputs_metrics_verdict_and_where_it_was_computed(whole: Path) -> None:
    table = read_table(whole / "results.parquet")
    assert table["run"].to_pylist() == list(range(RUNS))
    assert set(table["verdict"].to_pylist()) == {"passed", "failed"}
    for row in rows(table):
        slow = row["input.speed"] < 3.5
        assert not slow or row["verdict"] == "failed"
        assert (row["reason"] == "") == (row["verdict"] == "passed")
        way = np.array([row["end.x_m"], row["end.y_m"]])
        assert np.hypot(*way) == pytest.approx(row["metric.distance_m"], abs=1e-3)
        assert np.degrees(np.arctan2(*way[::-1])) == pytest.approx(row["input.heading"], abs=0.5)
        assert "numba" in str(row["host.versions"])
        assert row["host.cpu"]


def test_more_workers_give_the_same_table(files: Path, whole: Path) -> None:
    assert command("run", str(files / "made.yaml"), "--workers", "2", "--out", str(files / "two")) == 0
    assert without_host(load_results(files / "two")).equals(without_host(load_results(whole)))


def test_a_run_repeated_alone_has_the_same_metrics_to_the_bit(whole: Path) -> None:
    table = rows(load_results(whole))
    for number in (0, RUNS - 1):
        scenario, parameters = scenario_of_run(whole, number)
        run = LockStep(scenario, parameters=parameters).run()
        assert float(run.channels["x_m"][-1]) == table[number]["metric.x_m.end"]
        kit, job = run_of(whole, number)
        row = perform(kit, job)
        assert {key: row[key] for key in row if key.startswith("metric.")} == {
            key: value for key, value in table[number].items() if key.startswith("metric.")
        }


def test_a_run_that_the_campaign_does_not_have_is_rejected(whole: Path) -> None:
    with pytest.raises(SettingsError, match=f"runs 0 to {RUNS - 1}"):
        prepared_run(whole, RUNS)


def test_a_killed_worker_loses_no_run_and_repeats_none(files: Path, undisturbed: Path) -> None:
    kit = load_kit(files / "long.yaml")
    plan, pool = Plan(kit.campaign), LocalPool(kit, 2)
    killed: list[int] = []

    def kill_one_at_work() -> None:
        busy = [worker for worker in pool.workers if worker.job is not None]
        if busy:
            killed.append(busy[0].pid)
            os.kill(busy[0].pid, signal.SIGKILL)

    def jobs() -> Iterator[Job]:
        for number in range(LONG_RUNS):
            if number in (3, 6):  # a little later, a worker is in the middle of a run
                threading.Timer(0.1, kill_one_at_work).start()
            yield plan.job(number)

    try:
        ended = [outcome for outcome in pool.outcomes(jobs()) if outcome is not None]
    finally:
        pool.close()
    assert killed
    assert sorted(outcome.job.number for outcome in ended) == list(range(LONG_RUNS))
    expected = {row["run"]: row["metric.x_m.end"] for row in rows(load_results(undisturbed))}
    assert all(outcome.row["metric.x_m.end"] == expected[outcome.job.number] for outcome in ended)


def test_stopped_and_killed_at_random_points_a_campaign_goes_on_where_it_was(files: Path, undisturbed: Path) -> None:
    words = ["run", str(files / "long.yaml"), "--workers", "1", "--out"]
    out, chance = files / "disturbed", random.Random(4)  # number of further rows before it is stopped
    for how in (signal.SIGKILL, signal.SIGINT):
        before, more = kept(out), chance.randint(1, 3)
        process = in_process_of_its_own(*words, str(out))
        if how is signal.SIGKILL:
            wait_for(lambda before=before, more=more: kept(out) >= before + more, process)
        else:  # rows are written when it stops, so there need not be new ones yet
            wait_for(lambda process=process: children_of(process.pid), process)
        workers = children_of(process.pid) if process.poll() is None else []
        process.send_signal(how)
        output = process.communicate(timeout=60)[0]
        assert process.returncode == (130 if how is signal.SIGINT else -9), output
        assert 0 < kept(out) < LONG_RUNS, "it was not stopped in the middle"
        wait_for(lambda workers=workers: not any(Path(f"/proc/{pid}/cwd").exists() for pid in workers))
    assert command(*words, str(out)) == 0
    assert without_host(load_results(out)).equals(without_host(load_results(undisturbed)))


def test_more_runs_can_be_requested_later_and_fewer_remove_none(
    files: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = with_first_rows(whole, files / "grown", 4)
    words = ["run", str(files / "made.yaml"), "--workers", "1", "--out", str(out), "--runs"]
    assert command(*words, "7") == 0
    assert without_host(load_results(out)).equals(without_host(load_results(whole)).slice(0, 7))
    capsys.readouterr()
    assert command(*words, "3") == 0
    assert "made: all 3 runs are there\n" in capsys.readouterr().out
    assert command("show", str(out)) == 0
    assert "7 of 7 runs are done" in capsys.readouterr().out
    assert run_of(out, 6)[1] == run_of(whole, 6)[1]


def with_first_rows(whole: Path, folder: Path, runs: int) -> Path:
    """A folder as left by a campaign of this many runs."""
    shutil.copytree(whole, folder)
    write_table(folder / "results.parquet", load_results(whole).slice(0, runs))
    made_of = json.loads((folder / "made_of.json").read_text())
    (folder / "made_of.json").write_text(json.dumps(made_of | {"runs": runs}))
    return folder


def test_a_vehicle_that_was_changed_between_two_sessions_is_rejected(tmp_path: Path) -> None:
    numbers = (share_directory() / "config/vehicles/hmmwv.yaml").read_text()
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "heavy.yaml").write_text(numbers)
    choice = "vary:\n  - {key: vehicle.model, choice: {words: [heavy.yaml]}}\n"
    (tmp_path / "made.yaml").write_text(CAMPAIGN.replace("vary:\n", choice))
    words = ["run", str(tmp_path / "made.yaml"), "--workers", "1", "--out", str(tmp_path / "out"), "--runs"]
    assert command(*words, "2") == 0
    (tmp_path / "heavy.yaml").write_text(re.sub(r"mass_kg: [\d.]+", "mass_kg: 3000.0", numbers, count=1))
    with pytest.raises(SettingsError, match=r"its results are of another vehicle heavy\.yaml file"):
        command(*words, "4")
    with pytest.raises(SettingsError, match=r"the vehicle heavy\.yaml file has changed since; run 0 cannot"):
        prepared_run(tmp_path / "out", 0)


def test_results_of_another_campaign_are_not_mixed_in(files: Path, whole: Path, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "made.yaml").write_text(CAMPAIGN.replace("seed: 7", "seed: 8"))
    with pytest.raises(SettingsError, match="of another campaign file"):
        command("run", str(tmp_path / "made.yaml"), "--out", str(whole))


def test_two_at_once_in_one_folder_are_rejected(files: Path, whole: Path) -> None:
    from proving_ground.campaigns.store import Store
    from proving_ground.campaigns.table import schema_of

    kit = load_kit(files / "made.yaml")
    store = Store(whole, schema_of(kit, (1.0, 1.0)))
    try:
        with pytest.raises(SettingsError, match="another campaign is at work there"):
            command("run", str(files / "made.yaml"), "--out", str(whole))
    finally:
        store.close()


def test_a_full_disk_is_one_line_and_what_was_written_stays(files: Path, whole: Path) -> None:
    out = with_first_rows(whole, files / "full", 3)
    (out / "parts" / "part-000001.parquet").symlink_to("/dev/full")  # a device that is always full
    with pytest.raises(SettingsError) as caught:
        command("run", str(files / "made.yaml"), "--workers", "1", "--out", str(out))
    assert "No space left on device" in str(caught.value)
    assert f"3 of {RUNS} runs are kept" in str(caught.value)
    (out / "parts" / "part-000001.parquet").unlink()
    assert kept(out) == 3


def test_a_piece_that_cannot_be_read_is_done_again(
    files: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = with_first_rows(whole, files / "torn", 2)
    (out / "results.parquet").write_bytes((out / "results.parquet").read_bytes()[:-9])
    assert command("run", str(files / "made.yaml"), "--workers", "1", "--runs", "2", "--out", str(out)) == 0
    assert "its runs are done again" in capsys.readouterr().err
    assert without_host(load_results(out)).equals(without_host(load_results(whole)).slice(0, 2))


def test_an_early_end_leaves_the_same_runs_whichever_worker_is_faster(files: Path) -> None:
    (files / "early.yaml").write_text(CAMPAIGN + "stop: {max_failures: 2, after_runs: 1}\n")
    for workers in ("1", "2"):
        words = ["--workers", workers, "--out", str(files / f"early{workers}")]
        assert command("run", str(files / "early.yaml"), *words) == 0
    one, two = (without_host(load_results(files / f"early{workers}")) for workers in ("1", "2"))
    assert one.equals(two)
    assert one["verdict"].to_pylist().count("passed") == len(one) - 2
    assert one["verdict"].to_pylist()[-1] == "failed"


@pytest.fixture(scope="module")
def moods(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a campaign whose planner breaks workers in several ways, by its input."""
    folder = tmp_path_factory.mktemp("moods")
    (folder / "moody_planner.py").write_text(MOODY)
    (folder / "pad.yaml").write_text(TOWN)
    driver = "  to_goal: {planner: {planner: moody_planner:Moody}}"
    base = BASE.split("criteria:")[0].replace("flat: {friction: 0.8}", "named: {name: pad.yaml}")
    (folder / "base.yaml").write_text(base.replace("  straight: {speed_mps: 5.0}", driver))
    (folder / "made.yaml").write_text(
        "version: 1\ndescription: a test\nbase: base.yaml\nsampling: grid\ntime_limit_s: 5.0\nvary:\n"
        "  - {key: driver.to_goal.planner.margin_m, name: mood, grid: [0.25, 1.75, 1.5, 1.25, 0.5]}\n"
        "metrics: [{figure: goal_distance_m}]\n"
    )
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


def test_runs_that_crash_raise_or_never_end_are_recorded_as_such(moods: Path) -> None:
    assert command("run", str(moods / "made.yaml"), "--workers", "2", "--out", str(moods / "out")) == 0
    by_mood = {row["input.mood"]: row for row in rows(load_results(moods / "out"))}
    assert [by_mood[mood]["verdict"] for mood in (0.25, 0.5)] == ["passed", "passed"]
    assert by_mood[1.75]["verdict"] == "crashed"
    assert by_mood[1.75]["reason"] == "its worker ended with status 7, and so did another one"
    assert by_mood[1.75]["host.attempts"] == 2
    assert by_mood[1.75]["seed"] == run_of(moods / "out", 1)[1].seed
    assert by_mood[1.5]["verdict"] == "error"
    assert "RuntimeError: what a mood" in str(by_mood[1.5]["reason"])
    assert by_mood[1.5]["host.attempts"] == 1
    assert by_mood[1.25]["verdict"] == "error"
    assert "longer than 5 s" in str(by_mood[1.25]["reason"])


def test_a_dry_run_shows_samples_ranges_and_a_time_and_writes_nothing(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("run", str(files / "made.yaml"), "--dry-run", "--workers", "2") == 0
    shown = capsys.readouterr().out
    assert "uniform 2 .. 6" in shown
    assert re.search(r"^0 +\d\.\d+ +-?\d+\.\d+ +\d+$", shown, re.MULTILINE)
    assert re.search(r"expected time with 2 workers: \d+\.\d minutes", shown)
    assert not list(tmp_path.iterdir())


def test_noise_of_sensors_is_that_of_the_run_and_an_estimate_is_compared_with_the_truth(tmp_path: Path) -> None:
    """Two seeds of one sample differ; one run twice is the same to the bit. An RTK fix is better than a cheap one."""
    sensors = "sensors: [{imu: {preset: industrial_mems}}, {gps: {preset: low_cost}}, {encoders: {preset: hall_40}}]\n"
    base = BASE.replace("duration_s: 2.0", "duration_s: 8.0").replace("start: {speed_mps: 4.0}\n", "")
    base = base.replace("vehicle: {fidelity: single_track}\n", "")
    (tmp_path / "base.yaml").write_text(base.split("criteria:")[0] + sensors + "observer: {kind: ins}\n")
    (tmp_path / "made.yaml").write_text(
        "version: 1\ndescription: a test\nbase: base.yaml\nsampling: grid\nruns: 4\nvary:\n"
        "  - {key: sensors.1.gps.horizontal_std_m, name: std, grid: [0.01, 3.0]}\n"
        "metrics: [{figure: position_rmse_m}, {figure: nees}]\n"
    )
    kit = load_kit(tmp_path / "made.yaml")
    plan = Plan(kit.campaign)
    errors = [perform(kit, plan.job(number))["metric.position_rmse_m"] for number in range(4)]
    assert errors[0] < 0.5 * errors[1]
    assert errors[1] != errors[3]
    assert perform(kit, plan.job(3))["metric.position_rmse_m"] == errors[3]


def test_the_report_escapes_what_it_is_given_and_asks_no_network(whole: Path, tmp_path: Path) -> None:
    assert command("report", str(whole), "--out", str(tmp_path / "page.html")) == 0
    page = (tmp_path / "page.html").read_text()
    passed = load_results(whole)["verdict"].to_pylist().count("passed")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert f"{passed / RUNS:.1%} passed" in page
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)
    for words in ("Sensitivity", "Worst runs", "Where runs ended", "--run", "Wilson"):
        assert words in page


def test_results_are_shown_in_a_few_lines(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("show", str(whole)) == 0
    shown = capsys.readouterr().out
    assert f"{RUNS} of {RUNS} runs are done" in shown
    assert "95 % interval" in shown


def test_a_folder_without_results_is_one_line(tmp_path: Path) -> None:
    for action in ("show", "report"):
        with pytest.raises(SettingsError, match="not the folder of a campaign"):
            command(action, str(tmp_path))
