"""Sums over the bodies of a corner with one degree of freedom: its part of the recursion of Eqs. 4-7, in scalars.

All is in chassis axes about the chassis origin, so that no transport is needed. The loads are those of a chassis that
rotates but does not accelerate; velocities are relative to an observer moving with the chassis origin, which changes
no acceleration.
"""

from __future__ import annotations

from typing import NamedTuple

from proving_ground.kernels.inertia import Symmetric, about_origin, times
from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, combine, cross, dot, scale


class BodyTerms(NamedTuple):
    """One body: its inertia, its motion per unit theta rate, and the load that it needs at zero acceleration."""

    mass: float
    centre: Vector3
    inertia: Symmetric  # about the centre
    angular_column: Vector3
    centre_column: Vector3
    moment: Vector3  # about the centre
    force: Vector3


class BodyMotion(NamedTuple):
    """A velocity or an acceleration of a body: angular, and of its centre of mass."""

    angular: Vector3
    centre: Vector3


class CornerSums(NamedTuple):
    """Sums over the bodies of a corner, about the chassis origin in chassis axes."""

    mass: float
    moment: Vector3  # mass times centre
    inertia: Symmetric
    coupling_moment: Vector3  # P H*: momentum of a unit theta rate
    coupling_force: Vector3
    load_moment: Vector3  # force that the chassis must supply when not accelerating
    load_force: Vector3
    d: float  # D = H P H*
    drive: float  # generalised force on theta, less the loads


@inlined_part
def body_terms(
    mass: float,
    inertia: Symmetric,
    centre: Vector3,
    column: BodyMotion,
    velocity: BodyMotion,
    bias: BodyMotion,
    chassis_angular_velocity: Vector3,
) -> BodyTerms:
    """Newton and Euler about the centre of mass, relative to the chassis.

    column is the motion per unit theta rate, bias the acceleration at zero theta''.
    """
    carried = cross(chassis_angular_velocity, add_scaled(cross(chassis_angular_velocity, centre), 2.0, velocity.centre))
    force = combine(mass, bias.centre, mass, carried)
    total_angular_velocity = add(chassis_angular_velocity, velocity.angular)
    angular = add(bias.angular, cross(chassis_angular_velocity, velocity.angular))
    moment = add(times(inertia, angular), cross(total_angular_velocity, times(inertia, total_angular_velocity)))
    return BodyTerms(mass, centre, inertia, column.angular, column.centre, moment, force)


@inlined_part
def first_body(body: BodyTerms) -> CornerSums:
    """The sums of one body alone."""
    momentum = scale(body.mass, body.centre_column)
    spin_momentum = times(body.inertia, body.angular_column)
    c, force = body.centre, body.force
    return CornerSums(
        body.mass,
        scale(body.mass, c),
        about_origin(body.inertia, body.mass, c),
        add(spin_momentum, cross(c, momentum)),
        momentum,
        add(body.moment, cross(c, force)),
        force,
        dot(body.centre_column, momentum) + dot(body.angular_column, spin_momentum),
        -dot(body.centre_column, force) - dot(body.angular_column, body.moment),
    )


@inlined_part
def add_body(sums: CornerSums, body: BodyTerms) -> CornerSums:
    """Add one body to the sums of a suspension corner."""
    own = first_body(body)
    a, b = sums.inertia, own.inertia
    return CornerSums(
        sums.mass + own.mass,
        add(sums.moment, own.moment),
        (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]),
        add(sums.coupling_moment, own.coupling_moment),
        add(sums.coupling_force, own.coupling_force),
        add(sums.load_moment, own.load_moment),
        add(sums.load_force, own.load_force),
        sums.d + own.d,
        sums.drive + own.drive,
    )
