"""A kinematic single-track vehicle with the interface of Hmmwv: the low-fidelity choice.

It follows the ground and its steering without slip: no suspension, no tyres, no inertia except along the path.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part, kernel
from proving_ground.kernels.rotation import rotate_quaternion, rotation_from, to_world
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, cross, scale
from terrain.ground import FlatGround, Ground, GroundModel, ground_at
from vehicle_dynamics.attitude import pitch_of
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord
from vehicle_dynamics.hmmwv import LONGEST_STEP_S, Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.vehicle import PedalAuthority, RollingStart, Vehicle

Array = NDArray[np.float64]

# State: middle of the rear axle [m], heading [rad], speed [m/s], path curvature [1/m], distance rolled [m].
X, Y, HEADING, SPEED, CURVATURE, ROLLED = range(6)
SIZE = 6
FARTHEST = 1e7  # [m]


class _Track(NamedTuple):
    """Parameters of the single-track vehicle for its kernel."""

    drive: float  # [m/s^2]
    top_speed: float  # [m/s]
    brake: float  # [m/s^2]
    coast: float  # [m/s^2]
    fastest_curvature: float  # [1/(m s)]
    gravity: float  # [m/s^2]
    base: Vector3  # base_link in the chassis frame [m]
    pitch: float  # of the chassis on level ground [rad]
    wheel_radius: float  # [m]


@kernel
def _slope(ground: Ground, x: float, y: float, heading: float) -> tuple[float, float, float]:
    """Height [m], rise along and rise across the heading."""
    point = ground_at(ground, x, y)
    n, cosine, sine = point.normal, math.cos(heading), math.sin(heading)
    return point.height, -(n[0] * cosine + n[1] * sine) / n[2], -(n[1] * cosine - n[0] * sine) / n[2]


@kernel
def _accelerate(track: _Track, ground: Ground, pedals: Pedals, state: Array) -> tuple[float, float]:
    """Acceleration by engine and slope, and deceleration by brakes and rolling resistance [m/s^2]."""
    speed = state[SPEED]
    _, rise, _ = _slope(ground, state[X], state[Y], state[HEADING])
    push = 0.0
    if pedals.selected != NEUTRAL:
        faded = 1.0 - abs(speed) / track.top_speed if speed * pedals.selected > 0.0 else 1.0
        push = pedals.selected * pedals.throttle * track.drive * max(faded, 0.0)
    push -= track.gravity * rise / math.sqrt(1.0 + rise * rise)
    return push, pedals.brake * track.brake + track.coast


@kernel
def _advance(
    track: _Track, ground: Ground, pedals: Pedals, wanted_curvature: float, step: float, steps: int, state: Array
) -> int:
    for count in range(steps):
        for k in range(SIZE):
            if not abs(state[k]) < FARTHEST:
                return count
        push, drag = _accelerate(track, ground, pedals, state)
        speed = state[SPEED] + step * push
        speed = math.copysign(max(abs(speed) - step * drag, 0.0), speed)
        most = step * track.fastest_curvature
        curvature = state[CURVATURE] + min(max(wanted_curvature - state[CURVATURE], -most), most)
        distance = 0.5 * step * (state[SPEED] + speed)
        heading_change = distance * curvature
        # Along the chord of the arc.
        middle = state[HEADING] + 0.5 * heading_change
        _, rise, _ = _slope(ground, state[X], state[Y], state[HEADING])
        level = distance / math.sqrt(1.0 + rise * rise)
        state[X] += level * math.cos(middle)
        state[Y] += level * math.sin(middle)
        state[HEADING] += heading_change
        state[SPEED], state[CURVATURE] = speed, curvature
        state[ROLLED] += distance
    return steps


@kernel
def _observe(track: _Track, ground: Ground, pedals: Pedals, state: Array, out: SnapshotRecord) -> None:
    """Update the first record of out, which holds a vehicle at rest, with all that depends on the state."""
    seen = out[0]
    heading, speed, curvature = state[HEADING], state[SPEED], state[CURVATURE]
    height, rise, bank = _slope(ground, state[X], state[Y], heading)
    pitch = -math.atan(rise)
    roll = math.atan(bank * math.cos(pitch))
    _set_attitude(heading, pitch + track.pitch, roll, seen.attitude)
    # Along the ground and upright on it, in chassis axes.
    cosine, sine = math.cos(track.pitch), math.sin(track.pitch)
    along, up = (cosine, 0.0, sine), (-sine, 0.0, cosine)
    push, drag = _accelerate(track, ground, pedals, state)
    moves = math.copysign(1.0, speed if speed != 0.0 else push)
    change = push - moves * drag if speed != 0.0 or abs(push) > drag else 0.0
    rotation = rotation_from(seen.attitude)
    angular_velocity, angular_acceleration = scale(speed * curvature, up), scale(change * curvature, up)
    ahead = scale(-1.0, track.base)
    position = to_world(rotation, ahead)
    velocity = to_world(rotation, add(scale(speed, along), cross(angular_velocity, ahead)))
    swing = add(cross(angular_acceleration, ahead), cross(angular_velocity, cross(angular_velocity, ahead)))
    acceleration = to_world(rotation, add(add_scaled((0.0, speed * speed * curvature, 0.0), change, along), swing))
    point = (state[X], state[Y], height)
    for k in range(3):
        seen.position[k] = point[k] + position[k]
        seen.velocity[k], seen.acceleration[k] = velocity[k], acceleration[k]
        seen.angular_velocity[k], seen.angular_acceleration[k] = angular_velocity[k], angular_acceleration[k]
    for k in range(4):
        seen.spin[k], seen.spin_rate[k] = state[ROLLED] / track.wheel_radius, speed / track.wheel_radius
        if k < 2:  # front wheels at the angles of rolling without slip
            base = seen.wheel_centre[k, 0] - track.base[0]
            angle = math.atan(base * curvature / (1.0 - curvature * seen.wheel_centre[k, 1]))
            seen.steer_angle[k] = angle
            seen.wheel_axis[k, 0], seen.wheel_axis[k, 1], seen.wheel_axis[k, 2] = -math.sin(angle), math.cos(angle), 0.0
    seen.steering, seen.throttle, seen.brake = pedals.steering, pedals.throttle, pedals.brake
    seen.selected, seen.gear, seen.engine_speed = float(pedals.selected), 1.0, 0.0


@inlined_part
def _set_attitude(yaw: float, pitch: float, roll: float, out: Array) -> None:
    """Quaternion of Z-Y-X angles [rad]: three rotations in sequence."""
    out[0], out[1], out[2], out[3] = 0.0, 0.0, 0.0, 1.0
    rotate_quaternion(out, (0.0, 0.0, yaw), out)
    rotate_quaternion(out, (0.0, pitch, 0.0), out)
    rotate_quaternion(out, (roll, 0.0, 0.0), out)


class SingleTrack(Vehicle):
    """A point that rolls along a curvature on the ground; suspensions are at rest."""

    def __init__(self, parameters: VehicleParameters, *, step_s: float = 0.001, gravity: float = 9.81) -> None:
        """Step [s], gravity [m/s^2]; geometry is that of the parameters' HMMWV at rest."""
        if not 0.0 < step_s <= LONGEST_STEP_S:
            raise ValueError(f"step_s: must be above 0 and at most {LONGEST_STEP_S}, got {step_s}")
        self.parameters = parameters
        self.step_s = float(step_s)
        self.wheel_radius = parameters.wheel.radius_m
        model = Hmmwv(parameters, gravity=gravity)
        at_rest = model.snapshot(model.start(FlatGround()), Pedals(), FlatGround())
        self._at_rest: bytes = at_rest.tobytes()
        self.understeer = 0.0
        self.base_in_chassis, self.wheelbase = model.base_in_chassis, model.wheelbase
        self._model = model
        own = parameters.single_track
        self.pedal_authority = PedalAuthority(own.brake_mps2, own.drive_mps2)
        servo = model.kernel.servo
        fastest = 2.0 * model.curvature_at(1.0) * servo.fastest / (2.0 * servo.lock)
        self._track = _Track(
            own.drive_mps2,
            own.top_speed_mps,
            own.brake_mps2,
            own.coast_mps2,
            fastest,
            float(gravity),
            tuple(model.base_in_chassis.tolist()),
            pitch_of(at_rest["attitude"]),
            self.wheel_radius,
        )

    @staticmethod
    def from_yaml(path: Path, **options: Any) -> SingleTrack:
        """Load a vehicle file; options as for the constructor."""
        return SingleTrack(VehicleParameters.from_yaml(path), **options)

    def _started(self, ground: GroundModel, at: RollingStart) -> Array:
        """State at a start pose and speed."""
        state = np.zeros(SIZE)
        state[X], state[Y], state[HEADING], state[SPEED] = at.x, at.y, at.heading, at.speed
        return state

    def advance(self, state: Array, pedals: Pedals, ground: GroundModel, steps: int) -> int:
        """Advance the state by some steps, as Vehicle.advance."""
        if state.shape != (SIZE,) or state.dtype != np.float64:
            raise ValueError(f"state: must be an array of {SIZE} floats, got {state.shape} {state.dtype}")
        if steps < 0:
            raise ValueError(f"steps: must not be negative, got {steps}")
        limited = pedals.within_limits()
        wanted = self.curvature_at(limited.steering)
        return int(_advance(self._track, ground.kernel(), limited, wanted, self.step_s, steps, state))

    def snapshot(self, state: Array, pedals: Pedals, ground: GroundModel) -> SnapshotRecord:
        """See vehicle.Vehicle. Suspensions are at rest, loads those of a vehicle at rest."""
        limited = pedals.within_limits()
        out = np.frombuffer(bytearray(self._at_rest), SNAPSHOT)  # copies records thirty times as fast as numpy
        _observe(self._track, ground.kernel(), limited, state, out)
        out[0]["pitman_angle"] = -self._model.kernel.servo.lock * self.steering_for(float(state[CURVATURE]))
        return out[0]

    def steering_for(self, curvature: float) -> float:
        """Steering position for a path curvature, as Vehicle.steering_for."""
        return self._model.steering_for(curvature)

    def curvature_at(self, steering: float) -> float:
        """Path curvature at a steering position, as Vehicle.curvature_at."""
        return self._model.curvature_at(steering)
