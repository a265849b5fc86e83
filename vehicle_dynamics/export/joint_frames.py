"""Joints of a mechanism's tree as in ROS: one parent and one child link each; and their transforms for /tf.

Every link frame is parallel to the root frame at design, with its origin on its hinge. A hinge of several axes becomes
as many joints with links between them. Names are the mechanism's with '_' for '.', so that frames are called
`front_left_wheel`; joints are named after their coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.mechanism import ROOT, Mechanism, Motion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointFrame:
    """One joint: its child frame is at origin [m] in the parent's, then moves about or along the axis."""

    name: str
    parent: str
    child: str
    motion: Motion
    origin: Vector3
    axis: Vector3  # unit


def joint_name(coordinate: str) -> str:
    """Name of a coordinate's joint, or of a body's link."""
    return coordinate.replace(".", "_")


def joint_frames(mechanism: Mechanism, root_link: str = "chassis") -> list[JointFrame]:
    """The joints in the order of the mechanism's coordinates."""
    frames: list[JointFrame] = []
    links = {ROOT: (root_link, np.zeros(3))}  # name, and its origin at design
    names = iter(mechanism.coordinate_names)
    for body in mechanism.bodies:
        parent, parent_origin = links[body.parent]
        for count, axis in enumerate(body.axes, start=1):
            name = joint_name(next(names))
            child = joint_name(body.name) if count == len(body.axes) else f"{name}_link"
            x, y, z = (float(value) for value in axis.point - parent_origin)
            frames.append(JointFrame(name, parent, child, axis.motion, (x, y, z), axis.direction))
            parent, parent_origin = child, np.array(axis.point)
        links[body.name] = parent, parent_origin
    return frames


class JointTransforms:
    """Pose of each joint's child link in its parent link, for all joints at once."""

    def __init__(self, frames: list[JointFrame]) -> None:
        self.parents = [frame.parent for frame in frames]
        self.children = [frame.child for frame in frames]
        self._origins, axes = np.array([frame.origin for frame in frames]), np.array([frame.axis for frame in frames])
        is_revolute = np.array([[frame.motion is Motion.REVOLUTE] for frame in frames])
        self._rotation_axes, self._translation_axes = np.where(is_revolute, axes, 0.0), np.where(is_revolute, 0.0, axes)
        self._is_revolute = is_revolute[:, 0]

    def at(self, positions: Array) -> tuple[Array, Array]:
        """Translations (joints x 3) [m] and quaternions x y z w (joints x 4) at the joints' positions."""
        half = np.where(self._is_revolute, 0.5 * positions, 0.0)
        quaternions = np.empty((len(positions), 4))
        quaternions[:, :3] = self._rotation_axes * np.sin(half)[:, None]
        quaternions[:, 3] = np.cos(half)
        return self._origins + self._translation_axes * positions[:, None], quaternions
