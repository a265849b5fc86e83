"""Independent engines on the same mechanisms: Pinocchio's accelerations, MuJoCo's trajectories."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from benchmark.engine_mujoco import MujocoModel
from benchmark.engine_pinocchio import PinocchioModel
from benchmark.measure import engine
from proving_ground.interfaces.joints import CORNERS
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from vehicle_dynamics.multibody.augmented import solve_augmented
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import ROOT, Axis, Body, Cut, Mechanism, Motion
from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

Array = NDArray[np.float64]

LOWER_ARMS = [f"{corner}.lower_arm" for corner in CORNERS]
WHEELS = [f"{corner}.wheel" for corner in CORNERS]


@pytest.fixture(scope="module")
def system() -> EmbeddedSystem:
    mechanism = vehicle_mechanism(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml")))
    return EmbeddedSystem(mechanism, independent=(*LOWER_ARMS, *WHEELS))


# Pinocchio: accelerations at one instant


@pytest.fixture(scope="module")
def pinocchio(system: EmbeddedSystem) -> PinocchioModel:
    pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    return PinocchioModel(system.layout.mechanism)


@dataclass(frozen=True)
class Case:
    """A random closed state with forces on wheels, chassis and coordinates, and the dense solution for it."""

    state: TreeState
    body_forces: Array
    coordinate_forces: Array

    def expected(self) -> Array:
        solution = solve_augmented(self.state, self.body_forces, self.coordinate_forces, root_is_held=False)
        return np.concatenate([solution.root, solution.coordinates])


def random_case(system: EmbeddedSystem, seed: int) -> Case:
    """Travel from rebound to bump, wheels at any angle and spinning, the chassis rotating and moving."""
    random = np.random.default_rng(seed)
    is_wheel = np.array([name in WHEELS for name in system.independent_names])
    coordinates = system.close(random.uniform(-1.0, 1.0, 8) * np.where(is_wheel, np.pi, 0.3))
    rates = random.normal(size=8) * np.where(is_wheel, 20.0, 3.0)
    state = system.state(coordinates, rates, random.normal(size=6))
    forces = np.zeros((33, 6))
    forces[0] = 1e3 * random.normal(size=6)
    for name in WHEELS:
        wheel = system.layout.body[name]
        centre = state.position(wheel, system.layout.mechanism.bodies[wheel - 1].centre)
        forces[wheel] = force_at(centre, 3e3 * random.normal(size=3))
    return Case(state, forces, 1e2 * random.normal(size=system.layout.count))


def largest_error(other: PinocchioModel, solve: Callable[[], tuple[Array, Array]], case: Case) -> float:
    """Largest error of any acceleration, relative to the largest."""
    other.set_state(case.state)
    other.set_forces(case.body_forces, case.coordinate_forces)
    expected = case.expected()
    return float(np.abs(np.concatenate(solve()) - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("seed", range(50))
def test_pinocchio_gives_the_accelerations_of_the_dense_solution(
    system: EmbeddedSystem, pinocchio: PinocchioModel, seed: int
) -> None:
    case = random_case(system, seed)

    # Same physics: only rounding may differ (observed: 6e-13).
    assert largest_error(pinocchio, pinocchio.constraint_dynamics, case) < 1e-10
    # Two proximal iterations on a regularised system: their error is about mu = 1e-8 (observed: 8e-9).
    assert largest_error(pinocchio, pinocchio.lcaba, case) < 1e-7


def test_loops_matter_to_the_accelerations(system: EmbeddedSystem, pinocchio: PinocchioModel) -> None:
    assert largest_error(pinocchio, pinocchio.aba, random_case(system, 0)) > 0.1


def revolute(point: tuple[float, float, float], direction: tuple[float, float, float]) -> Axis:
    return Axis(Motion.REVOLUTE, direction, point)


def bodies_out_of_order() -> Mechanism:
    """A loop with a hinge of three axes and one of two skew ones, a slider, and children listed after cousins."""
    elbow, top = (0.0, 0.5, 0.0), (0.0, 0.3, 0.3)

    def body(name: str, parent: str, centre: tuple[float, float, float], *axes: Axis) -> Body:
        return Body(name, parent, axes, 2.0, centre, np.diag([0.02, 0.03, 0.04]))

    x, y, z, skew = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.8, 0.0)
    return Mechanism(
        bodies=(
            body("arm", ROOT, (0.1, 0.2, 0.0), revolute((0.0, 0.0, 0.0), x)),
            body("hanger", ROOT, (0.0, 0.1, 0.2), revolute((0.0, 0.0, 0.3), skew)),
            body("carrier", "arm", (0.0, 0.4, 0.1), revolute(elbow, x), revolute(elbow, y), revolute(elbow, z)),
            body("slider", "hanger", (0.1, 0.1, 0.1), Axis(Motion.SLIDE, skew, top)),
            body("pendulum", "carrier", (0.0, 0.6, 0.2), revolute(elbow, x), revolute(top, skew)),
            body("weight", "arm", (0.2, 0.2, 0.2), revolute((0.1, 0.1, 0.1), z)),
        ),
        cuts=(Cut("top", "slider", "carrier", top),),
        root_mass=30.0,
        root_centre=(0.1, 0.0, 0.1),
        root_inertia=np.diag([3.0, 4.0, 5.0]),
    )


@pytest.mark.parametrize("seed", range(5))
def test_pinocchio_agrees_on_any_hinges_in_any_order(seed: int) -> None:
    pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    system = EmbeddedSystem(bodies_out_of_order())
    other = PinocchioModel(system.layout.mechanism)
    random = np.random.default_rng(seed)
    count = len(system.independent)
    coordinates = system.close(random.uniform(-0.1, 0.1, count))
    state = system.state(coordinates, random.normal(size=count), random.normal(size=6))

    case = Case(state, 10.0 * random.normal(size=(7, 6)), random.normal(size=system.layout.count))

    assert largest_error(other, other.constraint_dynamics, case) < 1e-10


# MuJoCo: trajectories. Its loops are soft, ours are ideal: the two must converge as MuJoCo's get stiffer.

DURATION = 1.0  # [s]
GRAVITY = np.array([0.0, 0.0, -9.81])
SPRING = 6000.0  # [N m/rad] on each lower arm: about 2 Hz
THETA, THETA_RATE = (0.10, -0.05, 0.0, 0.08), (1.0, -1.5, 2.0, 0.5)
SPIN_RATE = (20.0, 18.0, 22.0, 21.0)
CHASSIS_TURN = (0.3, -0.2, 0.5)
MUJOCO_STEP = 0.0005  # [s]; its RK4 then has less error than its closures


@pytest.fixture(scope="module")
def start(system: EmbeddedSystem) -> TreeState:
    """Thrown into the air with suspensions moving and wheels spinning."""
    order = [[*LOWER_ARMS, *WHEELS].index(name) for name in system.independent_names]
    coordinates = system.close(np.array([*THETA, *np.zeros(4)])[order])
    return system.state(
        coordinates, np.array([*THETA_RATE, *SPIN_RATE])[order], np.array([*CHASSIS_TURN, *np.zeros(3)])
    )


@pytest.fixture(scope="module")
def ideal(system: EmbeddedSystem, start: TreeState) -> Array:
    """End of our trajectory by the numerical embedding: attitude, position, all coordinates (within 2e-8)."""
    count = system.layout.count
    sprung = [system.layout.mechanism.coordinate_names.index(name) for name in LOWER_ARMS]
    no_forces = np.zeros((33, 6))

    def slope(_: float, y: Array) -> Array:
        quaternion, velocity, angular_acceleration = y[:4], y[7:10], y[10:13]
        coordinates, rates = y[13 : 13 + count], y[13 + count :]
        # Motion relative to a frame that moves with the chassis at this instant.
        state = TreeState(system.layout, coordinates, rates, np.concatenate([angular_acceleration, np.zeros(3)]))
        springs = np.zeros(count)
        springs[sprung] = -SPRING * coordinates[sprung]
        found = system.forward_dynamics(state, no_forces, springs, root_is_held=False)
        attitude = Rotation.from_quat(quaternion)
        scalar, vector = quaternion[3], quaternion[:3]
        turning = 0.5 * np.append(
            scalar * angular_acceleration + np.cross(vector, angular_acceleration), -vector @ angular_acceleration
        )
        falling = attitude.apply(found.root[3:]) + GRAVITY
        return np.concatenate([turning, velocity, falling, found.root[:3], rates, found.coordinates])

    begin = np.concatenate([[0.0, 0.0, 0.0, 1.0], np.zeros(6), CHASSIS_TURN, start.coordinates, start.rates])
    end = solve_ivp(slope, (0.0, DURATION), begin, method="DOP853", rtol=1e-7, atol=1e-8).y[:, -1]
    return np.concatenate([end[:7], end[13 : 13 + count]])


@pytest.fixture(scope="module")
def by_mujoco(system: EmbeddedSystem, start: TreeState) -> Callable[..., Array]:
    pytest.importorskip("mujoco", reason="needs MuJoCo: pip install mujoco")

    def end(step: float, integrator: str, softness: tuple[float, float] | None = None) -> Array:
        """The same quantities from MuJoCo; softness is the closures' time constant and impedance, else as exported."""
        other = MujocoModel(system.layout.mechanism, timestep_s=step, integrator=integrator)
        if softness is not None:
            other.set_closure(*softness)
        other.set_springs(dict.fromkeys(LOWER_ARMS, SPRING))
        other.set_state(start)
        end_state = other.run(DURATION)
        x, y, z, w = end_state.quaternion[[1, 2, 3, 0]]
        return np.concatenate([np.array([x, y, z, w]) * np.sign(w), end_state.position, end_state.coordinates])

    return end


