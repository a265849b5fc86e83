"""The set-up as a command: options, choice of interpreter, lock, signals, exit status."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from environment.errors import SetupError, report
from environment.plan import Plan
from environment.progress import Progress
from environment.ros_origin import WHEELS, check_origin, child_variables, ros_origin
from environment.runner import Runner
from environment.steps import Step, StepError, run_steps
from environment.virtual_env import VirtualEnv

ROOT = Path(__file__).resolve().parents[1]
INTERRUPTED = 130
EXTRAS = {
    "engines": "with other engines that ours is compared with",
    "docs": "with the tools of the documentation site",
}


def main(arguments: Sequence[str]) -> int:
    options = _parse(arguments)
    progress = Progress(sys.stdout)
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        _switch_interpreter(options, VirtualEnv(ROOT / ".venv"))
        with _only_one_set_up(progress) as lock:
            return _set_up(progress, lock, options)
    except StepError as error:
        _complain(progress, report(f"proving_ground set-up failed in {error}.", error.failure))
        return 1
    except SetupError as failure:
        _complain(progress, report("proving_ground set-up cannot start.", failure))
        return 1
    except KeyboardInterrupt:
        _complain(progress, "Set-up interrupted; the same command resumes where it stopped.")
        return INTERRUPTED


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bootstrap.py", description="Make or update .venv.")
    parser.add_argument("--python", metavar="EXE", help="interpreter to use (default: the one that runs this)")
    parser.add_argument(
        "--keep-python",
        action="store_true",
        help="keep the interpreter of an existing .venv",
    )
    for name, meaning in EXTRAS.items():
        parser.add_argument(f"--{name}", action="store_true", help=meaning)
    return parser.parse_args(arguments)


def _set_up(progress: Progress, lock: int, options: argparse.Namespace) -> int:
    venv = VirtualEnv(ROOT / ".venv")
    plan = Plan(ROOT, ros_origin(os.environ, venv.path), options.engines, options.docs)
    check_origin(plan.ros)
    venv.check_ownership()
    reason = venv.rebuild_reason(plan.facts)
    if reason is not None:
        progress.say(f".venv is rebuilt: {reason}")

    def runner(step: Step) -> Runner:
        log = venv.state / f"{step.name}.log"
        log.unlink(missing_ok=True)
        return Runner(ROOT, log, child_variables(plan.ros), progress.waiting, lock)

    count = run_steps(plan.steps(), venv.stamps, progress, runner)
    origin = "ROS 2 Jazzy wheels" if plan.ros == WHEELS else f"sourced ROS 2 {plan.ros}"
    progress.say(f".venv is {'ready' if count else 'up to date'} (Python {plan.facts['python']}, {origin})")
    return 0


def _complain(progress: Progress, text: str) -> None:
    progress.end_line()
    print(text, file=sys.stderr, flush=True)


def _switch_interpreter(options: argparse.Namespace, venv: VirtualEnv) -> None:
    """Restart with another interpreter if one is requested."""
    others = [f"--{name}" for name in EXTRAS if getattr(options, name)]
    if options.python:
        found = shutil.which(options.python)
        if found is None:
            raise SetupError(f"there is no interpreter {options.python}", "give PYTHON an installed Python >= 3.10")
        _restart(Path(found), others)
    if sys.prefix != sys.base_prefix:
        # Run from an activated environment, maybe the one to be rebuilt: use its base interpreter.
        base = Path(sys.executable).resolve()
        if base != Path(sys.executable):
            _restart(base, ["--keep-python", *others] if options.keep_python else others)
    if options.keep_python:
        recorded = venv.interpreter()
        same_origin = venv.made_with().get("ros") == ros_origin(os.environ, venv.path)
        if recorded is not None and same_origin and recorded != Path(sys.executable).resolve():
            _restart(recorded, others)


def _restart(python: Path, options: Sequence[str]) -> NoReturn:
    script = str(ROOT / "environment" / "bootstrap.py")
    sys.stdout.flush()
    os.execv(python, [str(python), script, *options])


@contextmanager
def _only_one_set_up(progress: Progress) -> Iterator[int]:
    # The folder itself is locked: nothing is left behind, and rebuilding .venv cannot remove the lock.
    lock = os.open(ROOT / "environment", os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say("Another set-up is running in this folder; waiting for it ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
