"""The set-up as a list of steps; the only place that says what is installed, from what, in which order."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from environment.errors import CommandError, SetupError, explain_pip
from environment.interface_packages import interface_steps
from environment.requirements import for_system_numpy, with_system_numpy
from environment.ros_origin import WHEELS
from environment.runner import Runner
from environment.steps import Step
from environment.virtual_env import STEP_NAME, VirtualEnv, check_interpreter

KERNELS = "proving_ground/kernels"  # in the user's folder of caches, see proving_ground/kernels/jit.py
PROJECT_FILES = ("setup.py", "setup.cfg", "pyproject.toml", "package.xml")


class Plan:
    """Knows the repository, its virtual environment and where ROS comes from; yields the steps."""

    def __init__(self, root: Path, ros: str, with_engines: bool = False, with_docs: bool = False) -> None:
        self.root = root
        self.with_engines = with_engines
        self.with_docs = with_docs
        self.venv = VirtualEnv(root / ".venv")
        self.ros = ros
        self.facts = {"python": f"{sys.version_info.major}.{sys.version_info.minor}", "ros": ros}

    def steps(self) -> list[Step]:
        common = [self._virtual_environment(), self._python_packages()]
        ros = self._ros() if self.ros == WHEELS else []
        engines = [self._engines()] if self.with_engines else []
        docs = [self._docs()] if self.with_docs else []
        return [*common, *ros, self._project(), self._kernels(), *engines, *docs]

    def _virtual_environment(self) -> Step:
        return Step(
            name=STEP_NAME,
            title="virtual environment",
            estimate_s=5,
            check=lambda runner: check_interpreter(runner, self.ros),
            action=lambda runner: self.venv.create(runner, self.ros),
            facts=self.facts,
            is_in_place=self.venv.has_working_python,
        )

    def _python_packages(self) -> Step:
        names = ("requirements.txt", "requirements-dev.txt", "requirements-build.txt", "constraints.txt")
        runtime, dev, build, constraints = files = [self._file(name) for name in names]

        def install(runner: Runner) -> None:
            # Under a sourced ROS the messages are compiled against the system's numpy: keep that one.
            runtime_here = runtime if self.ros == WHEELS else with_system_numpy(runtime, self.venv.state)
            self._pip_install(runner, "-c", constraints, "-r", build, "-r", runtime_here, "-r", dev)

        return Step("python-packages", "Python packages", 30, install, files=files)

    def _engines(self) -> Step:
        requirements, constraints = self._file("requirements-engines.txt"), self._file("constraints.txt")

        def install(runner: Runner) -> None:
            here = requirements if self.ros == WHEELS else for_system_numpy(requirements, self.venv.state)
            self._pip_install(runner, "-c", constraints, "-r", here)

        return Step("engines", "other engines, to compare with", 20, install, files=[requirements, constraints])

    def _docs(self) -> Step:
        requirements, constraints = self._file("requirements-docs.txt"), self._file("constraints.txt")

        def install(runner: Runner) -> None:
            self._pip_install(runner, "-c", constraints, "-r", requirements)

        return Step("docs", "tools of the documentation site", 15, install, files=[requirements, constraints])

    def _ros(self) -> list[Step]:
        requirements, constraints = self._file("requirements-ros-jazzy.txt"), self._file("constraints.txt")

        def install(runner: Runner) -> None:
            self._pip_install(runner, "-c", constraints, "-r", requirements)

        wheels = Step("ros-wheels", "ROS 2 Jazzy wheels", 45, install, files=[requirements, constraints])
        return [wheels, *interface_steps(self.root, self.venv, ros_inputs=[requirements])]

    def _project(self) -> Step:
        def install(runner: Runner) -> None:
            if not (self.root / "setup.py").is_file():
                raise SetupError("there is no setup.py in the repository", "git status, git restore setup.py")
            self._pip_install(runner, "--no-deps", "--no-build-isolation", "-e", ".")

        # An editable install maps the packages it saw, so a new folder with __init__.py needs a new one.
        packages = sorted(path.parent.name for path in self.root.glob("*/__init__.py"))
        return Step(
            name="project",
            title="proving_ground itself",
            estimate_s=5,
            action=install,
            facts={"packages": " ".join(packages)},
            files=[self.root / name for name in PROJECT_FILES],
        )

    def _kernels(self) -> Step:
        """Once; after changes of sources, what runs compiles what it needs."""
        files = [self._file("requirements.txt"), self._file("constraints.txt")]

        def compile_all(runner: Runner) -> None:
            runner.run([self.venv.python, "-m", "proving_ground", "kernels"])

        return Step("kernels", "numerical kernels", 60, compile_all, files=files, is_in_place=_has_kernels)

    def _pip_install(self, runner: Runner, *arguments: str | Path) -> None:
        try:
            runner.run([self.venv.python, "-m", "pip", "install", "--progress-bar", "off", *arguments])
        except CommandError as error:
            raise explain_pip(error) from error

    def _file(self, name: str) -> Path:
        return self.root / "environment" / name


def _has_kernels() -> bool:
    """Whether the user has compiled kernels: they may have been deleted, or compiled in another home."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if any((caches / KERNELS).glob("compiled-*")):
        return True
    there = next(path for path in (caches / KERNELS, *(caches / KERNELS).parents) if path.exists())
    return not os.access(there, os.W_OK)  # where nothing can be kept, compiling now would be in vain
