"""The vehicle's URDF: one tree from base_link, all agreed frames, wheels where the driving vehicle has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.cli.main import main
from proving_ground.interfaces.joints import CORNERS
from terrain.ground import FlatGround
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.export.joint_frames import JointTransforms, joint_frames
from vehicle_dynamics.export.joint_positions import JointPositions
from vehicle_dynamics.export.urdf import Mount
from vehicle_dynamics.export.vehicle_urdf import sensor_mounts, vehicle_urdf
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

Array = NDArray[np.float64]
Frames = dict[str, tuple[Array, Array]]  # rotation and translation, in the first link

FRAMES = {"base_link", "chassis", "imu_link", "gps_link", "lidar_link", *(f"{corner}_wheel" for corner in CORNERS)}
STEERINGS = (-1.0, -0.3, 0.0, 0.6, 1.0)


@pytest.fixture(scope="module")
def vehicle(parameters: VehicleParameters) -> Hmmwv:
    return Hmmwv(parameters)


@pytest.fixture(scope="module")
def text(parameters: VehicleParameters, vehicle: Hmmwv) -> str:
    return vehicle_urdf(parameters, vehicle.base_in_chassis)


@pytest.fixture(scope="module")
def drive(vehicle: Hmmwv) -> list[SnapshotRecord]:
    """Snapshots while cornering: springs deflected, wheels spun, various steering angles."""
    road, seen = FlatGround(), []
    state = vehicle.start(road, speed=8.0)
    for steering in STEERINGS:
        pedals = Pedals(steering=steering, throttle=0.3)
        assert vehicle.advance(state, pedals, road, 700) == 700
        seen.append(vehicle.snapshot(state, pedals, road))
    return seen


def vector(element: ElementTree.Element, path: str, key: str) -> Array:
    found = element.find(path)
    assert found is not None
    return np.array(found.get(key, "").split(), dtype=float)


def name_of(element: ElementTree.Element, path: str) -> str:
    found = element.find(path)
    assert found is not None
    return found.get("link", "")


def forward_kinematics(text: str, positions: dict[str, float]) -> Frames:
    """A plain reader of URDF: each joint after its parent link, as in our files."""
    frames: Frames = {"base_link": (np.eye(3), np.zeros(3))}
    for joint in ElementTree.fromstring(text).iter("joint"):
        rotated, shifted = frames[name_of(joint, "parent")]
        shifted = rotated @ vector(joint, "origin", "xyz") + shifted
        rotated = rotated @ Rotation.from_euler("xyz", vector(joint, "origin", "rpy")).as_matrix()
        if joint.get("type") == "continuous":
            angle = positions[joint.get("name", "")]
            rotated = rotated @ Rotation.from_rotvec(angle * vector(joint, "axis", "xyz")).as_matrix()
        elif joint.get("type") == "prismatic":
            shifted = shifted + rotated @ vector(joint, "axis", "xyz") * positions[joint.get("name", "")]
        frames[name_of(joint, "child")] = rotated, shifted
    return frames


def test_every_link_hangs_from_base_link_by_one_joint(text: str) -> None:
    robot = ElementTree.fromstring(text)
    links = [link.get("name", "") for link in robot.iter("link")]
    joints = list(robot.iter("joint"))
    children = [name_of(joint, "child") for joint in joints]

    assert len(set(links)) == len(links)
    assert len({joint.get("name") for joint in joints}) == len(joints)
    assert {name_of(joint, "parent") for joint in joints} <= set(links)
    assert sorted(children) == sorted(set(links) - {"base_link"})


def test_all_agreed_frames_exist(text: str) -> None:
    assert {link.get("name") for link in ElementTree.fromstring(text).iter("link")} >= FRAMES


def test_materials_that_visuals_name_are_defined(text: str) -> None:
    robot = ElementTree.fromstring(text)

    defined = {material.get("name") for material in robot.findall("material")}
    assert {material.get("name") for material in robot.findall("link/visual/material")} <= defined


def test_movable_joints_are_those_whose_positions_we_have(text: str, parameters: VehicleParameters) -> None:
    joints = ElementTree.fromstring(text).iter("joint")

    assert [joint.get("name") for joint in joints if joint.get("type") != "fixed"] == JointPositions(parameters).names


def test_wheels_are_where_the_driving_vehicle_has_them(
    text: str, parameters: VehicleParameters, vehicle: Hmmwv, drive: list[SnapshotRecord]
) -> None:
    joints = JointPositions(parameters)
    for snapshot in drive:
        frames = forward_kinematics(text, dict(zip(joints.names, joints.at(snapshot).tolist(), strict=True)))

        for number, corner in enumerate(CORNERS):
            rotated, shifted = frames[f"{corner}_wheel"]
            assert_allclose(shifted + vehicle.base_in_chassis, snapshot["wheel_centre"][number], atol=1e-12)
            assert_allclose(rotated[:, 1], snapshot["wheel_axis"][number], atol=1e-12)


def test_steering_left_turns_the_front_wheels_left(drive: list[SnapshotRecord], text: str, vehicle: Hmmwv) -> None:
    joints = JointPositions(vehicle.parameters)
    frames = forward_kinematics(text, dict(zip(joints.names, joints.at(drive[-1]).tolist(), strict=True)))

    for corner in ("front_left", "front_right"):
        axis = frames[f"{corner}_wheel"][0][:, 1]
        assert np.degrees(np.arctan2(-axis[0], axis[1])) > 20.0


def test_wheels_at_rest_stand_on_the_ground_below_base_link(
    text: str, parameters: VehicleParameters, vehicle: Hmmwv
) -> None:
    road, joints = FlatGround(), JointPositions(parameters)
    snapshot = vehicle.snapshot(vehicle.start(road), Pedals(), road)
    frames = forward_kinematics(text, dict(zip(joints.names, joints.at(snapshot).tolist(), strict=True)))

    # Tyres under load are flatter by some centimetres; the vehicle stands with its nose down by some millimetres.
    heights = np.array([frames[f"{corner}_wheel"][1][2] for corner in CORNERS])
    assert_allclose(heights, parameters.wheel.radius_m, atol=0.03)
    assert_allclose([frames[f"{corner}_wheel"][1][0] for corner in CORNERS[2:]], 0.0, atol=0.005)


def test_transforms_for_tf_are_those_of_the_urdf(
    text: str, parameters: VehicleParameters, vehicle: Hmmwv, drive: list[SnapshotRecord]
) -> None:
    joints = JointPositions(parameters)
    transforms = JointTransforms(joint_frames(vehicle_mechanism(parameters, steering_is_free=True)))
    positions = joints.at(drive[1])
    frames = forward_kinematics(text, dict(zip(joints.names, positions.tolist(), strict=True)))

    points, quaternions = transforms.at(positions)

    for parent, child, position, quaternion in zip(
        transforms.parents, transforms.children, points, quaternions, strict=True
    ):
        rotated, shifted = frames[parent]
        assert_allclose(rotated @ position + shifted, frames[child][1], atol=1e-12)
        assert_allclose(rotated @ Rotation.from_quat(quaternion).as_matrix(), frames[child][0], atol=1e-12)


def test_sensors_are_where_they_are_mounted(parameters: VehicleParameters, vehicle: Hmmwv) -> None:
    mount = Mount((1.0, 0.2, 2.0), (0.0, 0.1, np.pi))
    text = vehicle_urdf(
        parameters, vehicle.base_in_chassis, {**sensor_mounts(parameters.equipment), "camera_link": mount}
    )

    design = dict.fromkeys(JointPositions(parameters).names, 0.0)
    rotated, shifted = forward_kinematics(text, design)["camera_link"]
    assert_allclose(shifted, mount.position)
    assert_allclose(rotated @ [1.0, 0.0, 0.0], [-np.cos(0.1), 0.0, -np.sin(0.1)], atol=1e-12)


def test_pinocchio_reads_the_vehicle_and_finds_its_wheels(
    text: str, parameters: VehicleParameters, vehicle: Hmmwv, drive: list[SnapshotRecord]
) -> None:
    pinocchio: Any = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
    data, configuration = model.createData(), pinocchio.neutral(model)
    joints, snapshot = JointPositions(parameters), drive[0]
    for name, value in zip(joints.names, joints.at(snapshot), strict=True):
        joint = model.joints[model.getJointId(name)]
        is_revolute = joint.nq == 2
        configuration[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if is_revolute else value

    pinocchio.framesForwardKinematics(model, data, configuration)

    assert model.nv == len(joints.names) + 6
    assert pinocchio.computeTotalMass(model) == pytest.approx(2573.138, abs=1e-9)
    for number, corner in enumerate(CORNERS):
        there = data.oMf[model.getFrameId(f"{corner}_wheel", pinocchio.BODY)]
        assert_allclose(there.translation + vehicle.base_in_chassis, snapshot["wheel_centre"][number], atol=1e-12)
        assert_allclose(there.rotation[:, 1], snapshot["wheel_axis"][number], atol=1e-12)


def test_exported_file_is_the_vehicle_for_rviz(text: str, tmp_path: Path) -> None:
    assert main(["export", "hmmwv_chrono", "--format", "urdf", "--out", str(tmp_path / "hmmwv.urdf")]) == 0

    assert (tmp_path / "hmmwv.urdf").read_text() == text
