"""The `.venv` folder: rebuilt when incomplete, or when its Python or the origin of ROS has changed."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from environment.errors import CommandError, SetupError, explain_pip
from environment.ros_origin import WHEELS
from environment.runner import Runner
from environment.steps import Stamps

STEP_NAME = "virtual-environment"


class VirtualEnv:
    """Paths in the virtual environment and the few things done to it as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = path / ".proving_ground"  # stamps and logs
        self.python = path / "bin" / "python"
        self.stamps = Stamps(self.state)

    def has_working_python(self) -> bool:
        return self.python.exists()  # False for a link to an interpreter that is gone

    def interpreter(self) -> Path | None:
        """The interpreter that a finished environment was made with, if it still exists."""
        is_finished = self.stamps.read(STEP_NAME) and self.has_working_python()
        return self.python.resolve() if is_finished else None

    def made_with(self) -> dict[str, str]:
        """The facts of the last successful creation; empty if there was none."""
        facts = self.stamps.read(STEP_NAME).get("facts")
        return {str(key): str(value) for key, value in facts.items()} if isinstance(facts, dict) else {}

    def check_ownership(self) -> None:
        """Raise SetupError for a folder that this set-up did not make, so that it is never emptied."""
        if self.path.is_dir() and not self.state.is_dir() and any(self.path.iterdir()):
            raise SetupError(
                f"{self.path} exists and was not made by this set-up",
                "move it away or remove it (make clean), then run the same command again",
            )

    def rebuild_reason(self, facts: Mapping[str, str]) -> str | None:
        """Why an existing environment must be rebuilt, in words; None if it is fine or missing."""
        if not self.state.is_dir():
            return None
        made_with = self.made_with()
        if not made_with:
            return "its creation did not finish"
        if not self.has_working_python():
            return f"the Python {made_with.get('python')} it was made with is gone"
        if made_with.get("python") != facts["python"]:
            return f"it was made with Python {made_with.get('python')}, now Python {facts['python']} is used"
        if made_with.get("ros") != facts["ros"]:
            return f"it was made {_describe(made_with.get('ros', ''))}, now it is {_describe(facts['ros'])}"
        return None

    def create(self, runner: Runner, ros: str) -> None:
        """Empty the folder and make the environment; over the system's packages if ROS is sourced."""
        self._clear()
        option = ["--system-site-packages"] if ros != WHEELS else []
        try:
            runner.run([sys.executable, "-m", "venv", *option, self.path])
            runner.run([self.python, "-m", "pip", "--version"])
        except CommandError as error:
            raise explain_pip(error) from error

    def _clear(self) -> None:
        # The state folder stays, without stamps: it marks the folder as ours even if this is interrupted.
        self.state.mkdir(parents=True, exist_ok=True)
        for stamp in self.state.glob("*.stamp"):
            stamp.unlink()
        for entry in self.path.iterdir():
            if entry == self.state:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()


def check_interpreter(runner: Runner, ros: str) -> None:
    """Reject what the running interpreter cannot do, before an existing environment is touched."""
    _check_venv_module()
    if ros != WHEELS:
        _check_rclpy_loads(runner, ros)


def _describe(ros: str) -> str:
    return "without a sourced ROS 2" if ros == WHEELS else f"over a sourced ROS 2 {ros}"


def _check_venv_module() -> None:
    if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SetupError(
            f"{sys.executable} has no venv module (or no ensurepip, which it needs)",
            f"sudo apt install python3-venv   (python{version}-venv if that is not the system's default)",
        )


def _check_rclpy_loads(runner: Runner, ros: str) -> None:
    try:
        runner.run([sys.executable, "-c", "import rclpy"])
    except CommandError as error:
        raise SetupError(
            f"ROS 2 {ros} is sourced, but {sys.executable} cannot import rclpy",
            "make PYTHON=/usr/bin/python3 venv, or use a shell without ROS",
            error.log,
        ) from error
