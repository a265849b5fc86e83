"""The keyboard node on a pseudo-terminal, over real DDS."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import termios
from typing import Any

import pytest
from geometry_msgs.msg import TwistStamped

from proving_ground.launching.node_process import node_command


class Keyboard:
    """The node, and the user's end of its terminal."""

    def __init__(self, graph: Any) -> None:
        self.person, self._node_end = pty.openpty()
        self.before = termios.tcgetattr(self._node_end)
        self.process = subprocess.Popen(
            node_command("keyboard", []), stdin=self._node_end, stdout=self._node_end, stderr=self._node_end
        )
        self.commands = graph.collect(TwistStamped, "/cmd_vel")
        graph.wait_until(lambda: self.commands, "commands of the keyboard node")

    def press(self, key: str) -> None:
        os.write(self.person, key.encode())

    def screen(self) -> str:
        return os.read(self.person, 100_000).decode()

    def is_restored(self) -> bool:
        return termios.tcgetattr(self._node_end) == self.before


@pytest.fixture
def keyboard(graph: Any) -> Any:
    keyboard = Keyboard(graph)
    yield keyboard
    keyboard.process.kill()
    keyboard.process.wait()


def test_keys_drive_and_help_is_on_screen(graph: Any, keyboard: Keyboard) -> None:
    def is_fast() -> bool:
        keyboard.press("w")
        return bool(keyboard.commands[-1].twist.linear.x == pytest.approx(2.0))

    graph.wait_until(is_fast, "full speed")
    graph.wait_until(lambda: keyboard.commands[-1].twist.linear.x == 0.0, "rest after the key is let go")

    screen = keyboard.screen()
    assert "w/s forward/back" in screen
    assert "m/s   steering" in screen


@pytest.mark.parametrize("ending", ["q", "\x03", signal.SIGTERM, signal.SIGKILL], ids=["q", "ctrl-c", "term", "kill"])
def test_terminal_is_restored_however_it_ends(graph: Any, keyboard: Keyboard, ending: str | int) -> None:
    assert not keyboard.is_restored()

    if ending == "\x03":  # the terminal of this test is not a controlling one, so it sends no signal
        keyboard.process.send_signal(signal.SIGINT)
    elif isinstance(ending, str):
        keyboard.press(ending)
    else:
        keyboard.process.send_signal(ending)

    status = keyboard.process.wait(10)
    assert status == (-signal.SIGKILL if ending == signal.SIGKILL else 0)
    graph.wait_until(keyboard.is_restored, "the terminal as it was")


def test_quit_pressed_while_the_node_starts_is_obeyed(graph: Any) -> None:
    person, node_end = pty.openpty()
    before = termios.tcgetattr(node_end)
    process = subprocess.Popen(node_command("keyboard", []), stdin=node_end, stdout=node_end, stderr=node_end)
    try:
        graph.wait_until(lambda: termios.tcgetattr(node_end) != before, "keys to be read one by one")
        os.write(person, b"q")  # long before ROS is up

        assert process.wait(20) == 0
    finally:
        process.kill()


def test_last_command_is_a_stop(graph: Any, keyboard: Keyboard) -> None:
    def is_driving() -> bool:
        keyboard.press("w")
        return bool(keyboard.commands[-1].twist.linear.x > 0.5)

    graph.wait_until(is_driving, "driving")
    keyboard.press("q")

    assert keyboard.process.wait(10) == 0
    graph.wait_until(lambda: keyboard.commands[-1].twist.linear.x == 0.0, "a stop as the last command")


def test_without_a_terminal_there_is_one_line(graph: Any) -> None:
    process = graph.start_command(node_command("keyboard", []), stdin=subprocess.DEVNULL)

    assert process.wait() == 2
    assert process.output == "keyboard: the keyboard node needs a terminal on its standard input\n"