def ratios(errors: list[float]) -> list[float]:
    return [larger / smaller for larger, smaller in pairwise(errors)]


def test_mujoco_differs_by_the_square_of_its_closures_time_constant(
    by_mujoco: Callable[..., Array], ideal: Array
) -> None:
    constants = (0.02, 0.01, 0.005, 0.0025)

    errors = [float(np.abs(by_mujoco(MUJOCO_STEP, "RK4", (tau, 0.9999)) - ideal).max()) for tau in constants]

    assert_allclose(ratios(errors), 4.0, rtol=0.15)


def test_mujoco_differs_by_what_its_closures_let_through(by_mujoco: Callable[..., Array], ideal: Array) -> None:
    impedances = (0.99, 0.999, 0.9999)

    errors = [float(np.abs(by_mujoco(MUJOCO_STEP, "RK4", (0.005, d)) - ideal).max()) for d in impedances]

    assert_allclose(ratios(errors), 10.0, rtol=0.1)


@pytest.mark.parametrize(("integrator", "order"), [("RK4", 2), ("implicitfast", 1)])
def test_exported_model_tends_to_our_trajectory_as_steps_shrink(
    by_mujoco: Callable[..., Array], ideal: Array, integrator: str, order: int
) -> None:
    # RK4 shows the closures, whose time constant is two steps; implicitfast is itself of first order.
    coarse, fine = by_mujoco(2 * MUJOCO_STEP, integrator), by_mujoco(MUJOCO_STEP, integrator)
    limit = fine + (fine - coarse) / (2**order - 1)

    errors = [float(np.abs(end - ideal).max()) for end in (coarse, fine, limit)]

    assert ratios(errors)[0] == pytest.approx(2**order, rel=0.05)
    assert ratios(errors)[1] > 10.0  # the remainder after extrapolation is of a higher order


