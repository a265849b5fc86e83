"""Bae's integrator: its Jacobian, its two Newton methods against each other and against the embedded model."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmark.newton_chord import SCENES, STEP, TOLERANCE, rolling
from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.chord import CHORD, CONVENTIONAL
from vehicle_dynamics.chord_vehicle import ChordVehicle
from vehicle_dynamics.embedded_vehicle import vehicle_bodies
from vehicle_dynamics.manoeuvre import J_TURN, LANE_CHANGE, Manoeuvre, steer_at
from vehicle_dynamics.multibody.implicit_tree import (
    ImplicitLayout,
    StepTerms,
    implicit_jacobian,
    implicit_layout,
    implicit_residual,
    implicit_workspace,
)
from vehicle_dynamics.multibody.tree_arrays import TreeArrays, anchors_at_rest, tree_arrays, tree_workspace
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.steering import steering_bodies
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism
from vehicle_dynamics.vehicle_motion import Scene, drive
from vehicle_dynamics.vehicle_state import VehicleState


@pytest.fixture(scope="module")
def scene(parameters: VehicleParameters) -> Scene:
    return Scene(vehicle_bodies(parameters), steering_bodies(parameters))


@pytest.fixture(scope="module")
def start(scene: Scene) -> VehicleState:
    return rolling(scene)


def equations(parameters: VehicleParameters, seed: int) -> tuple[TreeArrays, ImplicitLayout, StepTerms, np.ndarray]:
    """The vehicle's equations with random terms, and random unknowns: nothing is closed or consistent."""
    mechanism = vehicle_mechanism(parameters)
    tree, names = tree_arrays(mechanism), mechanism.coordinate_names
    free = np.array([names.index(f"{corner}.{part}") for corner in CORNERS for part in ("lower_arm", "wheel")])
    layout = implicit_layout(tree, free)
    random = np.random.default_rng(seed)
    n, m = layout.axes, layout.rows
    anchor = anchors_at_rest(mechanism.cuts) + 0.1 * random.normal(size=(len(mechanism.cuts), 9))
    terms = StepTerms(
        random.normal(size=6 + n), random.normal(size=m), anchor, random.normal(size=6 + n), random.normal(size=n),
        np.array([0.01]),
    )  # fmt: skip
    return tree, layout, terms, 0.3 * random.normal(size=layout.size)


@pytest.mark.parametrize("seed", range(3))
def test_jacobian_is_the_derivative_of_the_residual(parameters: VehicleParameters, seed: int) -> None:
    tree, layout, terms, p = equations(parameters, seed)
    work = implicit_workspace(tree, tree_workspace(tree))
    jacobian, differences = np.zeros((2, layout.size, layout.size))

    def residual(at: np.ndarray) -> np.ndarray:
        out = np.zeros(layout.size)
        implicit_residual(tree, layout, terms, at, work, out)
        return out

    implicit_jacobian(tree, layout, terms, p, work, jacobian)
    for k, unit in enumerate(1e-3 * np.eye(layout.size)):
        sides = [residual(p + i * unit) - residual(p - i * unit) for i in (1, 2, 3)]
        differences[:, k] = (45.0 * sides[0] - 9.0 * sides[1] + sides[2]) / 0.06  # sixth order

    assert np.abs(jacobian).max() > 1e3
    assert_allclose(jacobian, differences, atol=1e-8 * np.abs(jacobian).max() / 1e3)


@pytest.mark.parametrize("name", SCENES)
def test_chord_follows_newton_and_both_follow_the_embedded_model(
    scene: Scene, start: VehicleState, parameters: VehicleParameters, name: str
) -> None:
    here = scene._replace(**SCENES[name])
    vehicle = ChordVehicle(parameters, here)

    chord = vehicle.drive(start, CHORD, 2500, STEP, TOLERANCE)
    newton = vehicle.drive(start, CONVENTIONAL, 2500, STEP, TOLERANCE)

    # Same equations to the same tolerance.
    assert_allclose(chord.pose, newton.pose, atol=5e-6)
    assert chord.iterations.max() <= 4  # as in [Bae]
    # Another formulation and another integrator: their own errors at 1 ms, largest at the bump.
    embedded = drive(here, start, seconds=2.5)
    assert_allclose(chord.pose[::10], embedded[:, :7], atol=2e-4)
    moved = np.abs(embedded[:, 1]).max() if name != "bump" else np.ptp(embedded[:, 2])
    assert moved > 0.01  # the manoeuvre has an effect


def test_steps_shrink_the_difference_to_the_embedded_model(
    scene: Scene, start: VehicleState, parameters: VehicleParameters
) -> None:
    here = scene._replace(**SCENES["lane change"])
    vehicle = ChordVehicle(parameters, here)
    embedded = drive(here, start, seconds=1.5, step=5e-4, every=20)[-1, :7]

    errors = [
        np.abs(vehicle.drive(start, CHORD, round(1.5 / step), step, 1e-11).pose[-1] - embedded).max()
        for step in (2e-3, 1e-3)
    ]

    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.3)  # second order


@pytest.mark.parametrize("kind", [J_TURN, LANE_CHANGE])
def test_steering_input_is_smooth(kind: int) -> None:
    manoeuvre = Manoeuvre(kind, 0.3, 0.5, 2.0)
    for time in (0.4, 0.5, 0.9, 1.7, 2.5, 3.0):
        h = 1e-4
        before, now, after = (steer_at(manoeuvre, t) for t in (time - h, time, time + h))

        assert (after.angle - before.angle) / (2 * h) == pytest.approx(now.rate, abs=1e-6)
        assert (after.rate - before.rate) / (2 * h) == pytest.approx(now.acceleration, abs=2e-3)


def test_independent_coordinates_must_fit_the_constraints(parameters: VehicleParameters) -> None:
    tree = tree_arrays(vehicle_mechanism(parameters))

    with pytest.raises(ValueError, match="independent: must be 8 coordinates, got 2"):
        implicit_layout(tree, np.array([0, 1]))


@pytest.mark.parametrize("method", [CHORD, CONVENTIONAL])
def test_divergence_is_reported(scene: Scene, start: VehicleState, parameters: VehicleParameters, method: int) -> None:
    wild = scene._replace(manoeuvre=Manoeuvre(drive_torque=1e12))

    with pytest.raises((ArithmeticError, np.linalg.LinAlgError)):
        ChordVehicle(parameters, wild).drive(start, method, 50, STEP, TOLERANCE)
