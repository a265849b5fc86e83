"""Forces in the joints of a mechanism, from its accelerations: loads of hinges and cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.multibody.spatial import force_at
from vehicle_dynamics.multibody.tree import TreeState

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointForces:
    """Joint forces about the root's origin, in its axes."""

    hinges: dict[str, Array]  # by body: spatial force (moment, force) that its parent exerts on it through the hinge
    cuts: dict[str, Array]  # by cut: force [N] on its second body, at the cut's point
    points: dict[str, Array]  # by cut: that point [m]
    mismatch: float  # unexplained part of the given accelerations along the coordinates, as a share of the forces


def joint_forces(
    state: TreeState, root_acceleration: Array, accelerations: Array, body_forces: Array, coordinate_forces: Array
) -> JointForces:
    """Joint forces at a state that accelerates as given under the given forces (as in EmbeddedSystem).

    The embedded model needs no constraint forces. On request they follow from its accelerations: each
    body's inertia and gyroscopic forces less the external ones must pass through its joints ([Jain], Eqs. 5-8).
    """
    layout, mechanism = state.layout, state.layout.mechanism
    inertias = state.inertias()
    gyroscopic = state.gyroscopic(inertias)
    needed = np.array(
        [
            inertias[body] @ (root_acceleration + state.jacobian(body) @ accelerations + state.bias[body])
            + gyroscopic[body]
            - body_forces[body]
            for body in range(len(inertias))
        ]
    )
    # Along its own coordinates a hinge carries only the coordinate forces: that gives the cuts' forces.
    asked = sum((state.jacobian(body).T @ needed[body] for body in range(1, len(inertias))), -coordinate_forces)
    closures = [state.closure(cut)[1] for cut in mechanism.cuts]
    matrix = np.vstack([np.zeros((0, layout.count)), *closures]).T
    multipliers = np.linalg.lstsq(matrix, asked, rcond=None)[0]
    mismatch = np.abs(matrix @ multipliers - asked).max(initial=0.0) / max(np.abs(needed).max(), 1e-300)

    cuts, points = {}, {}
    start = 0
    for cut in mechanism.cuts:
        rows = slice(start, start + len(cut.directions))
        start = rows.stop
        first, second = layout.body[cut.first], layout.body[cut.second]
        cuts[cut.name] = multipliers[rows] @ np.array(cut.directions) @ state.rotated[first].T
        points[cut.name] = state.position(second, cut.point)
        wrench = force_at(points[cut.name], cuts[cut.name])
        needed[second] -= wrench
        needed[first] += wrench
    for body in range(len(inertias) - 1, 0, -1):
        needed[layout.parent[body]] += needed[body]
    hinges = {body.name: needed[layout.body[body.name]] for body in mechanism.bodies}
    return JointForces(hinges, cuts, points, float(mismatch))
