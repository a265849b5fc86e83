"""The keyboard node: keys of a terminal to /cmd_vel or /vehicle/pedals. All behaviour is in planner.keyboard."""

from __future__ import annotations

import shutil
import sys
import threading

from planner.keyboard import HELP, QUIT, KeyboardDriver, KeyboardSettings
from planner.ros.driver_node import DriverNode
from planner.terminal import KeyTerminal
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import run_node
from proving_ground.settings import SettingsError

KEY_WAIT_S = 0.1


class KeyboardNode(DriverNode[KeyboardSettings]):
    """Reads keys of its terminal in a thread."""

    default_name = "keyboard"
    settings_type = KeyboardSettings

    def __init__(self) -> None:
        super().__init__()
        try:
            self._terminal = KeyTerminal()
        except OSError as error:
            raise SettingsError(str(error)) from None
        self._stop = threading.Event()
        self._keys: list[tuple[float, str]] = []
        self._wake = self.create_guard_condition(self._take_keys)
        self._reader = threading.Thread(target=self._read, name="key reader", daemon=True)
        self._reader.start()
        sys.stdout.write(HELP + "\n")
        self.create_timer(0.1, self._show, clock=self.wall_clock)

    def make_driver(self, settings: KeyboardSettings) -> KeyboardDriver:
        """The driver of this node, which turns keys into commands."""
        self._keyboard = KeyboardDriver(settings)
        return self._keyboard

    def report(self, check: str, level: Level, message: str) -> None:
        """Report to diagnostics only: log lines would garble the status line."""
        self.health.report(check, level, message)

    def destroy_node(self) -> None:
        """Stop the reader first, and move off the status line."""
        self._stop.set()
        self._reader.join()
        sys.stdout.write("\n")
        self._terminal.close()
        super().destroy_node()

    def _read(self) -> None:
        while not self._stop.is_set():
            try:
                key = self._terminal.read_key(KEY_WAIT_S)
            except (EOFError, OSError):  # the terminal is gone
                key = QUIT
            if key.lower() == QUIT:
                self.stop()
                return
            if key:
                self._keys.append((self.wall_time(), key))
                self._wake.trigger()

    def _take_keys(self) -> None:
        while self._keys:
            self._keyboard.press(*self._keys.pop(0))
        self.drive_now()

    def _show(self) -> None:
        command = self.last_command
        state = f"{command.speed:+5.1f} m/s   steering {command.steering:+4.2f}"
        state += f"   top speed {self._keyboard.top_speed:4.1f} m/s"
        sys.stdout.write(f"\r\x1b[K{state[: shutil.get_terminal_size().columns - 1]}")
        sys.stdout.flush()


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(KeyboardNode)


if __name__ == "__main__":
    raise SystemExit(main())
