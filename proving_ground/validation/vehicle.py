"""The whole vehicle compared with an independent simulation and the papers, and the scenarios."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from proving_ground.scenarios.identify import brake_friction, rolling_resistance
from proving_ground.scenarios.judging import judge_run
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.metrics import judge, load_reference
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.validation.parts import Bound, Part, Row, Say, over_time, played
from vehicle_dynamics.motion import STANDS_MPS
from vehicle_dynamics.parameters import VehicleParameters

CHRONO = "Project Chrono 10.0.0-dev (7689fbc), HMMWV_Full with TMeasy tyres on rigid ground of friction 0.8"


def lane_change(say: Say) -> Part:
    say("open-loop lane change beside the reference")
    path = scenario_file("lane_change_reference")
    scenario = load_scenario(path)
    reference = load_reference(scenario)
    assert reference is not None
    stock = _stock(scenario)
    run, quick = (LockStep(scenario, parameters=parameters).run() for parameters in (stock, _without_lags(stock)))
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
        f"Throttle and steering as recorded in a run of {CHRONO} with steps of 0.25 ms, 20 m/s, open"
        " loop; bounds are those of the scenario file. That run changes by 0.0071 rad/s in yaw rate and 0.12 m/s² in"
        " lateral acceleration (3.7 and 4.3 % of the peaks) with steps of 1 ms. Most of what is left is a lag of some"
        " 60 ms: our steering has a servo and our tyres a carcass that gives, the reference's tyres have no relaxation"
        " above 3 m/s. The last rows are a run with both lags removed.",
        rows,
        "Project Chrono",
        {"lane_change": over_time(lines)},
    )


def straight(say: Say) -> Part:
    say("full throttle, then full brake")
    scenario, run, _ = played("acceleration")
    stiff = LockStep(replace(scenario, duration_s=1.0), parameters=_without_lags(_stock(scenario))).run()
    time_s, speed, x = run.time, run.channels["speed_mps"], run.channels["x_m"]
    at = {second: round(second / 0.01) for second in (1, 5, 10)}
    stopped = int(np.argmax((time_s > 10.0) & (speed < STANDS_MPS)))
    rows = [
        *(
            Row(f"speed after {second} s", float(speed[at[second]]), f"{theirs} m/s",
                Bound(0.95 * theirs, 1.05 * theirs), "m/s", known)
            for second, theirs, known in ((1, 3.62, "the carcass winds up, see below"), (5, 12.14, ""), (10, 18.11, ""))
        ),
        Row("speed after 1 s, carcass stiffer by 10", float(stiff.channels["speed_mps"][-1]), "3.62 m/s",
            Bound(0.95 * 3.62, 1.05 * 3.62), "m/s"),
        Row("distance after 10 s", float(x[at[10]] - x[0]), "113.1 m (114.3 with its step to zero)",
            Bound(109.0, 119.0), "m"),
        Row("braking distance from there", float(x[stopped] - x[at[10]]), "32.8 m", Bound(29.5, 36.1), "m"),
        Row("braking time", float(time_s[stopped] - 10.0), "3.57 s", Bound(3.2, 3.93), "s"),
    ]  # fmt: skip
    about = (
        "Full throttle from rest for 10 s, then full brake with locked wheels, on friction 0.8. The reference is"
        f" {CHRONO} with engine and gearbox by shafts and steps of 1 ms."
    )
    return Part(about, rows, "Project Chrono")


def _stock(scenario: Scenario) -> VehicleParameters:
    return scenario.vehicle.parameters()


def _without_lags(stock: VehicleParameters) -> VehicleParameters:
    """Tyres with a nearly rigid carcass, and a steering without lag: as in the reference."""
    along, across = stock.tyre.deflection_stiffness_npm
    tyre = replace(stock.tyre, deflection_stiffness_npm=(10.0 * along, 10.0 * across))
    return replace(stock, tyre=tyre, steering=replace(stock.steering, servo_bandwidth_radps=300.0))


def _words(statistic: str) -> str:
    return {
        "reference_rms": "RMS difference over the reference's peak", "reference_peak": "peak over the reference's",
    }[statistic]  # fmt: skip


def identification(say: Say) -> Part:
    say("coast-down and braking")
    mended, as_printed = rolling_resistance()
    brake = brake_friction()
    rows = [
        Row(f"{item.name}: found over configured", item.found / item.configured, "1" if bound.words() else "", bound)
        for item, bound in ((mended, Bound(0.98, 1.02)), (as_printed, Bound()), (brake, Bound(0.98, 1.02)))
    ]
    about = (
        "What [Sanjurjo]'s methods find in runs of our vehicle, over what its file has"
        " ([more](scenarios.md#identification))."
    )
    return Part(about, rows, "right")


def suite(names: Sequence[str]) -> Callable[[Say], Part]:
    def run_all(say: Say) -> Part:
        rows, table = [], ["| scenario | simulated | times real time | criteria |", "| --- | --- | --- | --- |"]
        for name in names:
            say(f"scenario {name}")
            begun = time.process_time()
            scenario, run, reference = played(name)
            factor = float(run.time[-1]) / (time.process_time() - begun)
            findings = judge_run(scenario, run, reference)
            met = sum(finding.passed for finding in findings) if run.diverged_at is None else 0
            rows.append(Row(name, met / len(findings), f"{len(findings)} criteria", Bound(least=1.0)))
            words = "; ".join(finding.words() for finding in findings)
            table.append(f"| {name} | {float(run.time[-1]):.0f} s | {factor:.0f} | {words} |")
        return Part(
            "In lock-step, building of worlds included in the time; share of criteria that are met.",
            rows,
            "of",
            after="\n".join(table) + "\n",
        )

    return run_all
