"""Forward dynamics of the HMMWV: embedded, augmented and other engines; Newton chord; drift of loop closure.

All from one run on one core, kernels timed in a compiled loop, other engines net of the cost of a call from Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from benchmark import drift, newton_chord
from benchmark.flops import counted_flops
from benchmark.forward_dynamics import (
    Case,
    Result,
    embedded,
    fully_augmented,
    mujoco,
    numerically_embedded,
    pinocchio,
    tree_augmented,
)
from benchmark.measure import clock_ghz
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table
from vehicle_dynamics.parameters import VehicleParameters

Figures = Mapping[str, float]

FORMULATIONS = {
    "ce": "constraint embedding, closed form (ours)",
    "ce_numeric": "constraint embedding, numerical",
    "ta": "tree-augmented",
    "fa": "fully augmented, sparse",
    "lcaba": "Pinocchio lcaba, 2 iterations",
    "constraint_dynamics": "Pinocchio constraintDynamics",
    "mujoco": "MuJoCo mj_step",
}
PAPER_RATIOS = {"ce": "1", "ta": "4.1", "fa": "120"}  # [Cameron], simulation time
PARTS = {"kinematics": "kinematics", "sums": "sums over bodies", "recursion": "recursion and solution"}
FORWARD_HEADINGS = (
    "forward dynamics", "us", "to CE", "[Cameron]", "coordinates", "constraints", "size", "error", "drift [m]",
)  # fmt: skip
CHORD_HEADINGS = (
    "Newton, 1 ms step", "chord us", "conventional us", "speed-up", "iterations", "most", "apart [m]", "from CE [m]",
)  # fmt: skip
SCALAR_FLOPS_PER_CYCLE = 4.0  # two multiplications and two additions, as on current x86 cores


def run(say: Callable[[str], None]) -> dict[str, float]:
    """All figures; times in microseconds of CPU time."""
    parameters = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
    say("compiling and timing our formulations")
    case = Case(parameters)
    closed_form, parts = embedded(case)
    numeric, newton_us = numerically_embedded(case)
    results = {"ce": closed_form, "ce_numeric": numeric, "ta": tree_augmented(case), "fa": fully_augmented(case)}
    say("timing other engines")
    results |= pinocchio(case)
    results["mujoco"] = mujoco(case)
    figures: dict[str, float] = {}
    for name, result in results.items():
        figures |= _flat(name, result)
    ce = closed_form.time_us
    figures |= {f"{name}_ratio": results[name].time_us / ce for name in results if name != "ce"}
    flops = counted_flops()
    figures |= {
        "ce_kinematics_us": parts.kinematics,
        "ce_recursion_us": parts.recursion,
        "ce_sums_us": ce - parts.kinematics - parts.recursion,
        "ce_from_python_us": parts.from_python,
        "ce_numeric_newton_us": newton_us,
        "ce_flops": flops,
        "ce_flops_per_cycle": flops / (1e3 * ce * clock_ghz()),
        "ce_scalar_floor_us": flops / (1e3 * SCALAR_FLOPS_PER_CYCLE * clock_ghz()),
    }
    return figures | _chord_figures(say) | _drift_figures(parameters, say)


def show(figures: Figures) -> str:
    """Print the figures of this benchmark as tables."""
    f = figures
    shares = [f"{f[f'ce_{key}_us'] / f['ce_us']:.0%} {words}" for key, words in PARTS.items()]
    to_pinocchio = f["ta_us"] / f["constraint_dynamics_us"]
    notes = [
        f"CE: {', '.join(shares)}; {f['ce_flops']:.0f} flops, {f['ce_flops_per_cycle']:.2f} per cycle:",
        f"at {SCALAR_FLOPS_PER_CYCLE:.0f} per cycle it would take {f['ce_scalar_floor_us']:.2f} us."
        f" One call from Python takes {f['ce_from_python_us']:.1f} us.",
        f"CE is {f['lcaba_ratio']:.1f} times as fast as Pinocchio's lcaba; TA takes {to_pinocchio:.2f} times as long as"
        " its constraintDynamics.",
        "Why not [Cameron]'s ratios: here TA and FA use the sparsity of the loops too, and lose far less than with",
        f"dense solutions. Of the numerical CE {f['ce_numeric_newton_us']:.1f} us close loops by Newton's method.",
        "Error: to a dense solution. Drift without stabilisation: largest gap of a loop in 100 s of free flight,",
        "semi-implicit Euler, 1 ms (of CE: rounding of its closed forms);",
        f"with Baumgarte's stabilisation TA {_gap(f['drift_ta_stabilised_m'])}, FA"
        f" {_gap(f['drift_fa_stabilised_m'])} m.",
    ]
    verdict = (
        f"Chord: {f['chord_speedup']:.1f} times as fast over all three ([Bae]: 15), at most"
        f" {f['chord_max_iterations']:.0f} iterations per step ([Bae]: 4)."
    )
    forward = text_table(FORWARD_HEADINGS, [_forward_row(f, name, words) for name, words in FORMULATIONS.items()])
    chord = text_table(CHORD_HEADINGS, [[name, *_chord_row(f, _key(name))] for name in newton_chord.SCENES])
    return "\n\n".join([forward, "\n".join(notes), chord, verdict])


def _flat(name: str, result: Result) -> dict[str, float]:
    figures = {
        f"{name}_us": result.time_us,
        f"{name}_coordinates": result.coordinates,
        f"{name}_constraints": result.constraints,
    }
    return figures if result.error is None else figures | {f"{name}_error": result.error}


def _chord_figures(say: Callable[[str], None]) -> dict[str, float]:
    figures: dict[str, float] = {}
    results = []
    for name in newton_chord.SCENES:
        say(f"Newton chord: {name}")
        result = newton_chord.measured_alone(name)
        results.append(result)
        figures |= {f"{_key(name)}_{field}": value for field, value in result._asdict().items()}
    chord, conventional = sum(item.chord_us for item in results), sum(item.conventional_us for item in results)
    return figures | {
        "chord_us": chord / len(results),
        "conventional_us": conventional / len(results),
        "chord_speedup": conventional / chord,
        "chord_max_iterations": max(item.most_iterations for item in results),
    }


def _drift_figures(parameters: VehicleParameters, say: Callable[[str], None]) -> dict[str, float]:
    return {f"drift_{name}_m": value for name, value in drift.drifts_m(parameters, say).items()}


def _forward_row(figures: Figures, name: str, words: str) -> list[str]:
    coordinates, constraints = figures[f"{name}_coordinates"], figures[f"{name}_constraints"]
    error = figures.get(f"{name}_error")
    drifts = {"ce_numeric": "", "lcaba": "", "constraint_dynamics": "pinocchio"}
    gap = figures.get(f"drift_{drifts.get(name, name)}_m")
    return [
        words,
        f"{figures[f'{name}_us']:.2f}",
        f"{figures.get(f'{name}_ratio', 1.0):.1f}",
        PAPER_RATIOS.get(name, "-"),
        f"{coordinates:.0f}",
        f"{constraints:.0f}",
        f"{coordinates + constraints:.0f}",
        "soft" if error is None else f"{error:.1e}",
        "-" if gap is None else _gap(gap),
    ]


def _gap(value: float) -> str:
    return f"{value:.1e}" if math.isfinite(value) else "diverges"


def _chord_row(figures: Figures, key: str) -> list[str]:
    chord, conventional = figures[f"{key}_chord_us"], figures[f"{key}_conventional_us"]
    return [
        f"{chord:.1f}",
        f"{conventional:.0f}",
        f"{conventional / chord:.1f}",
        f"{figures[f'{key}_chord_iterations']:.2f} / {figures[f'{key}_conventional_iterations']:.2f}",
        f"{figures[f'{key}_most_iterations']:.0f}",
        f"{figures[f'{key}_difference']:.1e}",
        f"{figures[f'{key}_to_embedded']:.1e}",
    ]


def _key(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")
