"""Tables for kernels: piecewise linear through given points, extrapolated with the first and the last slope."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from proving_ground.kernels.jit import inlined, kernel

MOST_TABLE_VALUES = 32

TABLE = np.dtype([("x", "f8", MOST_TABLE_VALUES), ("y", "f8", MOST_TABLE_VALUES), ("count", "i8")])
TableRecord: TypeAlias = Any


@inlined
def table_value(table: TableRecord, x: float) -> float:
    """Value of the table at x, by linear interpolation; beyond its ends the first or last segment is extended."""
    index, last = 0, table.count - 2
    while index < last and x >= table.x[index + 1]:
        index += 1
    slope = (table.y[index + 1] - table.y[index]) / (table.x[index + 1] - table.x[index])
    return float(table.y[index] + slope * (x - table.x[index]))


@inlined
def clamped_value(table: TableRecord, x: float) -> float:
    """Value at x; outside the table that of its nearest end."""
    return table_value(table, min(max(x, table.x[0]), table.x[table.count - 1]))


@kernel
def table_integral(table: TableRecord, x: float) -> float:
    """Integral from the table's first x to x, which must not be less."""
    total, index, last = 0.0, 0, table.count - 2
    while index < last and x >= table.x[index + 1]:
        total += 0.5 * (table.y[index] + table.y[index + 1]) * (table.x[index + 1] - table.x[index])
        index += 1
    return total + float(0.5 * (table.y[index] + table_value(table, x)) * (x - table.x[index]))


def fill_table(record: Any, x: ArrayLike, y: ArrayLike) -> None:
    """Fill a record, or an array of records, with at most MOST_TABLE_VALUES points; x must rise."""
    count = np.size(x)
    record["x"], record["y"], record["count"] = 0.0, 0.0, count
    record["x"][..., :count], record["y"][..., :count] = x, y