def test_exported_loops_open_by_the_square_of_the_step(system: EmbeddedSystem, start: TreeState) -> None:
    pytest.importorskip("mujoco", reason="needs MuJoCo: pip install mujoco")
    violations = []
    for step in (0.002, 0.001, 0.0005):
        other = MujocoModel(system.layout.mechanism, timestep_s=step, integrator="RK4")
        other.set_springs(dict.fromkeys(LOWER_ARMS, SPRING))
        other.set_state(start)
        assert other.violation_m() < 1e-12
        other.run(0.3)
        violations.append(other.violation_m())

    assert_allclose(ratios(violations), 4.0, rtol=0.1)


# Missing engines, and measurements


@pytest.mark.parametrize(("module", "package"), [("pinocchio", "pin"), ("mujoco", "mujoco")])
def test_missing_engine_is_one_line_with_its_package(
    module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed

    with pytest.raises(SettingsError, match=f"^{module} cannot be imported .* pip install {package} brings it$"):
        engine(module)


def test_times_are_reported_with_the_cost_of_a_call(system: EmbeddedSystem, pinocchio: PinocchioModel) -> None:
    pytest.importorskip("mujoco", reason="needs MuJoCo: pip install mujoco")
    mujoco = MujocoModel(system.layout.mechanism)
    state = random_case(system, 0).state
    for other in (pinocchio, mujoco):
        other.set_state(state)

    figures = pinocchio.times_us() | mujoco.times_us()

    for name in ("pinocchio_constraint_dynamics_us", "pinocchio_lcaba_us", "pinocchio_aba_open_loops_us"):
        assert figures[name] > figures["pinocchio_binding_us"] > 0.0
    assert min(figures["mujoco_step_us"], figures["mujoco_forward_us"]) > figures["mujoco_binding_us"] > 0.0
