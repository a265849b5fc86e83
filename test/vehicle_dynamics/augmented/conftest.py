"""Mechanisms with loops, at random states under random forces, for the tests of both multiplier models."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.vector3 import Vector3
from proving_ground.settings.share import share_file
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import ROOT, Axis, Body, Cut, Mechanism, Motion
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

X = (1.0, 0.0, 0.0)
PLANE = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
A, D, F, G = (0.0, 0.0, 0.0), (0.0, 0.48, 0.0), (0.0, 0.30, 0.28), (0.0, 0.0, 0.24)


class Case(NamedTuple):
    """A closed state, and spatial forces on bodies and forces on coordinates."""

    system: EmbeddedSystem
    state: TreeState
    body_forces: np.ndarray
    coordinate_forces: np.ndarray

    @property
    def mechanism(self) -> Mechanism:
        return self.system.layout.mechanism


def turn(point: Vector3, direction: Vector3 = X) -> Axis:
    return Axis(Motion.TURN, direction, point)


def rod(name: str, parent: str, start: Vector3, end: Vector3, mass: float, *axes: Axis) -> Body:
    """A slender rod, a little thick, so that no moment is zero."""
    span = np.subtract(end, start)
    inertia = mass / 12.0 * (span @ span * np.eye(3) - np.outer(span, span)) + 1e-3 * mass * np.eye(3)
    return Body(name, parent, axes, mass, tuple(np.add(start, end) / 2.0), inertia)


def four_bar() -> Mechanism:
    return Mechanism(
        bodies=(
            rod("lower", ROOT, A, D, 5.0, turn(A)),
            rod("upright", "lower", D, F, 3.0, turn(D)),
            rod("upper", ROOT, G, F, 2.0, turn(G)),
        ),
        cuts=(Cut("F", "upper", "upright", F, PLANE),),
        root_mass=80.0,
        root_centre=(0.1, -0.1, 0.2),
        root_inertia=np.diag([5.0, 6.0, 7.0]),
    )


def slider_crank() -> Mechanism:
    crank, wrist = (0.0, 0.1, 0.05), (0.0, 0.4, 0.0)
    return Mechanism(
        bodies=(
            rod("crank", ROOT, A, crank, 1.0, turn(A)),
            rod("connecting_rod", "crank", crank, wrist, 0.7, turn(crank)),
            Body("piston", ROOT, (Axis(Motion.SLIDE, (0.0, 1.0, 0.0), wrist),), 0.5, wrist, 1e-3 * np.eye(3)),
        ),
        cuts=(Cut("wrist", "piston", "connecting_rod", wrist, PLANE),),
        root_mass=20.0,
        root_centre=(0.0, 0.2, -0.1),
        root_inertia=np.diag([0.5, 0.4, 0.6]),
    )


def hung_loops() -> Mechanism:
    """Two ball-joint loops that share bodies and hang from a boom, not from the root, and a hinge of three turns."""
    hub, end, top = (0.3, 0.0, 0.1), (0.1, 0.0, 0.35), (0.3, 0.0, 0.34)
    d, f = (0.3, 0.48, 0.1), (0.3, 0.30, 0.38)
    c = (0.2, 0.4, 0.4)
    return Mechanism(
        bodies=(
            rod("boom", ROOT, A, hub, 7.0, turn(A, (0.0, 0.6, 0.8))),
            rod("arm", "boom", hub, d, 4.0, turn(hub, (0.96, 0.0, 0.28))),
            rod("carrier", "arm", d, f, 3.0, turn(d), turn(d, (0.0, 1.0, 0.0)), turn(d, (0.0, 0.0, 1.0))),
            rod("top", "boom", top, f, 2.0, turn(top, (0.8, 0.6, 0.0))),
            rod("link", "carrier", c, end, 0.5, turn(c), turn(c, (0.0, 0.0, 1.0))),
            rod("wheel", "carrier", d, c, 6.0, turn(d, (0.0, 1.0, 0.0))),
        ),
        cuts=(Cut("F", "top", "carrier", f), Cut("L", "top", "link", end)),
        root_mass=50.0,
        root_centre=(0.0, 0.1, 0.1),
        root_inertia=np.diag([3.0, 4.0, 5.0]),
    )


def hmmwv() -> Mechanism:
    return vehicle_mechanism(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml")))


MECHANISMS = {"four_bar": four_bar, "slider_crank": slider_crank, "hung_loops": hung_loops, "hmmwv": hmmwv}
INDEPENDENT = {"hmmwv": tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))}


@pytest.fixture(scope="session")
def systems() -> dict[str, EmbeddedSystem]:
    return {name: EmbeddedSystem(make(), INDEPENDENT.get(name, ())) for name, make in MECHANISMS.items()}


@pytest.fixture(scope="session")
def random_case(systems: dict[str, EmbeddedSystem]) -> Callable[[str, int, bool], Case]:
    """Travel from rebound to bump, wheels anywhere, lively rates, forces of all sizes."""

    @functools.cache
    def make(name: str, seed: int, root_is_held: bool) -> Case:
        random = np.random.default_rng(seed)
        system = systems[name]
        angles = np.where([part.endswith("wheel") for part in system.independent_names], np.pi, 0.25)
        coordinates = system.close(random.uniform(-angles, angles))
        root_velocity = np.zeros(6) if root_is_held else random.normal(size=6)
        state = system.state(coordinates, 3.0 * random.normal(size=len(angles)), root_velocity)
        bodies = len(system.layout.mechanism.bodies) + 1
        forces, torques = random.normal(size=(bodies, 6)), random.normal(size=system.layout.count)
        return Case(system, state, 1e3 * forces, 1e2 * torques)

    return make
