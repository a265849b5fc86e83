"""Travel of a suspension: spring length, wheel height and the arms' positions between the stops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from proving_ground.validation.mobility.rig import PAYLOADS_KG, Subject
from vehicle_dynamics.attitude import rotation_from_quaternion
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import Suspension
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.rig import DRY, Array, Rig
from vehicle_dynamics.suspension.wishbone import spindle_vector, wheel_centre, wishbone_pose
from vehicle_dynamics.vehicle_state import THETA

NEAR_M = 0.3  # body points within this distance of an axle belong to it
AXLES = {"front": 0, "rear": 2}  # by name: its left wheel
ANGLES = np.linspace(-0.5, 0.7, 481)  # of the lower arms that are tried [rad]


class Position(NamedTuple):
    """A position of the suspension."""

    name: str
    angle: float  # of the lower arm, 0 at design [rad]
    spring: float  # length [m]
    height: float  # of the wheel's centre above its design position [m]


class Travel(NamedTuple):
    """The left suspension of one axle."""

    axle: str
    vehicle: Hmmwv
    wheel: int
    angle: Array  # of the lower arm, 0 at design [rad]
    spring: Array  # length at each angle [m]
    height: Array  # of the wheel's centre above its design position [m]
    stops: list[Position]  # where bump stop and rebound stop begin to act
    standing: list[Position]  # at each mass
    clearance: list[float]  # under the axle's lowest body point at each mass [m]

    def at(self, name: str, spring: float) -> Position:
        """The position with a spring length [m]."""
        lengths = -self.spring  # rise with the angle
        angle, height = (float(np.interp(-spring, lengths, values)) for values in (self.angle, self.height))
        return Position(name, angle, spring, height)


def travels(subject: Subject) -> list[Travel]:
    """Both axles, with the vehicle standing at both masses."""
    vehicles = {name: subject.vehicle(payload) for name, payload in PAYLOADS_KG.items()}
    return [_travel(axle, wheel, vehicles) for axle, wheel in AXLES.items()]


def _travel(axle: str, wheel: int, vehicles: dict[str, Hmmwv]) -> Travel:
    vehicle = next(iter(vehicles.values()))
    suspension = _suspension(vehicle, axle)
    free, design = suspension.spring.free_length_m, suspension.hardpoints_left_m.wheel_centre[2]
    angle, compression, height = _swept(vehicle, wheel)
    travel = Travel(axle, vehicle, wheel, angle, free - compression, height - design, [], [], [])
    travel.stops.append(travel.at("bump stop", suspension.stops.bump_below_length_m))
    travel.stops.append(travel.at("rebound stop", suspension.stops.rebound_above_length_m))
    for name, loaded in vehicles.items():
        seen = Rig(loaded).seen
        travel.standing.append(travel.at(name, free - float(seen["spring_compression"][wheel])))
        heights = seen["position"][2] + loaded.kernel.body.points @ rotation_from_quaternion(seen["attitude"])[2]
        is_near = np.abs(loaded.kernel.body.points[:, 0] - suspension.hardpoints_left_m.wheel_centre[0]) < NEAR_M
        travel.clearance.append(float(heights[is_near].min()))
    return travel


def _swept(vehicle: Hmmwv, wheel: int) -> Array:
    """Angle of an axle's lower arms [rad], compression of the spring [m], height of the wheel's centre [m]: 3 x n.

    Angles at which the linkage cannot close are left out.
    """
    state, found = vehicle.start(DRY), []
    for angle in ANGLES:
        state[THETA][wheel : wheel + 2] = angle
        try:
            seen = vehicle.snapshot(state, Pedals(), DRY)
        except ValueError:
            continue
        found.append((angle, seen["spring_compression"][wheel], seen["wheel_centre"][wheel, 2]))
    swept: Array = np.array(found).T
    return swept


class Linkage(NamedTuple):
    """Points of a left suspension seen from behind: distance from the centre plane and height [m], chassis frame."""

    lower_arm: Array  # pivot and ball joint
    upper_arm: Array
    upright: Array  # both ball joints
    spring: Array  # end on the chassis and on the lower arm
    wheel: Array  # centre
    axle: Array  # direction to the left, of length 1 without toe


def linkage(travel: Travel, position: Position) -> Linkage:
    """The linkage in a position, steered straight ahead."""
    geometry = travel.vehicle.kernel.bodies.corners[travel.wheel]["geometry"]
    pose = wishbone_pose(geometry, position.angle, tuple(geometry["tie_inner"].tolist()))
    points = _suspension(travel.vehicle, travel.axle).hardpoints_left_m
    seat, pivot = np.array(points.spring_lower_arm), geometry["lower_pivot"]
    lower, upper = np.array(pose.lower_ball), np.array(pose.upper_ball)
    return Linkage(
        _from_behind(pivot, lower),
        _from_behind(geometry["upper_pivot"], upper),
        _from_behind(lower, upper),
        _from_behind(
            np.array(points.spring_chassis), pivot + _rotated(seat - pivot, geometry["lower_axis"], position.angle)
        ),
        np.array(wheel_centre(geometry, pose)[1:]),
        np.array(spindle_vector(geometry, pose, (0.0, 1.0, 0.0))[1:]),
    )


def _suspension(vehicle: Hmmwv, axle: str) -> Suspension:
    parameters = vehicle.parameters
    return parameters.front_suspension if axle == "front" else parameters.rear_suspension


def _from_behind(*points: Array) -> Array:
    """Points as seen from behind."""
    return np.array([point[1:] for point in points])


def _rotated(vector: Array, axis: Array, angle: float) -> Array:
    """A vector rotated about a unit axis (Rodrigues)."""
    along = (vector @ axis) * axis
    rotated: Array = along + np.cos(angle) * (vector - along) + np.sin(angle) * np.cross(axis, vector)
    return rotated
