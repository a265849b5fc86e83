"""`proving-ground validate`: the suite beside papers and references, as a page with tables and pictures.

Nothing is copied from earlier results: every figure of ours comes from a run that is made now. What papers and
references say is here as constants, with where it stands.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenarios.channels import ESTIMATE_CHANNELS, Channels
from scenarios.identify import brake_friction, rolling_resistance
from scenarios.lock_step import LockStep, Run
from scenarios.metrics import judge, load_reference
from scenarios.plots import png
from scenarios.report.versions import versions
from scenarios.scenario import Scenario, load_scenario, scenario_file
from settings import SettingsError
from settings.fields import close_name
from settings.files import write_whole
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_files import vehicle_file

Array = NDArray[np.float64]
Say = Callable[[str], None]

FAILED = 1
PAGE, PICTURES = "validation.md", "validation"
WIDTH = 118  # of the page's lines
HEAD = """# Validation

Made by `proving-ground validate{options}`; do not edit. Every figure of ours comes from a run made for this page.
"within" says what is asked of it. A figure outside is marked **outside**, and the command then ends with status 1,
unless the difference is known, which is told beside it.
"""


class Bound(NamedTuple):
    """What a figure of ours is asked to be."""

    least: float = -np.inf
    most: float = np.inf

    def words(self) -> str:
        """For the table; empty: nothing is asked."""
        if np.isfinite(self.least) and np.isfinite(self.most):
            return f"{self.least:g} to {self.most:g}"
        if np.isfinite(self.most):
            return f"at most {self.most:g}"
        return f"at least {self.least:g}" if np.isfinite(self.least) else ""


class Row(NamedTuple):
    """A figure of ours beside one to compare with."""

    what: str
    ours: float
    theirs: str  # of the paper or the reference
    bound: Bound = Bound()
    unit: str = ""
    known: str = ""  # why it is outside, if that is known or looked into

    @property
    def is_within(self) -> bool:
        """Whether it is what is asked; NaN is not."""
        return self.bound.least <= self.ours <= self.bound.most


@dataclass(frozen=True)
class Part:
    """A chapter of the page."""

    title: str
    about: str
    rows: Sequence[Row] = ()
    theirs: str = "reference"  # heading of the column
    pictures: Mapping[str, bytes] = field(default_factory=dict)  # by name, without .png
    after: str = ""


def validate(out: Path, *, is_full: bool, only: Sequence[str] = ()) -> int:
    """Write the page and its pictures into a folder; status 1 when a figure is outside its bounds."""
    if list(only) == ["list"]:
        print("\n".join(f"{name}{' (with --full)' if name in LONG else ''}" for name in PARTS))
        return 0
    for name in only:
        if name not in PARTS:
            raise SettingsError(f"--only {name}: {close_name(name, PARTS)}")
    chosen = [name for name in PARTS if (name in only if only else is_full or name not in LONG)]
    pictures = out / PICTURES
    try:
        pictures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--out {out}: {error.strerror or error}") from None
    texts, missed = [HEAD.format(options=" --full" if is_full else "")], []
    for name in chosen:
        begun = time.monotonic()
        part = PARTS[name](lambda words, name=name: print(f"{name}: {words}", file=sys.stderr, flush=True))  # type: ignore[misc]
        for file, content in part.pictures.items():
            write_whole(pictures / f"{file}.png", content)
        texts.append(_chapter(part))
        outside = [row for row in part.rows if not row.is_within]
        missed += [row.what for row in outside if not row.known]
        words = ", ".join(f"{row.what} {'outside, known' if row.known else 'OUTSIDE'}" for row in outside)
        print(f"{name}: {words or 'ok'} ({time.monotonic() - begun:.0f} s)")
    texts.append(_made_with())
    write_whole(out / PAGE, "\n".join(texts))
    print(f"written to {out / PAGE}, pictures to {pictures}")
    return FAILED if missed else 0


def _chapter(part: Part) -> str:
    lines = [f"## {part.title}", "", textwrap.fill(part.about, WIDTH, break_on_hyphens=False), ""]
    if part.rows:
        lines += [f"| | ours | {part.theirs} | within |", "| --- | --- | --- | --- |"]
        for row in part.rows:
            mark = "" if row.is_within else f" **outside**{': ' if row.known else ''}{row.known}"
            unit = f" {row.unit}" if row.unit else ""
            lines.append(f"| {row.what} | {row.ours:.4g}{unit} | {row.theirs or '-'} | {row.bound.words()}{mark} |")
        lines.append("")
    lines += [f"![{name.replace('_', ' ')}]({PICTURES}/{name}.png)\n" for name in part.pictures]
    return "\n".join([*lines, part.after, ""] if part.after else lines)


def _made_with() -> str:
    told = {key: value for key, value in versions().items() if key != "commit"}
    return "## Made with\n\n" + ", ".join(f"{key} {value}" for key, value in told.items()) + "\n"


def _scenario(name: str) -> tuple[Scenario, Run, Channels | None]:
    path = scenario_file(name)
    scenario = load_scenario(path)
    return scenario, LockStep(scenario, path.parent).run(), load_reference(scenario, path.parent)


# The whole vehicle beside an independent simulation


def _lane_change(say: Say) -> Part:
    say("open-loop lane change beside the reference")
    path = scenario_file("lane_change_reference")
    scenario = load_scenario(path)
    reference = load_reference(scenario, path.parent)
    assert reference is not None
    stock = _stock(scenario)
    run, quick = (LockStep(scenario, path.parent, parameters).run() for parameters in (stock, _without_lags(stock)))
    rows = []
    for finding in judge(scenario.criteria, run.channels, reference):
        asked = finding.criterion
        bound = Bound(asked.at_least if asked.at_least > -1e12 else -np.inf, asked.at_most)
        rows.append(Row(f"{asked.channel}: {_words(asked.statistic)}", finding.value, "", bound))
    for finding in judge(scenario.criteria, quick.channels, reference):
        asked = finding.criterion
        if asked.statistic == "reference_rms":
            what = f"{asked.channel}: {_words(asked.statistic)}, carcass and steering without lag"
            rows.append(Row(what, finding.value, "", Bound(most=0.05)))
    shown = (("yaw_rate_radps", "yaw rate [rad/s]"), ("side_acceleration_mps2", "lateral acceleration [m/s²]"),
             ("roll_rad", "roll [rad]"), ("speed_mps", "speed [m/s]"))  # fmt: skip
    lines = [
        (label, [("ours", run.time, run.channels[channel]),
                 ("Project Chrono", reference["time_s"], reference[channel])])
        for channel, label in shown if channel in reference
    ]  # fmt: skip
    return Part(
        "Double lane change beside an independent simulation",
        "Throttle and steering as recorded in a run of Project Chrono's HMMWV (its numbers, its tyres), 20 m/s, open"
        " loop; bounds are those of the scenario file. That run changes by 0.0071 rad/s in yaw rate and 0.12 m/s² in"
        " lateral acceleration (3.7 and 4.3 % of the peaks) with its own step. Most of what is left is a lag of some"
        " 60 ms: our steering has a servo and our tyres a carcass that gives, the reference's tyres have no relaxation"
        " above 3 m/s. The last rows are a run with both made quick.",
        rows,
        "Project Chrono",
        {"lane_change": _over_time(lines)},
    )


def _straight(say: Say) -> Part:
    say("full throttle, then full brake")
    scenario, run, _ = _scenario("acceleration")
    stiff = LockStep(replace(scenario, duration_s=1.0), parameters=_without_lags(_stock(scenario))).run()
    time_s, speed, x = run.time, run.channels["speed_mps"], run.channels["x_m"]
    at = {second: round(second / 0.01) for second in (1, 5, 10)}
    stopped = int(np.argmax((time_s > 10.0) & (speed < 0.05)))
    rows = [
        *(
            Row(f"speed after {second} s", float(speed[at[second]]), f"{theirs} m/s",
                Bound(0.95 * theirs, 1.05 * theirs), "m/s", known)
            for second, theirs, known in ((1, 3.62, "the carcass winds up, see below"), (5, 12.14, ""), (10, 18.11, ""))
        ),
        Row("speed after 1 s, carcass stiffer by 10", float(stiff.channels["speed_mps"][-1]), "3.62 m/s",
            Bound(0.95 * 3.62, 1.05 * 3.62), "m/s"),
        Row("way after 10 s", float(x[at[10]] - x[0]), "113.1 m (114.3 with its step to zero)",
            Bound(109.0, 119.0), "m"),
        Row("braking way from there", float(x[stopped] - x[at[10]]), "32.8 m", Bound(29.5, 36.1), "m"),
        Row("braking time", float(time_s[stopped] - 10.0), "3.57 s", Bound(3.2, 3.93), "s"),
    ]  # fmt: skip
    about = "Full throttle from rest for 10 s, then full brake with locked wheels, on friction 0.8."
    return Part("Straight ahead", about, rows, "Project Chrono")


def _stock(scenario: Scenario) -> VehicleParameters:
    return VehicleParameters.from_yaml(vehicle_file(scenario.vehicle.model))


def _without_lags(stock: VehicleParameters) -> VehicleParameters:
    """Tyres whose carcass hardly gives, and a steering that follows at once: as in the reference."""
    along, across = stock.tyre.deflection_stiffness_npm
    tyre = replace(stock.tyre, deflection_stiffness_npm=(10.0 * along, 10.0 * across))
    return replace(stock, tyre=tyre, steering=replace(stock.steering, servo_bandwidth_radps=300.0))


def _words(statistic: str) -> str:
    return {
        "reference_rms": "RMS difference over the reference's peak", "reference_peak": "peak over the reference's",
    }[statistic]  # fmt: skip


# Formulations and integrators


def _formulations(say: Say) -> Part:
    from benchmark.forward_dynamics import Case, embedded, fully_augmented, tree_augmented

    say("timing forward dynamics by constraint embedding, tree-augmented and fully augmented")
    case = Case(VehicleParameters.from_yaml(vehicle_file("hmmwv")))
    ce, _ = embedded(case)
    results = {"CE": ce, "TA": tree_augmented(case), "FA": fully_augmented(case)}
    seed = {"CE": (15, 0, "1"), "TA": (45, 30, "4.1"), "FA": (216, 201, "120")}
    table = [
        "| | coordinates | constraints | time [µs] | to CE | seed 002: coordinates | constraints | to CE | error |",
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
        "One vehicle, three formulations (seed 002)",
        "One evaluation of the HMMWV's forward dynamics by constraint embedding (CE), tree-augmented (TA) and"
        " fully augmented (FA). Ours has 14 degrees of freedom (the steering is prescribed), the seed's 15. Our TA"
        " and FA use the sparsity of the loops, so they lose less than the seed's; bounds are therefore ours.",
        rows,
        "seed 002",
        after="\n".join(table) + "\n",
    )


def _chord(say: Say) -> Part:
    from benchmark.newton_chord import SCENES, SECONDS, SPEED, STEP, TOLERANCE, measured_alone, rolling
    from vehicle_dynamics.chord import CHORD, CONVENTIONAL
    from vehicle_dynamics.chord_vehicle import ChordVehicle
    from vehicle_dynamics.embedded_vehicle import vehicle_bodies
    from vehicle_dynamics.suspension.steering import steering_bodies
    from vehicle_dynamics.vehicle_motion import Scene

    parameters = VehicleParameters.from_yaml(vehicle_file("hmmwv"))
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
        "Newton chord (seed 004)",
        "Bae's implicit integrator with the Jacobian evaluated once against the conventional Newton that renews"
        f" it in each iteration, at {SPEED:g} m/s with steps of 1 ms. The picture has Figs. 13 (yaw rate in the"
        " J-turn) and 14 (vertical acceleration over a bump) of the seed: both methods, one over the other. The"
        " seed's vehicle and bump are others, so curves compare by kind only.",
        rows,
        "seed 004",
        {"newton_chord": _over_time(lines)},
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


def _quarter_car(say: Say) -> Part:
    from benchmark.quarter_car import draw

    say("one suspension by four methods")
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "quarter_car.png"
        draw(path)
        picture = path.read_bytes()
    return Part(
        "One suspension, four methods",
        "Seed 002's quarter-car comparison: lower-arm angle under a known load by all four (one over the other),"
        " and how far their joints open. Constraint embedding has no constraint that could drift.",
        pictures={"quarter_car": picture},
    )


# Observers

# RMS of crank angles [rad] of the authors' released code (mbde-matlab 4e14f2a), high error, 200 Hz.
AUTHORS: dict[tuple[str, str, str], float] = {
    ("four_bar", "encoder", "errorEKF"): 0.0052,
    ("four_bar", "encoder", "UKF-TR"): 0.0052,
    ("four_bar", "encoder", "CEKF"): 0.0128,
    ("four_bar", "coupler_gyro", "errorEKF"): 0.0488,
    ("four_bar", "coupler_gyro", "UKF-TR"): 0.0317,
    ("four_bar", "crank_gyro", "UKF-TR"): 0.0301,
    ("five_bar", "encoder", "errorEKF"): 0.0067,
}


def _linkages(say: Say) -> Part:
    from state_observer.study.cases import Bench
    from state_observer.study.parameters import Case, load_study

    say("seven filters on two linkages, 200 Hz")
    bench = Bench(load_study())
    rows = []
    for (linkage, sensors, method), theirs in AUTHORS.items():
        merit = bench.run(Case(linkage, sensors, "high", 200, method))[1]
        what = f"{linkage.replace('_', '-')}, {sensors.replace('_', ' ')}: {method}"
        rows.append(Row(what, merit.rms, f"{theirs} rad", Bound(0.97 * theirs, 1.03 * theirs), "rad"))
    return Part(
        "State observers on linkages (seed 001, chapter 4)",
        "RMS of the crank angles over 10 s with readings at 200 Hz, gravity wrong by 1 m/s² and the start by"
        " π/16, beside the authors' released code. All 420 runs of the study: `proving-ground bench observers`.",
        rows,
        "authors' code",
    )


def _low_cost_gps(say: Say) -> Part:
    from sensors.gps import LocalFrame
    from sensors.samples import GpsSample

    say("town with a cheap GPS and a wrong model")
    path = scenario_file("low_cost_gps")
    scenario = load_scenario(path)
    fixes: list[GpsSample] = []

    def listen(name: str, sample: Any) -> None:
        if isinstance(sample, GpsSample):
            fixes.append(sample)

    world = scenario.world.load(path.parent)
    run = LockStep(scenario, path.parent, listener=listen, world=world).run()
    frame = LocalFrame(world.georeference if world is not None else None)
    seconds = np.array([(fix.time_ns - scenario.start.time_ns()) * 1e-9 for fix in fixes])
    own = frame.enu_from_geodetic([(fix.latitude_deg, fix.longitude_deg, fix.altitude_m) for fix in fixes])
    gps = next(choice.gps for choice in scenario.sensors if choice.gps is not None)
    place = run.channels["x_m"] + 1j * run.channels["y_m"]
    lever = complex(*gps.mount_xyz_m[:2])
    antenna = np.interp(seconds, run.time, place + lever * np.exp(1j * run.channels["yaw_rad"]))
    off = np.abs(own[:, 0] + 1j * own[:, 1] - antenna)
    assert run.estimates is not None
    begun = run.time >= (int(run.estimates["time_ns"][0]) - scenario.start.time_ns()) * 1e-9
    told, late = run.time[begun], run.time[begun] >= 10.0
    error, yaw, speed, slip = (run.channels[name][begun] for name in ESTIMATE_CHANNELS)
    degrees, slip = np.degrees(yaw), np.degrees(slip)
    rows = [
        Row("receiver: RMS in the plane", _rms(off), "1.786 m", Bound(1.6, 2.0), "m"),
        Row("observer: RMS in the plane, start included", _rms(error), "0.562 m", Bound(most=0.562), "m"),
        Row("observer: RMS of yaw after 10 s", _rms(degrees[late]), "", Bound(most=0.5), "deg"),
        Row("observer: RMS of speed after 10 s", _rms(speed[late]), "",
            Bound(most=0.05), "m/s"),
        Row("observer: RMS of sideslip after 10 s", _rms(slip[late]), "", Bound(most=0.5), "deg"),
    ]  # fmt: skip
    lines = [
        ("off in the plane [m]", [("fixes", seconds, off), ("observer", told, error)]),
        ("yaw error [deg]", [("observer", told, degrees)]),
        ("sideslip error [deg]", [("observer", told, slip)]),
    ]
    return Part(
        "Vehicle observer with a cheap GPS (seed 001, test 2)",
        f"The scenario `low_cost_gps`: {float(run.time[-1]):.0f} s through a town, fixes at 5 Hz, an observer"
        " whose model has 10 % more mass, 15 % more inertia, 20 % less tyre force and 30 % more rolling resistance"
        " than the vehicle. The seed's figure is of its own prototype and of another drive, so it says what is"
        " good, not what must come out. With ten noise seeds and an INS beside it: `--full`, or `proving-ground"
        " bench vehicle_observer`.",
        rows,
        "seed 001",
        {"low_cost_gps": _over_time(lines)},
    )


def _vehicle_observer(say: Say) -> Part:
    from benchmark.observer import SEED_RMSE_M, SEED_RTF, run, show

    figures = run(say)
    rows = [
        Row("wrong model: RMS in the plane", figures["rmse_xy_m"], f"{SEED_RMSE_M} m", Bound(most=SEED_RMSE_M), "m"),
        Row("10 s without GPS: drift over the INS's", figures["outage_drift_ratio"], "", Bound(most=1.0)),
        Row("right model: NEES of x, y, yaw (3 is right)", figures["nees_right"], "", Bound(2.0, 4.5)),
        Row("times real time", figures["rtf"], f"{SEED_RTF}", Bound(least=SEED_RTF)),
    ]
    return Part(
        "Vehicle observer over ten noise seeds",
        "A town route of 305 m with two stops and four turns, and a lane change at 18 m/s; means over noise seeds"
        " that no setting was chosen on; beside a strapdown INS that hears the same.",
        rows,
        "seed 001",
        after=f"```\n{show(figures)}\n```\n",
    )


def _gps(say: Say) -> Part:
    from sensors.gps import Gps, GpsSettings, LocalFrame
    from settings.nested import load_preset
    from vehicle_dynamics.base_motion import BaseMotion

    say("an hour of a standing receiver")
    settings = load_preset(GpsSettings, "low_cost")
    receiver = Gps(settings, seed=1)
    still = BaseMotion((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), *((0.0, 0.0, 0.0),) * 4)
    period_ns = round(1e9 / settings.rate_hz)
    start_ns = 1_700_000_000_000_000_000
    samples = [sample for tick in range(18_000) for sample in receiver.update(start_ns + tick * period_ns, still)]
    frame = LocalFrame(None)
    places = frame.enu_from_geodetic([(fix.latitude_deg, fix.longitude_deg, fix.altitude_m) for fix in samples])
    away = places - np.array(settings.mount_xyz_m)
    flat = np.hypot(away[:, 0], away[:, 1])
    rows = [  # 18,000 fixes: three deviations of an RMS are 1.6 %
        Row("RMS in the plane", _rms(flat), "1.786 m", Bound(1.757, 1.815), "m"),
        Row("RMS of height", _rms(away[:, 2]), "2.551 m", Bound(2.510, 2.592), "m"),
        Row("share within 3.5 m in the plane", float((flat < 3.5).mean()), "0.95", Bound(least=0.95)),
    ]
    about = (
        "18,000 fixes of the preset `low_cost`. The seed takes 1.786 m for the error in the plane of a receiver that is"
        " better than 3.5 m for 95 % of the time, and 2.551 m for 5 m in height; per axis the plane's is 1.263 m."
    )
    return Part("Cheap GPS receiver (seed 001, Section 5.8.2)", about, rows, "seed 001")


def _identification(say: Say) -> Part:
    say("coast-down and braking")
    mended, as_printed = rolling_resistance()
    brake = brake_friction()
    rows = [
        Row(f"{item.name}: found over configured", item.found / item.configured, "1" if bound.words() else "", bound)
        for item, bound in ((mended, Bound(0.98, 1.02)), (as_printed, Bound()), (brake, Bound(0.98, 1.02)))
    ]
    about = (
        "What the seed's methods find in runs of our vehicle, over what its file has"
        " ([more](scenarios.md#identification))."
    )
    return Part("Identification (seed 001, Eqs. 5.26 and 5.43)", about, rows, "right")


# Scenarios


def _suite(names: Sequence[str]) -> Callable[[Say], Part]:
    def run_all(say: Say) -> Part:
        rows, table = [], ["| scenario | simulated | times real time | criteria |", "| --- | --- | --- | --- |"]
        for name in names:
            say(f"scenario {name}")
            begun = time.process_time()
            scenario, run, reference = _scenario(name)
            factor = float(run.time[-1]) / (time.process_time() - begun)
            findings = judge(scenario.criteria, run.channels, reference)
            met = sum(finding.passed for finding in findings) if run.diverged_at is None else 0
            rows.append(Row(name, met / len(findings), f"{len(findings)} criteria", Bound(least=1.0)))
            words = "; ".join(finding.words() for finding in findings)
            table.append(f"| {name} | {float(run.time[-1]):.0f} s | {factor:.0f} | {words} |")
        return Part(
            "Scenarios" if len(names) > 1 else f"Scenario {names[0]}",
            "In lock-step, building of worlds included in the time; share of criteria that are met.",
            rows,
            "of",
            after="\n".join(table) + "\n",
        )

    return run_all


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _over_time(panels: Sequence[tuple[str, Sequence[tuple[str, Array, Array]]]]) -> bytes:
    """Diagrams over time, one below the other: label of the axis, and lines by name; the last line is on top, thin."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    picture = Figure(figsize=(9.0, 2.2 * len(panels) + 0.5), layout="constrained")
    axes = np.atleast_1d(picture.subplots(len(panels), 1, sharex=True))
    looks = ({"color": "tab:orange", "linewidth": 2.6}, {"color": "black", "linewidth": 1.0})
    for axis, (label, lines) in zip(axes, panels, strict=True):
        for (name, across, values), look in zip(lines, looks[-len(lines) :], strict=True):
            axis.plot(across, values, label=name, **look)
        axis.set_ylabel(label)
        axis.grid(True, alpha=0.3)
        axis.legend(loc="upper right", fontsize=8, ncols=2)
    axes[-1].set_xlabel("time [s]")
    return png(picture)


PARTS: dict[str, Callable[[Say], Part]] = {
    "lane_change": _lane_change,
    "straight": _straight,
    "identification": _identification,
    "formulations": _formulations,
    "newton_chord": _chord,
    "quarter_car": _quarter_car,
    "linkages": _linkages,
    "gps": _gps,
    "low_cost_gps": _low_cost_gps,
    "vehicle_observer": _vehicle_observer,
    "scenarios": _suite(("lane_change", "j_turn", "bump", "off_road", "low_cost_gps")),
    "urban": _suite(("urban",)),
}
LONG = ("vehicle_observer", "urban")
