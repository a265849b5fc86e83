"""Tables of figures in the README and in state_observer/README.md, made from benchmark/results.json.

    python -m benchmark.readme_table            # write them
    python -m benchmark.readme_table --check    # status 1 when a page differs

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
ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = (README, ROOT / "state_observer/README.md")
_MARKED = re.compile(r"(<!-- figures(?:: (\w+))? -->\n).*?(<!-- figures end -->)", re.DOTALL)
_INLINE = re.compile(r"(\d[\d.,]*)([^\d`(|]*)\(`(\w+)\.(\w+)`\)")


def table(results: Mapping[str, Any]) -> str:
    """Table of figures for the README as Markdown, with the keys of its figures."""
    lines = ["| benchmark | what | figure | keys |", "| --- | --- | --- | --- |"]
    for row in yaml.safe_load(ROWS.read_text()):
        found = results[row["benchmark"]]
        values = {**found["conditions"], **found["figures"]}
        keys = [f"`{name}`" for name in _names(row["what"] + row["figures"]) if name in found["figures"]]
        texts = (row[part].format(**values) for part in ("what", "figures"))
        cells = (f"`{row['benchmark']}`", *texts, " ".join(keys))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def linkage_table(results: Mapping[str, Any]) -> str:
    """Speed of the filters on linkages as Markdown, fastest on the four-bar first."""
    figures = results["observers"]["figures"]
    suffix = "_four_bar_rtf"
    names = [name.removesuffix(suffix) for name in figures if name.endswith(suffix)]
    lines = ["| key: `NAME_` | `four_bar_rtf` | `five_bar_rtf` | `cost_growth` |", "| --- | --- | --- | --- |"]
    for name in sorted(names, key=lambda name: -float(figures[name + suffix])):
        four, five, growth = (figures[f"{name}_{key}"] for key in ("four_bar_rtf", "five_bar_rtf", "cost_growth"))
        lines.append(f"| `{name}` | {four:.0f} | {five:.0f} | {growth:.1f} |")
    return "\n".join(lines) + "\n"


def filled(text: str, results: Mapping[str, Any]) -> str:
    """A page with its tables made again: the README's, or `figures: observers`."""
    tables = {None: table, "observers": linkage_table}
    return _MARKED.sub(lambda found: found[1] + tables[found[2]](results) + found[3], text)


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
    """Write the tables of figures into pages, or compare them; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 when a page differs")
    options = parser.parse_args()
    results, has_failed = load(), False
    for page in PAGES:
        old = page.read_text()
        new = filled(old, results)
        wrong = misquoted(new, results)
        for line in wrong:
            print(f"{page.relative_to(ROOT)}: {line}", file=sys.stderr)
        if not options.check:
            page.write_text(new)
        has_failed |= old != new if options.check else bool(wrong)
    return int(has_failed)


if __name__ == "__main__":
    raise SystemExit(main())
