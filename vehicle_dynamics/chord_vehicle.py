"""The vehicle set up for Bae's integrator: scene, closed and consistent start, Jacobian of the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.chord import (
    ChordState,
    ChordWorkspace,
    TreeScene,
    chord_drive,
    step_terms,
)
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.implicit_tree import (
    ROOT_SPEEDS,
    StepTerms,
    implicit_jacobian,
    implicit_layout,
    implicit_residual,
    implicit_workspace,
)
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.tree_arrays import anchors_at_rest, tree_arrays, tree_workspace
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism
from vehicle_dynamics.vehicle_motion import Scene, check_scene
from vehicle_dynamics.vehicle_state import VehicleState

Array = NDArray[np.float64]

FREE = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))


@dataclass(frozen=True)
class ChordRun:
    """Result of a drive: one row per step."""

    pose: Array  # position [m] and attitude of the chassis
    velocity: Array  # angular and of the origin, chassis axes; then of all tree coordinates
    acceleration: Array  # likewise; the origin's is the rate of its velocity's components
    iterations: NDArray[np.int64]


class ChordVehicle:
    """Drives a scene with the implicit integrator of [Bae]."""

    def __init__(self, parameters: VehicleParameters, scene: Scene) -> None:
        check_scene(scene)
        self.mechanism: Mechanism = vehicle_mechanism(parameters)
        self.system = EmbeddedSystem(self.mechanism, independent=FREE)
        names, cuts = self.mechanism.coordinate_names, [cut.name for cut in self.mechanism.cuts]
        tree = tree_arrays(self.mechanism)
        self.scene = TreeScene(
            tree=tree,
            layout=implicit_layout(tree, np.array(self.system.independent)),
            struts=np.ascontiguousarray(scene.vehicle.corners["strut"]),
            steering=scene.steering,
            lower_arms=np.array([names.index(f"{corner}.lower_arm") for corner in CORNERS]),
            wheels=np.array([names.index(f"{corner}.wheel") for corner in CORNERS]),
            wheel_bodies=np.array([self.system.layout.body[f"{corner}.wheel"] for corner in CORNERS]),
            front_cuts=np.array([cuts.index(f"{corner}.L") for corner in CORNERS[:2]]),
            tyre=scene.tyre,
            bump=scene.bump,
            manoeuvre=scene.manoeuvre,
            gravity=scene.gravity,
        )

    def workspace(self) -> ChordWorkspace:
        """New arrays for one thread."""
        tree, at = self.scene.tree, self.scene.layout
        speeds = ROOT_SPEEDS + at.axes
        anchor = anchors_at_rest(self.mechanism.cuts)
        terms = StepTerms(np.zeros(speeds), np.zeros(at.rows), anchor, np.zeros(speeds), np.zeros(at.axes), np.zeros(1))
        return ChordWorkspace(
            implicit_workspace(tree, tree_workspace(tree)),
            terms,
            np.zeros(7),
            np.zeros((len(tree.mass), 6)),
            np.zeros(at.axes),
            np.zeros((4, 9)),
            np.zeros(at.size),
            np.zeros(at.size),
            np.zeros((at.size, at.size)),
        )

    def start(self, state: VehicleState, step: float, work: ChordWorkspace) -> ChordState:
        """A consistent start from a state with straight steering: closed loops, solved accelerations, multipliers."""
        at = self.scene.layout
        coordinates = self.system.close(np.column_stack([state.theta, state.spin]).ravel())
        rates = np.column_stack([state.theta_rate, state.spin_rate]).ravel()
        chassis_from_world = Rotation.from_quat(state.attitude).inv()
        root = np.concatenate([state.angular_velocity, chassis_from_world.apply(state.velocity)])
        tree_state = self.system.state(coordinates, rates, root)
        p = np.zeros(at.size)
        p[: at.axes] = coordinates
        p[at.velocity : at.acceleration] = np.concatenate([root, tree_state.rates])
        pose = np.concatenate([state.position, state.attitude])
        step_terms(self.scene, 0.0, p, pose, work)
        # Equations of motion and acceleration constraints are linear in accelerations and multipliers.
        residual, jacobian = np.zeros(at.size), np.zeros((at.size, at.size))
        implicit_residual(self.scene.tree, at, work.terms, p, work.implicit, residual)
        implicit_jacobian(self.scene.tree, at, work.terms, p, work.implicit, jacobian)
        rows = slice(0, at.velocity_rows)
        columns = slice(at.acceleration, at.size)
        p[columns] -= np.linalg.solve(jacobian[rows, columns], residual[rows])
        work.terms.beta[0] = 2.0 / 3.0 * step
        implicit_jacobian(self.scene.tree, at, work.terms, p, work.implicit, jacobian)
        return ChordState(
            pose, p, p.copy(), np.zeros(1, dtype=np.int64), np.asarray(np.linalg.inv(jacobian), dtype=float)
        )

    def drive(self, state: VehicleState, method: int, steps: int, step: float, tolerance: float) -> ChordRun:
        """Drive from time 0; arguments as for chord.chord_step. Raises ArithmeticError when Newton's method fails."""
        if steps < 1 or not step > 0.0 or not tolerance > 0.0:
            raise ValueError(f"steps, step and tolerance must be above 0, got {steps}, {step}, {tolerance}")
        work = self.workspace()
        start = self.start(state, step, work)
        speeds = ROOT_SPEEDS + self.scene.layout.axes
        history, iterations = np.zeros((steps + 1, 7 + 2 * speeds)), np.zeros(steps, dtype=np.int64)
        chord_drive(self.scene, method, step, tolerance, start, work, history, iterations)
        if iterations.min() < 0:
            raise ArithmeticError(f"Newton's method failed at {step * int(np.argmin(iterations)):g} s")
        return ChordRun(history[:, :7], history[:, 7 : 7 + speeds], history[:, 7 + speeds :], iterations)
