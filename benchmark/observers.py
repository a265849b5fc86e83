"""Seven state observers on two planar linkages: accuracy, consistency, speed and observability ([Sanjurjo] chapter 4).

Writes runs/observers: runs.csv, pictures and report.html.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from proving_ground.settings import SettingsError
from proving_ground.settings.progress import progress_on_stderr
from proving_ground.settings.text_table import text_table
from state_observer.study.campaign import cores, real_time_factors, run_all, warm_up
from state_observer.study.cases import Bench
from state_observer.study.forces import Comparison, gravity_only
from state_observer.study.merit import Merit
from state_observer.study.parameters import Case, StudyParameters, load_study
from state_observer.study.report import write_report

FOLDER = Path("runs/observers")
STUDY: StudyParameters | None = None  # None: config/observers/study.yaml
REPEATS = 7


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Real-time factors, their growth, counts of runs, and the table of errors under `rms`."""
    folder = _folder()
    bench = Bench(STUDY or load_study())
    begun = time.monotonic()
    say("compiling or loading kernels")
    warm_up(bench)
    factors = real_time_factors(bench, REPEATS, say)
    workers = cores()
    say(f"{len(bench.study.cases())} runs of {bench.study.duration_s:g} s on {workers} cores")
    runs_begun = time.monotonic()
    found = run_all(bench, workers, progress_on_stderr("observers"))
    runs_took = time.monotonic() - runs_begun
    say("missing force, pictures and report")
    beyond = gravity_only(bench)
    written = write_report(folder, bench, found, factors, beyond)
    say(f"written to {folder}: {', '.join(written)}")
    return {**_figures(factors, found, runs_took, time.monotonic() - begun), **_force_figures(beyond)}


def show(figures: Mapping[str, Any]) -> str:
    """Speed of every filter, then a table of errors for each linkage and set of sensors."""
    return "\n\n".join([_speed_table(figures), *_error_tables(figures["rms"]), _summary(figures)])


def _folder() -> Path:
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{FOLDER}: cannot be made: {error.strerror or error}") from None
    return FOLDER


def _figures(
    factors: Mapping[str, Mapping[str, float]], found: Mapping[Case, Merit], runs_took: float, took: float
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    linkages = list(factors)
    for linkage in linkages:
        for method, factor in factors[linkage].items():
            figures[f"{_key(method)}_{linkage}_rtf"] = factor
    for method, factor in factors[linkages[0]].items():
        figures[f"{_key(method)}_cost_growth"] = factor / factors[linkages[-1]][method]
        figures[f"{_key(method)}_cost_over_error_ekf"] = factors[linkages[0]]["errorEKF"] / factor
    figures["runs"] = len(found)
    figures["runs_ended_early"] = sum(math.isnan(merit.rms) for merit in found.values())
    figures["runs_s"] = runs_took
    figures["total_s"] = took
    table: dict[str, Any] = {}
    for case, merit in found.items():
        group = table.setdefault(case.linkage, {}).setdefault(case.sensors, {}).setdefault(case.error, {})
        group.setdefault(str(case.rate_hz), {})[case.method] = None if math.isnan(merit.rms) else merit.rms
    figures["rms"] = table
    return figures


def _force_figures(beyond: Comparison) -> dict[str, float]:
    """Errors of the errorEKF with an estimated force over those of the plain one: below 1 is better."""
    white, *others = beyond.merits.items()
    figures = {"missing_force_rms_nm": math.sqrt(float((beyond.true_force**2).mean()))}
    for name, merit in others:
        key = name.replace(" ", "_")
        figures[f"{key}_angle_ratio"] = merit.rms / white[1].rms
        figures[f"{key}_rate_ratio"] = merit.rate_rms / white[1].rate_rms
        figures[f"{key}_error_nm"] = beyond.force_rms[name]
    return figures


def _speed_table(figures: Mapping[str, Any]) -> str:
    linkages = list(figures["rms"])
    methods = list(_methods(figures["rms"]))
    rows = [
        [
            method,
            *(f"{figures[f'{_key(method)}_{linkage}_rtf']:.0f}" for linkage in linkages),
            f"{figures[f'{_key(method)}_cost_growth']:.2f}",
            f"{figures[f'{_key(method)}_cost_over_error_ekf']:.1f}",
        ]
        for method in methods
    ]
    words = [f"{linkage.replace('_', '-')} [x real time]" for linkage in linkages]
    return text_table(["filter", *words, "cost growth", "cost over errorEKF's"], rows)


def _error_tables(table: Mapping[str, Any]) -> list[str]:
    texts = []
    for linkage, of_linkage in table.items():
        for sensors, of_sensors in of_linkage.items():
            columns = [(error, rate) for error, rates in of_sensors.items() for rate in rates]
            rows = [
                [method, *(_cell(of_sensors[error][rate][method]) for error, rate in columns)]
                for method in _methods(table)
            ]
            heads = [f"{error} {rate} Hz" for error, rate in columns]
            title = f"RMS error of crank angles [rad]: {linkage.replace('_', '-')}, {sensors.replace('_', ' ')}"
            texts.append(f"{title}\n{text_table(['filter', *heads], rows)}")
    return texts


def _summary(figures: Mapping[str, Any]) -> str:
    forces = "".join(
        f"errorEKF with a {name} force: angle error times {figures[f'{name}_force_angle_ratio']:.2f}, rate error times "
        f"{figures[f'{name}_force_rate_ratio']:.2f}; force of {figures['missing_force_rms_nm']:.1f} N m known to "
        f"{figures[f'{name}_force_error_nm']:.1f} N m\n"
        for name in ("lasting", "fading")
    )
    return (
        f"{forces}{figures['runs']} runs in {figures['runs_s']:.0f} s, {figures['total_s']:.0f} s with all else; "
        f"{figures['runs_ended_early']} ended early (-). Report: {FOLDER / 'report.html'}"
    )


def _methods(table: Any) -> list[str]:
    while isinstance(table, Mapping) and isinstance(next(iter(table.values())), Mapping):
        table = next(iter(table.values()))
    return list(table)


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _key(method: str) -> str:
    """errorEKF -> error_ekf, UKF-TR -> ukf_tr."""
    return {"errorEKF": "error_ekf", "DIEKFpm": "diekf_pm"}.get(method, method.lower().replace("-", "_"))
