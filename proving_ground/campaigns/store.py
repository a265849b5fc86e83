"""A campaign's folder: its inputs, and results in pieces that are written atomically.

campaign.yaml  a copy of the campaign file
made_of.json   paths of the files, their hashes, runs
parts/         rows that have come since results.parquet was written
results.parquet  all rows by run number
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from proving_ground.campaigns.kit import Kit
from proving_ground.campaigns.table import merged, read_table, write_table
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole

RESULTS, COPY, MADE_OF, PARTS = "results.parquet", "campaign.yaml", "made_of.json", "parts"
ROWS_OF_A_PART = 256
LEAST_S, MOST_S, SHARE = 0.5, 30.0, 0.02  # between pieces: a share of the elapsed time, so that little is ever lost


class Store:
    """The folder while a campaign runs; one process at a time."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        """Raises SettingsError where the folder is in use or cannot be written."""
        self.folder, self._schema = folder, schema
        self._rows: list[dict[str, Any]] = []
        self._begun = self._since = time.monotonic()
        try:
            (folder / PARTS).mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SettingsError(f"{folder}: another campaign is at work there") from None
        except OSError as error:
            raise SettingsError(f"--out {folder}: {error.strerror or error}") from None
        self._next = 1 + max((int(path.stem.rsplit("-", 1)[1]) for path in part_files(folder)), default=0)

    def adopt(self, path: Path, kit: Kit, runs: int, is_extensible: bool) -> None:
        """Record what is run here, or check that it is what was run here before; raises SettingsError if not."""
        made_of = _made_of(path, kit, runs)
        if (self.folder / MADE_OF).exists():
            before = load_made_of(self.folder)
            _check_same(self.folder, before, made_of, is_extensible)
            made_of["runs"] = max(made_of["runs"], before["runs"])  # asking for fewer removes none
        elif (self.folder / RESULTS).exists() or part_files(self.folder):
            raise SettingsError(f"{self.folder}: has results, but no {MADE_OF} that says what they are made of")
        write_whole(self.folder / COPY, path.read_bytes())
        write_whole(self.folder / MADE_OF, json.dumps(made_of, indent=2) + "\n")

    def verdicts(self) -> dict[int, str]:
        """Verdicts of the finished runs, by number; a piece that cannot be read is set aside."""
        found: dict[int, str] = {}
        for path in _tables(self.folder):
            try:
                table = read_table(path, ["run", "verdict"])
            except SettingsError as error:
                print(f"{error}; its runs are done again", file=sys.stderr)
                path.rename(path.with_suffix(".unreadable"))
                continue
            found |= dict(zip(table["run"].to_pylist(), table["verdict"].to_pylist(), strict=True))
        return found

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row; it is on the disk within MOST_S if `tick` is called."""
        self._rows.append(row)
        self.tick()

    def tick(self) -> None:
        """Write pending rows if it is time to."""
        now = time.monotonic()
        patience = min(max(SHARE * (now - self._begun), LEAST_S), MOST_S)
        if len(self._rows) >= ROWS_OF_A_PART or now - self._since > patience:
            self.flush()

    def flush(self) -> None:
        """Write pending rows; raises SettingsError, as when the disk is full, and keeps them."""
        if self._rows:
            table = pa.Table.from_pylist(self._rows, schema=self._schema)
            write_table(self.folder / PARTS / f"part-{self._next:06d}.parquet", table)
            self._next += 1
            self._rows.clear()
        self._since = time.monotonic()

    def finish(self, last_run: int | None = None) -> pa.Table:
        """Write one table of all runs, up to the last one that a stop rule admits, and remove the pieces."""
        self.flush()
        table = load_results(self.folder, self._schema)
        if last_run is not None:
            table = table.filter(pc.field("run") <= last_run)
        write_table(self.folder / RESULTS, table)
        for path in part_files(self.folder):
            path.unlink()
        return table

    def close(self) -> None:
        """Release the lock on the campaign's folder."""
        os.close(self._lock)


def load_results(folder: Path, schema: pa.Schema | None = None) -> pa.Table:
    """All rows that a folder has, by run number; raises SettingsError when it has none."""
    tables = [read_table(path) for path in _tables(folder)]
    if not tables:
        if schema is not None:
            return schema.empty_table()
        raise SettingsError(f"{folder}: has no results of a campaign")
    return merged(tables)


def load_made_of(folder: Path) -> dict[str, Any]:
    """Hashes of the inputs that a folder's results were made from; raises SettingsError."""
    path = folder / MADE_OF
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not {"name", "folder", "runs", "hashes"} <= set(found):
            raise ValueError("keys are missing")
    except (OSError, ValueError) as error:
        raise SettingsError(f"{folder}: not the folder of a campaign: {MADE_OF}: {error}") from None
    return found


def part_files(folder: Path) -> list[Path]:
    """Pieces of the results' table, in the order of writing."""
    return [path for path in sorted((folder / PARTS).glob("part-*.parquet")) if path.is_file()]


def done_mask(verdicts: dict[int, str], runs: int) -> NDArray[np.bool_]:
    """Array with true for each run that is done."""
    mask = np.zeros(runs, bool)
    mask[[number for number in verdicts if number < runs]] = True
    return mask


def _tables(folder: Path) -> list[Path]:
    whole = folder / RESULTS
    return [*([whole] if whole.is_file() else []), *part_files(folder)]


def _made_of(path: Path, kit: Kit, runs: int) -> dict[str, Any]:
    return {
        "name": path.stem,
        "folder": str(path.resolve().parent),
        "runs": runs,
        "hashes": kit.hashes,
        "code": kit.code,
    }


def changed_files(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Names of inputs whose hashes differ, the campaign's own files first."""
    return [what for what in {**now, **before} if before.get(what) != now.get(what)]


def _check_same(folder: Path, before: dict[str, Any], made_of: dict[str, Any], is_extensible: bool) -> None:
    for what in changed_files(before["hashes"], made_of["hashes"]):
        raise SettingsError(
            f"{folder}: its results are of another {what} file (changed since?); give another --out FOLDER"
        )
    if before["runs"] != made_of["runs"] and not is_extensible:
        raise SettingsError(
            f"{folder}: its results are of {before['runs']} runs, and other numbers of runs have other samples; "
            "give another --out FOLDER"
        )
    if before.get("code") != made_of["code"]:
        print(f"{folder}: goes on with another version of the code; the table says which run has which",
              file=sys.stderr)  # fmt: skip
