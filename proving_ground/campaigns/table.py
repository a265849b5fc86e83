"""The table of results: its columns, and files that hold rows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from proving_ground.campaigns.distributions import Value
from proving_ground.campaigns.kit import Kit
from proving_ground.campaigns.local_pool import Outcome
from proving_ground.settings import SettingsError
from proving_ground.settings.files import whole_file

HOST = "host."  # prefix of columns that may differ between machines and repetitions
TEXT_OF_HOST = ("host.name", "host.cpu", "host.versions", "host.code")


def schema_of(kit: Kit, examples: Sequence[Value]) -> pa.Schema:
    """Names and types of the columns of a campaign's table; examples: values of the inputs, for their types."""
    fields = [("run", pa.int64()), ("seed", pa.int64())]
    fields += [(f"input.{item.called}", _kind(value)) for item, value in zip(kit.campaign.vary, examples, strict=True)]
    fields += [("verdict", pa.string()), ("reason", pa.string()), ("simulated_s", pa.float64())]
    fields += [("end.x_m", pa.float64()), ("end.y_m", pa.float64())]
    fields += [(f"criterion.{index}", pa.float64()) for index in range(len(kit.scenario.criteria))]
    fields += [(f"metric.{item.called}", pa.float64()) for item in kit.campaign.metrics]
    fields += [("host.wall_s", pa.float64()), ("host.cpu_s", pa.float64()), ("host.attempts", pa.int64())]
    return pa.schema([*fields, *((name, pa.string()) for name in TEXT_OF_HOST)])


def _kind(value: Value) -> pa.DataType:
    if isinstance(value, str):
        return pa.string()
    return pa.int64() if isinstance(value, int) else pa.float64()


def row_of(kit: Kit, outcome: Outcome) -> dict[str, Any]:
    """Complete row of a run: inputs, results and machine."""
    job = outcome.job
    inputs = {f"input.{item.called}": value for item, value in zip(kit.campaign.vary, job.values, strict=True)}
    return {"run": job.number, "seed": job.seed, **inputs, **outcome.row, "host.attempts": outcome.attempts}


def write_table(path: Path, table: pa.Table) -> None:
    """Write atomically; raises SettingsError, as when the disk is full."""
    with whole_file(path) as file:
        pq.write_table(table, file, compression="zstd")


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the table; raises SettingsError with one line if it is not one."""
    try:
        return pq.read_table(path, columns=list(columns) if columns else None)
    except (OSError, pa.ArrowException) as error:
        raise SettingsError(f"{path}: not a table of results: {error}") from None


def merged(tables: Iterable[pa.Table]) -> pa.Table:
    """All rows by the number of their run, each run once."""
    table = pa.concat_tables(list(tables)).sort_by("run")
    numbers = table["run"].to_numpy()
    if len(numbers) < 2 or (numbers[1:] > numbers[:-1]).all():
        return table
    first = [True, *(numbers[1:] > numbers[:-1]).tolist()]
    return table.filter(pa.array(first))


def without_host(table: pa.Table) -> pa.Table:
    """The columns that are the same on any machine."""
    return table.select([name for name in table.column_names if not name.startswith(HOST)])
