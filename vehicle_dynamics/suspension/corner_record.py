"""Record of one corner for the vehicle's kernel: geometry, bodies, springs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from proving_ground.kernels.inertia import RigidInertia, Symmetric
from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.spatial import Array, skew
from vehicle_dynamics.suspension.reach import reach
from vehicle_dynamics.suspension.strut import STRUT, strut_record
from vehicle_dynamics.suspension.wishbone import WISHBONE
from vehicle_dynamics.vehicle_mechanism import CornerBuilder, Lump, joined

# An arm rotates about an axis of the chassis: its centre is fixed + radius cos + tangent sin, its inertia about that
# centre, as xx, yy, zz, xy, xz, yz in chassis axes, the sum of five rows times 1, cos, sin, cos^2, cos sin.
ARM = np.dtype(
    [("mass", "f8"), ("fixed", "f8", 3), ("radius", "f8", 3), ("tangent", "f8", 3), ("inertia", "f8", (5, 6))]
)
# A slender rod: moments about its centre across and along it, and distance of that from the end named where it is used.
ROD = np.dtype([("mass", "f8"), ("across", "f8"), ("along", "f8"), ("reach", "f8")])
# Spindle and wheel, less the wheel's moment about its spin axis; components along the spindle's axes, from D.
HUB = np.dtype(
    [
        ("mass", "f8"),
        ("centre", "f8", 3),
        ("inertia", "f8", 6),  # about the centre
        ("spin_axis", "f8", 3),
        ("wheel_arm", "f8", 3),  # from the hub's centre of mass to the wheel's
        ("spin_inertia", "f8"),  # shafts included
        ("tie_cross", "f8", 3),  # first axis of the tie rod's universal joint
    ]
)
CORNER = np.dtype(
    [
        ("geometry", WISHBONE),
        ("strut", STRUT),
        ("lower_arm", ARM),
        ("upper_arm", ARM),
        ("hub", HUB),
        ("upright_arm", ROD),
        ("tie_rod", ROD),
        ("lower_shock", ROD),  # reach from B
        ("upper_shock", ROD),  # reach from J
        ("lowest", "f8"),  # theta between these can be reached, whatever the steering [rad]
        ("highest", "f8"),
    ]
)
CornerRecord: TypeAlias = Any


def corner_record(builder: CornerBuilder, tie_ends: Iterable[Vector3]) -> CornerRecord:
    """The record of one corner: the same bodies as vehicle_mechanism builds. tie_ends: possible positions of L."""
    lumps, points, g = builder.lumps(), builder.points, builder.geometry
    record = np.zeros(1, CORNER)
    record["geometry"] = g
    left = builder.suspension.hardpoints_left_m.hardpoints().geometry()
    record["strut"] = strut_record(builder.suspension, tuple(left.lower_pivot), tuple(left.lower_axis))
    fill_arm(record["lower_arm"], lumps["lower_arm"], g.lower_pivot, g.lower_axis)
    fill_arm(record["upper_arm"], lumps["upper_arm"], g.upper_pivot, g.upper_axis)
    _fill_hub(record["hub"], builder, lumps["spindle"], lumps["wheel"])
    _fill_rod(record["upright_arm"], lumps["upright_arm"], points.lower_ball_joint, points.upper_ball_joint)
    _fill_rod(record["tie_rod"], lumps["tie_rod"], points.tie_rod_outer, points.tie_rod_inner)
    _fill_rod(record["lower_shock"], lumps["lower_shock"], points.shock_lower_arm, points.shock_chassis)
    _fill_rod(record["upper_shock"], lumps["upper_shock"], points.shock_chassis, points.shock_lower_arm)
    record["lowest"], record["highest"] = reach(g, tie_ends)
    return record[0]


def symmetric(matrix: Array) -> Symmetric:
    """xx, yy, zz, xy, xz, yz of a symmetric matrix."""
    xx, yy, zz, xy, xz, yz = (float(matrix[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return xx, yy, zz, xy, xz, yz


def rigid_inertia(lump: Lump) -> RigidInertia:
    """A lump in the form that kernels use."""
    mass, centre, inertia = lump
    x, y, z = (float(value) for value in centre)
    return RigidInertia(mass, (x, y, z), symmetric(inertia))


def fill_arm(arm: Any, lump: Lump, pivot: Array, axis: Array) -> None:
    """Fill a record of ARM: a body that rotates about an axis through a pivot."""
    mass, centre, inertia = lump
    along, rotating = np.outer(axis, axis), skew(axis)
    across = np.eye(3) - along
    arm["mass"] = mass
    arm["fixed"] = pivot + along @ (centre - pivot)
    arm["radius"] = across @ (centre - pivot)
    arm["tangent"] = rotating @ (centre - pivot)
    # R I R^T with R = along + cos across + sin rotating, and sin^2 = 1 - cos^2.
    rows = (
        along @ inertia @ along - rotating @ inertia @ rotating,
        along @ inertia @ across + across @ inertia @ along,
        rotating @ inertia @ along - along @ inertia @ rotating,
        across @ inertia @ across + rotating @ inertia @ rotating,
        rotating @ inertia @ across - across @ inertia @ rotating,
    )
    arm["inertia"] = [symmetric(row) for row in rows]


def _fill_hub(hub: Any, builder: CornerBuilder, spindle: Lump, wheel: Lump) -> None:
    axes = np.array(builder.geometry.spindle_axes)
    y = np.array([0.0, 1.0, 0.0])
    wheel_mass, wheel_centre, wheel_inertia = wheel
    without_spin = wheel_inertia - wheel_inertia[1, 1] * np.outer(y, y)
    mass, centre, inertia = joined([spindle, (wheel_mass, wheel_centre, without_spin)])
    hub["mass"] = mass
    hub["centre"] = axes @ (centre - builder.geometry.lower_ball)
    hub["inertia"] = symmetric(axes @ inertia @ axes.T)
    hub["spin_axis"] = axes @ y
    hub["wheel_arm"] = axes @ (wheel_centre - centre)
    hub["spin_inertia"] = wheel_inertia[1, 1]
    hub["tie_cross"] = axes @ builder.tie_cross()


def _fill_rod(rod: Any, lump: Lump, end: Vector3, other: Vector3) -> None:
    mass, centre, inertia = lump
    along = np.subtract(other, end) / np.linalg.norm(np.subtract(other, end))
    axial = float(along @ inertia @ along)
    rod["mass"], rod["along"], rod["across"] = mass, axial, (float(np.trace(inertia)) - axial) / 2.0
    rod["reach"] = np.linalg.norm(centre - np.array(end))
