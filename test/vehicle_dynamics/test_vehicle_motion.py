"""Motion over time: conserved quantities are conserved, and the vehicle settles where another engine's does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.chord_vehicle import ChordVehicle
from vehicle_dynamics.embedded_vehicle import vehicle_bodies
from vehicle_dynamics.linear_tyre import LinearTyre
from vehicle_dynamics.manoeuvre import J_TURN, Manoeuvre
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rigid_steps import RK4, SEMI_IMPLICIT_EULER
from vehicle_dynamics.suspension.reach import Range, ReachError, free_travel
from vehicle_dynamics.suspension.steering import steering_bodies
from vehicle_dynamics.suspension.strut import length_and_slope, spring_energy
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism
from vehicle_dynamics.vehicle_motion import (
    Scene,
    drive,
    motion_workspace,
    state_rate,
)
from vehicle_dynamics.vehicle_state import STATE_SIZE, VehicleState

HIGH = 1e4  # [m] above the ground: free flight


class Totals(NamedTuple):
    """Totals of the whole vehicle, world axes."""

    energy: float
    spring_energy: float
    momentum: np.ndarray
    angular_momentum: np.ndarray  # about the world's origin


@pytest.fixture(scope="module")
def scene(parameters: VehicleParameters) -> Scene:
    return Scene(vehicle_bodies(parameters), steering_bodies(parameters))


@pytest.fixture(scope="module")
def totals(parameters: VehicleParameters) -> Callable[[Scene, np.ndarray], Totals]:
    """Computed by the general mechanism, body by body, independently of the kernel's sums."""
    free = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
    system = EmbeddedSystem(vehicle_mechanism(parameters), independent=free)

    def of(scene: Scene, array: np.ndarray) -> Totals:
        state = VehicleState.from_array(array)
        world = Rotation.from_quat(state.attitude).as_matrix()
        coordinates = system.close(np.column_stack([state.theta, state.spin]).ravel())
        rates = np.column_stack([state.theta_rate, state.spin_rate]).ravel()
        tree = system.state(coordinates, rates, np.concatenate([state.angular_velocity, world.T @ state.velocity]))
        momenta = np.array([inertia @ v for inertia, v in zip(tree.inertias(), tree.velocity, strict=True)])
        kinetic = 0.5 * float(np.sum(momenta * tree.velocity))
        masses = tree.inertias()[:, 3, 3]
        centres = np.array([inertia[[2, 0, 1], [4, 5, 3]] for inertia in tree.inertias()])  # mass times centre
        height = masses.sum() * state.position[2] + (world @ centres.sum(axis=0))[2]
        springs = sum(
            spring_energy(strut, np.cos(theta), np.sin(theta))
            for strut, theta in zip(scene.vehicle.corners["strut"], state.theta, strict=True)
        )
        angular, linear = world @ momenta[:, :3].sum(axis=0), world @ momenta[:, 3:].sum(axis=0)
        return Totals(
            kinetic + springs + scene.gravity * height, springs, linear, angular + np.cross(state.position, linear)
        )

    return of


def flying(scene: Scene, is_smooth: bool, gravity: float) -> Scene:
    """Dampers off; with a smooth spring: linear, at rest near the middle of the travel, and no stops."""
    corners = scene.vehicle.corners.copy()
    for name in ("compression", "rebound", "outer_compression", "outer_rebound"):
        corners["strut"][name] = 0.0
    if is_smooth:
        corners["strut"]["bump_below"], corners["strut"]["rebound_above"] = 0.0, 10.0
        corners["strut"]["spring_free"] = [0.27, 0.27, 0.32, 0.32]
        corners["strut"]["spring"]["count"] = 2
        corners["strut"]["spring"]["x"][:, :2], corners["strut"]["spring"]["y"][:, :2] = [0.0, 1.0], [0.0, 3e5]
    return scene._replace(vehicle=scene.vehicle._replace(corners=corners), gravity=gravity)


def tumbling() -> VehicleState:
    return VehicleState(
        position=np.array([0.0, 0.0, HIGH]),
        velocity=np.array([1.0, 2.0, 3.0]),
        angular_velocity=np.array([0.3, -0.5, 0.4]),
        theta=np.array([-0.2, -0.1, -0.15, -0.05]),
        theta_rate=np.array([0.5, -0.3, 0.2, 0.4]),
        spin_rate=np.array([20.0, 21.0, 19.0, 20.0]),
    )


def with_changes(state: VehicleState, **changes: np.ndarray) -> VehicleState:
    return VehicleState(**{**vars(state), **changes})


@pytest.mark.parametrize(("is_smooth", "share"), [(True, 1e-6), (False, 5e-4)])
def test_free_flight_keeps_energy(
    scene: Scene, totals: Callable[[Scene, np.ndarray], Totals], is_smooth: bool, share: float
) -> None:
    flight = flying(scene, is_smooth, gravity=9.81)
    start = tumbling() if is_smooth else with_changes(tumbling(), theta=np.array([-0.3, -0.29, -0.27, -0.26]))

    history = drive(flight, start, seconds=10.0)

    found = [totals(flight, row) for row in history[::20]]
    springs = [item.spring_energy for item in found]
    exchanged = max(springs) - min(springs)
    energies = np.array([item.energy for item in found])
    assert exchanged > 50.0  # [J]: the suspensions do oscillate
    assert np.abs(energies - energies[0]).max() < share * exchanged


def test_free_flight_keeps_momentum(scene: Scene, totals: Callable[[Scene, np.ndarray], Totals]) -> None:
    flight = flying(scene, is_smooth=True, gravity=0.0)
    start = with_changes(tumbling(), position=np.array([0.0, 0.0, 10.0]))

    history = drive(flight, start, seconds=10.0)

    first, last = totals(flight, history[0]), totals(flight, history[-1])
    assert_allclose(last.momentum, first.momentum, atol=1e-9 * np.linalg.norm(first.momentum))
    spin = np.linalg.norm(first.angular_momentum)
    assert_allclose(last.angular_momentum, first.angular_momentum, atol=1e-9 * spin)


