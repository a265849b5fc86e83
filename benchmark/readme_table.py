"""The table of figures in the README, made from benchmark/results.json.

    python -m benchmark.readme_table            # write it
    python -m benchmark.readme_table --check    # status 1 when the README differs

Every figure is named by the benchmark and the key under which `proving-ground bench NAME --json` prints it.
"""

from __future__ import annotations

import argparse
import re
import string
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmark.results import load

ROWS = Path(__file__).with_name("readme_rows.yaml")
README = Path(__file__).parents[1] / "README.md"
_MARKED = re.compile(r"(<!-- figures -->\n).*?(<!-- figures end -->)", re.DOTALL)
_INLINE = re.compile(r"(\d[\d.,]*)([^\d`(|]*)\(`(\w+)\.(\w+)`\)")


def table(results: Mapping[str, Any]) -> str:
    """The table as Markdown, with the keys of its figures."""
    lines = ["| benchmark | what | figure | keys |", "| --- | --- | --- | --- |"]
    for row in yaml.safe_load(ROWS.read_text()):
        found = results[row["benchmark"]]
        values = {**found["conditions"], **found["figures"]}
        keys = [f"`{name}`" for name in _names(row["what"] + row["figures"]) if name in found["figures"]]
        texts = (row[part].format(**values) for part in ("what", "figures"))
        cells = (f"`{row['benchmark']}`", *texts, " ".join(keys))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(text: str, results: Mapping[str, Any]) -> str:
    """The README with its table made again."""
    return _MARKED.sub(lambda found: found[1] + table(results) + found[2], text)


def misquoted(text: str, results: Mapping[str, Any]) -> list[str]:
    """Figures in running text, as in "170 times (`vehicle.rigid_rtf`)", that are not those of the results."""
    found = []
    for number, words, name, key in _INLINE.findall(text):
        value = results.get(name, {}).get("figures", {}).get(key)
        digits = len(number.replace(",", "").replace(".", "").strip("0")) or 1
        if value is None or float(f"{value:.{digits}g}") != float(number.replace(",", "").rstrip(".")):
            found.append(f"{number}{words}: `{name}.{key}` is {value}")
    return found


def _names(template: str) -> list[str]:
    return list(dict.fromkeys(name for _, name, _, _ in string.Formatter().parse(template) if name))


def main() -> int:
    """Write the README's table, or compare it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 when the README differs")
    options = parser.parse_args()
    old, results = README.read_text(), load()
    new = filled(old, results)
    for line in misquoted(new, results):
        print(f"README.md: {line}", file=sys.stderr)
    if not options.check:
        README.write_text(new)
    return int(old != new if options.check else bool(misquoted(new, results)))


if __name__ == "__main__":
    raise SystemExit(main())
