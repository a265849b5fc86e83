"""One evaluation of the HMMWV's forward dynamics by each formulation, timed and compared with a dense solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark.engine_mujoco import MujocoModel
from benchmark.engine_pinocchio import PinocchioModel
from benchmark.measure import cpu_time_us
from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.jit import kernel
from proving_ground.kernels.vector3 import three
from vehicle_dynamics.chassis_system import eliminate, solve_symmetric, start_chassis
from vehicle_dynamics.embedded_vehicle import OUT_SIZE, forward_dynamics, vehicle_bodies, workspace
from vehicle_dynamics.multibody.augmented import solve_augmented
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.embedding_arrays import embedded_result, loop_workspace, looped_tree
from vehicle_dynamics.multibody.free_bodies import free_accelerations, free_bodies, free_state, free_workspace
from vehicle_dynamics.multibody.free_hinges import hinge_accelerations, root_acceleration
from vehicle_dynamics.multibody.fully_augmented import fully_augmented_accelerations
from vehicle_dynamics.multibody.model_inputs import Constraints, Forces, RootMotion
from vehicle_dynamics.multibody.numeric_embedding import embedded_accelerations
from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.multibody.tree_arrays import anchors_at_rest, tree_accelerations, tree_arrays, tree_workspace
from vehicle_dynamics.multibody.tree_augmented import tree_augmented_accelerations
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.suspension.corner import TieEnd, corner_motion
from vehicle_dynamics.suspension.strut import strut_moment
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

Array = NDArray[np.float64]

FREE = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
COUNT = 1000  # evaluations per timed call of a kernel
WEIGHTLESS = (0.0, 0.0, 0.0)


class Result(NamedTuple):
    """Time and accuracy of forward dynamics by one formulation."""

    time_us: float
    error: float | None  # largest difference to the dense solution, relative to the largest acceleration
    coordinates: int
    constraints: int


class Case:
    """A state in motion with forces on chassis and wheels, for all formulations."""

    def __init__(self, parameters: VehicleParameters, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.mechanism = vehicle_mechanism(parameters)
        self.system = EmbeddedSystem(self.mechanism, independent=FREE)
        self.bodies = vehicle_bodies(parameters)
        self.theta, self.theta_rate = random.uniform(-0.2, 0.2, 4), random.normal(size=4)
        self.spin, self.spin_rate = random.uniform(-3.0, 3.0, 4), 20.0 + random.normal(size=4)
        self.angular_velocity = random.normal(size=3)
        self.wheel_force, self.chassis_force = 1e3 * random.normal(size=(4, 6)), 1e3 * random.normal(size=6)
        self.spin_torque = 1e2 * random.normal(size=4)
        coordinates = self.system.close(np.column_stack([self.theta, self.spin]).ravel())
        rates = np.column_stack([self.theta_rate, self.spin_rate]).ravel()
        self.state = self.system.state(coordinates, rates, np.concatenate([self.angular_velocity, np.zeros(3)]))
        self.forces = self._forces_on_tree(self.state)
        self.dense = solve_augmented(self.state, self.forces.bodies, self.forces.coordinates, root_is_held=False)

    def root(self) -> RootMotion:
        """The chassis, free and weightless."""
        return RootMotion(self.state.velocity[0], False, WEIGHTLESS)

    def constraints(self) -> Constraints:
        """Anchors at rest, without error correction."""
        return Constraints(anchors_at_rest(self.mechanism.cuts), 0.0, 0.0)

    def _forces_on_tree(self, state: TreeState) -> Forces:
        layout, names = state.layout, self.mechanism.coordinate_names
        forces, torques = np.zeros((len(layout.body), 6)), np.zeros(layout.count)
        forces[0] = self.chassis_force
        for index, corner in enumerate(CORNERS):
            wheel = layout.body[f"{corner}.wheel"]
            centre = state.position(wheel, self.mechanism.bodies[wheel - 1].centre)
            forces[wheel] = force_at(centre, self.wheel_force[index, 3:])
            forces[wheel, :3] += self.wheel_force[index, :3]
            theta = self.theta[index]
            strut = strut_moment(
                self.bodies.corners["strut"][index], np.cos(theta), np.sin(theta), self.theta_rate[index]
            )
            torques[names.index(f"{corner}.lower_arm")] = strut
            torques[names.index(f"{corner}.wheel")] = self.spin_torque[index]
        return Forces(forces, torques)

    def error(self, root: Array, coordinates: Array) -> float:
        """Largest error of accelerations, relative to the largest one of the dense solution."""
        found, exact = np.concatenate([root, coordinates]), np.concatenate([self.dense.root, self.dense.coordinates])
        return float(np.abs(found - exact).max() / np.abs(exact).max())

    def independent_error(self, root: Array, independent: Array) -> float:
        """Error as of `error`, of the root and the independent coordinates alone, in the system's order."""
        exact = np.concatenate([self.dense.root, self.dense.coordinates[self.system.independent]])
        return float(np.abs(np.concatenate([root, independent]) - exact).max() / np.abs(exact).max())


