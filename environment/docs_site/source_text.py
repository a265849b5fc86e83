"""Files of the repository, and examples in docstrings, as Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from environment.docs_site.tree import visible_files

LANGUAGES = {".py": "python", ".yaml": "yaml", ".toml": "toml", ".xml": "xml"}
HEADER = "---\nsearch:\n  exclude: true\n---\n"
MOST_LINES = 400  # shown of one file
DOCTEST = re.compile(r"^>>> .*(\n.+)*", re.MULTILINE)  # to the next blank line


def source_text(root: Path, target: str) -> str:
    """Page of a file, or of all files below a folder."""
    if (root / target).is_file():
        return f"{HEADER}# {target}\n\n{_block(root / target)}"
    files = visible_files(root, target)
    sections = (f"## {file.removeprefix(target + '/')}\n\n{_block(root / file)}" for file in files)
    return f"{HEADER}# {target}/\n\n" + "\n".join(sections)


def with_fenced_examples(docstring: str) -> str:
    """Put doctests into code blocks; Markdown takes `>>>` for a quotation."""
    return DOCTEST.sub(lambda match: f"```pycon\n{match[0]}\n```", docstring)


def _block(path: Path) -> str:
    lines = path.read_text().splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"... {len(lines) - MOST_LINES} more lines"]
    text = "\n".join(lines)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", text))])
    return f"{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n"
