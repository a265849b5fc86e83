"""The HMMWV as one object: load, place, drive, inspect, save.

>>> from proving_ground.settings.share import share_file
>>> hmmwv = Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
>>> road = FlatGround()
>>> state = hmmwv.initial_state(road, speed=10.0)
>>> for _ in range(100):
...     state = hmmwv.step(state, Pedals(throttle=0.3), road, 0.01)
>>> bool(10.0 < state.body.velocity[0] < 12.0)
True
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain.ground import FlatGround, GroundModel
from vehicle_dynamics.attitude import rotation_from_quaternion, rotation_from_rpy
from vehicle_dynamics.drive.driveline import shaft_speed
from vehicle_dynamics.driving.equilibrium import NoEquilibriumError, equilibrium
from vehicle_dynamics.driving.handle import advance, handle, observe
from vehicle_dynamics.driving.model import DrivingVehicle, driving_vehicle, driving_workspace
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord
from vehicle_dynamics.driving.state import DRIVING_SIZE, ENGINE_SPEED, GEAR, DrivingState
from vehicle_dynamics.embedded_vehicle import OUT_SIZE, forward_dynamics, vehicle_bodies, workspace
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.rigid_steps import RK4, SEMI_IMPLICIT_EULER
from vehicle_dynamics.steering_table import SteeringTable
from vehicle_dynamics.tyre.contact import tyre_records
from vehicle_dynamics.tyre.inflation import with_pressures
from vehicle_dynamics.vehicle import PedalAuthority, RollingStart, Vehicle
from vehicle_dynamics.vehicle_state import ATTITUDE, SPIN_RATE, VehicleState

Array = NDArray[np.float64]

METHODS = {"euler": SEMI_IMPLICIT_EULER, "rk4": RK4}
MOST_PLACINGS = 6
PLACED = 1e-6  # [m]
LONGEST_STEP_S = 0.004  # beyond, held brakes chatter
IDLING = 0.97  # engine speed at a start over the one where the idle governor gives no fuel


class DivergedError(RuntimeError):
    """The motion is no longer finite or physical."""


class Hmmwv(Vehicle):
    """The vehicle with 14 degrees of freedom on tyres. Its parameters are immutable."""

    def __init__(
        self,
        parameters: VehicleParameters,
        *,
        powertrain: str = "converter",
        method: str = "euler",
        step_s: float = 0.001,
        gravity: float = 9.81,
    ) -> None:
        """powertrain: converter or map; method: euler (semi-implicit) or rk4; step [s]; gravity [m/s^2]."""
        if method not in METHODS:
            raise ValueError(f"method: must be one of {', '.join(METHODS)}, got {method!r}")
        if not 0.0 < step_s <= LONGEST_STEP_S:
            raise ValueError(f"step_s: must be above 0 and at most {LONGEST_STEP_S}, got {step_s}")
        self.parameters = parameters
        self.step_s = float(step_s)
        self.wheel_radius = parameters.wheel.radius_m
        self.understeer = parameters.equipment.understeer_s2pm2
        self._method = METHODS[method]
        self.kernel = driving_vehicle(parameters, powertrain, gravity)
        self._adapted_to = parameters  # with the present payload and tyre pressures
        self._rigid_work = workspace()
        self.base_in_chassis = np.zeros(3)  # set by the first start
        at_rest = self.snapshot(self.start(FlatGround()), Pedals(), FlatGround())
        centres = at_rest["wheel_centre"]
        self.wheelbase = float(centres[:2, 0].mean() - centres[2:, 0].mean())
        self.base_in_chassis = _base_in_chassis(at_rest)
        self.pedal_authority = self._pedal_authority(float(at_rest["load"].sum()) / gravity)
        self._steering = SteeringTable.of(self.kernel, self.wheelbase, at_rest)

    @property
    def kernel(self) -> DrivingVehicle:
        """The vehicle in the form that kernels use; may be replaced for studies."""
        return self._kernel

    @kernel.setter
    def kernel(self, vehicle: DrivingVehicle) -> None:
        self._kernel = vehicle
        self._handle = handle(vehicle, driving_workspace(vehicle), self._method)

    @staticmethod
    def from_yaml(path: Path, **options: Any) -> Hmmwv:
        """Load a vehicle file; options as for the constructor. Raises SettingsError with file, line and key."""
        return Hmmwv(VehicleParameters.from_yaml(path), **options)

    def initial_state(self, ground: GroundModel, **position: float) -> DrivingState:
        """State in equilibrium on any ground; arguments as for start."""
        return DrivingState.from_array(self.start(ground, **position))  # type: ignore[arg-type]

    def step(self, state: DrivingState, pedals: Pedals, ground: GroundModel, dt: float) -> DrivingState:
        """The state after dt [s], a whole number of time steps. Raises DivergedError if the motion diverges."""
        steps = round(dt / self.step_s)
        if steps < 1 or abs(steps * self.step_s - dt) > 1e-9:
            raise ValueError(f"dt: must be a whole number of steps of {self.step_s:g} s, got {dt}")
        array = state.to_array()
        if self.advance(array, pedals, ground, steps) < steps:
            raise DivergedError(f"the motion diverges at {array[:3].round(3).tolist()} m")
        return DrivingState.from_array(array)

    def _started(self, ground: GroundModel, at: RollingStart) -> Array:
        """See vehicle.Vehicle. Raises NoEquilibriumError where the vehicle cannot stand."""
        gears = int(self.kernel.powertrain[0]["gears"])
        if not 0 <= at.gear <= gears:
            raise ValueError(f"gear: must be 0 (by speed) to {gears}, got {at.gear}")
        state = self._balanced(ground, np.array([at.x, at.y], dtype=float), float(at.heading), float(at.speed))
        spins = state[SPIN_RATE]
        first_range = self.kernel.driveline.ranges[Pedals().transfer_range]
        shaft = shaft_speed(self.kernel.driveline, (spins[0], spins[1], spins[2], spins[3])) * first_range.reduction
        record = self.kernel.powertrain[0]
        gear = at.gear or _gear_for(record, shaft)
        idle = IDLING * float(record["governed"])
        state[ENGINE_SPEED] = max(shaft / record["ratio"][gear - 1], idle)
        state[GEAR] = gear
        if not observe(self._handle, ground.kernel(), Pedals(), state, np.empty(1, SNAPSHOT)):
            raise ValueError(f"start: too far or too fast, x {at.x:g} m, y {at.y:g} m, speed {at.speed:g} m/s")
        return state

    def _balanced(self, ground: GroundModel, position: Array, heading: float, speed: float) -> Array:
        """State in equilibrium with base_link over a position: the vehicle's lean there gives the chassis position."""
        chassis = position - (rotation_from_rpy(0.0, 0.0, heading) @ self.base_in_chassis)[:2]
        for _ in range(MOST_PLACINGS):
            try:
                x, y = chassis.tolist()
                state = equilibrium(self.kernel, ground.kernel(), x, y, heading, speed)
            except NoEquilibriumError as error:
                raise NoEquilibriumError(f"{error}, at x {position[0]:g} m, y {position[1]:g} m") from None
            miss = position - state[:2] - (rotation_from_quaternion(state[ATTITUDE]) @ self.base_in_chassis)[:2]
            if np.abs(miss).max() < PLACED:
                break
            chassis = chassis + miss
        return state

    def advance(self, state: Array, pedals: Pedals, ground: GroundModel, steps: int) -> int:
        """See vehicle.Vehicle. Pedals beyond their limits are clamped; NaN raises ValueError."""
        if state.shape != (DRIVING_SIZE,) or state.dtype != np.float64:
            raise ValueError(f"state: must be an array of {DRIVING_SIZE} floats, got {state.shape} {state.dtype}")
        if steps < 0:
            raise ValueError(f"steps: must not be negative, got {steps}")
        limited = pedals.within_limits()
        return int(advance(self._handle, ground.kernel(), limited, self.step_s, steps, state))

    def snapshot(self, state: Array, pedals: Pedals, ground: GroundModel) -> SnapshotRecord:
        """Record of all outputs, as Vehicle.snapshot."""
        out = np.empty(1, SNAPSHOT)
        if not observe(self._handle, ground.kernel(), pedals.within_limits(), state, out):
            raise ValueError("state: not physically admissible")
        return out[0]

    def _pedal_authority(self, mass: float) -> PedalAuthority:
        """Authority of the pedals over a mass [kg], without the inertia of wheels and driveline."""
        brakes = self.kernel.brakes
        torque = 2.0 * (brakes.front_torque + brakes.rear_torque) * brakes.linear
        return PedalAuthority(torque / (self.wheel_radius * max(mass, 1.0)), self.parameters.single_track.drive_mps2)

    def adapt(self, payload_kg: float | None, pressures_pa: tuple[float | None, ...]) -> None:
        """See vehicle.Vehicle. Added mass has the velocity of the vehicle from the first instant.

        base_link, wheelbase and the table of the steering stay those of the vehicle's file.
        """
        adapted = self.parameters if payload_kg is None else self.parameters.loaded(payload_kg)
        adapted = replace(adapted, tyre=with_pressures(adapted.tyre, pressures_pa))
        kernel, before, self._adapted_to = self.kernel, self._adapted_to, adapted
        if adapted.cargo != before.cargo:
            kernel = kernel._replace(bodies=vehicle_bodies(adapted))
        if adapted.tyre != before.tyre:
            kernel = kernel._replace(tyre=tyre_records(adapted))
        if kernel is not self.kernel:
            self.kernel = kernel

    def steering_for(self, curvature: float) -> float:
        """Steering position for a path curvature, as Vehicle.steering_for."""
        return self._steering.steering_for(curvature)

    def curvature_at(self, steering: float) -> float:
        """Path curvature at a steering position, as Vehicle.curvature_at."""
        return self._steering.curvature_at(steering)

    def forward_dynamics(
        self,
        state: VehicleState,
        *,
        wheel_force: ArrayLike | None = None,
        spin_torque: ArrayLike | None = None,
        chassis_force: ArrayLike | None = None,
    ) -> Array:
        """Accelerations (14) of the rigid bodies with springs and dampers under given forces; see embedded_vehicle.py.

        wheel_force (4 x 6) is moment [N m] and force [N] on each wheel at its centre, spin_torque (4) [N m] acts from
        the spindle on the wheel, chassis_force (6) on the chassis at its origin; chassis axes. Steering is straight.
        """
        out = np.zeros(OUT_SIZE)
        tie_end = np.zeros((4, 9))
        tie_end[:, :3] = self.kernel.bodies.corners["geometry"]["tie_inner"]
        down = -self.kernel.gravity * rotation_from_quaternion(state.attitude)[2]
        motion = RigidMotion(tuple(state.angular_velocity.tolist()), state.theta, state.theta_rate, state.spin_rate)
        loads = RigidLoads(
            gravity=tuple(down.tolist()),
            theta_force=np.zeros(4),
            spin_torque=_force(spin_torque, (4,)),
            wheel_force=_force(wheel_force, (4, 6)),
            chassis_force=_force(chassis_force, (6,)),
        )
        forward_dynamics(self.kernel.bodies, motion, tie_end, loads, self._rigid_work, out)
        return out


def _base_in_chassis(at_rest: SnapshotRecord) -> Array:
    """Origin of base_link on the ground under the middle of the rear axle; chassis axes, at rest on the plane z = 0."""
    rear = at_rest["wheel_centre"][2:].mean(axis=0)
    up = rotation_from_quaternion(at_rest["attitude"])[2]
    height = float(at_rest["position"][2] + up @ rear)
    base: Array = rear - height * up
    base[1] = 0.0  # left and right differ only by the steering's masses
    return base


def _gear_for(powertrain: Any, shaft: float) -> int:
    """The lowest gear that does not shift up at a speed of the drive shaft [rad/s]."""
    for gear in range(1, int(powertrain["gears"])):
        if shaft / powertrain["ratio"][gear - 1] < powertrain["shift_up"][gear - 1]:
            return gear
    return int(powertrain["gears"])


def _force(values: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    array = np.zeros(shape) if values is None else np.ascontiguousarray(values, dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"forces: must be finite and of shape {shape}, got {array.shape}")
    return array
