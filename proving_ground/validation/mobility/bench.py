"""The HMMWV's mobility tests: every figure by the number of its test, and how many tests are inside their bands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proving_ground.settings.text_table import text_table
from proving_ground.validation.mobility.measure import KNOWN, TESTS, measured


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """test_N: figures of test N by name, and `inside` (1 or 0); inside: how many tests are, of `tests`."""
    results = measured(say)
    figures: dict[str, Any] = {
        f"test_{result.number}": {figure.name: figure.value for figure in result.figures}
        | {"inside": int(result.is_inside)}
        for result in results
    }
    return figures | {"inside": sum(result.is_inside for result in results), "tests": len(results)}


def show(figures: Mapping[str, Any]) -> str:
    """The figures as a table, and known causes of figures that are outside."""
    rows = []
    for number, test in TESTS.items():
        values = dict(figures[f"test_{number}"])
        verdict = "inside" if values.pop("inside") else "outside"
        rows += [[f"{number} {test.title}", name, f"{value:.4g}", verdict] for name, value in values.items()]
    table = text_table(["test", "figure", "value", "test is"], rows)
    causes = [
        f"{number} {TESTS[number].title}, {what}: {known.cause}"
        for (number, what), known in KNOWN.items()
        if not figures[f"test_{number}"]["inside"]
    ]
    return "\n".join([table, "", f"{figures['inside']} of {figures['tests']} tests are inside their bands", *causes])
