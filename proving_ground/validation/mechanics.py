"""Formulations, integrators and the suspension, compared with each other and with the papers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from proving_ground.validation.parts import Array, Bound, Part, Row, Say, over_time
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_files import vehicle_file


def formulations(say: Say) -> Part:
    from benchmark.forward_dynamics import Case, embedded, fully_augmented, tree_augmented

    say("timing forward dynamics by constraint embedding, tree-augmented and fully augmented")
    case = Case(VehicleParameters.from_yaml(vehicle_file("hmmwv_chrono")))
    ce, _ = embedded(case)
    results = {"CE": ce, "TA": tree_augmented(case), "FA": fully_augmented(case)}
    seed = {"CE": (15, 0, "1"), "TA": (45, 30, "4.1"), "FA": (216, 201, "120")}
    table = [
        "| | coordinates | constraints | time [µs] | to CE | [Cameron]: coordinates | constraints | to CE | error |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, result in results.items():
        coordinates, constraints, ratio = seed[name]
        table.append(
            f"| {name} | {result.coordinates} | {result.constraints} | {result.time_us:.1f} |"
            f" {result.time_us / ce.time_us:.1f} | {coordinates} | {constraints} | {ratio} |"
            f" {result.error or 0.0:.0e} |"
        )
    worst = max(result.error or 0.0 for result in results.values())
    rows = [
        Row("TA over CE, time", results["TA"].time_us / ce.time_us, "4.1", Bound(least=1.5)),
        Row("FA over CE, time", results["FA"].time_us / ce.time_us, "120", Bound(least=4.0)),
        Row("largest relative difference to a dense solution", worst, "", Bound(most=1e-8)),
    ]
    return Part(
        "One evaluation of the HMMWV's forward dynamics by constraint embedding (CE), tree-augmented (TA) and"
        " fully augmented (FA). Ours has 14 degrees of freedom (the steering is prescribed), [Cameron]'s 15. Our TA"
        " and FA use the sparsity of the loops, so they lose less than [Cameron]'s; bounds are therefore ours.",
        rows,
        "[Cameron]",
        after="\n".join(table) + "\n",
    )


def newton_chord(say: Say) -> Part:
    from benchmark.newton_chord import SCENES, SECONDS, SPEED, STEP, TOLERANCE, measured_alone, rolling
    from vehicle_dynamics.chord import CHORD, CONVENTIONAL
    from vehicle_dynamics.chord_vehicle import ChordVehicle
    from vehicle_dynamics.embedded_vehicle import vehicle_bodies
    from vehicle_dynamics.suspension.steering import steering_bodies
    from vehicle_dynamics.vehicle_motion import Scene

    parameters = VehicleParameters.from_yaml(vehicle_file("hmmwv_chrono"))
    flat = Scene(vehicle_bodies(parameters), steering_bodies(parameters))
    start = rolling(flat)
    rows, lines = [], []
    for name in ("J-turn", "bump"):
        say(f"Newton chord: {name}")
        measured = measured_alone(name)
        rows += [
            Row(f"{name}: time of a step, conventional over chord", measured.conventional_us / measured.chord_us,
                "15 (12 ms over 0.8 ms)", Bound(least=3.0)),
            Row(f"{name}: most chord iterations", float(measured.most_iterations), "4", Bound(most=4.0)),
            Row(f"{name}: paths of both apart", measured.difference, "closely match", Bound(most=1e-4), "m"),
            Row(f"{name}: path from the embedded model's", measured.to_embedded, "", Bound(most=0.05), "m"),
        ]  # fmt: skip
        vehicle = ChordVehicle(parameters, flat._replace(**SCENES[name]))
        drawn = []
        for words, method in (("conventional Newton", CONVENTIONAL), ("chord", CHORD)):
            pose = vehicle.drive(start, method, round(SECONDS / STEP), STEP, TOLERANCE).pose
            drawn.append((words, STEP * np.arange(len(pose), dtype=np.float64), _seen_by_bae(name, pose, STEP)))
        lines.append(("J-turn: yaw rate [rad/s]" if name == "J-turn" else "bump: up [m/s²]", drawn))
    return Part(
        "Bae's implicit integrator with the Jacobian evaluated once against the conventional Newton that renews"
        f" it in each iteration, at {SPEED:g} m/s with steps of 1 ms. The picture has Figs. 13 (yaw rate in the"
        " J-turn) and 14 (vertical acceleration over a bump) of [Bae]: both methods, one over the other."
        " [Bae]'s vehicle and bump differ, so only the shape of the curves compares.",
        rows,
        "[Bae]",
        {"newton_chord": over_time(lines)},
    )


def _seen_by_bae(name: str, pose: Array, step: float) -> Array:
    """Yaw rate [rad/s] or vertical acceleration [m/s^2] by differences over 20 ms. pose: x y z, then x y z w."""
    span = 10
    if name == "J-turn":
        x, y, z, w = pose[:, 3:7].T
        yaw = np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
        return _central(yaw, span, step)
    return _central(_central(pose[:, 2], span, step), span, step)


def _central(values: Array, span: int, step: float) -> Array:
    rate: Array = np.zeros_like(values)
    rate[span:-span] = (values[2 * span :] - values[: -2 * span]) / (2 * span * step)
    rate[:span], rate[-span:] = rate[span], rate[-span - 1]
    return rate


def quarter_car(say: Say) -> Part:
    from benchmark.quarter_car import draw

    say("one suspension by four methods")
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "quarter_car.png"
        draw(path)
        picture = path.read_bytes()
    return Part(
        "[Cameron]'s quarter-car comparison: lower-arm angle under a known load by all four (one over the other),"
        " and how far their joints open. Constraint embedding has no constraint that could drift.",
        pictures={"quarter_car": picture},
    )
