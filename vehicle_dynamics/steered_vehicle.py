"""Forward dynamics with the Pitman arm as a 15th degree of freedom.

Steering joins both front suspensions into one aggregated body with three coordinates, two lower-arm angles and the
Pitman angle. Its D is 3x3 with an arrow's shape: the lower-arm angles are eliminated first, then the Pitman angle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.inertia import times
from proving_ground.kernels.jit import inlined_part, kernel
from proving_ground.kernels.vector3 import ZERO, Vector3, combine, cross, dot, scale, sub, vector
from vehicle_dynamics.chassis_system import add_rigidly, eliminate, pull, set_coupling, solve_chassis, start_chassis
from vehicle_dynamics.embedded_vehicle import VehicleBodies, eliminate_corner, lower_arm, vehicle_bodies, wheel_load
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.suspension.body_sums import BodyTerms, CornerSums, first_body
from vehicle_dynamics.suspension.corner import (
    CornerMotion,
    TieEnd,
    rod_on_spindle_column,
)
from vehicle_dynamics.suspension.corner_record import CornerRecord, rigid_inertia
from vehicle_dynamics.suspension.pitman import link_motion
from vehicle_dynamics.suspension.steering import SteeringBodies, steering_bodies, steering_sums, tie_end
from vehicle_dynamics.suspension.wishbone import tie_end_spin
from vehicle_dynamics.vehicle_mechanism import chassis_lump

Array = NDArray[np.float64]

STEERED_OUT_SIZE = 15  # embedded_vehicle.OUT_SIZE plus the acceleration of the Pitman angle


class SteeredBodies(NamedTuple):
    """The vehicle with its steering; the chassis is without the steering's bodies."""

    vehicle: VehicleBodies
    steering: SteeringBodies


class SteeredWorkspace(NamedTuple):
    """Work arrays of an evaluation, allocated once."""

    matrix: Array  # 6 x 6
    right: Array  # 6
    coupling: Array  # 5 x 6: corners and steering
    corner: Array  # 4 x 9: 1 / D, drive, D with the Pitman angle, spin axis (3), spin: own, per theta'', per Pitman''


def steered_workspace() -> SteeredWorkspace:
    """New arrays for one thread."""
    return SteeredWorkspace(np.zeros((6, 6)), np.zeros(6), np.zeros((5, 6)), np.zeros((4, 9)))


class SteerTerms(NamedTuple):
    """Contribution of a front corner to the Pitman angle's equation."""

    d: float
    d_theta: float  # of D, with the corner's theta
    drive: float
    coupling_moment: Vector3
    coupling_force: Vector3
    spin: float  # rotation of the spindle about DF per Pitman angle


