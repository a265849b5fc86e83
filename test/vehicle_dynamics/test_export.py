"""Exported models, read back by the engines they are for: same mass, same centre of mass, same motion of every body."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.settings.share import share_file
from vehicle_dynamics.export import xml_text
from vehicle_dynamics.export.mjcf import mjcf
from vehicle_dynamics.export.shapes import Box, Cylinder, display_shapes
from vehicle_dynamics.export.urdf import urdf
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import ROOT, Axis, Body, Cut, Mechanism, Motion
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

TOTAL_MASS = 2573.138  # [kg]
CENTRE = (0.047925, 0.000155, 0.168936)  # of mass at design [m]
PARAMETERS = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))


@pytest.fixture(scope="module")
def vehicle() -> Mechanism:
    return vehicle_mechanism(PARAMETERS)


@pytest.fixture(scope="module")
def mujoco() -> Any:
    return pytest.importorskip("mujoco", reason="needs MuJoCo: pip install mujoco")


@pytest.fixture(scope="module")
def pinocchio() -> Any:
    return pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")


def random_open_state(mechanism: Mechanism) -> TreeState:
    """Arbitrary coordinates with open loops: each axis of each hinge must move what hangs from it."""
    layout = TreeLayout(mechanism)
    random = np.random.default_rng(0)
    return TreeState(layout, random.uniform(-1.0, 1.0, layout.count), np.zeros(layout.count), np.zeros(6))


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(xml_text).failed == 0


@pytest.mark.parametrize("write", [mjcf, urdf])
def test_export_is_valid_xml_and_the_same_every_time(write: Callable[[Mechanism], str]) -> None:
    texts = [write(vehicle_mechanism(PARAMETERS)) for _ in range(2)]

    assert texts[0] == texts[1]
    ElementTree.fromstring(texts[0])


def test_mujoco_reads_mass_centre_and_loops(vehicle: Mechanism, mujoco: Any) -> None:
    model = mujoco.MjModel.from_xml_string(mjcf(vehicle, "HMMWV"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)

    assert model.body_mass.sum() == pytest.approx(TOTAL_MASS, abs=1e-9)
    assert_allclose(data.subtree_com[0], CENTRE, atol=5e-7)
    assert (model.nv, data.nefc, data.ncon) == (50, 36, 0)
    assert np.abs(data.efc_pos).max() < 1e-12  # closed at design
    assert [model.joint(name).name for name in vehicle.coordinate_names] == vehicle.coordinate_names


def test_mujoco_places_every_body_and_its_inertia_as_our_tree_does(vehicle: Mechanism, mujoco: Any) -> None:
    state = random_open_state(vehicle)
    model = mujoco.MjModel.from_xml_string(mjcf(vehicle))
    data = mujoco.MjData(model)
    for name, value in zip(vehicle.coordinate_names, state.coordinates, strict=True):
        data.joint(name).qpos[0] = value

    mujoco.mj_forward(model, data)

    for number, body in enumerate(vehicle.bodies, start=1):
        there = data.body(body.name)
        assert_allclose(there.xpos, state.shifted[number], atol=1e-12)
        assert_allclose(there.xmat.reshape(3, 3), state.rotated[number], atol=1e-12)
        axes = there.ximat.reshape(3, 3)
        inertia = axes @ np.diag(model.body(body.name).inertia) @ axes.T
        expected = state.rotated[number] @ body.inertia @ state.rotated[number].T
        assert_allclose(inertia, expected, atol=1e-9 * np.abs(expected).max())
        assert_allclose(there.xipos, state.position(number, body.centre), atol=1e-12)


def test_shapes_of_mjcf_are_visible_without_mass_or_contact(vehicle: Mechanism, mujoco: Any) -> None:
    model = mujoco.MjModel.from_xml_string(mjcf(vehicle))

    assert model.ngeom > len(vehicle.bodies)
    assert not model.geom_contype.any()
    assert not model.geom_conaffinity.any()


def test_held_root_has_no_degrees_of_freedom(vehicle: Mechanism, mujoco: Any) -> None:
    model = mujoco.MjModel.from_xml_string(mjcf(vehicle, root_is_held=True))

    assert model.nv == 44


def test_pinocchio_reads_mass_and_centre_of_urdf(vehicle: Mechanism, pinocchio: Any) -> None:
    model = pinocchio.buildModelFromXML(urdf(vehicle, "HMMWV"), pinocchio.JointModelFreeFlyer())

    assert pinocchio.computeTotalMass(model) == pytest.approx(TOTAL_MASS, abs=1e-9)
    assert_allclose(pinocchio.centerOfMass(model, model.createData(), pinocchio.neutral(model)), CENTRE, atol=5e-7)
    assert model.nv == 50


def test_links_of_urdf_move_as_our_tree_does(vehicle: Mechanism, pinocchio: Any) -> None:
    state = random_open_state(vehicle)
    model = pinocchio.buildModelFromXML(urdf(vehicle), pinocchio.JointModelFreeFlyer())
    data, configuration = model.createData(), pinocchio.neutral(model)
    for name, value in zip(vehicle.coordinate_names, state.coordinates, strict=True):
        joint = model.joints[model.getJointId(name.replace(".", "_"))]
        is_continuous = joint.nq == 2
        configuration[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if is_continuous else value

    pinocchio.framesForwardKinematics(model, data, configuration)

    for number, body in enumerate(vehicle.bodies, start=1):
        frame = data.oMf[model.getFrameId(body.name.replace(".", "_"), pinocchio.BODY)]
        assert_allclose(frame.translation, state.position(number, body.axes[-1].point), atol=1e-12)
        assert_allclose(frame.rotation, state.rotated[number], atol=1e-12)


def test_urdf_lists_the_cuts_it_leaves_open(vehicle: Mechanism) -> None:
    text = urdf(vehicle)

    assert text.count("left open") == 12
    assert "cut rear_right.L, left open: chassis and rear_right_tie_rod meet at -1.465699 -0.416052 0.058674" in text


def test_every_visual_of_urdf_lies_where_the_shape_is(vehicle: Mechanism) -> None:
    links = {link.get("name"): link for link in ElementTree.fromstring(urdf(vehicle)).iter("link")}
    for body in vehicle.bodies:
        visuals = links[body.name.replace(".", "_")].findall("visual")
        for visual, shape in zip(visuals, display_shapes(vehicle)[body.name], strict=True):
            assert isinstance(shape, Cylinder)
            origin, cylinder = visual.find("origin"), visual.find("geometry/cylinder")
            assert origin is not None
            assert cylinder is not None
            middle = np.array(origin.get("xyz", "").split(), dtype=float) + body.axes[-1].point
            _, pitch, yaw = np.array(origin.get("rpy", "").split(), dtype=float)
            along = np.array([np.sin(pitch) * np.cos(yaw), np.sin(pitch) * np.sin(yaw), np.cos(pitch)])
            half = float(cylinder.get("length", "")) / 2.0 * along
            assert_allclose([middle - half, middle + half], [shape.start, shape.end], atol=1e-12)


def test_shapes_follow_from_joints_and_inertias(vehicle: Mechanism) -> None:
    shapes = display_shapes(vehicle)

    (wheel,) = shapes["front_left.wheel"]
    assert isinstance(wheel, Cylinder)
    # A solid disc of the wheel's moments comes within a centimetre of the tyre.
    assert wheel.radius == pytest.approx(PARAMETERS.wheel.radius_m, abs=0.01)
    assert_allclose(np.add(wheel.start, wheel.end) / 2.0, PARAMETERS.front_suspension.hardpoints_left_m.wheel_centre)
    (tie_rod,) = shapes["rear_right.tie_rod"]
    points = PARAMETERS.rear_suspension.hardpoints_left_m
    mirrored = [np.multiply(point, (1.0, -1.0, 1.0)) for point in (points.tie_rod_outer, points.tie_rod_inner)]
    assert isinstance(tie_rod, Cylinder)
    assert_allclose([tie_rod.start, tie_rod.end], mirrored)
    assert isinstance(shapes[ROOT][0], Box)


def slider_with(directions: tuple[tuple[float, float, float], ...]) -> Mechanism:
    axis = Axis(Motion.SLIDE, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    slider = Body("slider", ROOT, (axis,), 1.0, (0.0, 0.0, 0.0), np.eye(3))
    cuts = (Cut("guide", ROOT, "slider", (0.0, 0.0, 0.0), directions),)
    return Mechanism((slider,), cuts, 1.0, root_inertia=np.eye(3))


def test_closure_that_mjcf_cannot_express_is_rejected() -> None:
    with pytest.raises(ValueError, match="cut guide: MJCF has ball joints"):
        mjcf(slider_with(((1.0, 0.0, 0.0),)))


def test_smallest_mechanisms_can_be_written(mujoco: Any, pinocchio: Any) -> None:
    lone = Mechanism((), root_mass=3.0, root_inertia=np.eye(3))
    for mechanism in (lone, slider_with(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))):
        masses = mechanism.root_mass + sum(body.mass for body in mechanism.bodies)

        there = mujoco.MjModel.from_xml_string(mjcf(mechanism))
        tree = pinocchio.buildModelFromXML(urdf(mechanism), pinocchio.JointModelFreeFlyer())

        assert there.body_mass.sum() == masses
        assert pinocchio.computeTotalMass(tree) == masses


def test_exported_vehicle_can_be_closed_at_any_travel(vehicle: Mechanism, mujoco: Any) -> None:
    coordinates = EmbeddedSystem(vehicle).close(np.full(8, 0.1))
    model = mujoco.MjModel.from_xml_string(mjcf(vehicle))
    data = mujoco.MjData(model)
    for name, value in zip(vehicle.coordinate_names, coordinates, strict=True):
        data.joint(name).qpos[0] = value

    mujoco.mj_forward(model, data)

    assert np.abs(data.efc_pos).max() < 1e-12