@pytest.mark.parametrize(("method", "order"), [(SEMI_IMPLICIT_EULER, 1), (RK4, 4)])
def test_integrators_have_their_order(scene: Scene, method: int, order: int) -> None:
    flight = flying(scene, is_smooth=True, gravity=9.81)
    steps = (2e-3, 1e-3)

    def rate(time: float, state: np.ndarray) -> np.ndarray:
        out = np.zeros(STATE_SIZE)
        state_rate(flight, time, state, work, out)
        return out

    work = motion_workspace(flight)
    exact = solve_ivp(rate, (0.0, 0.5), tumbling().to_array(), method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    ends = [drive(flight, tumbling(), seconds=0.5, step=step, every=5, method=method)[-1] for step in steps]
    errors = [np.abs(end - exact).max() for end in ends]

    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_vehicle_settles_where_the_reference_does(scene: Scene) -> None:
    # ../shared/facts/reference, settle: that vehicle was dropped, and its tyres keep a sideways force from it; rolling
    # it sits 2 mm higher. Without any side force ours must be between both.
    rolling_free = scene._replace(tyre=LinearTyre(side_gain=0.0, slip_gain=0.0))

    history = drive(rolling_free, VehicleState(position=np.array([0.0, 0.0, 0.6])), seconds=5.0)

    state = VehicleState.from_array(history[-1])
    struts = scene.vehicle.corners["strut"]
    springs, shocks = (
        np.array([length_and_slope(s[name], np.cos(t), np.sin(t))[0] for s, t in zip(struts, state.theta, strict=True)])
        for name in ("spring_square", "shock_square")
    )
    assert np.abs(history[-1, 15:]).max() < 1e-4
    assert_allclose(struts["spring_free"] - springs, [0.04477, 0.04476, 0.02594, 0.02593], atol=2e-3)
    assert_allclose(shocks, [0.42038, 0.42039, 0.41516, 0.41517], atol=2e-3)
    assert 0.58652 < state.position[2] < 0.58652 + 0.003


def test_static_wheel_loads_are_those_of_the_reference(scene: Scene) -> None:
    history = drive(scene, VehicleState(position=np.array([0.0, 0.0, 0.6])), seconds=5.0)

    work = motion_workspace(scene)
    state_rate(scene, 5.0, history[-1], work, np.zeros(STATE_SIZE))

    assert_allclose(work.wheel_force[:, 5], [6495.4, 6493.5, 6128.5, 6126.2], rtol=1e-3)


def test_state_by_name_and_as_array_are_the_same() -> None:
    state = tumbling()

    assert_allclose(VehicleState.from_array(state.to_array()).to_array(), state.to_array(), rtol=0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"theta": np.array([0.0, 0.0, np.nan, 0.0])}, "theta: must be 4 finite numbers"),
        ({"position": np.zeros(2)}, "position: must be 3 finite numbers"),
        ({"attitude": np.array([0.0, 0.0, 0.0, 2.0])}, "attitude: must have length 1"),
    ],
)
def test_bad_states_are_rejected(change: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VehicleState(**change)


def test_suspension_thrown_beyond_its_reach_is_named_with_its_limits(scene: Scene) -> None:
    thrown = with_changes(tumbling(), theta_rate=np.array([0.0, 0.0, -200.0, 0.0]))

    with pytest.raises(ReachError, match=r"rear_left: .* its reach \(-0.5016 to 1.5000 rad\) at 0.00\d s"):
        drive(scene, thrown, seconds=1.0)
    with pytest.raises(
        ReachError, match=r"front_left: the lower arm cannot be at -0.6 rad; its reach is -0.4611 to 1.5"
    ):
        drive(scene, with_changes(tumbling(), theta=np.array([-0.6, 0.0, 0.0, 0.0])), seconds=1.0)


def test_stops_act_well_inside_the_reach(scene: Scene) -> None:
    for corner in scene.vehicle.corners:
        limits = Range(corner["lowest"], corner["highest"])
        travel = free_travel(corner["strut"], limits)

        assert travel.lowest - limits.lowest > 0.2
        assert limits.highest - travel.highest > 0.2
        assert travel.lowest < 0.0 < travel.highest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gravity": np.nan}, "scene: all numbers must be finite"),
        ({"tyre": LinearTyre(stiffness=np.inf)}, "scene: all numbers must be finite"),
        ({"manoeuvre": Manoeuvre(kind=7)}, "kind must be STRAIGHT, J_TURN or LANE_CHANGE, got 7"),
        ({"manoeuvre": Manoeuvre(kind=J_TURN, duration=0.0)}, "duration .* must be above 0"),
        ({"manoeuvre": Manoeuvre(kind=J_TURN, amplitude=1.4)}, "a tie rod cannot hold its wheel with the Pitman arm"),
    ],
)
def test_bad_scenes_are_rejected_by_both_integrators(
    scene: Scene, parameters: VehicleParameters, changes: dict[str, object], message: str
) -> None:
    bad = scene._replace(**changes)

    with pytest.raises(ValueError, match=message):
        drive(bad, tumbling(), seconds=1.0)
    with pytest.raises(ValueError, match=message):
        ChordVehicle(parameters, bad)


@pytest.mark.parametrize("arguments", [{"step": 0.0}, {"every": 0}, {"seconds": np.inf}, {"method": 9}])
def test_bad_runs_are_rejected(scene: Scene, arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        drive(scene, tumbling(), **{"seconds": 1.0, **arguments})
