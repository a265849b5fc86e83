"""Beyond [Sanjurjo] (Section 6.2): does estimating the missing force, or colouring the plant noise, pay?

The filter's model has a wrong gravity. Plain errorEKF treats that as white noise on the accelerations; forceEKF
estimates it as a force on the crank that persists (a random walk) or fades (a first-order shaping filter).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from state_observer.filters.observer import Run
from state_observer.multibody.kinematics import projection
from state_observer.study.cases import Bench
from state_observer.study.merit import Merit, merit
from state_observer.study.parameters import Case

Array = NDArray[np.float64]

COLOURED_S = 0.5  # correlation time of the fading force


class Variant(NamedTuple):
    """A way to treat the acceleration error."""

    method: str
    correlation_time_s: float


VARIANTS = {
    "white (errorEKF)": Variant("errorEKF", 1.0),
    "lasting force": Variant("forceEKF", 1e6),
    "fading force": Variant("forceEKF", COLOURED_S),
}


class Comparison(NamedTuple):
    """Run and figures of each variant, and the force that is truly missing from the model [N m]."""

    runs: Mapping[str, Run]
    merits: Mapping[str, Merit]
    force_rms: Mapping[str, float]
    true_force: Array


def gravity_only(bench: Bench) -> Comparison:
    """All variants on the first linkage with encoders at 200 Hz; the filters know the start but not the gravity."""
    errors = tuple(replace(error, start_angle_rad=0.0) for error in bench.study.errors)
    fair = Bench(replace(bench.study, errors=errors), bench.tuning)
    return compare(fair, Case(bench.study.linkages[0], "encoder", "high", 200, "any"))


def compare(bench: Bench, case: Case) -> Comparison:
    """All variants on one case (its method is not used)."""
    runs, merits, force_rms = {}, {}, {}
    truth, readings = bench.truth(case.linkage), bench.readings(case)
    missing = missing_force(bench, case)
    for name, variant in VARIANTS.items():
        force = replace(bench.tuning.force, correlation_time_s=variant.correlation_time_s)
        tuning = replace(bench.tuning, force=force)
        observer = Bench(bench.study, tuning).observer(case._replace(method=variant.method))
        runs[name] = observer.run(readings)
        merits[name] = merit(runs[name], truth, bench.step)
        done = len(runs[name].forces)
        force_rms[name] = float(np.sqrt(np.mean((runs[name].forces - missing[:done]) ** 2)))
    return Comparison(runs, merits, force_rms, missing)


def missing_force(bench: Bench, case: Case) -> Array:
    """R' (Q_true - Q_model) along the true motion: the perfect estimate [N m]."""
    gravity = bench.study.true_gravity_mps2
    true = bench.mechanism(case.linkage, gravity)
    model = bench.mechanism(case.linkage, gravity + bench.study.error(case.error).gravity_mps2)
    missing = true.kernel.force - model.kernel.force
    positions = bench.truth(case.linkage).q
    return np.array([projection(true.kernel, q).matrix_r.T @ missing for q in positions])
