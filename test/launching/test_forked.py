"""Nodes as copies of a process that has imported what they need."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proving_ground.launching.forked import Entry, ForkedProcess, ForkServer
from proving_ground.launching.process_list import children

WAIT_S = 30.0
Start = Callable[..., tuple[ForkedProcess, Path]]
MODULE = """
import os, signal, sys
print("imported")
def show(*values):
    print(*values, *sys.argv, os.environ.get("OF_THE_NODE"), os.environ.get("OF_THE_SERVER"), os.getcwd())
    return 7
def stay():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    signal.signal(signal.SIGINT, lambda number, frame: sys.exit(5))
    print("up")
    signal.pause()
def fail():
    raise RuntimeError("on purpose")
def policy():
    print(os.sched_getscheduler(0))
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    (tmp_path / "some_node.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    monkeypatch.setenv("OF_THE_SERVER", "server")
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture
def start(server: ForkServer, tmp_path: Path) -> Start:
    def start(function: str, *values: str, **variables: str) -> tuple[ForkedProcess, Path]:
        path = tmp_path / f"{function}.txt"
        with path.open("w") as output:
            entry = Entry("some_node", function, values)
            return server.start("toy", entry, ["--option"], variables, output.fileno()), path

    return start


@pytest.mark.parametrize(("is_background", "policy"), [(True, os.SCHED_BATCH), (False, os.SCHED_OTHER)])
def test_node_in_the_background_does_not_interrupt_others(
    server: ForkServer, tmp_path: Path, is_background: bool, policy: int
) -> None:
    path = tmp_path / "policy.txt"
    with path.open("w") as output:
        entry = Entry("some_node", "policy")
        process = server.start("toy", entry, [], {}, output.fileno(), is_background=is_background)

    assert server.wait(process, WAIT_S) == 0
    assert path.read_text().splitlines()[-1] == str(policy)


def until(condition: Callable[[], bool], server: ForkServer) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        server.read()
        time.sleep(0.01)


def test_a_copy_has_its_own_arguments_environment_folder_and_output(
    server: ForkServer,
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")

    process, output = start("show", "one", OF_THE_NODE="node")

    assert server.wait(process, WAIT_S) == 7
    assert output.read_text().split() == ["one", "toy", "--option", "node", "None", str(tmp_path / "folder")]


def test_modules_are_imported_once_and_before_nodes_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "some_node.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = ForkServer()
    try:
        server.prepare(["some_node"])
        assert not server.is_prepared
        until(lambda: server.is_prepared, server)
        processes = [server.start("toy", Entry("some_node", "show"), [], {}, 1) for _ in range(2)]
        assert [server.wait(process, WAIT_S) for process in processes] == [7, 7]
    finally:
        server.close()
    assert capfd.readouterr().out.count("imported") == 1


def test_an_exception_is_shown_where_the_node_prints_and_the_next_node_starts(server: ForkServer, start: Start) -> None:
    failed, output = start("fail")
    assert server.wait(failed, WAIT_S) == 1
    assert "RuntimeError: on purpose" in output.read_text()

    other, _ = start("show")
    assert server.wait(other, WAIT_S) == 7


def test_a_copy_imports_from_the_folders_of_its_own_environment(server: ForkServer, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/of_the_node.py").write_text("def main():\n    return 9\n")
    with (tmp_path / "out").open("w") as output:
        environment = {"PYTHONPATH": str(tmp_path / "more")}
        process = server.start("toy", Entry("of_the_node", "main"), [], environment, output.fileno())
    assert server.wait(process, WAIT_S) == 9


def test_a_module_that_cannot_be_imported_fails_in_its_node(server: ForkServer, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as output:
        process = server.start("toy", Entry("no_such_module", "main"), [], {}, output.fileno())
    assert server.wait(process, WAIT_S) == 1
    assert "No module named 'no_such_module'" in (tmp_path / "out").read_text()


def test_signals_end_a_copy_and_are_its_status(server: ForkServer, start: Start) -> None:
    for number, status in ((signal.SIGINT, 5), (signal.SIGKILL, -signal.SIGKILL)):
        process, output = start("stay")
        until(lambda output=output: "up" in output.read_text(), server)  # type: ignore[misc]
        assert children(server.pid) == {"toy": process.pid}
        os.kill(process.pid, number)
        assert server.wait(process, WAIT_S) == status


def test_copies_end_with_their_server(server: ForkServer, start: Start) -> None:
    process, output = start("stay")
    until(lambda: "up" in output.read_text(), server)

    os.kill(server.pid, signal.SIGKILL)

    assert server.wait(process, WAIT_S) == 1
    until(lambda: not Path(f"/proc/{process.pid}").exists(), server)
    with pytest.raises(OSError, match="has ended"):
        start("show")


def test_all_end_with_the_process_that_uses_the_server(tmp_path: Path) -> None:
    (tmp_path / "some_node.py").write_text(MODULE)
    code = (
        "from proving_ground.launching.forked import Entry, ForkServer\n"
        "server = ForkServer()\n"
        "process = server.start('toy', Entry('some_node', 'stay'), [], {}, 1)\n"
        "print(server.pid, process.pid, flush=True)\n"
        "server.wait(process, 60.0)"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    user = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert user.stdout is not None
    lines = [user.stdout.readline() for _ in range(3)]
    pids = next(line for line in lines if line[0].isdigit()).split()

    user.kill()
    user.wait()

    assert user.stdout.read() == ""  # no copy keeps it open any more
    assert len(pids) == 2
