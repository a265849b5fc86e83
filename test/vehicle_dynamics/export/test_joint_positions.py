"""Joint positions in closed form: they close every loop of the exported tree, as the numerical embedding does."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.driving.snapshot import SNAPSHOT
from vehicle_dynamics.export import joint_positions
from vehicle_dynamics.export.joint_positions import JointPositions
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.model_inputs import Forces, RootMotion
from vehicle_dynamics.multibody.numeric_embedding import NumericEmbedding
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

Array = NDArray[np.float64]
Pose = tuple[Array, Array, float]

FREE = ("steering.pitman_arm", *(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel")))
LOWEST, HIGHEST = -0.4, 0.6  # [rad]: beyond all stops, within reach
LOCK = np.radians(30.0)


@pytest.fixture(scope="module")
def joints(parameters: VehicleParameters) -> JointPositions:
    return JointPositions(parameters)


@pytest.fixture(scope="module")
def mechanism(parameters: VehicleParameters) -> Mechanism:
    return vehicle_mechanism(parameters, steering_is_free=True)


def poses(count: int, seed: int = 0) -> list[Pose]:
    """Random lower-arm angles, wheel angles and Pitman angles."""
    random = np.random.default_rng(seed)
    return [
        (random.uniform(LOWEST, HIGHEST, 4), random.uniform(-3.0, 3.0, 4), random.uniform(-LOCK, LOCK))
        for _ in range(count)
    ]


def gaps(mechanism: Mechanism, positions: Array) -> Array:
    """Distance between the ends of all cuts [m], in all directions."""
    layout = TreeLayout(mechanism)
    state = TreeState(layout, positions, np.zeros(layout.count), np.zeros(6))
    points = [
        [state.position(layout.body[name], cut.point) for name in (cut.first, cut.second)] for cut in mechanism.cuts
    ]
    return np.array([np.linalg.norm(np.subtract(*ends)) for ends in points])


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(joint_positions).failed == 0


def test_every_joint_of_the_tree_has_its_own_name(joints: JointPositions, mechanism: Mechanism) -> None:
    assert len(set(joints.names)) == len(joints.names) == 47
    assert joints.names == [name.replace(".", "_") for name in mechanism.coordinate_names]


def test_all_loops_close_over_travel_and_from_lock_to_lock(joints: JointPositions, mechanism: Mechanism) -> None:
    worst = max(gaps(mechanism, joints.of(*pose)).max() for pose in poses(200))

    assert worst < 1e-12  # observed: 1e-15


@pytest.mark.parametrize("pitman", [-LOCK, 0.0, LOCK])
@pytest.mark.parametrize("arm", [LOWEST, 0.0, HIGHEST])
def test_loops_close_at_the_ends_of_travel_and_steering(
    joints: JointPositions, mechanism: Mechanism, arm: float, pitman: float
) -> None:
    assert gaps(mechanism, joints.of(np.full(4, arm), np.zeros(4), pitman)).max() < 1e-12


def test_given_angles_are_those_of_their_joints(joints: JointPositions, mechanism: Mechanism) -> None:
    arm, spin, pitman = poses(1)[0]
    positions = dict(zip(mechanism.coordinate_names, joints.of(arm, spin, pitman), strict=True))

    assert [positions[f"{corner}.lower_arm"] for corner in CORNERS] == arm.tolist()
    assert [positions[f"{corner}.wheel"] for corner in CORNERS] == spin.tolist()
    assert positions["steering.pitman_arm"] == pitman


def test_compiled_embedding_finds_the_same_positions(joints: JointPositions, mechanism: Mechanism) -> None:
    embedding = NumericEmbedding(mechanism, FREE)
    unloaded = Forces(np.zeros((len(mechanism.bodies) + 1, 6)), np.zeros(len(joints.names)))
    held = RootMotion(np.zeros(6), True, (0.0, 0.0, 0.0))
    for pose in poses(40, seed=1):
        positions = joints.of(*pose)
        independent = positions[embedding.mechanism.embedding.independent]
        # In small Newton steps: from design in one leap it can find another assembly of the vehicle.
        found = np.zeros(len(joints.names))
        for share in np.linspace(0.1, 1.0, 10):
            embedding.accelerations(share * independent, np.zeros(9), held, unloaded, found)

        assert_allclose(positions, found, atol=1e-11)  # Newton's method stops at 1e-13 m


def test_plain_embedding_finds_the_same_positions(joints: JointPositions, mechanism: Mechanism) -> None:
    system = EmbeddedSystem(mechanism, FREE)
    for pose in poses(4, seed=2):
        positions = joints.of(*pose)
        found = np.zeros(len(joints.names))
        for share in np.linspace(0.1, 1.0, 10):
            found = system.close(share * positions[system.independent], found)

        assert_allclose(positions, found, atol=1e-11)


def test_rates_are_those_that_keep_the_loops_closed(joints: JointPositions, mechanism: Mechanism) -> None:
    system, random = EmbeddedSystem(mechanism, FREE), np.random.default_rng(3)
    for arm, spin, pitman in poses(5, seed=3):
        snapshot = np.zeros((), SNAPSHOT)
        snapshot["arm_angle"], snapshot["spin"], snapshot["pitman_angle"] = arm, spin, pitman
        snapshot["arm_rate"], snapshot["spin_rate"] = random.normal(size=4), 30.0 * random.normal(size=4)
        pitman_rate = random.normal()
        of_corners = np.column_stack([snapshot["arm_rate"], snapshot["spin_rate"]]).ravel()
        given = dict(zip(FREE, [pitman_rate, *of_corners], strict=True))

        rates = joints.rates_at(snapshot, pitman_rate)

        independent = np.array([given[name] for name in system.independent_names])
        expected = system.state(joints.at(snapshot), independent, np.zeros(6)).rates
        assert_allclose(rates, expected, atol=1e-8)


def test_positions_beyond_reach_stay_finite(joints: JointPositions) -> None:
    assert np.isfinite(joints.of(np.full(4, -1.2), np.zeros(4), 3.0)).all()
