"""Results of the study as files: CSV of all runs, pictures, and a short HTML page."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings.files import write_whole
from state_observer.study import plots
from state_observer.study.cases import Bench
from state_observer.study.forces import Comparison
from state_observer.study.merit import Merit, innovation_psd, normalised_innovations
from state_observer.study.observability import condition_numbers
from state_observer.study.parameters import Case

Array = NDArray[np.float64]

CSV_COLUMNS = (
    "linkage", "sensors", "error", "rate_hz", "filter", "rms_rad", "rms_per_crank_rad", "rate_rms_radps", "nees", "nis",
    "coverage_95", "white_lags", "slow_power", "largest_gap", "ended_at_s", "ending",
)  # fmt: skip
OBSERVED = ("DEKF", "UKF-TR")
SPECTRA_OF = ("DEKF", "UKF-TR", "errorEKF", "CEKF")
STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #222; }
img { max-width: 100%; } h2 { margin-top: 1.6em; font-size: 1.15em; }
table { border-collapse: collapse; margin: 0.6em 0; } th, td { padding: 2px 9px; text-align: right; }
th:first-child, td:first-child { text-align: left; } th { border-bottom: 1px solid #888; }
caption { text-align: left; font-weight: bold; padding: 0.4em 0; } .bad { color: #b00; } .note { color: #555; }
"""


def write_report(
    folder: Path,
    bench: Bench,
    found: Mapping[Case, Merit],
    factors: Mapping[str, Mapping[str, float]],
    beyond: Comparison,
) -> list[str]:
    """Write all files into the folder; returns their names."""
    written = {"runs.csv": csv_table(found).encode()}
    pictures = {
        **{f"rms_{linkage}.png": plots.rms_picture(linkage, found, bench.tuning.sensor_std)
           for linkage in bench.study.linkages},
        "cost.png": plots.cost_picture(factors),
        **example_pictures(bench),
        **observability_pictures(bench),
        "innovation_psd.png": _spectra(bench),
        "force.png": force_picture(bench, beyond),
    }  # fmt: skip
    written |= pictures
    written["report.html"] = _page(bench, found, factors, beyond, list(pictures)).encode()
    for name, content in written.items():
        write_whole(folder / name, content)
    return list(written)


