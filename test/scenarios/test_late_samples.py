"""An observer on soft soil: its estimate depends on the samples, not on when they arrive; ruts go back in time too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Scenario, load_scenario
from sensors.samples import GpsSample
from state_observer.in_run import begin_at
from state_observer.node_settings import ObserverNodeSettings, make_observer
from state_observer.vehicle.observer import VehicleObserver
from terrain.surroundings import Surroundings

SAND = """version: 1
description: a drive on sand
world: {field: {soil: dry_sand}}
driver: {lane_change: {speed_mps: 5.0, change_at_s: 1.0, back_at_s: 5.0}}
duration_s: 6.0
seed: 3
start: {speed_mps: 5.0}
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost, latency_s: LATE}
  - encoders: {preset: quadrature}
observer: {kind: vehicle, knows_start: true}
"""
LATE_NS = 300_000_000


def sand(folder: Path, late_s: float) -> Scenario:
    path = folder / "sand.yaml"
    path.write_text(SAND.replace("LATE", str(late_s)))
    return load_scenario(path)


def observed(settings: ObserverNodeSettings, samples: list[Any]) -> VehicleObserver:
    there = Surroundings(settings)
    observer = make_observer(settings, there)
    assert isinstance(observer, VehicleObserver)
    for sample in samples:
        observer.process(sample)
        if not observer.is_running:
            begin_at(observer, settings.start.origin(None), settings.start.time_ns())
    return observer


def test_late_fixes_on_sand_give_the_same_estimate_to_the_bit(tmp_path: Path) -> None:
    samples: list[Any] = []
    runner = LockStep(sand(tmp_path, 0.0), listener=lambda name, sample: samples.append(sample))
    runner.run()
    late = sorted(samples, key=lambda item: item.time_ns + LATE_NS * isinstance(item, GpsSample))
    start = [item for item in samples if item.time_ns == samples[0].time_ns]  # by these it starts, in the same order
    orders = ([*start, *(item for item in order if item.time_ns > samples[0].time_ns)] for order in (samples, late))

    in_time, replayed = (observed(runner.parts["observer"].settings, order) for order in orders)

    assert replayed.health().replays > 20
    assert in_time.filter.filter_state.tobytes() == replayed.filter.filter_state.tobytes()
    ruts, again = (observer.ekf.ground.kernel().ruts for observer in (in_time, replayed))
    assert (ruts.depth > 0.015).sum() > 100
    assert ruts.keys.tobytes() == again.keys.tobytes()
    assert ruts.depth.tobytes() == again.depth.tobytes()


@pytest.mark.parametrize("late_s", [0.0, 0.3])
def test_an_observer_on_sand_is_as_good_with_late_fixes(tmp_path: Path, late_s: float) -> None:
    run = LockStep(sand(tmp_path, late_s)).run()

    error = run.channels["estimate_error_m"]
    assert float(np.sqrt(np.nanmean(error**2))) < 0.15  # 1.3 m when ruts did not go back


def test_a_prediction_leaves_no_ruts(tmp_path: Path) -> None:
    samples: list[Any] = []
    runner = LockStep(sand(tmp_path, 0.0), listener=lambda name, sample: samples.append(sample))
    runner.advance_to(100)
    observer = observed(runner.parts["observer"].settings, samples)
    ruts = observer.ekf.ground.kernel().ruts
    before = ruts.depth.copy()

    ahead = observer.estimate(observer.filter.time_ns + 200_000_000)

    assert ahead["position"][0] > observer.estimate()["position"][0] + 0.5
    assert ruts.depth.tobytes() == before.tobytes()
