"""Recognition of the folders that are parts of one recording, and of those that a launch wrote."""

from __future__ import annotations

from pathlib import Path

from proving_ground.recording.parts import parts, parts_of_launch


def _bag(folder: Path, *files: str) -> None:
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).write_text("")


def _names(found: list[Path]) -> list[str]:
    return [item.name for item in found]


def test_bag_1_is_not_a_part_and_hides_none(tmp_path: Path) -> None:
    for name in ("bag", "bag_1", "bag_0", "bag_2", "bag_10"):
        _bag(tmp_path / name)
    assert _names(parts(tmp_path)) == ["bag", "bag_2", "bag_10"]


def test_a_launch_wrote_parts_without_a_gap(tmp_path: Path) -> None:
    _bag(tmp_path / "bag", "bag_0.mcap", "metadata.yaml")
    _bag(tmp_path / "bag_2", "bag_2_0.mcap")  # of a recorder that was killed
    _bag(tmp_path / "bag_3")  # of one that was killed at once
    _bag(tmp_path / "bag_7", "bag_7_0.mcap", "metadata.yaml")
    assert _names(parts_of_launch(tmp_path)) == ["bag", "bag_2", "bag_3"]


def test_folders_with_other_files_and_links_are_not_of_a_launch(tmp_path: Path) -> None:
    _bag(tmp_path / "bag", "bag_0.mcap", "notes.txt")
    assert parts_of_launch(tmp_path) == []
    _bag(tmp_path / "other/elsewhere", "bag_0.mcap")
    (tmp_path / "other/bag").symlink_to("elsewhere")
    assert parts_of_launch(tmp_path / "other") == []
    assert parts_of_launch(tmp_path / "nowhere") == []
