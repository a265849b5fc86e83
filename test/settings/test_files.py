"""Files that are written atomically."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from proving_ground.settings import SettingsError
from proving_ground.settings.files import whole_file, write_whole


@pytest.mark.parametrize("content", ["Hügel\n", b"H\xfcgel\n"])
def test_text_and_bytes_are_written(tmp_path: Path, content: str | bytes) -> None:
    write_whole(tmp_path / "a.txt", content)

    assert (tmp_path / "a.txt").read_bytes() == (content.encode() if isinstance(content, str) else content)


def test_readers_never_see_a_partial_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, "old")

    with whole_file(path) as file:
        file.write(b"ne")
        file.flush()
        assert path.read_text() == "old"
        file.write(b"w")

    assert path.read_text() == "new"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_no_part(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, "old")

    def write_half() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_half()

    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_disk_is_reported_in_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(SettingsError, match=r"a\.txt: cannot be written: No space left on device"),
        whole_file(tmp_path / "a.txt"),
    ):
        raise OSError(28, "No space left on device")


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("old")
    (tmp_path / "a.txt").symlink_to("b.txt")

    write_whole(tmp_path / "a.txt", "new")

    assert (tmp_path / "a.txt").is_symlink()
    assert (tmp_path / "b.txt").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()

    with whole_file(tmp_path / "pipe") as file:
        file.write(b"through")
    reader.join()

    assert read == [b"through"]
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(("name", "words"), [("no/such/a.txt", "No such file or directory"), (".", "Is a directory")])
def test_an_unwritable_file_is_reported_in_one_line(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(SettingsError) as rejection:
        write_whole(tmp_path / name, "x")

    assert str(rejection.value) == f"{tmp_path / name}: cannot be written: {words}"
