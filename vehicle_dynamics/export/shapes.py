"""Simple shapes to display a mechanism: bars between joints, a disc for a body that only spins, a box for the root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.mechanism import ROOT, Body, Mechanism, Motion

Array = NDArray[np.float64]

BAR_RADIUS = 0.015  # [m]
SAME_POINT = 1e-6  # [m]


@dataclass(frozen=True)
class Cylinder:
    """Cylinder from start to end, at design in the root frame [m]."""

    start: Vector3
    end: Vector3
    radius: float
    material: str = ""  # of COLOURS; else as `colour` has it


@dataclass(frozen=True)
class Box:
    """Box along the root frame's axes [m]."""

    centre: Vector3
    size: Vector3
    material: str = ""


Shape = Cylinder | Box

COLOURS = {
    "frame": "0.55 0.5 0.38 0.35",
    "bar": "0.75 0.22 0.15 1",
    "disc": "0.16 0.16 0.16 1",
    "body": "0.62 0.56 0.42 0.45",
    "glass": "0.45 0.58 0.65 0.6",
    "steel": "0.33 0.35 0.38 1",
    "shock": "0.85 0.65 0.15 1",
    "rim": "0.72 0.72 0.7 1",
}  # red green blue opacity


def colour(shape: Shape) -> str:
    """Name of a shape's colour: the root's box is translucent, so that the bars show."""
    if shape.material:
        return shape.material
    if isinstance(shape, Box):
        return "frame"
    return "bar" if shape.radius <= BAR_RADIUS else "disc"


def display_shapes(mechanism: Mechanism) -> dict[str, list[Shape]]:
    """Shapes of each body, the root's under ROOT. All sizes follow from joints and inertias."""
    points = joint_points(mechanism)
    shapes: dict[str, list[Shape]] = {ROOT: [_bounding_box(points[ROOT])] if points[ROOT] else []}
    for body in mechanism.bodies:
        shapes[body.name] = _body_shapes(body, points[body.name])
    return shapes


def joint_points(mechanism: Mechanism) -> dict[str, list[Vector3]]:
    """Joints of each body: its own hinge first, then those of its children, then its cuts; each point once."""
    points: dict[str, list[Vector3]] = {ROOT: []} | {body.name: [body.axes[0].point] for body in mechanism.bodies}
    joints = [(body.parent, body.axes[0].point) for body in mechanism.bodies]
    joints += [(name, cut.point) for cut in mechanism.cuts for name in (cut.first, cut.second)]
    for name, point in joints:
        if all(np.linalg.norm(np.subtract(point, other)) > SAME_POINT for other in points[name]):
            points[name].append(point)
    return {name: [_vector(np.array(point)) for point in positions] for name, positions in points.items()}


def _body_shapes(body: Body, points: list[Vector3]) -> list[Shape]:
    hinge, *others = points
    to_centre = np.subtract(body.centre, hinge)
    if not others and np.linalg.norm(to_centre) > SAME_POINT:  # one joint, at one end: the centre is in the middle
        others = [_vector(np.add(body.centre, to_centre))]
    if others:
        return [Cylinder(hinge, other, BAR_RADIUS) for other in others]
    return [_disc(body)] if body.axes[-1].motion is Motion.REVOLUTE else []


def _disc(body: Body) -> Cylinder:
    """The solid cylinder about the hinge that has the body's mass and moments."""
    axis = np.array(body.axes[-1].direction)
    spin = float(axis @ body.inertia @ axis)
    across = (float(np.trace(body.inertia)) - spin) / 2.0
    mass = max(body.mass, 1e-9)
    radius = max(np.sqrt(2.0 * spin / mass), BAR_RADIUS)
    width = np.sqrt(max(12.0 * across / mass - 3.0 * radius**2, BAR_RADIUS**2))
    half = axis * width / 2.0
    return Cylinder(_vector(body.centre - half), _vector(body.centre + half), float(radius))


def _bounding_box(points: list[Vector3]) -> Box:
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return Box(_vector((low + high) / 2.0), _vector(np.maximum(high - low, 2.0 * BAR_RADIUS)))


def _vector(values: Array) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z
