"""Appearance of the vehicle: body, frame, wishbones, shocks and wheels as boxes and cylinders, from its parameters.

Display only. The outline of the body is that of the points at which it can touch the ground.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.export.shapes import Box, Cylinder, Shape, display_shapes
from vehicle_dynamics.multibody.mechanism import ROOT, Mechanism
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.wishbone import Hardpoints
from vehicle_dynamics.vehicle_mechanism import CornerBuilder

Interval = tuple[float, float]

RIM = 0.45  # of the tyre's radius
ARM_RADIUS, UPPER_ARM_RADIUS, TUBE_RADIUS, PISTON_RADIUS = 0.025, 0.018, 0.04, 0.02  # [m]
OVERLAP = 0.6  # of the shock's length, for tube and piston each
RAIL_Y, RAIL_Z = (0.36, 0.44), (0.12, 0.24)  # [m] where the frame's rails run
BONNET_Z = 0.36  # [m] above the wheel arches
ARCH = 0.05  # [m] between tyre and body at design


def vehicle_shapes(parameters: VehicleParameters, mechanism: Mechanism) -> dict[str, list[Shape]]:
    """Shapes of each body of vehicle_mechanism(parameters), at design in the chassis frame; the chassis' under ROOT."""
    shapes = display_shapes(mechanism)
    shapes[ROOT] = [*_body(parameters), *_frame(parameters)]
    for corner in CORNERS:
        points = CornerBuilder(parameters, corner).points
        shapes[f"{corner}.wheel"] = _wheel(parameters, points.wheel_centre)
        shapes |= {f"{corner}.{name}": parts for name, parts in _arms_and_shock(points).items()}
    return shapes


def _arms_and_shock(p: Hardpoints) -> dict[str, list[Shape]]:
    """Two legs to each arm's pivots; the shock's tube stands on the lower arm, its piston hangs from the chassis."""
    lower = [p.lower_arm_pivot_front, p.lower_arm_pivot_rear]
    upper = [p.upper_arm_pivot_front, p.upper_arm_pivot_rear]
    foot = np.mean(lower, axis=0)
    return {
        "lower_arm": [
            *(Cylinder(pivot, p.lower_ball_joint, ARM_RADIUS, "bar") for pivot in lower),
            Cylinder(_point(foot), p.shock_lower_arm, ARM_RADIUS, "bar"),
            Cylinder(p.shock_lower_arm, p.lower_ball_joint, ARM_RADIUS, "bar"),
        ],
        "upper_arm": [Cylinder(pivot, p.upper_ball_joint, UPPER_ARM_RADIUS, "bar") for pivot in upper],
        "lower_shock": [_part(p.shock_lower_arm, p.shock_chassis, TUBE_RADIUS, "shock")],
        "upper_shock": [_part(p.shock_chassis, p.shock_lower_arm, PISTON_RADIUS, "rim")],
    }


def _wheel(parameters: VehicleParameters, centre: Vector3) -> list[Shape]:
    """Tyre, rim, and a bar across the rim that shows its rotation."""
    radius, width = parameters.wheel.radius_m, parameters.tyre.width_m
    half, outer = np.array([0.0, width / 2.0, 0.0]), np.array([0.0, 0.51 * width, 0.0])
    return [
        Cylinder(_point(centre - half), _point(centre + half), radius, "disc"),
        Cylinder(_point(centre - outer), _point(centre + outer), RIM * radius, "rim"),
        Box(centre, (1.7 * RIM * radius, 1.05 * width, 0.12 * radius), "steel"),
    ]


def _frame(parameters: VehicleParameters) -> list[Shape]:
    """Two rails; at each axle a plate between the lower arms' pivots and a beam between the shocks' tops."""
    front, rear = (s.hardpoints_left_m for s in (parameters.front_suspension, parameters.rear_suspension))
    ends = (rear.lower_arm_pivot_rear[0] - 0.25, front.lower_arm_pivot_front[0] + 0.2)
    shapes: list[Shape] = []
    for side in (1.0, -1.0):
        shapes.append(_box(ends, (side * RAIL_Y[0], side * RAIL_Y[1]), RAIL_Z, "steel"))
    for p in (front, rear):
        x, y, z = p.lower_arm_pivot_front
        shapes.append(_box((p.lower_arm_pivot_rear[0], x), (-y, y), (z - 0.02, z + 0.02), "steel"))
        x, y, z = p.shock_chassis
        shapes.append(_box((x - 0.05, x + 0.05), (-y, y), (RAIL_Z[1], z + 0.02), "steel"))
    return shapes


def _body(parameters: VehicleParameters) -> list[Shape]:
    """Tub between the wheels, everything above them up to the waist, grille, tail, cabin with its windows."""
    contact, p = parameters.body_contact, parameters.front_suspension.hardpoints_left_m
    x, z = np.array(contact.points_x_m), np.array(contact.points_z_m)
    side, roof, bottom = max(contact.points_y_m), float(z.max()), float(z.min())
    cabin = float(x[z == roof].min()), float(x[z == roof].max())
    rear, front = float(x.min()), float(x.max())
    sill = p.wheel_centre[2] + parameters.wheel.radius_m + ARCH
    waist = sill + BONNET_Z
    doors = p.wheel_centre[0] - 1.25 * parameters.wheel.radius_m
    window = (waist + 0.05, roof - 0.08)
    return [
        _box((-doors, doors), (-side, side), (bottom, sill), "body"),
        _box((rear, front), (-side, side), (sill, waist), "body"),
        _box((front - 0.06, front), (-0.6 * side, 0.6 * side), (RAIL_Z[0], sill), "body"),
        _box((rear, rear + 0.2), (-side, side), (RAIL_Z[0], sill), "body"),
        _box(cabin, (-0.93 * side, 0.93 * side), (waist, roof), "body"),
        _box((cabin[0] - 0.02, cabin[1] + 0.02), (-0.85 * side, 0.85 * side), window, "glass"),
        _box((cabin[0] + 0.12, cabin[1] - 0.12), (-0.95 * side, 0.95 * side), window, "glass"),
    ]


def _box(x: Interval, y: Interval, z: Interval, material: str) -> Box:
    spans = np.sort(np.array([x, y, z]), axis=1)
    return Box(_point(spans.mean(axis=1)), _point(spans[:, 1] - spans[:, 0]), material)


def _part(start: Vector3, towards: Vector3, radius: float, material: str) -> Cylinder:
    return Cylinder(start, _point(start + OVERLAP * np.subtract(towards, start)), radius, material)


def _point(values: NDArray[np.float64]) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z
