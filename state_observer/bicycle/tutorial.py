"""The roll angle example: `python -m state_observer.bicycle.tutorial [PICTURE.png]`."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings.files import write_whole
from proving_ground.settings.text_table import text_table
from state_observer.bicycle.parameters import load_bicycle
from state_observer.bicycle.ride import RIDES, Ride, ride
from state_observer.bicycle.roll_filter import estimate, roll_from_balance, roll_from_rates

Array = NDArray[np.float64]

SEED = 1


def main(arguments: Sequence[str]) -> None:
    """Print the errors of the filter and of its inputs on each ride; plot them if a file is given."""
    parameters = load_bicycle()
    rows, drawn = [], {}
    for name in RIDES:
        ridden = ride(name, parameters, np.random.default_rng(SEED))
        pairs = list(zip(ridden.gyro, ridden.wheel_speed, strict=True))
        lines = {
            "filter": estimate(ridden, parameters)[0],
            "balance (Eq. 3.29)": np.array([roll_from_balance(*pair, parameters.gravity_mps2) for pair in pairs]),
            "rates (Eq. 3.31)": np.array([roll_from_rates(gyro) for gyro, _ in pairs]),
            "gyroscope alone": np.cumsum(ridden.gyro[:, 0]) * parameters.step_s,
        }
        errors = [float(np.degrees(np.sqrt(np.mean((line - ridden.roll) ** 2)))) for line in lines.values()]
        rows.append([name.replace("_", " "), *(f"{error:.2f}" for error in errors)])
        drawn[name] = (ridden, lines)
    print("RMS error of the roll angle [deg]")
    print(text_table(["ride", *lines], rows))
    if arguments:
        write_whole(Path(arguments[0]), _picture(drawn))


def _picture(drawn: Mapping[str, tuple[Ride, Mapping[str, Array]]]) -> bytes:
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    picture = Figure(figsize=(9.0, 7.0), layout="constrained")
    for axis, (name, (ridden, lines)) in zip(picture.subplots(len(drawn), 1, sharex=True), drawn.items(), strict=True):
        axis.plot(ridden.time, np.degrees(lines["rates (Eq. 3.31)"]), color="tab:green", linewidth=0.4, alpha=0.5)
        axis.plot(ridden.time, np.degrees(lines["balance (Eq. 3.29)"]), color="tab:blue", linewidth=0.8)
        axis.plot(ridden.time, np.degrees(lines["filter"]), color="tab:red", linewidth=1.6)
        axis.plot(ridden.time, np.degrees(ridden.roll), color="black", linewidth=1.0, linestyle="--")
        axis.set_ylim(-32.0, 32.0)
        axis.set_ylabel(f"{name.replace('_', ' ')}\nroll [deg]")
        axis.margins(x=0.0)
        axis.grid(True, alpha=0.25)
    picture.axes[0].legend(["from rates", "from balance", "filter", "true"], ncols=4, fontsize=8, loc="upper right")
    picture.axes[-1].set_xlabel("time [s]")
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=80)
    return buffer.getvalue()


if __name__ == "__main__":
    main(sys.argv[1:])