class KernelTimes(NamedTuple):
    """Times of the closed-form kernel [us]."""

    whole: float
    kinematics: float  # positions, velocities and bias accelerations of all four corners
    recursion: float  # elimination of the corners into the chassis, and its 6x6 solution
    from_python: float  # one call from Python, with unpacking of arguments


def embedded(case: Case) -> tuple[Result, KernelTimes]:
    """The closed-form kernel, springs, stops and dampers included."""
    ends = np.zeros((4, 9))
    ends[:, :3] = case.bodies.corners["geometry"]["tie_inner"]
    out = np.zeros(OUT_SIZE)
    motion = RigidMotion(tuple(case.angular_velocity), case.theta, case.theta_rate, case.spin_rate)
    loads = RigidLoads(WEIGHTLESS, np.zeros(4), case.spin_torque, case.wheel_force, case.chassis_force)
    arguments = (case.bodies, motion, ends, loads, workspace(), out)
    times = KernelTimes(
        whole=_kernel_time_us(_embedded, arguments),
        kinematics=_kernel_time_us(_kinematics, arguments),
        recursion=_kernel_time_us(_recursion, arguments),
        from_python=cpu_time_us(lambda: forward_dynamics(*arguments)),
    )
    _embedded(1, arguments)
    independent = np.column_stack([out[6:10], out[10:14]]).ravel()
    return Result(times.whole, case.independent_error(out[:6], independent), OUT_SIZE, 0), times


def numerically_embedded(case: Case) -> tuple[Result, float]:
    """Loops closed by Newton's method from the solution 1 ms before; and the share of time [us] of that."""
    mechanism, state = looped_tree(case.mechanism, FREE), case.state
    out = embedded_result(mechanism)
    independent = mechanism.embedding.independent
    arguments = (
        mechanism, state.coordinates[independent], state.rates[independent], case.root(), case.forces,
        np.zeros(len(state.rates)), loop_workspace(mechanism), out,
    )  # fmt: skip
    moving = (*arguments, state.coordinates - 1e-3 * state.rates)
    time = _kernel_time_us(_numerically_embedded, moving)
    closed = _kernel_time_us(_numerically_embedded, (*arguments, state.coordinates))
    size = 6 + len(independent)
    return Result(time, case.error(out.root, out.coordinates), size, 0), time - closed


def tree_augmented(case: Case) -> Result:
    """Spanning tree and cut joints, Schur complement."""
    tree = tree_arrays(case.mechanism)
    out = tree_accelerations(tree)
    state = case.state
    arguments = (
        tree, state.coordinates, state.rates, case.root(), case.forces, case.constraints(), tree_workspace(tree), out,
    )  # fmt: skip
    time = _kernel_time_us(_tree_augmented, arguments)
    return Result(time, case.error(out.root, out.coordinates), 6 + len(tree.parent), len(tree.cut_direction))


