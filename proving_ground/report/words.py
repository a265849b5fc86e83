"""Text and figures of a run for pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from proving_ground.report.run_record import RunRecord
from proving_ground.settings.units import FOREVER_S

UNBOUNDED = 1e12  # bounds of a criterion from here on mean none
NONE = "-"
KIND_WORDS = {"lock-step": "lock-step, one process without ROS", "ros": "over ROS, every node its own process"}
UNITS = {
    "s": "s", "m": "m", "rad": "rad", "mps": "m/s", "mps2": "m/s²", "radps": "rad/s", "n": "N", "nm": "N m",
    "rpm": "rpm", "deg": "deg", "degpmps2": "deg/(m/s²)",
}  # fmt: skip


class Check(NamedTuple):
    """A row of the table of findings."""

    what: str
    value: str
    bounds: str
    passed: bool
    is_open: bool = False  # the recording does not decide it


def verdict_words(record: RunRecord) -> str:
    """Reasons of a run's verdict, in words."""
    total = len(record.findings)
    undecided = sum(bool(item.get("open")) for item in record.findings)
    missed = sum(not item["passed"] for item in record.findings) - undecided
    if record.diverged_at_s is not None:
        return f"the motion diverged at {record.diverged_at_s:.2f} s"
    if record.passed is None and undecided:
        rest = ", all others are met" if undecided < total else ""
        return f"{undecided} of {total} criteria cannot be judged from the recording{rest}"
    if record.passed is None:
        return "there are no criteria to judge it by"
    if missed:
        return f"{missed} of {total} criteria {'is' if missed == 1 else 'are'} not met"
    if not record.passed:
        return "although all criteria are met"
    return f"all {total} criteria are met" if total > 1 else "its criterion is met" if total else "it ran to its end"


def checks(record: RunRecord) -> list[Check]:
    """Rows of the table of findings: criterion, value, bounds."""
    return [check(item) for item in record.findings]


def check(item: Mapping[str, Any]) -> Check:
    """Row of a finding in metrics.json; missing keys are left empty."""
    what = f"{item.get('statistic', 'value')} of {item.get('channel', item.get('name', 'the run'))}"
    start, end = float(item.get("from_s", 0.0)), float(item.get("to_s", FOREVER_S))
    what += f" from {start:g} s" if start > 0.0 else ""
    what += f" to {end:g} s" if end < FOREVER_S else ""
    bounds = []
    for key, words in (("at_least", "at least"), ("at_most", "at most")):
        bound = item.get(key)
        if bound is not None and abs(float(bound)) < UNBOUNDED:
            bounds.append(f"{words} {float(bound):g}")
    return Check(
        what, number(item.get("value")), ", ".join(bounds) or "any", bool(item["passed"]), bool(item.get("open"))
    )


def facts(record: RunRecord) -> dict[str, str]:
    """Main facts of a run, values by name, for its page."""
    c = record.channels
    found = {"Kind of run": KIND_WORDS[record.kind], "Simulated": f"{record.duration_s:g} s"}
    if {"x_m", "y_m"} <= set(c):
        found["Way"] = f"{np.hypot(np.diff(c['x_m']), np.diff(c['y_m'])).sum():.1f} m"
    if "speed_mps" in c:
        found["Highest speed"] = f"{np.abs(c['speed_mps']).max():.2f} m/s"
    if record.timing.real_time_factor is not None:
        found["Real-time factor"] = f"{record.timing.real_time_factor:.3g}"
    found["World"] = record.world or "a plane"
    if record.seed is not None:
        found["Seed"] = str(record.seed)
    if record.arguments:
        found["Launched with"] = ", ".join(f"{name}:={value}" for name, value in record.arguments.items())
    return found


def timing(record: RunRecord) -> dict[str, str]:
    """Known times of a run (wall, CPU, real-time factor) as text, by name."""
    t = record.timing
    rows = {"Simulated": record.duration_s, "Wall time": t.wall_s, "CPU time": t.cpu_s}
    found = {name: f"{value:.3g} s" for name, value in rows.items() if value is not None}
    if t.real_time_factor is not None:
        found["Real-time factor"] = f"{t.real_time_factor:.3g}"
    return found


def number(value: Any) -> str:
    """Five digits; a dash if missing.

    >>> number(3.14159265), number(None), number(math.nan)
    ('3.1416', '-', '-')
    """
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:.5g}"


def name_and_unit(key: str) -> tuple[str, str]:
    """Name and unit of a channel or figure whose name ends with its unit.

    >>> name_and_unit("wheel_load_n.front_left"), name_and_unit("gear")
    (('wheel load front left', 'N'), ('gear', ''))
    """
    stem, _, corner = key.partition(".")
    words, _, last = stem.rpartition("_")
    name, unit = (words, UNITS[last]) if words and last in UNITS else (stem, "")
    return f"{name} {corner}".replace("_", " ").strip(), unit
