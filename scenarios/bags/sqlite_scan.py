"""What is intact of a sqlite3 file of a bag that was cut short or has damaged pages: its rows, found by their number.

The library asks for all rows by their time, which needs the whole file. Rows are in a tree by their number instead:
up to the first page that is missing they come one after the other, and after a damaged one they can be asked for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from scenarios.bags.mcap_scan import Found

LARGEST_ID = (1 << 63) - 1
_ROWS = "select id, topic_id, timestamp, data from messages where id > ? order by id"


class SqliteScan:
    """Messages in the order of the file; `damage` says what was wrong, after they were read. As McapScan."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damage = ""
        self.qos_texts: dict[str, str] = {}  # what publishers of a topic offered, as YAML

    def messages(self) -> Iterator[Found]:
        """What can be read; where pages are missing, what comes after them is left out."""
        try:
            with closing(self._connection()) as file:
                topics = self._topics(file)
                last = 0
                while (before := last) is not None:
                    for last, found in self._rows(file, before, topics):
                        if found is not None:
                            yield found
                    ahead = self._beyond(file, last) if self.damage else None
                    if ahead is None:
                        return
                    last = ahead
        except sqlite3.Error as error:
            self.damage = self.damage or _words(error)

    def _connection(self) -> sqlite3.Connection:
        file = sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        # SQLite opens a file that is shorter than its header says only so: https://sqlite.org/pragma.html.
        file.execute("pragma writable_schema = on")
        file.execute("pragma cell_size_check = on")
        file.text_factory = lambda data: data.decode(errors="replace")
        return file

    def _topics(self, file: sqlite3.Connection) -> dict[int, tuple[str, str]]:
        columns = {row[1] for row in file.execute("pragma table_info(topics)")}
        if "offered_qos_profiles" in columns:
            found = file.execute("select name, offered_qos_profiles from topics").fetchall()
            self.qos_texts = {str(name): text for name, text in found if isinstance(text, str) and text}
        return {number: (str(name), str(kind)) for number, name, kind in file.execute("select id, name, type from topics")}

    def _rows(
        self, file: sqlite3.Connection, after: int, topics: dict[int, tuple[str, str]]
    ) -> Iterator[tuple[int, Found | None]]:
        try:
            for number, topic_id, log_ns, data in file.execute(_ROWS, (after,)):
                is_whole = topic_id in topics and isinstance(log_ns, int) and isinstance(data, bytes)
                yield number, Found(*topics[topic_id], log_ns, data) if is_whole else None
        except sqlite3.DatabaseError as error:
            self.damage = _words(error)

    def _beyond(self, file: sqlite3.Connection, last: int) -> int | None:
        """Number of a row just before the next that can be read after a damaged place; None: there is none."""
        step = 1
        while last + step < LARGEST_ID:
            try:
                row = file.execute(_ROWS + " limit 1", (last + step,)).fetchone()
            except sqlite3.DatabaseError:
                step *= 2
                continue
            return None if row is None else row[0] - 1
        return None


def _words(error: sqlite3.Error) -> str:
    return "ends early or is damaged" if "malformed" in str(error) else str(error)
