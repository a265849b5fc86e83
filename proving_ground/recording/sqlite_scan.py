"""The intact rows of a sqlite3 bag file that was cut short or has damaged pages, page by page.

SQLite finds rows through parent pages, and returns none when one of those is missing. Here every page is read:
those with rows are marked in their first byte (https://sqlite.org/fileformat2.html, sections 1.5, 1.6 and 2.1).
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from proving_ground.recording.mcap_scan import Found

MAGIC = b"SQLite format 3\x00"
FIRST_PAGE_AT = 100  # offset of page 1, after the file's header
LEAF = 0x0D  # of a table; overflow and free pages begin with the number of a page, which is never as large
LARGEST_ROW = 1 << 30  # longer ones are a sign of damage
MESSAGE_COLUMNS, TOPIC_COLUMNS = 4, (4, 5, 6)  # id, topic, time, data; id, name, type, format, QoS, hash

Value = int | str | bytes | None


class _Leaf(NamedTuple):
    """A page of the SQLite file that holds messages."""

    first_id: int
    page: int


class SqliteScan:
    """Reads a SQLite bag file, damaged or not; `damage` says what was wrong, once `messages` was read to its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damage = ""
        self.qos_texts: dict[str, str] = {}  # QoS offered by publishers of a topic, as YAML

    def messages(self) -> Iterator[Found]:
        """Messages that can be read. Raises OSError."""
        with self._path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                self.damage = "is not a sqlite3 file"
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                pages = _Pages(content)
                yield from self._found(pages)

    def _found(self, pages: _Pages) -> Iterator[Found]:
        topics, leaves = self._look(pages)
        before, lost = 0, 0
        for leaf in sorted(leaves):
            for number, row in pages.rows(leaf.page):
                match row:
                    case (_, int(topic_id), int(log_ns), bytes(data)) if topic_id in topics:
                        lost += max(number - before - 1, 0)
                        before = number
                        yield Found(*topics[topic_id], log_ns, data)
        if pages.is_short:
            self.damage = "ends early"
        elif not leaves:
            self.damage = "has no messages"
        elif lost:
            self.damage = f"{lost} messages are damaged"

    def _look(self, pages: _Pages) -> tuple[dict[int, tuple[str, str]], list[_Leaf]]:
        """Find topics with their types, by number, and the pages with messages."""
        topics: dict[int, tuple[str, str]] = {}
        leaves: list[_Leaf] = []
        for page in range(1, pages.count + 1):
            first = next(pages.rows(page, only_columns=True), None)
            if first is None:
                continue
            number, columns = first
            if len(columns) == MESSAGE_COLUMNS and columns[1:] == (int, int, bytes):
                leaves.append(_Leaf(number, page))
            elif len(columns) in TOPIC_COLUMNS and columns[1:4] == (str, str, str):
                topics |= self._topics(pages, page)
        return topics, leaves

    def _topics(self, pages: _Pages, page: int) -> dict[int, tuple[str, str]]:
        found = {}
        for number, row in pages.rows(page):
            match row:
                case (_, str(name), str(kind), str(), *others) if name.startswith("/"):  # else another table
                    found[number] = name, kind
                    if others and isinstance(others[0], str) and others[0]:
                        self.qos_texts[name] = others[0]
        return found


class _Pages:
    """Pages of a file, and the rows on them. References outside the file are not rows."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        size = int.from_bytes(content[16:18], "big")
        self._size = 65536 if size == 1 else max(size, 512)
        self._usable = max(self._size - content[20], 480) if len(content) > FIRST_PAGE_AT else 480
        self.count = len(content) // self._size
        self.is_short = self.count < int.from_bytes(content[28:32], "big")

    def rows(self, page: int, *, only_columns: bool = False) -> Iterator[tuple[int, tuple[Value | type, ...]]]:
        """Number and values, or types of values, of the rows of a page."""
        begin = (page - 1) * self._size
        head = begin + (FIRST_PAGE_AT if page == 1 else 0)
        if self._content[head] != LEAF:
            return
        count = int.from_bytes(self._content[head + 3 : head + 5], "big")
        for cell in range(min(count, self._size // 2)):
            pointer = head + 8 + 2 * cell
            offset = int.from_bytes(self._content[pointer : pointer + 2], "big")
            try:
                yield self._row(begin + offset, begin + self._size, only_columns)
            except (IndexError, ValueError):
                continue

    def _row(self, at: int, end: int, only_columns: bool) -> tuple[int, tuple[Value | type, ...]]:
        length, at = _varint(self._content, at)
        number, at = _varint(self._content, at)
        if not 0 < length < LARGEST_ROW or at > end:
            raise ValueError("no row")
        payload = self._payload(at, length, only_columns)
        head_end, offset = _varint(payload, 0)
        codes = []
        while offset < head_end:
            code, offset = _varint(payload, offset)
            codes.append(code)
        if only_columns:
            return number, tuple(_type(code) for code in codes)
        values = []
        for code in codes:
            size = _length(code)
            if offset + size > length:
                raise ValueError("no row")
            values.append(_value(code, payload[offset : offset + size]))
            offset += size
        return number, tuple(values)

    def _payload(self, at: int, length: int, only_begin: bool) -> bytes:
        """Section 1.6: what does not fit on the page is in a chain of overflow pages."""
        usable = self._usable
        most, least = usable - 35, (usable - 12) * 32 // 255 - 23
        if length <= most:
            return self._content[at : at + length]
        kept = least + (length - least) % (usable - 4)
        kept = kept if kept <= most else least
        parts, left = [self._content[at : at + kept]], length - kept
        if only_begin:
            return parts[0]
        following = int.from_bytes(self._content[at + kept : at + kept + 4], "big")
        while left > 0:
            if not 1 < following <= self.count:
                raise ValueError("no page")
            begin = (following - 1) * self._size
            following = int.from_bytes(self._content[begin : begin + 4], "big")
            parts.append(self._content[begin + 4 : begin + 4 + min(left, usable - 4)])
            left -= usable - 4
        return b"".join(parts)


def _varint(data: bytes | mmap.mmap, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends; raises IndexError at the end of the data."""
    value = 0
    for count in range(8):
        byte = data[at + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    return value << 8 | data[at + 8], at + 9


def _length(code: int) -> int:
    """Section 2.1: length of a value by its type code [bytes]."""
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[code] if code < 12 else (code - 12) // 2


def _type(code: int) -> type:
    if code >= 12:
        return str if code % 2 else bytes
    return type(None) if code == 0 else float if code == 7 else int


def _value(code: int, data: bytes) -> Value:
    kind = _type(code)
    if kind is bytes:
        return data
    if kind is str:
        return data.decode(errors="replace")
    if kind is int:
        return code - 8 if code in (8, 9) else int.from_bytes(data, "big", signed=True)
    return None  # no table of a bag has floats
