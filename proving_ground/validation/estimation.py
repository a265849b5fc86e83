"""Observers of linkages and of the vehicle, and the receiver model, compared with the papers."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.scenarios.channels import ESTIMATE_CHANNELS
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario, scenario_file
from proving_ground.validation.parts import Bound, Part, Row, Say, over_time, rms

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


def linkages(say: Say) -> Part:
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
        "RMS of the crank angles over 10 s with readings at 200 Hz, gravity wrong by 1 m/s² and the start by"
        " π/16, beside the authors' released code. All 420 runs of the study: `proving-ground bench observers`.",
        rows,
        "authors' code",
    )


def low_cost_gps(say: Say) -> Part:
    from sensors.gps import LocalFrame
    from sensors.samples import GpsSample

    say("town with a cheap GPS and a wrong model")
    path = scenario_file("low_cost_gps")
    scenario = load_scenario(path)
    fixes: list[GpsSample] = []

    def listen(name: str, sample: Any) -> None:
        if isinstance(sample, GpsSample):
            fixes.append(sample)

    world = scenario.world.load()
    run = LockStep(scenario, listener=listen, world=world).run()
    frame = LocalFrame(world.georeference if world is not None else None)
    seconds = np.array([(fix.time_ns - scenario.start.time_ns()) * 1e-9 for fix in fixes])
    own = frame.enu_from_geodetic([(fix.latitude_deg, fix.longitude_deg, fix.altitude_m) for fix in fixes])
    gps = next(choice.gps for choice in scenario.sensors if choice.gps is not None)
    position = run.channels["x_m"] + 1j * run.channels["y_m"]
    lever = complex(*gps.fitted("gps", scenario.vehicle.parameters().equipment).mount.position[:2])
    antenna = np.interp(seconds, run.time, position + lever * np.exp(1j * run.channels["yaw_rad"]))
    off = np.abs(own[:, 0] + 1j * own[:, 1] - antenna)
    assert run.estimates is not None
    begun = run.time >= (int(run.estimates["time_ns"][0]) - scenario.start.time_ns()) * 1e-9
    since_start, late = run.time[begun], run.time[begun] >= 10.0
    error, yaw, speed, slip = (run.channels[name][begun] for name in ESTIMATE_CHANNELS)
    degrees, slip = np.degrees(yaw), np.degrees(slip)
    rows = [
        Row("receiver: RMS in the plane", rms(off), "1.786 m", Bound(1.6, 2.0), "m"),
        Row("observer: RMS in the plane, start included", rms(error), "0.562 m", Bound(most=0.562), "m"),
        Row("observer: RMS of yaw after 10 s", rms(degrees[late]), "", Bound(most=0.5), "deg"),
        Row("observer: RMS of speed after 10 s", rms(speed[late]), "",
            Bound(most=0.05), "m/s"),
        Row("observer: RMS of sideslip after 10 s", rms(slip[late]), "", Bound(most=0.5), "deg"),
    ]  # fmt: skip
    lines = [
        ("off in the plane [m]", [("fixes", seconds, off), ("observer", since_start, error)]),
        ("yaw error [deg]", [("observer", since_start, degrees)]),
        ("sideslip error [deg]", [("observer", since_start, slip)]),
    ]
    return Part(
        f"The scenario `low_cost_gps`: {float(run.time[-1]):.0f} s through a town, fixes at 5 Hz, an observer"
        " whose model has 10 % more mass, 15 % more inertia, 20 % less tyre force and 30 % more rolling resistance"
        " than the vehicle. [Sanjurjo]'s figure is of its own prototype and of another drive, so it says what is"
        " good, not what must come out. With ten noise seeds and an INS beside it: `--full`, or `proving-ground"
        " bench vehicle_observer`.",
        rows,
        "[Sanjurjo]",
        {"low_cost_gps": over_time(lines)},
    )


def vehicle_observer(say: Say) -> Part:
    from benchmark.observer import PAPER_RMSE_M, PAPER_RTF, run, show

    figures = run(say)
    rows = [
        Row("wrong model: RMS in the plane", figures["rmse_xy_m"], f"{PAPER_RMSE_M} m", Bound(most=PAPER_RMSE_M), "m"),
        Row("10 s without GPS: drift over the INS's", figures["outage_drift_ratio"], "", Bound(most=1.0)),
        Row("right model: NEES of x, y, yaw (3 is right)", figures["nees_right"], "", Bound(2.0, 4.5)),
        Row("times real time", figures["rtf"], f"{PAPER_RTF}", Bound(least=PAPER_RTF)),
    ]
    return Part(
        "A town route of 305 m with two stops and four turns, and a lane change at 18 m/s; means over noise seeds"
        " that were not used for tuning; beside a strapdown INS with the same samples.",
        rows,
        "[Sanjurjo]",
        after=f"```\n{show(figures)}\n```\n",
    )


def gps(say: Say) -> Part:
    from proving_ground.settings.nested import load_preset
    from sensors.gps import Gps, GpsSettings, LocalFrame
    from vehicle_dynamics.base_motion import BaseMotion

    say("an hour of a standing receiver")
    settings = load_preset(GpsSettings, "low_cost")
    receiver = Gps(settings, seed=1)
    still = BaseMotion((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), *((0.0, 0.0, 0.0),) * 4)
    period_ns = round(1e9 / settings.rate_hz)
    start_ns = 1_700_000_000_000_000_000
    samples = [sample for tick in range(18_000) for sample in receiver.update(start_ns + tick * period_ns, still)]
    frame = LocalFrame(None)
    positions = frame.enu_from_geodetic([(fix.latitude_deg, fix.longitude_deg, fix.altitude_m) for fix in samples])
    away = positions - np.array(settings.mount.position)
    flat = np.hypot(away[:, 0], away[:, 1])
    rows = [  # 18,000 fixes: three deviations of an RMS are 1.6 %
        Row("RMS in the plane", rms(flat), "1.786 m", Bound(1.757, 1.815), "m"),
        Row("RMS of height", rms(away[:, 2]), "2.551 m", Bound(2.510, 2.592), "m"),
        Row("share within 3.5 m in the plane", float((flat < 3.5).mean()), "0.95", Bound(least=0.95)),
    ]
    about = (
        "18,000 fixes of the preset `low_cost`. [Sanjurjo] takes 1.786 m for the error in the plane of a receiver"
        " that is"
        " better than 3.5 m for 95 % of the time, and 2.551 m for 5 m in height; per axis the plane's is 1.263 m."
    )
    return Part(about, rows, "[Sanjurjo]")
