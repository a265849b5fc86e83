"""The folder that a launch records into: locked while it runs, and other files in it are never overwritten.

Results of the previous launch are set aside, removed once time runs, and restored if it never does.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path

from proving_ground.recording.parts import SCENARIO, parts, parts_of_launch
from proving_ground.report.run_record import ESTIMATES, HISTORY, METRICS, REFERENCE, REPORT
from proving_ground.scenarios.refereeing import TIMING
from proving_ground.settings import SettingsError

CLAIM = ".launch"  # lock file of the launch that uses the folder
ASIDE = ".before"  # folder with the results of the previous launch
RESULTS = (METRICS, HISTORY, SCENARIO, REFERENCE, ESTIMATES, REPORT)
LOOK_EVERY_S = 1.0


def require_inputs_elsewhere(folder: Path, inputs: list[Path]) -> None:
    """Raise SettingsError if an input file of the run is in the folder of its results."""
    for path in inputs:
        if folder.resolve() in (path.resolve().parent, path.parent.resolve()):
            raise SettingsError(f"out: {folder} is the folder of {path.name}, which the run needs; choose another")


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Lock the folder for this launch; raises SettingsError if another one runs in it, or it is not ours."""
    not_ours = _not_of_launch(folder)
    if not_ours:
        raise SettingsError(f"{not_ours[0]}: was not written by a launch; move it, or choose another folder with out:=")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        claim = (folder / CLAIM).open("a")
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be written to: {error.strerror}") from None
    with claim:
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SettingsError(f"{folder}: another launch runs in it; choose another folder with out:=") from None
        yield


def set_aside(folder: Path) -> bool:
    """Set aside the results of the previous launch, and nothing else; returns whether there were any."""
    settle(folder)
    left = [*(folder / name for name in (TIMING, *RESULTS)), *parts_of_launch(folder)]
    there = [item for item in left if item.exists() or item.is_symlink()]
    if there:
        (folder / ASIDE).mkdir()
    for item in there:
        item.rename(folder / ASIDE / item.name)
    return bool(there)


def settle(folder: Path) -> bool:
    """Whether time ran: then remove what was set aside. Otherwise restore it in place of what was recorded."""
    aside, has_run = folder / ASIDE, (folder / TIMING).exists()
    if not aside.is_dir():
        return has_run
    if not has_run:
        if parts(aside):
            for bag in parts_of_launch(folder):
                shutil.rmtree(bag)
        for item in aside.iterdir():
            item.rename(folder / item.name)
    shutil.rmtree(aside)
    return has_run


async def settle_when_time_runs(folder: Path) -> None:
    """Wait until time runs, then remove what was set aside: old bags are large, and disks small."""
    while not (folder / TIMING).exists():
        await asyncio.sleep(LOOK_EVERY_S)
    settle(folder)


def _not_of_launch(folder: Path) -> list[Path]:
    """Files with names of results in a folder that no launch used, and bags that no launch can have written."""
    found = parts(folder)
    if (folder / CLAIM).exists():
        ours = parts_of_launch(folder)
        return [bag for bag in found if bag not in ours]
    return [*found, *(folder / name for name in (TIMING, *RESULTS) if (folder / name).exists())]
