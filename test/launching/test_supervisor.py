"""Supervisor: processes end together, gently first, and the output says which one ended and how."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from proving_ground.launching.supervisor import STOP_STAGES, ProcessSpec, Supervisor

POLITE = "import signal; signal.pthread_sigmask(signal.SIG_UNBLOCK, {2, 15}); signal.pause()"
STUBBORN = """
import signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
print("up", flush=True)
while True:
    signal.pause()
"""


def run(*specs: tuple[str, str]) -> tuple[int, list[tuple[str, str]]]:
    return supervise(*(ProcessSpec(name, [sys.executable, "-c", code], dict(os.environ)) for name, code in specs))


def supervise(*specs: ProcessSpec) -> tuple[int, list[tuple[str, str]]]:
    lines: list[tuple[str, str]] = []

    async def run_all() -> int:
        return await Supervisor(specs, lambda name, line: lines.append((name, line))).run()

    return asyncio.run(run_all()), lines


def program(name: str, *command: str, is_optional: bool = False) -> ProcessSpec:
    """A program that is not ours."""
    return ProcessSpec(name, command, dict(os.environ), is_ours=False, is_optional=is_optional)


def last(*command: str) -> ProcessSpec:
    """A process whose successful end ends all."""
    return ProcessSpec("last", command, dict(os.environ), finishes=True)


def test_all_stages_of_a_stop_fit_into_three_seconds() -> None:
    assert sum(patience for _, patience in STOP_STAGES) <= 3.0


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("pass", 1, "node short ended; stopping the others"),
        ("import sys; sys.exit(7)", 7, "node short failed with exit status 7; stopping the others"),
        ("import os; os.kill(os.getpid(), 9)", 1, "node short was killed by SIGKILL; stopping the others"),
    ],
)
def test_end_of_one_is_named_and_fails_the_whole(code: str, status: int, words: str) -> None:
    result, lines = run(("long", POLITE), ("short", code))

    assert result == status
    assert ("", words) in lines


def test_process_that_ignores_signals_is_killed_and_named() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fifo = Path(folder) / "fifo"  # makes the short one wait until the stubborn one ignores signals
        os.mkfifo(fifo)
        stubborn = STUBBORN.replace('print("up", flush=True)', f"open({str(fifo)!r}, 'w').close()")
        result, lines = run(("stubborn", stubborn), ("short", f"open({str(fifo)!r}).read()"))

    assert result == 1
    assert ("", "node stubborn was killed by SIGKILL while stopping") in lines


def test_output_is_relayed_by_line_and_long_or_odd_lines_do_not_break_it() -> None:
    code = "import sys; sys.stdout.buffer.write(b'one\\n' + b'x' * 200000 + b'\\n\\xff\\xfe\\nlast')"

    _, lines = run(("talker", code))

    texts = [line for name, line in lines if name == "talker"]
    assert texts[0] == "one"
    assert texts[-1] == "last"
    assert any("very long line" in text for text in texts)


def test_missing_program_is_reported_in_one_line_and_nothing_is_left_running() -> None:
    lines: list[str] = []
    specs = [
        ProcessSpec("good", [sys.executable, "-c", POLITE], dict(os.environ)),
        ProcessSpec("bad", ["/nonexistent/program"], dict(os.environ)),
    ]

    async def supervise() -> int:
        return await Supervisor(specs, lambda name, line: lines.append(line)).run()

    assert asyncio.run(supervise()) == 1
    assert "node bad could not be started: No such file or directory" in lines


def test_reader_that_goes_away_stops_the_nodes() -> None:
    lines: list[str] = []

    def write(name: str, line: str) -> None:
        if name:
            raise BrokenPipeError
        lines.append(line)

    talker = "import signal; print('up', flush=True); " + POLITE
    specs = [ProcessSpec("talker", [sys.executable, "-c", talker], dict(os.environ))]

    async def supervise() -> int:
        return await Supervisor(specs, write).run()

    asyncio.run(supervise())
    assert lines[0] == "starting talker; Ctrl-C stops all"
    assert not any("talker ended" in line for line in lines)  # it did not end by itself


def test_foreign_program_gets_signals_and_its_exit_status_does_not_fail_the_run() -> None:
    status, lines = supervise(program("viewer", "/bin/sleep", "100"), last("/bin/sleep", "0.2"))

    assert status == 0
    assert lines == [("", "starting viewer, last; Ctrl-C stops all")]


def test_node_of_ours_that_ends_badly_while_stopping_fails_the_run() -> None:
    node = ProcessSpec(
        "node", [sys.executable, "-c", POLITE.replace("pause()", "sigwait({2}); raise SystemExit(3)")], {}
    )

    status, lines = supervise(node, last("/bin/sleep", "0.5"))

    assert status == 1
    assert any("node node" in line and "while stopping" in line for _, line in lines)


def test_foreign_program_ends_with_a_supervisor_that_is_killed() -> None:
    code = (
        "import asyncio; from proving_ground.launching.supervisor import *\n"
        "spec = ProcessSpec('viewer', ['/bin/sh', '-c', 'echo $$; exec sleep 100'], {}, is_ours=False)\n"
        "asyncio.run(Supervisor([spec], lambda name, line: print(name, line, flush=True)).run())"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        number = next(line.split()[1] for line in supervisor.stdout if line.startswith("viewer"))
        supervisor.kill()
    state = Path(f"/proc/{number}/stat")
    deadline = time.monotonic() + 20.0
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_closed_viewer_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    wait = f"while [ ! -e {seen} ]; do sleep 0.02; done"
    lines: list[str] = []

    def write(name: str, line: str) -> None:
        lines.append(line)
        if "go on" in line:
            seen.touch()

    async def run_all() -> int:
        viewer = program("viewer", "/bin/sh", "-c", "exit 3", is_optional=True)
        return await Supervisor([viewer, last("/bin/sh", "-c", wait)], write).run()

    assert asyncio.run(run_all()) == 0
    assert lines[1:] == ["node viewer failed with exit status 3; the others go on"]


def test_viewer_that_cannot_be_started_is_reported_and_the_others_run() -> None:
    status, lines = supervise(program("viewer", "/nonexistent/program", is_optional=True), last("/bin/true"))

    assert status == 0
    assert ("", "node viewer could not be started: No such file or directory") in lines


def test_node_that_cannot_be_restarted_ends_the_run_with_one_line(tmp_path: Path) -> None:
    script = tmp_path / "node"
    script.write_text(f'#!/bin/sh\nrm "$0"\nkill -{signal.SIGKILL:d} $$\n')
    script.chmod(0o755)

    status, lines = supervise(
        ProcessSpec("once", [str(script)], dict(os.environ), respawn=True),
        ProcessSpec("long", [sys.executable, "-c", POLITE], dict(os.environ)),
    )

    assert status == 1
    assert ("", "node once could not be restarted: No such file or directory; stopping the others") in lines
