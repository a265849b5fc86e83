"""The Pitman steering TUVW: a planar four-bar whose coupler UV is the steering link that carries both tie-rod ends.

Closed form with first and second derivatives by the Pitman angle ([Jain], section 5.4). The angle is that of the arm
relative to the chassis, about the common axis of both pivots, zero at the design position; vectors are in chassis axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from proving_ground.kernels.jit import inlined
from proving_ground.kernels.loop_angle import branch_at_zero, solve_angle
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, cross, dot, norm, rotate, scale, sub, unit


class PitmanGeometry(NamedTuple):
    """Geometry for the kernels, at the design position."""

    axis: Vector3  # unit, of both pivots
    pitman_pivot: Vector3  # T
    pitman_joint: Vector3  # U
    idler_joint: Vector3  # V
    idler_pivot: Vector3  # W, in the plane of the others
    idler_branch: float


class LinkMotion(NamedTuple):
    """The steering link at one Pitman angle: its position, and its derivatives by that angle."""

    cosine: float  # of the rotation of the link
    sine: float
    pitman_joint: Vector3  # U
    joint_rate: Vector3
    joint_change: Vector3  # second derivative
    link_rate: float  # rotation of the link per rotation of the arm
    link_change: float
    idler_cosine: float  # of the rotation of the idler
    idler_sine: float
    idler_rate: float
    idler_change: float
    margin: float  # negative where the four-bar cannot close


@inlined
def link_motion(geometry: PitmanGeometry, angle: float) -> LinkMotion:
    """Position and derivatives of the steering link at the Pitman angle [rad]."""
    g = geometry
    n = g.axis
    arm0 = sub(g.pitman_joint, g.pitman_pivot)
    u = add(g.pitman_pivot, rotate(n, math.cos(angle), math.sin(angle), arm0))
    # |V - U| constant with V on the idler's circle: A cos + B sin = X, as in the suspension.
    idler0, reach, link0 = sub(g.idler_joint, g.idler_pivot), sub(u, g.idler_pivot), sub(g.idler_joint, g.pitman_joint)
    x = 0.5 * (dot(reach, reach) + dot(idler0, idler0) - dot(link0, link0))
    cos_idler, sin_idler, margin = solve_angle(dot(reach, idler0), dot(reach, cross(n, idler0)), x, g.idler_branch)
    idler = rotate(n, cos_idler, sin_idler, idler0)
    link = sub(add(g.idler_pivot, idler), u)

    u_rate = cross(n, sub(u, g.pitman_pivot))
    u_change = cross(n, u_rate)
    v_per_idler = cross(n, idler)
    idler_rate = dot(link, u_rate) / dot(link, v_per_idler)
    gap_rate = sub(scale(idler_rate, v_per_idler), u_rate)
    length2 = dot(link, link)
    link_rate = dot(cross(n, link), gap_rate) / length2
    v_bias = scale(idler_rate * idler_rate, cross(n, v_per_idler))
    idler_change = (dot(link, sub(u_change, v_bias)) - dot(gap_rate, gap_rate)) / dot(link, v_per_idler)
    gap_change = sub(add_scaled(v_bias, idler_change, v_per_idler), u_change)
    link_change = dot(cross(n, link), gap_change) / length2
    cosine, sine = dot(link0, link) / length2, dot(cross(link0, link), n) / length2
    return LinkMotion(
        cosine,
        sine,
        u,
        u_rate,
        u_change,
        link_rate,
        link_change,
        cos_idler,
        sin_idler,
        idler_rate,
        idler_change,
        margin,
    )


@inlined
def link_point(geometry: PitmanGeometry, motion: LinkMotion, design: Vector3) -> tuple[Vector3, Vector3, Vector3]:
    """Position of a point of the link (given at design), and its first and second derivative by the angle."""
    n = geometry.axis
    offset = rotate(n, motion.cosine, motion.sine, sub(design, geometry.pitman_joint))
    tangent = cross(n, offset)
    rate = add_scaled(motion.joint_rate, motion.link_rate, tangent)
    change = add_scaled(motion.joint_change, motion.link_change, tangent)
    return (
        add(motion.pitman_joint, offset),
        rate,
        add_scaled(change, motion.link_rate * motion.link_rate, cross(n, tangent)),
    )


@dataclass(frozen=True, kw_only=True)
class PitmanPoints:
    """Points of the steering at the design position [m], chassis frame."""

    pitman_pivot: Vector3
    pitman_joint: Vector3
    idler_joint: Vector3
    idler_pivot: Vector3
    axis: Vector3

    def geometry(self) -> PitmanGeometry:
        """Geometry for the kernels."""
        axis = unit(self.axis)
        pivot = add_scaled(self.pitman_pivot, dot(sub(self.pitman_joint, self.pitman_pivot), axis), axis)
        idler = add_scaled(self.idler_pivot, dot(sub(self.idler_joint, self.idler_pivot), axis), axis)
        reach, arm = sub(self.pitman_joint, idler), sub(self.idler_joint, idler)
        if norm(cross(axis, sub(self.idler_joint, self.pitman_joint))) == 0.0:
            raise ValueError("idler_joint: must differ from pitman_joint")
        return PitmanGeometry(
            axis, pivot, self.pitman_joint, self.idler_joint, idler, branch_at_zero(dot(reach, cross(axis, arm)))
        )
