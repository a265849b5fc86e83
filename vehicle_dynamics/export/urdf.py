"""A mechanism's spanning tree as URDF, to display it in RViz: URDF knows no loops, so the cuts stay open.

Every link frame is parallel to the root frame at design, with its origin on its hinge. A hinge of several axes becomes
as many joints with links without inertia between them. Names are the mechanism's with '_' for '.', so that frames read
`front_left_wheel`; joints are named after their coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Comment, Element, SubElement

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.export.shapes import COLOURS, Box, Shape, colour, display_shapes
from vehicle_dynamics.export.xml_text import document, number, numbers
from vehicle_dynamics.multibody.mechanism import ROOT, Body, Mechanism, Motion

Array = NDArray[np.float64]

JOINT_TYPES = {Motion.TURN: "continuous", Motion.SLIDE: "prismatic"}
SLIDE_LIMIT = 1.0  # [m] either way; URDF wants one


def urdf(mechanism: Mechanism, name: str = "mechanism", *, root_link: str = "chassis") -> str:
    """URDF text; coordinates of joints are the mechanism's tree coordinates."""
    robot = Element("robot", name=name)
    for cut in mechanism.cuts:
        ends = " and ".join(_link_name(body, root_link) for body in (cut.first, cut.second))
        text = f" cut {cut.name}, left open: {ends} meet at {numbers(cut.point)} ".replace("--", "- -")
        robot.append(Comment(text))
    for name, rgba in COLOURS.items():
        SubElement(SubElement(robot, "material", name=name), "color", rgba=rgba)
    shapes = display_shapes(mechanism)
    origins = {ROOT: np.zeros(3)}
    root = SubElement(robot, "link", name=root_link)
    _add_inertial(root, mechanism.root_mass, np.array(mechanism.root_centre), mechanism.root_inertia)
    _add_visuals(root, shapes[ROOT], origins[ROOT])
    coordinates = iter(mechanism.coordinate_names)
    for body in mechanism.bodies:
        origins[body.name] = np.array(body.axes[-1].point)
        parent = _link_name(body.parent, root_link)
        _add_body(robot, body, parent, origins[body.parent], coordinates, shapes[body.name])
    return document(robot)


def _add_body(
    robot: Element, body: Body, parent: str, parent_origin: Array, coordinates: Iterator[str], shapes: list[Shape]
) -> None:
    for count, axis in enumerate(body.axes, start=1):
        joint_name = next(coordinates).replace(".", "_")
        child = _link_name(body.name) if count == len(body.axes) else f"{joint_name}_link"
        joint = SubElement(robot, "joint", name=joint_name, type=JOINT_TYPES[axis.motion])
        SubElement(joint, "origin", xyz=numbers(axis.point - parent_origin), rpy="0 0 0")
        SubElement(joint, "parent", link=parent)
        SubElement(joint, "child", link=child)
        SubElement(joint, "axis", xyz=numbers(axis.direction))
        if axis.motion is Motion.SLIDE:
            SubElement(joint, "limit", lower=str(-SLIDE_LIMIT), upper=str(SLIDE_LIMIT), effort="0", velocity="0")
        link = SubElement(robot, "link", name=child)
        parent, parent_origin = child, np.array(axis.point)
    _add_inertial(link, body.mass, body.centre - parent_origin, body.inertia)
    _add_visuals(link, shapes, parent_origin)


def _add_inertial(link: Element, mass: float, centre: Array, inertia: Array) -> None:
    if mass == 0.0:
        return
    inertial = SubElement(link, "inertial")
    SubElement(inertial, "origin", xyz=numbers(centre), rpy="0 0 0")
    SubElement(inertial, "mass", value=number(mass))
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    SubElement(inertial, "inertia", {name: number(inertia[place]) for name, place in names.items()})


def _add_visuals(link: Element, shapes: list[Shape], origin: Array) -> None:
    for shape in shapes:
        visual = SubElement(link, "visual")
        if isinstance(shape, Box):
            SubElement(visual, "origin", xyz=numbers(shape.centre - origin), rpy="0 0 0")
            SubElement(SubElement(visual, "geometry"), "box", size=numbers(shape.size))
        else:
            span = np.subtract(shape.end, shape.start)
            middle = np.add(shape.start, shape.end) / 2.0
            SubElement(visual, "origin", xyz=numbers(middle - origin), rpy=numbers(_rpy_of_z_axis(span)))
            length = float(np.linalg.norm(span))
            SubElement(SubElement(visual, "geometry"), "cylinder", radius=number(shape.radius), length=number(length))
        SubElement(visual, "material", name=colour(shape))


def _rpy_of_z_axis(span: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw that turn the z axis, along which URDF's cylinders lie, into the direction of span."""
    return 0.0, float(np.arctan2(np.hypot(span[0], span[1]), span[2])), float(np.arctan2(span[1], span[0]))


def _link_name(body: str, root_link: str = ROOT) -> str:
    return root_link if body == ROOT else body.replace(".", "_")
