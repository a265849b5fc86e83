"""One suspension under a known load by constraint embedding (analytic and numerical), TA and FA: time, error, drift.

The comparison of [Cameron] on its "quarter-car" model. `draw` makes its picture.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.quarter_car import Method, QuarterCar, QuarterCarRun, StepSettings, rough_road
from vehicle_dynamics.quarter_car_steps import RECORD_SIZE

STEP_S = 1e-3
REFERENCE_STEP_S = 1e-5
REPEATS = 10
BAUMGARTE_PER_S = 100.0

PARTS = ("step_us", "theta_error_rad", "gap_m")
# Names of figures -> what is run.
VARIANTS = {
    "ce_analytic": (Method.ANALYTIC_CE, 0.0),
    "ce_numerical": (Method.NUMERIC_CE, 0.0),
    "ta": (Method.TA, 0.0),
    "ta_baumgarte": (Method.TA, BAUMGARTE_PER_S),
    "fa": (Method.FA, 0.0),
    "fa_baumgarte": (Method.FA, BAUMGARTE_PER_S),
}
# Shades and dashes of the picture, distinguishable without colours.
_LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "fa": ("FA", {"color": "0.85", "linewidth": 6.0}),
    "ta": ("TA", {"color": "#ef8a3c", "linewidth": 3.0}),
    "ce_numerical": ("CE, numerical", {"color": "#1f4e9c", "linewidth": 1.8, "linestyle": (0, (6, 4))}),
    "ce_analytic": ("CE, analytic", {"color": "black", "linewidth": 1.2, "linestyle": (0, (1.5, 3))}),
    "fa_baumgarte": ("FA, Baumgarte", {"color": "0.55", "linewidth": 3.0, "linestyle": (0, (4, 1.5))}),
    "ta_baumgarte": ("TA, Baumgarte", {"color": "tab:red", "linewidth": 1.2, "linestyle": (0, (4, 1.5))}),
}
_MOTIONS = ("fa", "ta", "ce_numerical", "ce_analytic")
_ERRORS = ("fa", "ta", "fa_baumgarte", "ta_baumgarte", "ce_numerical", "ce_analytic")


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Time [us], largest theta error [rad] and gap [m] of each variant, by RK4 and semi-implicit Euler at 1 ms."""
    car, table = _car(), rough_road()
    say("reference: analytic, RK4 at 0.01 ms")
    fine = StepSettings(step=REFERENCE_STEP_S, every=round(STEP_S / REFERENCE_STEP_S))
    reference = car.run(Method.ANALYTIC_CE, table, fine)
    figures: dict[str, float] = {}
    for is_rk4, scheme in ((True, "rk4"), (False, "euler")):
        for name, settings in _settings(is_rk4).items():
            say(f"{name}, {scheme}")
            method = VARIANTS[name][0]
            result = car.run(method, table, settings)
            figures[f"{name}_{scheme}_step_us"] = _step_time_us(car, method, settings)
            figures[f"{name}_{scheme}_theta_error_rad"] = float(np.abs(result.theta - reference.theta).max())
            figures[f"{name}_{scheme}_gap_m"] = float(result.constraint_error.max())
    return figures


def show(figures: Mapping[str, float]) -> str:
    """The figures as a table."""
    rows = [
        [name.replace("_", " "), scheme, *(_cell(figures[f"{name}_{scheme}_{part}"]) for part in PARTS)]
        for scheme in ("rk4", "euler")
        for name in VARIANTS
    ]
    return text_table(["variant", "scheme", "us per step", "theta error [rad]", "largest gap [m]"], rows)


def _cell(value: float) -> str:
    return f"{value:.2f}" if value > 0.1 else f"{value:.1e}"


def draw(path: Path) -> None:
    """Write a picture (format by the suffix): theta of all four on top of each other, and their gaps over time.

    Semi-implicit Euler at 1 ms, where the drift of the augmented models can be seen.
    """
    car, table = _car(), rough_road()
    runs = {name: car.run(VARIANTS[name][0], table, settings) for name, settings in _settings(is_rk4=False).items()}
    figure = _figure(runs)
    whole = path.with_name(f".{path.name}.part{path.suffix}")
    try:
        figure.savefig(whole, dpi=150)
        whole.replace(path)
    finally:
        whole.unlink(missing_ok=True)


def _figure(runs: dict[str, QuarterCarRun]) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingsError(f"matplotlib cannot be imported ({error}); pip install matplotlib brings it") from error
    figure = Figure(figsize=(9.0, 7.5), layout="constrained")
    FigureCanvasAgg(figure)
    motion, gaps = figure.subplots(2, 1, sharex=True)
    for name in _MOTIONS:
        label, line = _LINES[name]
        motion.plot(runs[name].time, np.degrees(runs[name].theta), label=label, **line)
    for name in _ERRORS:
        label, line = _LINES[name]
        # A logarithmic axis has no zero: clip at the rounding error of a metre.
        gaps.semilogy(runs[name].time, np.maximum(runs[name].constraint_error, 1e-16), label=label, **line)
    motion.set_title("HMMWV suspension on a held chassis, known load on the wheel (semi-implicit Euler, 1 ms)")
    motion.set_ylabel("lower-arm angle θ [deg]")
    gaps.set_ylabel("largest gap of a joint [m]")
    gaps.set_xlabel("time [s]")
    gaps.set_ylim(5e-17, 0.1)
    motion.legend(ncols=4, loc="upper center")
    gaps.legend(ncols=3, loc="center", bbox_to_anchor=(0.5, 0.4))  # between the curves
    for axes in (motion, gaps):
        axes.grid(color="0.9")
        axes.margins(x=0.0)
    low, high = motion.get_ylim()
    motion.set_ylim(low, high + 0.15 * (high - low))
    return figure


def _settings(is_rk4: bool) -> dict[str, StepSettings]:
    plain = StepSettings(step=STEP_S, is_rk4=is_rk4)
    return {name: replace(plain, alpha=pull, beta=pull) for name, (_, pull) in VARIANTS.items()}


def _step_time_us(car: QuarterCar, method: Method, settings: StepSettings) -> float:
    """CPU time of one step, without records: the least of some runs, because other load can only add."""
    steps = round(settings.seconds / settings.step)
    best = float("inf")
    for _ in range(REPEATS):
        go = car.prepared(method, rough_road(), replace(settings, every=steps), np.zeros((2, RECORD_SIZE)))
        start = time.process_time()
        go()
        best = min(best, time.process_time() - start)
    return 1e6 * best / steps


def _car() -> QuarterCar:
    return QuarterCar(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml")))
