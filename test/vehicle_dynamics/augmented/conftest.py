"""Mechanisms with loops, at random states under random forces, for the tests of both multiplier models."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from proving_ground.interfaces.joints import CORNERS
from proving_ground.settings.share import share_file
from some_mechanisms import A, four_bar, revolute, rod, slider_crank
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import ROOT, Cut, Mechanism
from vehicle_dynamics.multibody.model_inputs import Forces
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism


class Case(NamedTuple):
    """A closed state, and spatial forces on bodies and forces on coordinates."""

    system: EmbeddedSystem
    state: TreeState
    body_forces: np.ndarray
    coordinate_forces: np.ndarray

    @property
    def forces(self) -> Forces:
        return Forces(self.body_forces, self.coordinate_forces)

    @property
    def mechanism(self) -> Mechanism:
        return self.system.layout.mechanism


def hung_loops() -> Mechanism:
    """Two ball-joint loops that share bodies and hang from a boom, not from the root, and a hinge of three axes."""
    hub, end, top = (0.3, 0.0, 0.1), (0.1, 0.0, 0.35), (0.3, 0.0, 0.34)
    d, f = (0.3, 0.48, 0.1), (0.3, 0.30, 0.38)
    c = (0.2, 0.4, 0.4)
    return Mechanism(
        bodies=(
            rod("boom", ROOT, A, hub, 7.0, revolute(A, (0.0, 0.6, 0.8))),
            rod("arm", "boom", hub, d, 4.0, revolute(hub, (0.96, 0.0, 0.28))),
            rod("carrier", "arm", d, f, 3.0, revolute(d), revolute(d, (0.0, 1.0, 0.0)), revolute(d, (0.0, 0.0, 1.0))),
            rod("top", "boom", top, f, 2.0, revolute(top, (0.8, 0.6, 0.0))),
            rod("link", "carrier", c, end, 0.5, revolute(c), revolute(c, (0.0, 0.0, 1.0))),
            rod("wheel", "carrier", d, c, 6.0, revolute(d, (0.0, 1.0, 0.0))),
        ),
        cuts=(Cut("F", "top", "carrier", f), Cut("L", "top", "link", end)),
        root_mass=50.0,
        root_centre=(0.0, 0.1, 0.1),
        root_inertia=np.diag([3.0, 4.0, 5.0]),
    )


def hmmwv() -> Mechanism:
    return vehicle_mechanism(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml")))


MECHANISMS = {"four_bar": four_bar, "slider_crank": slider_crank, "hung_loops": hung_loops, "hmmwv": hmmwv}
INDEPENDENT = {"hmmwv": tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))}


@pytest.fixture(scope="session")
def systems() -> dict[str, EmbeddedSystem]:
    return {name: EmbeddedSystem(make(), INDEPENDENT.get(name, ())) for name, make in MECHANISMS.items()}


@pytest.fixture(scope="session")
def random_case(systems: dict[str, EmbeddedSystem]) -> Callable[[str, int, bool], Case]:
    """Travel from rebound to bump, wheels at any angle, high rates, forces of all sizes."""

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
