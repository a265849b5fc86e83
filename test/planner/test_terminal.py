"""The terminal is restored, however the process that read keys from it ended."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

import pytest

READER = """
from contextlib import closing
from planner.terminal import KeyTerminal
with closing(KeyTerminal()) as terminal:
    print("ready", flush=True)
    # Short waits, as the node has: a signal that arrives just before select() is seen when that returns.
    while (key := terminal.read_key(0.2)) != "q":
        if key:
            print("key", repr(key), flush=True)
        if key == "!":
            raise RuntimeError("a bug")
"""


class Reader:
    """A process that reads keys from a pseudo-terminal of its own."""

    def __init__(self) -> None:
        self.master, slave = pty.openpty()
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen([sys.executable, "-c", READER], stdin=slave, stdout=slave, stderr=slave)
        self.wait_for("ready")

    def wait_for(self, text: str) -> str:
        seen = b""
        deadline = time.monotonic() + 20.0
        while text.encode() not in seen:
            assert time.monotonic() < deadline, f"waited for {text!r}, saw {seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                seen += os.read(self.master, 1000)
        return seen.decode()

    def is_restored(self) -> bool:
        deadline = time.monotonic() + 5.0
        while termios.tcgetattr(self.slave) != self.before:
            if time.monotonic() > deadline:
                return False
            select.select([], [], [], 0.01)
        return True


def test_keys_arrive_one_by_one_and_arrows_whole() -> None:
    reader = Reader()
    assert termios.tcgetattr(reader.slave) != reader.before

    os.write(reader.master, b"w")
    reader.wait_for("key 'w'")
    os.write(reader.master, b"\x1b[A")
    reader.wait_for(r"key '\x1b[A'")

    os.write(reader.master, b"q")
    assert reader.process.wait(10) == 0
    assert reader.is_restored()


@pytest.mark.parametrize("sequence", ["\x1b[1;2D", "\x1b[1;5C", "\x1b[15~", "\x1bOQ", "\x1b[200~", "\x1bw"])
def test_no_part_of_an_escape_sequence_arrives_as_a_letter(sequence: str) -> None:
    reader = Reader()

    os.write(reader.master, sequence.encode())
    shown = reader.wait_for(repr(sequence))
    os.write(reader.master, b"q")

    assert reader.process.wait(10) == 0
    assert shown.count("key") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_terminal_is_restored_after_a_signal(number: signal.Signals) -> None:
    reader = Reader()

    reader.process.send_signal(number)

    assert reader.process.wait(10) != 0
    assert reader.is_restored()


def test_terminal_is_restored_after_a_crash() -> None:
    reader = Reader()

    os.write(reader.master, b"!")

    assert reader.process.wait(10) == 1
    assert reader.is_restored()


def test_missing_terminal_is_one_line() -> None:
    result = subprocess.run([sys.executable, "-c", READER], stdin=subprocess.DEVNULL, capture_output=True, text=True)

    assert "needs a terminal" in result.stderr.splitlines()[-1]
