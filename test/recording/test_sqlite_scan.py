"""Messages read from sqlite3 files, whole and damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rosbags.rosbag2 import StoragePlugin

from observed_bags import copied
from proving_ground.recording.reading import open_bag
from proving_ground.recording.sqlite_scan import SqliteScan


def scanned(file: Path) -> tuple[list[Any], str]:
    scan = SqliteScan(file)
    return list(scan.messages()), scan.damage


@pytest.fixture(scope="module")
def database(drive: Path) -> bytes:
    """The drive as sqlite3."""
    (file,) = copied(drive, drive.parent / "database", storage=StoragePlugin.SQLITE3).glob("*.db3")
    return file.read_bytes()


def test_a_whole_database_is_read_as_the_library_reads_it(database: bytes, drive: Path, tmp_path: Path) -> None:
    (tmp_path / "whole.db3").write_bytes(database)

    found, damage = scanned(tmp_path / "whole.db3")

    bag = open_bag(drive)
    assert damage == ""
    assert [(item.topic, item.log_ns, item.data) for item in found] == [
        (topic, log_ns, bytes(data)) for topic, log_ns, data in bag.messages(list(bag.topics))
    ]


@pytest.mark.parametrize("share", [0.99, 0.8, 0.5, 0.2])
def test_of_a_truncated_database_the_beginning_is_read(database: bytes, tmp_path: Path, share: float) -> None:
    (tmp_path / "whole.db3").write_bytes(database)
    whole, _ = scanned(tmp_path / "whole.db3")
    (tmp_path / "cut.db3").write_bytes(database[: int(share * len(database))])

    found, damage = scanned(tmp_path / "cut.db3")

    assert damage == "ends early"
    assert len(found) > (share - 0.1) * len(whole)
    assert set(found) <= set(whole)


def test_of_a_database_with_damaged_pages_all_others_are_read(database: bytes, tmp_path: Path) -> None:
    (tmp_path / "whole.db3").write_bytes(database)
    whole, _ = scanned(tmp_path / "whole.db3")
    middle = len(database) // 2 // 4096 * 4096
    (tmp_path / "holed.db3").write_bytes(database[:middle] + b"\xaa" * 4096 + database[middle + 4096 :])

    found, damage = scanned(tmp_path / "holed.db3")

    assert damage.endswith("messages are damaged")
    assert 0.9 * len(whole) < len(found) < len(whole)
    assert set(found) <= set(whole)


@pytest.mark.parametrize("content", [b"", b"years of work" * 1000, b"SQLite format 3\x00" + bytes(5000)])
def test_a_file_that_is_not_a_database_has_no_messages(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "none.db3").write_bytes(content)

    found, damage = scanned(tmp_path / "none.db3")

    assert found == []
    assert damage
