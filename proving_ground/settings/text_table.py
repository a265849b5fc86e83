"""Plain text tables for the command line."""

from __future__ import annotations

from collections.abc import Sequence


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Left-aligned columns under headings.

    >>> print(text_table(["what", "is"], [["Python", "3.11"], ["ROS", "jazzy"]]))
    what    is
    ------  -----
    Python  3.11
    ROS     jazzy
    """
    widths = [max(len(row[column]) for row in [headings, *rows]) for column in range(len(headings))]
    lines = [headings, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
