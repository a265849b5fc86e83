"""A mechanism's spanning tree as URDF, to display it in RViz: URDF has no loops, so the cuts stay open.

Links and joints are those of joint_frames.py; coordinates of joints are the mechanism's tree coordinates. Links between
the axes of one hinge have no inertia.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from xml.etree.ElementTree import Comment, Element, SubElement

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import ZERO, Vector3
from vehicle_dynamics.export.joint_frames import JointFrame, joint_frames, joint_name
from vehicle_dynamics.export.shapes import COLOURS, Box, Shape, colour, display_shapes
from vehicle_dynamics.export.xml_text import document, number, numbers
from vehicle_dynamics.multibody.mechanism import ROOT, Mechanism, Motion

Array = NDArray[np.float64]

BASE_LINK = "base_link"
JOINT_TYPES = {Motion.REVOLUTE: "continuous", Motion.SLIDE: "prismatic"}
SLIDE_LIMIT = 1.0  # [m] either way; URDF requires one


class Mount(NamedTuple):
    """Pose of something fixed to a link."""

    position: Vector3  # [m]
    rpy: Vector3 = ZERO  # roll, pitch, yaw [rad]


def urdf(
    mechanism: Mechanism,
    name: str = "mechanism",
    *,
    root_link: str = "chassis",
    base_in_root: Sequence[float] | Array | None = None,
    mounts: Mapping[str, Mount] = MappingProxyType({}),
    shapes: Mapping[str, Sequence[Shape]] | None = None,
) -> str:
    """URDF text. Each link of `mounts`, fixed to the first link, is an empty frame.

    The first link is the root body's; or, with base_in_root, base_link, which is at that point of the root body [m]
    with parallel axes and has no inertia, as KDL requires of the first link. shapes: by body, else display_shapes.
    """
    robot = Element("robot", name=name)
    _add_comments(robot, mechanism, root_link)
    for material, rgba in COLOURS.items():
        SubElement(SubElement(robot, "material", name=material), "color", rgba=rgba)
    first = root_link if base_in_root is None else BASE_LINK
    if base_in_root is not None:
        SubElement(robot, "link", name=first)
        _add_fixed(robot, first, root_link, Mount(_negative(base_in_root)))
    shapes = display_shapes(mechanism) if shapes is None else shapes
    root = SubElement(robot, "link", name=root_link)
    _add_inertial(root, mechanism.root_mass, np.array(mechanism.root_centre), mechanism.root_inertia)
    _add_visuals(root, shapes[ROOT], np.zeros(3))
    _add_tree(robot, mechanism, root_link, shapes)
    for link, mount in mounts.items():
        _add_fixed(robot, first, link, mount)
        SubElement(robot, "link", name=link)
    return document(robot)


def _add_comments(robot: Element, mechanism: Mechanism, root_link: str) -> None:
    for cut in mechanism.cuts:
        ends = " and ".join(root_link if body == ROOT else joint_name(body) for body in (cut.first, cut.second))
        text = f" cut {cut.name}, left open: {ends} meet at {numbers(cut.point)} ".replace("--", "- -")
        robot.append(Comment(text))


def _add_tree(robot: Element, mechanism: Mechanism, root_link: str, shapes: Mapping[str, Sequence[Shape]]) -> None:
    bodies = {joint_name(body.name): body for body in mechanism.bodies}
    for frame in joint_frames(mechanism, root_link):
        _add_joint(robot, frame)
        link = SubElement(robot, "link", name=frame.child)
        body = bodies.get(frame.child)
        if body is not None:
            origin = np.array(body.axes[-1].point)
            _add_inertial(link, body.mass, body.centre - origin, body.inertia)
            _add_visuals(link, shapes[body.name], origin)


def _add_joint(robot: Element, frame: JointFrame) -> None:
    joint = SubElement(robot, "joint", name=frame.name, type=JOINT_TYPES[frame.motion])
    _add_ends(joint, frame.parent, frame.child, Mount(frame.origin))
    SubElement(joint, "axis", xyz=numbers(frame.axis))
    if frame.motion is Motion.SLIDE:
        SubElement(joint, "limit", lower=str(-SLIDE_LIMIT), upper=str(SLIDE_LIMIT), effort="0", velocity="0")


def _add_fixed(robot: Element, parent: str, child: str, mount: Mount) -> None:
    _add_ends(SubElement(robot, "joint", name=f"{child}_mount", type="fixed"), parent, child, mount)


def _add_ends(joint: Element, parent: str, child: str, mount: Mount) -> None:
    SubElement(joint, "origin", xyz=numbers(mount.position), rpy=numbers(mount.rpy))
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)


def _add_inertial(link: Element, mass: float, centre: Array, inertia: Array) -> None:
    if mass == 0.0:
        return
    inertial = SubElement(link, "inertial")
    SubElement(inertial, "origin", xyz=numbers(centre), rpy="0 0 0")
    SubElement(inertial, "mass", value=number(mass))
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    SubElement(inertial, "inertia", {name: number(inertia[position]) for name, position in names.items()})


def _add_visuals(link: Element, shapes: Sequence[Shape], origin: Array) -> None:
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


def _rpy_of_z_axis(span: Array) -> Vector3:
    """Roll, pitch, yaw that rotate the z axis, along which URDF's cylinders lie, into the direction of span."""
    return 0.0, float(np.arctan2(np.hypot(span[0], span[1]), span[2])), float(np.arctan2(span[1], span[0]))


def _negative(point: Sequence[float] | Array) -> Vector3:
    x, y, z = (-float(value) for value in point)
    return x, y, z
