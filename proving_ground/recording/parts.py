"""Parts of a recording: a restarted recorder writes bag_2 beside bag, the next one bag_3."""

from __future__ import annotations

import re
from pathlib import Path

BAG, SCENARIO = "bag", "scenario.yaml"  # in the folder of a run
_OF_RECORDER = re.compile(r".*\.mcap|metadata\.yaml|\.metadata\.yaml\.part")


def next_free(folder: Path) -> Path:
    """The folder if it is not there yet, else the first of folder_2, folder_3 ... that is not."""
    count, free = 1, folder
    while free.exists() or free.is_symlink():
        count += 1
        free = folder.with_name(f"{folder.name}_{count}")
    return free


def parts(run: Path) -> list[Path]:
    """The bags in the folder of a run, in order of their start; empty if it is not such a folder."""
    found = {}
    for item in run.iterdir() if run.is_dir() else ():
        match = re.fullmatch(rf"{BAG}(?:_([2-9]|[1-9]\d+))?", item.name)
        if match and item.is_dir():
            found[int(match[1] or 1)] = item
    return [found[number] for number in sorted(found)]


def parts_of_launch(run: Path) -> list[Path]:
    """Bags that recorders of a launch can have written: bag, bag_2 ... without a gap, with no other files in them."""
    found: list[Path] = []
    for number, item in enumerate(parts(run), start=1):
        is_next = item.name == (BAG if number == 1 else f"{BAG}_{number}")
        if not is_next or item.is_symlink():
            break
        if not all(_OF_RECORDER.fullmatch(file.name) and not file.is_dir() for file in item.iterdir()):
            break
        found.append(item)
    return found
