"""Constraint embedding of any mechanism with loops ([Jain], section 3): loops become bodies of variable geometry.

Numerical throughout: Newton's method closes the loops (section 3.3), X comes from Eq. 13 and X' theta' from Eq. 14, the
recursions of Eqs. 4-7 run over the tree of aggregated bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from vehicle_dynamics.multibody.mechanism import Cut, Mechanism, aggregates
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState

Array = NDArray[np.float64]

CLOSURE_TOLERANCE = 1e-13  # [m]
MOST_ITERATIONS = 25


class ClosureError(ValueError):
    """The loops cannot be closed at the given independent coordinates."""


@dataclass(frozen=True)
class Aggregate:
    """Bodies connected by loops, and which of their coordinates are free ([Jain]: the body S)."""

    parent: int
    bodies: tuple[int, ...]
    cuts: tuple[Cut, ...]
    coordinates: Array  # indices of all its coordinates
    independent: Array  # indices of the free ones
    dependent: Array


class EmbeddedAccelerations(NamedTuple):
    """Accelerations of root and independent coordinates by constraint embedding."""

    root: Array  # spatial acceleration of the root, 6
    independent: Array  # accelerations of the independent coordinates
    coordinates: Array  # accelerations of all tree coordinates


class EmbeddedSystem:
    """A mechanism as a tree of aggregated bodies; its coordinates are only the independent ones."""

    def __init__(self, mechanism: Mechanism, independent: tuple[str, ...] = ()) -> None:
        """independent: names of coordinates to prefer as independent ones.

        The others are chosen by pivoting of Y, the constraints' Jacobian, at the design position.
        """
        self.layout = TreeLayout(mechanism)
        names = mechanism.coordinate_names
        preferred = {names.index(name) for name in independent}
        design = TreeState(self.layout, np.zeros(len(names)), np.zeros(len(names)), np.zeros(6))
        self.aggregates = [
            self._aggregate(design, parent, members, preferred) for parent, members in aggregates(mechanism)
        ]
        self.independent = np.sort(np.concatenate([item.independent for item in self.aggregates]))
        self.independent_names = [names[index] for index in self.independent]

    def close(
        self, independent: Array, guess: Array | None = None, anchors: Mapping[str, Array] = MappingProxyType({})
    ) -> Array:
        """All coordinates for given independent ones, by Newton's method from a guess (design when none is given).

        anchors are those of TreeState.
        """
        coordinates = np.zeros(self.layout.count) if guess is None else guess.copy()
        coordinates[self.independent] = independent
        if not np.isfinite(coordinates).all():
            raise ClosureError("loops cannot be closed at values that are not finite")
        still = np.zeros(self.layout.count)
        for _ in range(MOST_ITERATIONS):
            state = TreeState(self.layout, coordinates, still, np.zeros(6), anchors)
            worst = 0.0
            for aggregate in self.aggregates:
                error, matrix, _ = self._closures(state, aggregate)
                worst = float(np.maximum(worst, np.abs(error).max(initial=0.0)))  # keeps NaN
                # The step for one aggregate leaves others closed: a cut's bodies hang from one parent.
                coordinates[aggregate.dependent] -= np.linalg.solve(matrix[:, aggregate.dependent], error)
            if worst < CLOSURE_TOLERANCE:
                return coordinates
            if not np.isfinite(coordinates).all():
                break
        raise ClosureError(f"loops stay open by {worst:.2g} m after {MOST_ITERATIONS} iterations: out of reach?")

    def state(
        self,
        coordinates: Array,
        independent_rates: Array,
        root_velocity: Array,
        anchors: Mapping[str, Array] = MappingProxyType({}),
    ) -> TreeState:
        """State whose dependent rates satisfy the loops; coordinates (all) must be closed.

        root_velocity (6): angular velocity and velocity of the origin, root axes; anchors: as for TreeState.
        """
        still = TreeState(self.layout, coordinates, np.zeros(self.layout.count), np.zeros(6), anchors)
        rates = np.zeros(self.layout.count)
        for aggregate in self.aggregates:
            rates[aggregate.coordinates] = self.velocity_map(still, aggregate) @ self._pick(
                aggregate, independent_rates
            )
            if any(cut.name in anchors for cut in aggregate.cuts):
                _, matrix, _ = self._closures(still, aggregate)
                asked = np.concatenate([still.anchor_velocity(cut) for cut in aggregate.cuts])
                rates[aggregate.dependent] += np.linalg.solve(matrix[:, aggregate.dependent], asked)
        return TreeState(self.layout, coordinates, rates, root_velocity, anchors)

    def velocity_map(self, state: TreeState, aggregate: Aggregate) -> Array:
        """X: rates of all coordinates of an aggregate per independent rate (Eq. 13)."""
        _, matrix, _ = self._closures(state, aggregate)
        result = np.zeros((len(aggregate.coordinates), len(aggregate.independent)))
        rows = np.searchsorted(aggregate.coordinates, aggregate.independent)
        result[rows, np.arange(len(aggregate.independent))] = 1.0
        if len(aggregate.dependent):
            rows = np.searchsorted(aggregate.coordinates, aggregate.dependent)
            result[rows] = -np.linalg.solve(matrix[:, aggregate.dependent], matrix[:, aggregate.independent])
        return result

    def velocity_map_bias(self, state: TreeState, aggregate: Aggregate) -> Array:
        """X' theta': accelerations of all coordinates with the independent ones not accelerating (Eq. 14)."""
        _, matrix, bias = self._closures(state, aggregate)
        result = np.zeros(len(aggregate.coordinates))
        if len(aggregate.dependent):
            rows = np.searchsorted(aggregate.coordinates, aggregate.dependent)
            result[rows] = -np.linalg.solve(matrix[:, aggregate.dependent], bias)
        return result

    def forward_dynamics(
        self, state: TreeState, body_forces: Array, coordinate_forces: Array, root_is_held: bool
    ) -> EmbeddedAccelerations:
        """Accelerations under external spatial forces (bodies x 6, root first) and forces on the tree coordinates.

        Tip to base (Eqs. 4, 6): each aggregate adds its articulated inertia and force to the body it hangs from. Base
        to tip (Eq. 7): accelerations follow. All is about one point, so phi is the identity; D has the size of the
        aggregate's independent coordinates.
        """
        inertias = state.inertias()
        articulated = inertias.copy()  # P
        residual = state.gyroscopic(inertias) - body_forces  # z: force that the parent must supply
        sweeps = []
        for aggregate in reversed(self.aggregates):
            x, x_bias = self.velocity_map(state, aggregate), self.velocity_map_bias(state, aggregate)
            own = state.axes[aggregate.coordinates]
            maps, biases, loads = [], [], np.zeros(6)
            d = np.zeros((x.shape[1], x.shape[1]))
            coupling = np.zeros((6, x.shape[1]))
            total = np.zeros((6, 6))
            force = x.T @ coordinate_forces[aggregate.coordinates]
            for body in aggregate.bodies:
                on_path = self._on_path(aggregate, body)
                # H of the aggregate, Eq. 10: motion of this body per independent rate, relative to the common parent.
                motion = (own * on_path[:, None]).T @ x
                bias = state.bias[body] - state.bias[aggregate.parent] + (own * on_path[:, None]).T @ x_bias  # Eq. 11
                p, z = articulated[body], residual[body]
                d += motion.T @ p @ motion
                coupling += p @ motion
                total += p
                load = z + p @ bias
                force -= motion.T @ load
                loads += load
                maps.append(motion)
                biases.append(bias)
            gain = np.linalg.solve(d, coupling.T).T  # G = P H* / D
            articulated[aggregate.parent] += total - gain @ coupling.T
            residual[aggregate.parent] += loads + gain @ force
            sweeps.append((aggregate, x, x_bias, np.linalg.solve(d, force), gain, maps, biases))
        accelerations = np.zeros((len(inertias), 6))
        if not root_is_held:
            accelerations[0] = -np.linalg.solve(articulated[0], residual[0])
        independent = np.zeros(self.layout.count)
        coordinates = np.zeros(self.layout.count)
        for aggregate, x, x_bias, own_acceleration, gain, maps, biases in reversed(sweeps):
            base = accelerations[aggregate.parent]
            result = own_acceleration - gain.T @ base
            independent[aggregate.independent] = result
            coordinates[aggregate.coordinates] = x @ result + x_bias
            for body, motion, bias in zip(aggregate.bodies, maps, biases, strict=True):
                accelerations[body] = base + motion @ result + bias
        return EmbeddedAccelerations(accelerations[0], independent[self.independent], coordinates)

    def _aggregate(self, design: TreeState, parent: str, members: tuple[str, ...], preferred: set[int]) -> Aggregate:
        bodies = tuple(self.layout.body[name] for name in members)
        spans = [self.layout.coordinates[body] for body in bodies]
        coordinates = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        # A cut belongs to the loop's bodies; the other end may be on the body that they hang from.
        inside, near = set(members), {*members, parent}
        cuts = tuple(
            cut
            for cut in self.layout.mechanism.cuts
            if {cut.first, cut.second} <= near and {cut.first, cut.second} & inside
        )
        dependent = np.zeros(0, dtype=int)
        if cuts:
            matrix = np.vstack([design.closure(cut)[1] for cut in cuts])[:, coordinates]
            weights = np.where([index in preferred for index in coordinates], 1e-6, 1.0)  # picked last as dependent
            _, _, order = qr(matrix * weights, pivoting=True, mode="economic")
            dependent = np.sort(coordinates[order[: len(matrix)]])
        independent = np.setdiff1d(coordinates, dependent)
        return Aggregate(self.layout.body[parent], bodies, cuts, coordinates, independent, dependent)

    def _closures(self, state: TreeState, aggregate: Aggregate) -> tuple[Array, Array, Array]:
        parts = [state.closure(cut) for cut in aggregate.cuts]
        if not parts:
            return np.zeros(0), np.zeros((0, self.layout.count)), np.zeros(0)
        return (
            np.concatenate([part[0] for part in parts]),
            np.vstack([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts]),
        )

    def _on_path(self, aggregate: Aggregate, body: int) -> Array:
        """1 for each of the aggregate's coordinates that moves the body, else 0."""
        result = np.zeros(self.layout.count)
        while body != aggregate.parent:
            result[self.layout.coordinates[body]] = 1.0
            body = self.layout.parent[body]
        return np.asarray(result[aggregate.coordinates])

    def _pick(self, aggregate: Aggregate, independent: Array) -> Array:
        return np.asarray(independent[np.searchsorted(self.independent, aggregate.independent)])
