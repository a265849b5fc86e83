"""Bae's integrator on our vehicle: chord against conventional Newton ([Bae], Table 2)."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from proving_ground.settings.share import share_file
from vehicle_dynamics.chord import CHORD, CONVENTIONAL, ChordState, ChordWorkspace, chord_drive
from vehicle_dynamics.chord_vehicle import ChordVehicle
from vehicle_dynamics.embedded_vehicle import vehicle_bodies
from vehicle_dynamics.linear_tyre import Bump
from vehicle_dynamics.manoeuvre import J_TURN, LANE_CHANGE, Manoeuvre
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.steering import steering_bodies
from vehicle_dynamics.vehicle_motion import Scene, drive
from vehicle_dynamics.vehicle_state import VehicleState

STEP = 1e-3  # [s], [Bae]'s
SECONDS = 4.0
TOLERANCE = 1e-7  # [m, rad] per step; the path ends 1e-6 (J-turn) to 1e-4 m (bump) off at 1 ms anyway. At 1e-8 it is 5
SPEED = 15.0  # [m/s]
SCENES: dict[str, dict[str, Any]] = {
    "J-turn": {"manoeuvre": Manoeuvre(J_TURN, 0.06, 0.5, 1.0, 60.0)},
    "lane change": {"manoeuvre": Manoeuvre(LANE_CHANGE, 0.06, 0.5, 2.5, 60.0)},
    "bump": {"manoeuvre": Manoeuvre(drive_torque=60.0), "bump": Bump(8.0, 2.0, 0.05)},
}


class ChordResult(NamedTuple):
    """Step times and differences of both integrators in one manoeuvre."""

    chord_us: float  # per step
    conventional_us: float
    chord_iterations: float  # mean per step
    conventional_iterations: float
    most_iterations: int  # of the chord
    difference: float  # of the chassis' path between both [m]
    to_embedded: float  # of the chassis' path to the embedded model's [m]


def measured_alone(name: str) -> ChordResult:
    """Measure in a separate process, where LAPACK is limited to one core."""
    result = subprocess.run(
        [sys.executable, "-m", "benchmark.newton_chord", name],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return ChordResult(**json.loads(result.stdout))


def rolling(scene: Scene) -> VehicleState:
    """State of a vehicle that rolls steadily straight ahead, at the benchmark's speed."""
    start = VehicleState(
        position=np.array([0.0, 0.0, 0.585]),
        velocity=np.array([SPEED, 0.0, 0.0]),
        theta=np.full(4, -0.226),
        spin_rate=np.full(4, SPEED / 0.455),
    )
    settled = drive(scene, start, seconds=3.0)[-1]
    return VehicleState.from_array(np.concatenate([[0.0, 0.0], settled[2:]]))


def measure(parameters: VehicleParameters, name: str) -> ChordResult:
    """Drive one manoeuvre with both methods."""
    flat = Scene(vehicle_bodies(parameters), steering_bodies(parameters))
    start = rolling(flat)
    scene = flat._replace(**SCENES[name])
    vehicle = ChordVehicle(parameters, scene)
    work = vehicle.workspace()
    begun = vehicle.start(start, STEP, work), work  # once, because closing the loops takes longer than the drives
    times, runs = {}, {}
    for method in (CHORD, CONVENTIONAL):
        runs[method] = vehicle.drive(start, method, round(SECONDS / STEP), STEP, TOLERANCE)
        times[method] = min(_time_us(vehicle, method, *copy.deepcopy(begun)) for _ in range(3))
    embedded = drive(scene, start, seconds=SECONDS, step=STEP)
    chord, newton = runs[CHORD], runs[CONVENTIONAL]
    return ChordResult(
        times[CHORD],
        times[CONVENTIONAL],
        float(chord.iterations.mean()),
        float(newton.iterations.mean()),
        int(chord.iterations.max()),
        float(np.abs(chord.pose[:, :3] - newton.pose[:, :3]).max()),
        float(np.abs(chord.pose[::10, :3] - embedded[:, :3]).max()),
    )


def _time_us(vehicle: ChordVehicle, method: int, state: ChordState, work: ChordWorkspace) -> float:
    steps = round(SECONDS / STEP)
    history = np.zeros((steps + 1, 7 + vehicle.scene.layout.multiplier - vehicle.scene.layout.velocity))
    iterations = np.zeros(steps, dtype=np.int64)
    begin = time.process_time()
    chord_drive(vehicle.scene, method, STEP, TOLERANCE, state, work, history, iterations)
    return 1e6 * (time.process_time() - begin) / steps


if __name__ == "__main__":
    hmmwv = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
    print(json.dumps(measure(hmmwv, sys.argv[1])._asdict()))