def fully_augmented(case: Case) -> Result:
    """Free bodies, every joint as a constraint, sparse Schur complement."""
    bodies = free_bodies(case.mechanism)
    work, out = free_workspace(bodies), free_accelerations(bodies)
    state = free_state(case.state)
    arguments = (bodies, state, False, WEIGHTLESS, case.forces, case.constraints(), work, out)
    time = _kernel_time_us(_fully_augmented, arguments)
    root, coordinates = np.zeros(6), np.zeros(case.state.layout.count)
    root_acceleration(state, out, root)
    hinge_accelerations(bodies, state, out, work, coordinates)
    return Result(time, case.error(root, coordinates), 6 * len(bodies.mass), len(out.multipliers))


def pinocchio(case: Case) -> dict[str, Result]:
    """constraintDynamics and lcaba of Pinocchio, net of the cost of a call from Python."""
    engine = PinocchioModel(case.mechanism)
    engine.set_state(case.state)
    engine.set_forces(case.forces.bodies, case.forces.coordinates)
    times = engine.times_us()
    call = times["pinocchio_binding_us"]
    size, constraints = int(engine.model.nv), 3 * len(case.mechanism.cuts)
    exact, fast = engine.constraint_dynamics(), engine.lcaba()
    return {
        "constraint_dynamics": Result(
            times["pinocchio_constraint_dynamics_us"] - call,
            case.error(exact.root, exact.coordinates),
            size,
            constraints,
        ),
        "lcaba": Result(times["pinocchio_lcaba_us"] - call, case.error(fast.root, fast.coordinates), size, constraints),
    }


def mujoco(case: Case) -> Result:
    """mj_step of MuJoCo, net of the cost of a call; its constraints are soft, so no error of accelerations is given."""
    engine = MujocoModel(case.mechanism, gravity=WEIGHTLESS)
    engine.set_state(case.state)
    times = engine.times_us()
    time = times["mujoco_step_us"] - times["mujoco_binding_us"]
    return Result(time, None, int(engine.model.nv), 3 * len(case.mechanism.cuts))


def _kernel_time_us(call: Callable[[int, Any], object], arguments: tuple[Any, ...]) -> float:
    call(1, arguments)  # compiles
    return cpu_time_us(lambda: call(COUNT, arguments), calls=1, repeats=30) / COUNT


@kernel
def _embedded(count: int, arguments: Any) -> None:
    for _ in range(count):
        forward_dynamics(*arguments)


@kernel
def _kinematics(count: int, arguments: Any) -> float:
    total, bodies, motion, ends = 0.0, arguments[0], arguments[1], arguments[2]
    for _ in range(count):
        for index in range(4):
            end = TieEnd(three(ends[index], 0), three(ends[index], 3), three(ends[index], 6))
            geometry = bodies.corners[index].geometry
            # The running sum makes each evaluation wait for the previous one, as in a simulation.
            corner = corner_motion(geometry, motion.theta[index] + 1e-12 * total, motion.theta_rate[index], end)
            total += corner.bias.tie_outer[0] + corner.bias.upright[0] + corner.velocity.shock_lower[0]
    return total


@kernel
def _recursion(count: int, arguments: Any) -> None:
    vehicle, motion, loads, work = arguments[0], arguments[1], arguments[3], arguments[4]
    for _ in range(count):
        start_chassis(vehicle.chassis, motion.angular_velocity, loads.chassis_force, work.matrix, work.right)
        for index in range(4):
            eliminate(work.matrix, work.right, work.coupling[index], 1.0, 1e-3)
        solve_symmetric(work.matrix, work.right)


@kernel
def _numerically_embedded(count: int, arguments: Any) -> None:
    for _ in range(count):
        arguments[5][:] = arguments[8]  # guess
        embedded_accelerations(*arguments[:8])


@kernel
def _tree_augmented(count: int, arguments: Any) -> None:
    for _ in range(count):
        tree_augmented_accelerations(*arguments)


@kernel
def _fully_augmented(count: int, arguments: Any) -> None:
    for _ in range(count):
        fully_augmented_accelerations(*arguments)