def csv_table(found: Mapping[Case, Merit]) -> str:
    """Results as CSV text, one row per run."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for case, merit in found.items():
        per_crank = " ".join(f"{value:.6g}" for value in merit.rms_per_crank)
        numbers = [f"{value:.6g}" for value in merit[2:10]]
        writer.writerow([*case, f"{merit.rms:.6g}", per_crank, *numbers, merit.ending])
    return buffer.getvalue()


def example_pictures(bench: Bench) -> dict[str, bytes]:
    """Single runs on the first linkage, as [Sanjurjo] Figs. 4.7, 4.8, 4.9 and 4.13."""
    linkage, step = bench.study.linkages[0], bench.step
    truth = bench.truth(linkage)
    times: Array = step * np.arange(1, bench.steps + 1, dtype=np.float64)
    cases = {rate: Case(linkage, "coupler_gyro", "high", rate, "DEKF") for rate in (200, 100, 50)}
    runs = {rate: bench.run(case)[0] for rate, case in cases.items()}
    errors = {f"{rate} Hz": np.abs(run.angles[:, 0] - truth.angles[: len(run.angles), 0]) for rate, run in runs.items()}
    angles = {
        "true": truth.angles[:, 0],
        "observer (DEKF)": runs[200].angles[:, 0],
        "model alone": bench.wrong_model_alone(linkage, "high").angles[:, 0],
    }
    misled = "DEKF with a coupler gyro: the first readings mislead it, the more so the higher their rate (Fig. 4.7)"
    followed = "Crank angle, DEKF with a coupler gyro at 200 Hz (Fig. 4.8)"
    pictures = {
        "start.png": plots.lines_picture(misled, "|crank angle error| [rad]", times, errors),
        "angle.png": plots.lines_picture(followed, "crank angle [rad]", times, angles),
    }
    for name, case, title, limit in (
        ("interval_dekf.png", cases[200], "DEKF with a coupler gyro at 200 Hz (Fig. 4.9)", 0.25),
        ("interval_error_ekf.png", cases[200]._replace(sensors="encoder", method="errorEKF"),
         "errorEKF with an encoder at 200 Hz", 0.03),
        ("interval_ukf_fe.png", cases[200]._replace(sensors="crank_gyro", method="UKF-FE"),
         "UKF-FE with a crank gyro at 200 Hz (Fig. 4.13)", 0.25),
        ("interval_ukf_tr.png", cases[200]._replace(sensors="crank_gyro", method="UKF-TR"),
         "UKF-TR with a crank gyro at 200 Hz", 0.25),
    ):  # fmt: skip
        run, _ = bench.run(case)
        count = len(run.angles)
        deviations = np.sqrt(run.covariances[:, 0, 0])
        pictures[name] = plots.interval_picture(
            title, times[:count], run.angles[:, 0] - truth.angles[:count, 0], deviations, limit
        )
    return pictures


def observability_pictures(bench: Bench) -> dict[str, bytes]:
    """Pictures of observability, as Figs. 4.15 to 4.20 of [Sanjurjo]."""
    pictures = {}
    for linkage in bench.study.linkages:
        conditions = {}
        for method in OBSERVED:
            for sensors in bench.study.sensors:
                case = Case(linkage, sensors, "high", 200, method)
                conditions[method, sensors] = condition_numbers(bench.observer(case), bench.readings(case))
        pictures[f"observability_{linkage}.png"] = plots.observability_picture(linkage, bench.step, conditions)
    return pictures


def _spectra(bench: Bench) -> bytes:
    linkage = bench.study.linkages[0]
    spectra = {}
    for method in SPECTRA_OF:
        run, _ = bench.run(Case(linkage, "encoder", "high", 200, method))
        spectra[method] = innovation_psd(normalised_innovations(run), 200.0)
    return plots.psd_picture("Innovations of the four-bar with an encoder at 200 Hz, high error", spectra)


def _page(
    bench: Bench, found: Mapping[Case, Merit], factors: Mapping[str, Mapping[str, float]],
    beyond: Comparison, pictures: Sequence[str],
) -> str:  # fmt: skip
    study = bench.study
    tables = [_rms_table(bench, found, linkage, sensors) for linkage in study.linkages for sensors in study.sensors]
    images = "\n".join(f'<p><img src="{name}" alt="{name}"></p>' for name in pictures)
    text = (
        f"{len(found)} runs of {study.duration_s:g} s, noise seed {study.noise_seed}, step {1e3 * bench.step:g} ms. "
        "RMS error of the crank angles in rad; a time instead of a number is when the run was aborted, mostly because "
        "the covariance was no longer positive definite. All values are in runs.csv."
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>State observers on planar linkages'
        f"</title><style>{STYLE}</style></head><body>\n<h1>State observers on planar linkages</h1>\n"
        f"<p>{html.escape(text)}</p>\n<h2>Speed, encoders at 200 Hz</h2>\n{_cost_table(factors)}\n"
        f"<h2>Accuracy</h2>\n{''.join(tables)}\n"
        f"<h2>Estimating the missing force</h2>\n{_force_table(beyond)}\n<h2>Pictures</h2>\n{images}\n</body></html>\n"
    )


def _cost_table(factors: Mapping[str, Mapping[str, float]]) -> str:
    linkages = list(factors)
    head = "".join(f"<th>{name.replace('_', '-')}, times real time</th>" for name in linkages)
    rows = []
    for method in factors[linkages[0]]:
        cells = "".join(f"<td>{factors[name][method]:.0f}</td>" for name in linkages)
        growth = factors[linkages[0]][method] / factors[linkages[-1]][method]
        against = factors[linkages[0]]["errorEKF"] / factors[linkages[0]][method]
        rows.append(f"<tr><td>{method}</td>{cells}<td>{growth:.2f}</td><td>{against:.1f}</td></tr>")
    return (
        f"<table><tr><th>filter</th>{head}<th>cost growth</th><th>cost over errorEKF's</th></tr>{''.join(rows)}</table>"
    )


def force_picture(bench: Bench, beyond: Comparison) -> bytes:
    """The force missing from the model, and the filters' estimates of it."""
    times: Array = bench.step * np.arange(1, len(beyond.true_force) + 1, dtype=np.float64)
    lines = {"missing": beyond.true_force[:, 0]}
    lines |= {name: run.forces[:, 0] for name, run in beyond.runs.items() if run.forces.any()}
    title = "Gravity of the model off by 1 m/s²: force on the crank that the forceEKF adds (encoder at 200 Hz)"
    return plots.lines_picture(title, "force on the crank [N m]", times, lines)


def _force_table(beyond: Comparison) -> str:
    rows = [
        f"<tr><td>{name}</td><td>{merit.rms:.5f}</td><td>{merit.rate_rms:.4f}</td><td>{merit.nis:.2f}</td>"
        f"<td>{merit.nees:.2f}</td><td>{beyond.force_rms[name]:.2f}</td></tr>"
        for name, merit in beyond.merits.items()
    ]
    head = "".join(f"<th>{words}</th>" for words in (
        "acceleration error modelled as", "angle RMS [rad]", "rate RMS [rad/s]", "NIS", "NEES", "force RMS error [N m]"
    ))  # fmt: skip
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _rms_table(bench: Bench, found: Mapping[Case, Merit], linkage: str, sensors: str) -> str:
    columns = [(error.name, rate) for error in bench.study.errors for rate in bench.study.rates_hz]
    head = "".join(f"<th>{error} {rate} Hz</th>" for error, rate in columns)
    rows = []
    for method in bench.study.filters:
        cells = []
        for error, rate in columns:
            merit = found[Case(linkage, sensors, error, rate, method)]
            if np.isnan(merit.rms):
                cells.append(f'<td class="bad" title="{merit.ending}">{merit.ended_at_s:.2f} s</td>')
            else:
                kind = "bad" if merit.rms > plots.MOST_RMS else "good"
                cells.append(f'<td class="{kind}">{merit.rms:.4f}</td>')
        rows.append(f"<tr><td>{method}</td>{''.join(cells)}</tr>")
    caption = f"{linkage.replace('_', '-')}, {plots.TITLES[sensors]}"
    return f"<table><caption>{caption}</caption><tr><th>filter</th>{head}</tr>{''.join(rows)}</table>\n"
