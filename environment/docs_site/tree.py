"""Files of the repository that the site may show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

README = "README.md"


def visible_files(root: Path, folder: str = ".") -> Iterator[str]:
    """Files below a folder, by path in the repository, without hidden ones and folders that git ignores."""
    ignored = _ignored_folders(root)

    def walk(folder: Path) -> Iterator[str]:
        for path in sorted(folder.iterdir()):
            if path.name.startswith(".") or path.name in ignored or path.suffix == ".egg-info":
                continue
            if path.is_dir():
                yield from walk(path)
            else:
                yield path.relative_to(root).as_posix()

    return walk(root / folder)


def markdown_pages(root: Path) -> list[str]:
    """Every Markdown page of the repository."""
    return [file for file in visible_files(root) if file.endswith(".md")]


def _ignored_folders(root: Path) -> set[str]:
    lines = (root / ".gitignore").read_text().splitlines()
    return {line.strip("/") for line in lines if line.endswith("/")}
