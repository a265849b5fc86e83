"""Campaigns on a real Dask cluster on this machine: the table is the same even if workers are lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from proving_ground.campaigns.store import load_results
from proving_ground.campaigns.table import without_host
from proving_ground.settings import SettingsError
from some_campaigns import command, in_process_of_its_own, kept, wait_for

pytest.importorskip("distributed")


class Cluster:
    """Context with a Dask scheduler and workers in separate processes."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._scheduler_file = folder, folder / "scheduler.json"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        wait_for(self._scheduler_file.exists)
        return self

    @property
    def address(self) -> str:
        return str(json.loads(self._scheduler_file.read_text())["address"])

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(self._folder))

    def wait_for_workers(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=120)

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        common = ["--no-dashboard", "--scheduler-file", str(self._scheduler_file)]
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + what, *options, *common],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self._processes.append(process)
        return process

    def __exit__(self, *error: object) -> None:
        for process in reversed(self._processes):  # workers first: they deregister at the scheduler
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def test_a_cluster_that_loses_a_worker_and_then_all_of_them_gives_the_same_table(
    files: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """The data of a lost worker, even the only copy of the campaign, are given to the others again."""
    with Cluster(tmp_path) as cluster:
        first, second = cluster.start_worker(), cluster.start_worker()
        cluster.wait_for_workers(2)
        words = ["run", str(files / "long.yaml"), "--scheduler", cluster.address, "--out", str(tmp_path / "out")]
        process = in_process_of_its_own(*words)
        wait_for(lambda: kept(tmp_path / "out") >= 1, process)
        os.kill(first.pid, signal.SIGKILL)
        wait_for(lambda: kept(tmp_path / "out") >= 3, process)
        os.kill(second.pid, signal.SIGKILL)
        before = kept(tmp_path / "out")
        cluster.start_worker()
        output = process.communicate(timeout=180)[0]
    assert process.returncode == 0, output
    assert before < len(load_results(undisturbed)), "all was done before the last worker was gone"
    assert without_host(load_results(tmp_path / "out")).equals(without_host(load_results(undisturbed)))


def test_an_unreachable_scheduler_is_reported_in_one_line(
    files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import proving_ground.campaigns.dask_pool

    monkeypatch.setattr(proving_ground.campaigns.dask_pool, "CONNECT_S", 0.5)
    with pytest.raises(SettingsError, match=r"--scheduler tcp://127\.0\.0\.1:9: cannot be reached"):
        command("run", str(files / "made.yaml"), "--scheduler", "tcp://127.0.0.1:9", "--out", str(tmp_path / "out"))
