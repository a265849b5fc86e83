"""A mechanism as an MJCF model for MuJoCo, its loops closed by `connect` constraints.

All body frames coincide with the root frame at design, so points, axes and inertias are written as they stand in the
Mechanism. A hinge of several axes becomes several joints of one body: MuJoCo applies them in the order of the file and
each carries those after it, as ours do. Shapes are for display only: no mass, no contact.

MuJoCo closes loops softly: a violation r decays like a damped spring, r'' + b r' + k r = 0, whose time constant is the
first number of `solref`, while the accelerations that pull the joint apart pass with a share 1 - d (`solimp`). A
lasting pull leaves a violation of the order (1 - d) times the time constant squared. Both are at their stiffest
here: d = 0.9999 is the most that MuJoCo accepts, at any violation, and a time constant of two steps with critical
damping is the least (`refsafe`). Halving the step then quarters the difference from ideal joints; with the
integrator RK4 it is 3e-6 rad after 1 s at 1 ms (test_other_engines.py), while the default, implicitfast, is of first
order and adds more error by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.export.shapes import COLOURS, Box, Shape, colour, display_shapes
from vehicle_dynamics.export.xml_text import document, number, numbers
from vehicle_dynamics.multibody.mechanism import ROOT, Body, Mechanism, Motion

Array = NDArray[np.float64]

GRAVITY = (0.0, 0.0, -9.81)  # [m/s^2]
JOINT_TYPES = {Motion.REVOLUTE: "hinge", Motion.SLIDE: "slide"}
STEPS_PER_TIME_CONSTANT = 2.0
IMPEDANCE = 0.9999


def mjcf(
    mechanism: Mechanism,
    name: str = "mechanism",
    *,
    root_is_held: bool = False,
    gravity: tuple[float, float, float] = GRAVITY,
    timestep_s: float = 0.001,
) -> str:
    """MJCF text. Bodies, joints and constraints are named as in the mechanism; the free joint is named ROOT.

    A cut along two directions is written as a full ball joint: the third direction of such a loop holds by itself, and
    MuJoCo tolerates the redundancy. A cut along one direction cannot be written.
    """
    model = Element("mujoco", model=name)
    SubElement(model, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    option = SubElement(
        model, "option", timestep=number(timestep_s), gravity=numbers(gravity), integrator="implicitfast"
    )
    SubElement(option, "flag", contact="disable")
    default = SubElement(model, "default")
    SubElement(default, "geom", contype="0", conaffinity="0", mass="0", group="1")
    SubElement(
        default,
        "equality",
        solref=numbers((STEPS_PER_TIME_CONSTANT * timestep_s, 1.0)),
        solimp=numbers((IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0)),
    )
    world = SubElement(model, "worldbody")
    SubElement(world, "light", pos="0 0 10", dir="0 0 -1", directional="true")
    _add_tree(world, mechanism, root_is_held)
    _add_closures(model, mechanism)
    return document(model)


def _add_tree(world: Element, mechanism: Mechanism, root_is_held: bool) -> None:
    shapes = display_shapes(mechanism)
    root = SubElement(world, "body", name=ROOT)
    if not root_is_held:
        SubElement(root, "freejoint", name=ROOT)
    if not root_is_held or mechanism.root_mass > 0.0:
        _add_inertial(root, mechanism.root_mass, mechanism.root_centre, mechanism.root_inertia)
    _add_geoms(root, shapes[ROOT])
    elements = {ROOT: root}
    names = iter(mechanism.coordinate_names)
    for body in mechanism.bodies:
        elements[body.name] = _body(elements[body.parent], body, names, shapes[body.name])


def _body(parent: Element, body: Body, names: Iterator[str], shapes: list[Shape]) -> Element:
    element = SubElement(parent, "body", name=body.name)
    _add_inertial(element, body.mass, body.centre, body.inertia)
    for axis in body.axes:
        SubElement(
            element,
            "joint",
            name=next(names),
            type=JOINT_TYPES[axis.motion],
            pos=numbers(axis.point),
            axis=numbers(axis.direction),
        )
    _add_geoms(element, shapes)
    return element


def _add_inertial(element: Element, mass: float, centre: tuple[float, float, float], inertia: Array) -> None:
    upper = (inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
    SubElement(element, "inertial", pos=numbers(centre), mass=number(mass), fullinertia=numbers(upper))


def _add_geoms(element: Element, shapes: list[Shape]) -> None:
    for shape in shapes:
        if isinstance(shape, Box):
            half = np.array(shape.size) / 2.0
            geom = SubElement(element, "geom", type="box", pos=numbers(shape.centre), size=numbers(half))
        else:
            ends = (*shape.start, *shape.end)
            geom = SubElement(element, "geom", type="cylinder", fromto=numbers(ends), size=number(shape.radius))
        geom.set("rgba", COLOURS[colour(shape)])


def _add_closures(model: Element, mechanism: Mechanism) -> None:
    if not mechanism.cuts:
        return
    equality = SubElement(model, "equality")
    for cut in mechanism.cuts:
        if len(cut.directions) < 2:
            raise ValueError(f"cut {cut.name}: MJCF has ball joints, no constraint along one direction")
        # The anchor is in the first body's frame, at design.
        SubElement(equality, "connect", name=cut.name, body1=cut.first, body2=cut.second, anchor=numbers(cut.point))
