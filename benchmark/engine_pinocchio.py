"""Any mechanism in Pinocchio, its loops closed by rigid constraints, and its accelerations in our convention.

The root is at the world's origin. Its velocity and acceleration are spatial, about its own origin and in its own
axes, on both sides; only the order differs: Pinocchio's is (linear, angular), ours (angular, linear).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark.measure import cpu_time_us, engine
from vehicle_dynamics.multibody.mechanism import ROOT, Axis, Body, Mechanism, Motion
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState

Array = NDArray[np.float64]

SWAPPED = [3, 4, 5, 0, 1, 2]  # between (linear, angular) and (angular, linear)
LCABA_DAMPING = 1e-8  # mu: a smaller one is lost in rounding, a larger one needs more iterations
LCABA_ITERATIONS = 2
SAME = 1e-9


class Accelerations(NamedTuple):
    """Accelerations computed by Pinocchio, in our axes and order."""

    root: Array  # spatial acceleration of the root, 6
    coordinates: Array  # accelerations of all tree coordinates


class PinocchioModel:
    """The mechanism with a free root; set a state, then get accelerations or times."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._pin = engine("pinocchio")
        self._layout = TreeLayout(mechanism)
        self.model, self._joints, self._positions, self._velocity_index = _build(self._pin, self._layout)
        # In q the free root has one value more than in the velocities, all other joints have as many.
        self._configuration_index = self._velocity_index + (self.model.nq - self.model.nv)
        self._constraints = self._closures()
        self._direct = self._workspace(by_elimination=False)
        self._eliminating = self._workspace(by_elimination=True)
        self._scratch = self.model.createData()
        self._exact = self._pin.ProximalSettings(1e-12, 0.0, 1)
        self._two_iterations = self._pin.ProximalSettings(1e-14, LCABA_DAMPING, LCABA_ITERATIONS)
        self._q, self._v = self._pin.neutral(self.model), np.zeros(self.model.nv)
        self._tau = np.zeros(self.model.nv)

    def set_state(self, state: TreeState) -> None:
        """Set coordinates, rates and root velocity from a state of the same mechanism."""
        self._q = self._pin.neutral(self.model)
        self._q[self._configuration_index] = state.coordinates
        self._v[:6] = state.velocity[0][SWAPPED]
        self._v[self._velocity_index] = state.rates

    def set_forces(self, body_forces: Array, coordinate_forces: Array) -> None:
        """Set external spatial forces (bodies x 6, root first) and forces on the tree coordinates at the present state.

        Spatial forces are about the root's origin. The solvers take joint forces only, so they are mapped there by
        inverse dynamics at rest.
        """
        pin, data = self._pin, self._scratch
        pin.forwardKinematics(self.model, data, self._q)
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for joint, force in zip(self._joints, body_forces, strict=True):
            forces[joint] = data.oMi[joint].actInv(pin.Force(force[3:], force[:3]))
        still = np.zeros(self.model.nv)
        self._tau = -pin.rnea(self.model, data, self._q, still, still, pin.StdVec_Force(forces))
        self._tau[self._velocity_index] += coordinate_forces

    def constraint_dynamics(self) -> Accelerations:
        """Accelerations by a sparse Cholesky decomposition of the augmented system; exact."""
        return self._ours(self._call_constraint_dynamics())

    def lcaba(self) -> Accelerations:
        """Accelerations by loop-constrained ABA, two proximal iterations: about 1e-8 from exact."""
        return self._ours(self._call_lcaba())

    def aba(self) -> Accelerations:
        """Accelerations of the spanning tree with all loops open: not a solution, but a bound for tree algorithms."""
        return self._ours(self._call_aba())

    def run(self, duration_s: float, step_s: float, stiffness: Mapping[str, float]) -> Array:
        """Tree coordinates after a run by semi-implicit Euler; springs on coordinates are at rest at design."""
        pin, names = self._pin, self._layout.mechanism.coordinate_names
        springs = np.zeros(len(names))
        for name, value in stiffness.items():
            springs[names.index(name)] = value
        for _ in range(round(duration_s / step_s)):
            self._tau[self._velocity_index] = -springs * self._q[self._configuration_index]
            self._v += step_s * self._call_constraint_dynamics()
            self._q = pin.integrate(self.model, self._q, step_s * self._v)
        return np.asarray(self._q[self._configuration_index])

    def times_us(self) -> dict[str, float]:
        """CPU time of each algorithm by name [us], called from Python; on a model of one joint, the cost of a call."""
        calls = {
            "pinocchio_constraint_dynamics_us": self._call_constraint_dynamics,
            "pinocchio_lcaba_us": self._call_lcaba,
            "pinocchio_aba_open_loops_us": self._call_aba,
        }
        times = {name: cpu_time_us(call) for name, call in calls.items()}
        return times | {"pinocchio_binding_us": cpu_time_us(one_joint()._call_constraint_dynamics, calls=2000)}

    def _call_constraint_dynamics(self) -> Array:
        data, states = self._direct
        return self._pin.constraintDynamics(  # type: ignore[no-any-return]
            self.model, data, self._q, self._v, self._tau, self._constraints, states, self._exact
        )

    def _call_lcaba(self) -> Array:
        data, states = self._eliminating
        return self._pin.lcaba(  # type: ignore[no-any-return]
            self.model, data, self._q, self._v, self._tau, self._constraints, states, self._two_iterations
        )

    def _call_aba(self) -> Array:
        return self._pin.aba(self.model, self._scratch, self._q, self._v, self._tau)  # type: ignore[no-any-return]

    def _ours(self, acceleration: Array) -> Accelerations:
        return Accelerations(acceleration[:6][SWAPPED], acceleration[self._velocity_index])

    def _closures(self) -> Any:
        pin, bodies = self._pin, self._layout.body
        result = pin.StdVec_RigidConstraintModel()
        for cut in self._layout.mechanism.cuts:
            if len(cut.directions) != 3:
                raise ValueError(
                    f"cut {cut.name}: Pinocchio closes a loop along three directions, not {cut.directions}"
                )
            point = pin.SE3(np.eye(3), np.array(cut.point))
            ends = []
            for name in (cut.first, cut.second):
                ends += [self._joints[bodies[name]], self._positions[bodies[name]].actInv(point)]
            result.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *ends, pin.LOCAL))
        return result

    def _workspace(self, by_elimination: bool) -> tuple[Any, Any]:
        pin, data = self._pin, self.model.createData()
        states = pin.StdVec_RigidConstraintData()
        for constraint in self._constraints:
            states.append(constraint.createData())
        if by_elimination:
            pin.computeJointMinimalOrdering(self.model, data, self._constraints)
        else:
            pin.initConstraintDynamics(self.model, data, self._constraints, states)
        return data, states


