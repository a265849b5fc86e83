"""The driving vehicle on rigid ground: time of a step and of its parts, real-time factors, order of integrators.

All from one run on one core; kernels are timed in compiled loops, the least of many repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.measure import cpu_time_us
from proving_ground.kernels.jit import kernel
from proving_ground.settings.share import share_file
from proving_ground.settings.text_table import text_table
from terrain.ground import FlatGround
from terrain.wheel import ContactStep
from vehicle_dynamics.driving.model import DrivingVehicle, driving_workspace
from vehicle_dynamics.driving.state import MOVING_SIZE, SOIL
from vehicle_dynamics.driving.stepping import controls, moving_rate
from vehicle_dynamics.embedded_vehicle import forward_dynamics
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.single_track import SingleTrack
from vehicle_dynamics.vehicle import Vehicle
from vehicle_dynamics.vehicle_state import SPIN_RATE, THETA, THETA_RATE

Array = NDArray[np.float64]
Figures = Mapping[str, float]

STEP_S = 1e-3
SPAN = ContactStep(STEP_S, STEP_S, True)
STEPS = 2000  # per timed call
REPEATS = 30
ROAD = FlatGround()
DRIVING = Pedals(steering=0.1, throttle=0.3)
# For comparison, from another machine (one idle core): Project Chrono 10.0.0-dev (7689fbc), HMMWV_Full, TMeasy tyres,
# on flat rigid ground at 1 ms on one core.
CHRONO_STEP_US = 745.0
PARTS = {
    "forward_dynamics": "rigid bodies, springs, dampers",
    "tyres_and_kinematics": "tyres, wheels, driveline",
    "body_contact": "body against the ground",
    "controls": "brakes, powertrain, steering",
    "rest": "checks, integration, waiting for results",
}
ORDER_STEPS_S = (2e-3, 1e-3)
EXACT_STEP_S = 0.05e-3
ORDER_SECONDS = 0.5
GENTLE = 0.02  # steering of that run
LINEAR_DAMPING_NSPM = 20_000.0


def run(say: Callable[[str], None]) -> dict[str, float]:
    """All figures; times in microseconds of CPU time."""
    parameters = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
    say("compiling and timing the vehicle")
    euler, rk4 = Hmmwv(parameters, step_s=STEP_S), Hmmwv(parameters, method="rk4", step_s=STEP_S)
    step_us, rk4_step_us = _step_us(euler), _step_us(rk4)
    as_built_us = _step_us(Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"), step_s=STEP_S))
    say("timing its parts")
    parts = _parts(euler, step_us)
    single_track = SingleTrack(parameters, step_s=STEP_S)
    single_track_us = _step_us(single_track)
    state = euler.start(ROAD, speed=10.0)
    snapshot_us = cpu_time_us(lambda: euler.snapshot(state, DRIVING, ROAD), repeats=REPEATS)
    one_step_us = cpu_time_us(lambda: euler.advance(state, DRIVING, ROAD, 1), repeats=REPEATS)
    say("halving steps")
    return {
        "step_us": step_us,
        "rigid_rtf": 1e6 * STEP_S / step_us,
        "as_built_step_us": as_built_us,
        "as_built_rtf": 1e6 * STEP_S / as_built_us,
        "rk4_step_us": rk4_step_us,
        "rk4_rtf": 1e6 * STEP_S / rk4_step_us,
        **{f"part_{name}_us": value for name, value in parts.items()},
        "snapshot_us": snapshot_us,
        "from_python_us": one_step_us - step_us,
        "single_track_step_us": single_track_us,
        "single_track_rtf": 1e6 * STEP_S / single_track_us,
        "euler_order": _order(parameters, "euler"),
        "rk4_order": _order(parameters, "rk4"),
        "chrono_step_us": CHRONO_STEP_US,
        "chrono_ratio": CHRONO_STEP_US / step_us,
    }


def show(figures: Figures) -> str:
    """Print the figures of this benchmark as tables."""
    f = figures
    rows = [
        ["hmmwv_chrono, Euler (ours)", f"{f['step_us']:.2f}", f"{f['rigid_rtf']:.0f}", f"{f['euler_order']:.2f}"],
        ["hmmwv, as built, Euler (ours)", f"{f['as_built_step_us']:.2f}", f"{f['as_built_rtf']:.0f}", "-"],
        ["hmmwv_chrono, RK4 (ours)", f"{f['rk4_step_us']:.2f}", f"{f['rk4_rtf']:.0f}", f"{f['rk4_order']:.2f}"],
        ["kinematic single track (ours)", f"{f['single_track_step_us']:.3f}", f"{f['single_track_rtf']:.0f}", "-"],
        [
            "Project Chrono 10.0.0-dev, HMMWV_Full, another machine",
            f"{f['chrono_step_us']:.0f}",
            f"{1e3 / f['chrono_step_us']:.2f}",
            "1",
        ],
    ]
    shares = [
        [words, f"{f[f'part_{name}_us']:.2f}", f"{f[f'part_{name}_us'] / f['step_us']:.0%}"]
        for name, words in PARTS.items()
    ]
    notes = [
        f"An Euler step is {f['chrono_ratio']:.0f} times as fast as Chrono's. From Python, a call of advance adds"
        f" {f['from_python_us']:.1f} us to its steps,",
        f"and a snapshot takes {f['snapshot_us']:.1f} us. Euler is semi-implicit. Orders are those of a smooth coasting"
        " turn in neutral while the",
        "steering moves, with dampers that have no kinks. Brakes and powertrain advance once per step.",
    ]
    steps = text_table(["1 ms step on rigid ground, one core", "us", "times real time", "order"], rows)
    return "\n\n".join([steps, text_table(["part of an Euler step", "us", "share"], shares), "\n".join(notes)])


def _step_us(vehicle: Vehicle) -> float:
    """Time of one step within many, driving in a turn."""
    start = vehicle.start(ROAD, speed=10.0)
    state = start.copy()

    def drive() -> None:
        state[:] = start
        if vehicle.advance(state, DRIVING, ROAD, STEPS) < STEPS:
            raise RuntimeError("the vehicle of the benchmark diverges")

    drive()  # compiles
    return cpu_time_us(drive, calls=1, repeats=REPEATS) / STEPS


def _parts(car: Hmmwv, step_us: float) -> dict[str, float]:
    """Parts of an Euler step: kernels called repeatedly at the state after a second, the rest by difference."""
    state = car.start(ROAD, speed=10.0)
    car.advance(state, DRIVING, ROAD, 1000)
    bare = car.kernel._replace(body=car.kernel.body._replace(points=np.zeros((0, 3))))
    rates = _loop_us(_rates, car.kernel, state)
    without_body = _loop_us(_rates, bare, state)
    dynamics = _loop_us(_dynamics, car.kernel, state)
    control = _loop_us(_controls, car.kernel, state)
    return {
        "forward_dynamics": dynamics,
        "tyres_and_kinematics": without_body - dynamics,
        "body_contact": rates - without_body,
        "controls": control,
        "rest": step_us - rates - control,
    }


def _loop_us(call: Callable[..., object], vehicle: DrivingVehicle, state: Array) -> float:
    arguments: tuple[Any, ...] = (vehicle, ROAD.kernel(), DRIVING, state.copy(), driving_workspace(vehicle))
    call(1, *arguments)  # compiles
    return cpu_time_us(lambda: call(STEPS, *arguments), calls=1, repeats=REPEATS) / STEPS


@kernel
def _rates(count: int, vehicle: Any, ground: Any, pedals: Any, state: Any, work: Any) -> None:
    controls(vehicle, pedals, STEP_S, state, work)
    for _ in range(count):
        moving_rate(vehicle, ground, state[:MOVING_SIZE], state[SOIL], pedals.steering, SPAN, work, work.rates[0])


@kernel
def _dynamics(count: int, vehicle: Any, ground: Any, pedals: Any, state: Any, work: Any) -> None:
    controls(vehicle, pedals, STEP_S, state, work)
    moving_rate(vehicle, ground, state[:MOVING_SIZE], state[SOIL], pedals.steering, SPAN, work, work.rates[0])
    motion = RigidMotion((state[18], state[19], state[20]), state[THETA], state[THETA_RATE], state[SPIN_RATE])
    down = (0.0, 0.0, -vehicle.gravity)
    loads = RigidLoads(down, work.theta_force, work.brake_torque, work.wheel_force, work.chassis_force)
    for _ in range(count):
        forward_dynamics(vehicle.bodies, motion, work.tie_end, loads, work.dynamics, work.accelerations)


@kernel
def _controls(count: int, vehicle: Any, ground: Any, pedals: Any, state: Any, work: Any) -> None:
    for _ in range(count):
        controls(vehicle, pedals, STEP_S, state, work)


def _order(parameters: VehicleParameters, method: str) -> float:
    """Order from the errors at a step and at half of it, in a coasting turn in neutral, dampers without kinks."""
    exact = _coasted(parameters, "rk4", EXACT_STEP_S)
    whole, half = (np.abs(_coasted(parameters, method, step) - exact).max() for step in ORDER_STEPS_S)
    return math.log2(whole / half)


def _coasted(parameters: VehicleParameters, method: str, step: float) -> Array:
    car = Hmmwv(parameters, powertrain="map", method=method, step_s=step)
    corners = car.kernel.bodies.corners.copy()
    for rate in ("compression", "rebound", "outer_compression", "outer_rebound"):
        corners["strut"][rate] = LINEAR_DAMPING_NSPM
    car.kernel = car.kernel._replace(bodies=car.kernel.bodies._replace(corners=corners))
    state = car.start(ROAD, speed=10.0)
    car.advance(state, Pedals(steering=GENTLE, selected=NEUTRAL), ROAD, round(ORDER_SECONDS / step))
    return state[:MOVING_SIZE]
