"""Supervisor: ends together, gently first, and says who ended and how."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest

from scenarios.supervisor import STOP_STAGES, ProcessSpec, Supervisor

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
    lines: list[tuple[str, str]] = []
    processes = [ProcessSpec(name, [sys.executable, "-c", code], dict(os.environ)) for name, code in specs]

    async def supervise() -> int:
        return await Supervisor(processes, lambda name, line: lines.append((name, line))).run()

    return asyncio.run(supervise()), lines


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
        fifo = Path(folder) / "fifo"  # lets the short one wait until the stubborn one ignores signals
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


def test_missing_program_is_told_in_one_line_and_nothing_is_left_running() -> None:
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