def one_joint() -> PinocchioModel:
    """A free body: what remains of a call's time is Python and the binding."""
    return PinocchioModel(Mechanism((), root_mass=1.0, root_inertia=np.eye(3)))


def _build(pin: Any, layout: TreeLayout) -> tuple[Any, list[int], list[Any], NDArray[np.int_]]:
    """The model; each body's joint and that joint's design pose; each coordinate's velocity index.

    Joints are added depth first: in another order constraintDynamics is silently wrong.
    """
    mechanism = layout.mechanism
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    joints = [0] * (len(mechanism.bodies) + 1)
    positions = [pin.SE3.Identity() for _ in joints]
    velocity_index = np.zeros(layout.count, dtype=np.int_)
    joints[0] = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), ROOT)
    root_inertia = pin.Inertia(mechanism.root_mass, np.array(mechanism.root_centre), mechanism.root_inertia)
    model.appendBodyToJoint(joints[0], root_inertia, pin.SE3.Identity())

    def add_children(parent: int) -> None:
        for number, body in enumerate(mechanism.bodies, start=1):
            if layout.parent[number] != parent:
                continue
            joint, position = joints[parent], positions[parent]
            indices: list[int] = []
            for joint_model, design_position, name in _joint_models(pin, body):
                joint = model.addJoint(joint, joint_model, position.actInv(design_position), name)
                position = design_position
                start = model.joints[joint].idx_v
                indices += range(start, start + model.joints[joint].nv)
            joints[number], positions[number] = joint, position
            velocity_index[layout.coordinates[number]] = indices
            inertia = pin.Inertia(body.mass, np.array(body.centre), np.array(body.inertia))
            model.appendBodyToJoint(joint, position.inverse().act(inertia), pin.SE3.Identity())
            add_children(number)

    add_children(0)
    return model, joints, positions, velocity_index


def _joint_models(pin: Any, body: Body) -> list[tuple[Any, Any, str]]:
    """Joints of a hinge with their design poses. Pinocchio's fastest kinds: universal, or along its own z axis."""
    if _is_universal(body.axes):
        first, second = (np.array(axis.direction) for axis in body.axes)
        position = pin.SE3(np.eye(3), np.array(body.axes[0].point))
        return [(pin.JointModelUniversal(first, second), position, body.name)]
    result = []
    for number, axis in enumerate(body.axes):
        rotated = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.array(axis.direction)).matrix()
        joint = pin.JointModelRZ() if axis.motion is Motion.REVOLUTE else pin.JointModelPZ()
        result.append((joint, pin.SE3(rotated, np.array(axis.point)), f"{body.name}.{number}"))
    return result


def _is_universal(axes: tuple[Axis, ...]) -> bool:
    if len(axes) != 2 or any(axis.motion is not Motion.REVOLUTE for axis in axes):
        return False
    first, second = axes
    apart = np.linalg.norm(np.subtract(first.point, second.point))
    return bool(apart < SAME and abs(np.dot(first.direction, second.direction)) < SAME)
