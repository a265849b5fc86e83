"""Small mechanisms with loops, for the tests of all formulations."""

from __future__ import annotations

import numpy as np

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.mechanism import ROOT, Axis, Body, Cut, Mechanism, Motion

X = (1.0, 0.0, 0.0)
PLANE = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
# The four-bar of [Jain] in the y-z plane: lower arm AD, upright DF, upper arm FG.
A, D, F, G = (0.0, 0.0, 0.0), (0.0, 0.48, 0.0), (0.0, 0.30, 0.28), (0.0, 0.0, 0.24)


def revolute(point: Vector3, direction: Vector3 = X) -> Axis:
    """A revolute axis."""
    return Axis(Motion.REVOLUTE, direction, point)


def rod(name: str, parent: str, start: Vector3, end: Vector3, mass: float, *axes: Axis) -> Body:
    """A slender rod, a little thick, so that no moment is zero."""
    span = np.subtract(end, start)
    inertia = mass / 12.0 * (span @ span * np.eye(3) - np.outer(span, span)) + 1e-3 * mass * np.eye(3)
    return Body(name, parent, axes, mass, tuple(np.add(start, end) / 2.0), inertia)


def four_bar() -> Mechanism:
    """A planar double wishbone."""
    return Mechanism(
        bodies=(
            rod("lower", ROOT, A, D, 5.0, revolute(A)),
            rod("upright", "lower", D, F, 3.0, revolute(D)),
            rod("upper", ROOT, G, F, 2.0, revolute(G)),
        ),
        cuts=(Cut("F", "upper", "upright", F, PLANE),),
        root_mass=80.0,
        root_centre=(0.1, -0.1, 0.2),
        root_inertia=np.diag([5.0, 6.0, 7.0]),
    )


def slider_crank() -> Mechanism:
    """A crank, a connecting rod and a piston."""
    crank, wrist = (0.0, 0.1, 0.05), (0.0, 0.4, 0.0)
    return Mechanism(
        bodies=(
            rod("crank", ROOT, A, crank, 1.0, revolute(A)),
            rod("connecting_rod", "crank", crank, wrist, 0.7, revolute(crank)),
            Body("piston", ROOT, (Axis(Motion.SLIDE, (0.0, 1.0, 0.0), wrist),), 0.5, wrist, 1e-3 * np.eye(3)),
        ),
        cuts=(Cut("wrist", "piston", "connecting_rod", wrist, PLANE),),
        root_mass=20.0,
        root_centre=(0.0, 0.2, -0.1),
        root_inertia=np.diag([0.5, 0.4, 0.6]),
    )
