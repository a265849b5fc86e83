"""Forces in the joints of the vehicle at a given state: pivots, ball joints, tie rods, bearings.

Accelerations come from the closed-form kernel; springs and dampers act as forces along their lines here, so that the
lower arms' pivots carry them (for the accelerations alone a moment on the arm is enough).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.embedded_vehicle import OUT_SIZE, forward_dynamics, vehicle_bodies, workspace
from vehicle_dynamics.multibody.joint_forces import JointForces, joint_forces
from vehicle_dynamics.multibody.numeric_embedding import NumericEmbedding
from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.suspension.steering import steered_ends, steering_bodies
from vehicle_dynamics.suspension.strut import damper_force, length_and_slope, spring_force
from vehicle_dynamics.vehicle_mechanism import CornerBuilder, vehicle_mechanism
from vehicle_dynamics.vehicle_state import VehicleState

Array = NDArray[np.float64]

FREE = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))


class VehicleJointForces:
    """Forces in the joints of a vehicle; built once, evaluated at many states."""

    def __init__(self, parameters: VehicleParameters, gravity: float = 9.81) -> None:
        self.mechanism = vehicle_mechanism(parameters)
        self.bodies, self.steering = vehicle_bodies(parameters), steering_bodies(parameters)
        self.gravity = gravity
        self._layout = TreeLayout(self.mechanism)
        self._embedding = NumericEmbedding(self.mechanism, FREE)
        self._builders = [CornerBuilder(parameters, corner) for corner in CORNERS]

    def at(
        self, state: VehicleState, wheel_force: Array, pitman: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ) -> JointForces:
        """Joint forces in chassis axes about the chassis origin.

        wheel_force (4 x 6) is moment [N m] and force [N] on each wheel at its centre, chassis axes; pitman holds angle,
        rate and acceleration of the steering.
        """
        ends = np.zeros((4, 9))
        ends[:, :3] = self.bodies.corners["geometry"]["tie_inner"]
        steered_ends(self.steering, *pitman, ends)
        x, y, z = Rotation.from_quat(state.attitude).inv().apply([0.0, 0.0, -self.gravity])
        gravity = (float(x), float(y), float(z))
        out = np.zeros(OUT_SIZE)
        motion = RigidMotion(tuple(state.angular_velocity), state.theta, state.theta_rate, state.spin_rate)
        on_wheels = np.ascontiguousarray(wheel_force, dtype=float)
        loads = RigidLoads(gravity, np.zeros(4), np.zeros(4), on_wheels, np.zeros(6))
        forward_dynamics(self.bodies, motion, ends, loads, workspace(), out)
        tree = self._tree_state(state, ends)
        forces = self._forces(tree, state, wheel_force, np.array(gravity))
        # The tree's other accelerations follow from the loops.
        coordinates = self._accelerations(tree, np.column_stack([out[6:10], out[10:14]]).ravel())
        return joint_forces(tree, out[:6], coordinates, forces, np.zeros(self._layout.count))

    def _tree_state(self, state: VehicleState, ends: Array) -> TreeState:
        anchor = self._anchor(ends)
        values = np.column_stack([state.theta, state.spin]).ravel()
        rates = np.column_stack([state.theta_rate, state.spin_rate]).ravel()
        coordinates, all_rates = self._embedding.closed(values, rates, anchor)
        anchors = {f"{corner}.L": ends[index] for index, corner in enumerate(CORNERS)}
        root = np.concatenate([state.angular_velocity, np.zeros(3)])
        return TreeState(self._layout, coordinates, all_rates, root, anchors)

    def _anchor(self, ends: Array) -> Array:
        anchor: Array = self._embedding.mechanism.anchor.copy()
        cuts = [cut.name for cut in self.mechanism.cuts]
        for index, corner in enumerate(CORNERS):
            anchor[cuts.index(f"{corner}.L")] = ends[index]
        return anchor

    def _accelerations(self, tree: TreeState, independent: Array) -> Array:
        """All tree accelerations for given independent ones: the loops' constraint at acceleration level."""
        closures = [tree.closure(cut) for cut in self.mechanism.cuts]
        matrix, bias = np.vstack([item[1] for item in closures]), np.concatenate([item[2] for item in closures])
        free = self._embedding.mechanism.embedding.independent
        rest = np.setdiff1d(np.arange(self._layout.count), free)
        result = np.zeros(self._layout.count)
        result[free] = independent
        result[rest] = np.linalg.solve(matrix[:, rest], -bias - matrix[:, free] @ independent)
        return result

    def _forces(self, tree: TreeState, state: VehicleState, wheel_force: Array, gravity: Array) -> Array:
        """External spatial forces on all bodies: weight, tyres, and springs and dampers along their lines."""
        forces = np.zeros((len(self._layout.body), 6))
        forces[0] += force_at(self.mechanism.root_centre, self.mechanism.root_mass * gravity)
        for number, body in enumerate(self.mechanism.bodies, start=1):
            forces[number] += force_at(tree.position(number, body.centre), body.mass * gravity)
        for index, corner in enumerate(CORNERS):
            wheel, arm = self._layout.body[f"{corner}.wheel"], self._layout.body[f"{corner}.lower_arm"]
            centre = tree.position(wheel, self.mechanism.bodies[wheel - 1].centre)
            forces[wheel] += force_at(centre, wheel_force[index, 3:])
            forces[wheel, :3] += wheel_force[index, :3]
            for low, high, push in self._struts(index, float(state.theta[index]), float(state.theta_rate[index])):
                bottom = tree.position(arm, low)
                along = np.subtract(high, bottom) / np.linalg.norm(np.subtract(high, bottom))
                forces[0] += force_at(high, push * along)
                forces[arm] -= force_at(bottom, push * along)
        return forces

    def _struts(self, index: int, theta: float, rate: float) -> list[tuple[Vector3, Array, float]]:
        """Spring and damper: point on the arm at design, point on the chassis, force that pushes them apart [N]."""
        builder, strut = self._builders[index], self.bodies.corners["strut"][index]
        points = builder.suspension.hardpoints_left_m
        cosine, sine = np.cos(theta), np.sin(theta)
        spring, _ = length_and_slope(strut["spring_square"], cosine, sine)
        shock, slope = length_and_slope(strut["shock_square"], cosine, sine)
        lines = (
            (points.spring_lower_arm, points.spring_chassis, spring_force(strut, spring)),
            (points.shock_lower_arm, points.shock_chassis, damper_force(strut, shock, slope * rate)),
        )
        side = float(builder.mirror[1, 1])
        return [((low[0], side * low[1], low[2]), builder.mirror @ high, push) for low, high, push in lines]