@kernel
def steered_dynamics(
    model: SteeredBodies, motion: RigidMotion, pitman: Array, loads: RigidLoads, work: SteeredWorkspace, out: Array
) -> None:
    """Accelerations into out (15); pitman (3) is its angle [rad], rate [rad/s] and the torque on it [N m].

    All else is as in embedded_vehicle.forward_dynamics.
    """
    vehicle, steering = model.vehicle, model.steering
    matrix, right, chassis_angular_velocity = work.matrix, work.right, motion.angular_velocity
    start_chassis(vehicle.chassis, chassis_angular_velocity, loads.chassis_force, matrix, right)
    angle, rate = pitman[0], pitman[1]
    link = link_motion(steering.geometry, angle)
    steer = steering_sums(steering, link, angle, rate, chassis_angular_velocity)
    add_rigidly(matrix, right, steer)
    steer_d, steer_drive = steer.d, steer.drive + pitman[2]
    steer_coupling = work.coupling[4]
    set_coupling(steer_coupling, steer)
    for index in range(4):
        record = vehicle.corners[index]
        end, end_column = TieEnd(vector(record.geometry.tie_inner), ZERO, ZERO), ZERO
        if index < 2:
            design = steering.left_end if index == 0 else steering.right_end
            end, end_column = tie_end(steering.geometry, link, design, rate, 0.0)
        coupling, arm, load = work.coupling[index], lower_arm(motion, loads, index), wheel_load(motion, loads, index)
        reduced = eliminate_corner(record, arm, end, load, chassis_angular_velocity, matrix, right, coupling)
        corner, spin = work.corner[index], reduced.spin
        corner[0], corner[1] = reduced.inverse, reduced.drive
        corner[3], corner[4], corner[5] = spin.axis
        corner[6], corner[7] = spin.own, spin.carried
        if index < 2:
            own = _steer_terms(record, reduced.motion, end, end_column, reduced.hub, reduced.tie_rod)
            corner[2] = own.d_theta
            corner[8] = own.spin * dot(spin.axis, reduced.motion.pose.upright)
            factor = own.d_theta * reduced.inverse
            steer_d += own.d - own.d_theta * factor
            steer_drive += own.drive - factor * reduced.drive
            for k in range(3):
                steer_coupling[k] += own.coupling_moment[k] - factor * coupling[k]
                steer_coupling[3 + k] += own.coupling_force[k] - factor * coupling[3 + k]
    eliminate(matrix, right, steer_coupling, steer_drive, 1.0 / steer_d)
    solve_chassis(matrix, right, loads.gravity, out)
    steer_acceleration = (steer_drive - pull(steer_coupling, right)) / steer_d
    out[14] = steer_acceleration
    for index in range(4):
        corner = work.corner[index]
        bend = steer_acceleration if index < 2 else 0.0
        theta_acceleration = (corner[1] - pull(work.coupling[index], right) - corner[2] * bend) * corner[0]
        out[6 + index] = theta_acceleration
        carried = corner[3] * right[0] + corner[4] * right[1] + corner[5] * right[2]
        out[10 + index] = corner[6] - carried - corner[7] * theta_acceleration - corner[8] * bend


@inlined_part
def _steer_terms(
    corner: CornerRecord, motion: CornerMotion, end: TieEnd, end_column: Vector3, hub: BodyTerms, tie_rod: BodyTerms
) -> SteerTerms:
    """Terms of the hub and tie rod, the only bodies that move with the Pitman angle alone."""
    pose = motion.pose
    spin = tie_end_spin(pose, end.position, end_column)
    angular_column = scale(spin, pose.upright)
    hub_centre = cross(angular_column, sub(hub.centre, pose.lower_ball))
    outer = scale(spin * corner.geometry.tie_radius, pose.tie_across)
    rod_angular_column = rod_on_spindle_column(corner, pose, end.position, angular_column, outer, end_column)
    rod_centre = combine(0.5, outer, 0.5, end_column)
    a, b = _with_columns(hub, angular_column, hub_centre), _with_columns(tie_rod, rod_angular_column, rod_centre)
    return SteerTerms(
        a.d + b.d,
        _cross_d(hub, angular_column, hub_centre) + _cross_d(tie_rod, rod_angular_column, rod_centre),
        a.drive + b.drive,
        combine(1.0, a.coupling_moment, 1.0, b.coupling_moment),
        combine(1.0, a.coupling_force, 1.0, b.coupling_force),
        spin,
    )


@inlined_part
def _with_columns(body: BodyTerms, angular_column: Vector3, centre: Vector3) -> CornerSums:
    """Sums of one body for another coordinate, with its motion per unit rate."""
    return first_body(BodyTerms(body.mass, body.centre, body.inertia, angular_column, centre, body.moment, body.force))


@inlined_part
def _cross_d(body: BodyTerms, angular_column: Vector3, centre: Vector3) -> float:
    """D between the body's own column and another one."""
    return body.mass * dot(centre, body.centre_column) + dot(angular_column, times(body.inertia, body.angular_column))


def steered_bodies(parameters: VehicleParameters) -> SteeredBodies:
    """The kernel's model of a vehicle with free steering."""
    chassis = rigid_inertia(chassis_lump(parameters, steering_is_fixed=False))
    return SteeredBodies(vehicle_bodies(parameters)._replace(chassis=chassis), steering_bodies(parameters))
