"""Kinematics and inertia of a mechanism's spanning tree at one state, and the constraint equations of its cuts.

All quantities are about the root body's origin and in its axes (see spatial.py), as seen by an inertial observer that
coincides with the root at this instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.multibody.mechanism import ROOT, Cut, Mechanism, Motion
from vehicle_dynamics.multibody.spatial import (
    force_cross,
    inertia_matrix,
    motion_cross,
    point_velocity,
    rotation,
    rotation_axis,
    slide_axis,
)

Array = NDArray[np.float64]


class TreeLayout:
    """Indices of bodies and coordinates in the arrays."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.body = {ROOT: 0} | {body.name: number for number, body in enumerate(mechanism.bodies, start=1)}
        self.parent = [0] + [self.body[body.parent] for body in mechanism.bodies]
        self.coordinates: list[slice] = [slice(0, 0)]
        for body in mechanism.bodies:
            start = self.coordinates[-1].stop
            self.coordinates.append(slice(start, start + len(body.axes)))
        self.count = self.coordinates[-1].stop


class TreeState:
    """Positions, velocities and bias accelerations of all bodies for given coordinates and rates.

    Where a cut's first body is the root, its point may move: `anchors` holds by the cut's name position, velocity and
    acceleration (9) as the root sees them, the U(t) of [Cameron], Eq. 2.
    """

    def __init__(
        self,
        layout: TreeLayout,
        coordinates: Array,
        rates: Array,
        root_velocity: Array,
        anchors: Mapping[str, Array] = MappingProxyType({}),
    ) -> None:
        self.layout, self.anchors = layout, anchors
        self.coordinates, self.rates = coordinates, rates
        bodies = layout.mechanism.bodies
        count = len(bodies) + 1
        self.rotated = np.empty((count, 3, 3))  # a body's design axes, now
        self.shifted = np.empty((count, 3))  # a body's design origin, now
        self.velocity = np.empty((count, 6))
        self.bias = np.zeros((count, 6))  # acceleration with root at rest and all coordinate accelerations zero
        self.axes = np.empty((layout.count, 6))  # rows of H: spatial velocity of a unit rate of each coordinate
        self.rotated[0], self.shifted[0], self.velocity[0] = np.eye(3), np.zeros(3), root_velocity
        for number, body in enumerate(bodies, start=1):
            parent = layout.parent[number]
            rotated, shifted = self.rotated[parent], self.shifted[parent]
            velocity, bias = self.velocity[parent].copy(), self.bias[parent].copy()
            for index, axis in zip(range(*layout.coordinates[number].indices(layout.count)), body.axes, strict=True):
                direction, point = rotated @ axis.direction, rotated @ axis.point + shifted
                if axis.motion is Motion.REVOLUTE:
                    self.axes[index] = rotation_axis(direction, point)
                    rotated = rotation(direction, coordinates[index]) @ rotated
                    shifted = point - rotated @ axis.point
                else:
                    self.axes[index] = slide_axis(direction)
                    shifted = shifted + coordinates[index] * direction
                # The axis is carried along with what is before it: Coriolis acceleration a(k).
                bias += motion_cross(velocity, self.axes[index]) * rates[index]
                velocity += self.axes[index] * rates[index]
            self.rotated[number], self.shifted[number] = rotated, shifted
            self.velocity[number], self.bias[number] = velocity, bias

    def inertias(self) -> Array:
        """Spatial inertia of each body."""
        mechanism = self.layout.mechanism
        result = [inertia_matrix(mechanism.root_mass, mechanism.root_centre, mechanism.root_inertia)]
        for body, rotated, shifted in zip(mechanism.bodies, self.rotated[1:], self.shifted[1:], strict=True):
            centre = rotated @ body.centre + shifted
            result.append(inertia_matrix(body.mass, centre, rotated @ body.inertia @ rotated.T))
        return np.array(result)

    def gyroscopic(self, inertias: Array) -> Array:
        """Velocity-dependent force b of each body: V x* (M V)."""
        pairs = zip(self.velocity, inertias, strict=True)
        return np.array([force_cross(velocity, inertia @ velocity) for velocity, inertia in pairs])

    def jacobian(self, body: int) -> Array:
        """6 x n: spatial velocity of a body, less the root's, per coordinate rate."""
        result = np.zeros((6, self.layout.count))
        while body:
            coordinates = self.layout.coordinates[body]
            result[:, coordinates] = self.axes[coordinates].T
            body = self.layout.parent[body]
        return result

    def position(self, body: int, point: tuple[float, float, float]) -> Array:
        """Present position of a body's design point."""
        return np.asarray(self.rotated[body] @ point + self.shifted[body])

    def closure(self, cut: Cut) -> tuple[Array, Array, Array]:
        """Position error of a cut, matrix Y (error rate per coordinate rate), and Y' q' (Eqs. 12 and 14)."""
        first, second = self.layout.body[cut.first], self.layout.body[cut.second]
        directions = np.array(cut.directions) @ self.rotated[first].T
        anchor = self.anchors.get(cut.name)
        points = self.position(first, cut.point) if anchor is None else anchor[:3], self.position(second, cut.point)
        jacobian = np.zeros((3, self.layout.count))
        rate = np.zeros(3)
        for sign, body, point in ((-1.0, first, points[0]), (1.0, second, points[1])):
            spatial = self.jacobian(body)
            jacobian += sign * (spatial[3:] - np.cross(point, spatial[:3].T).T)
            # Acceleration of the point with all coordinate accelerations zero.
            w = self.velocity[body][:3]
            rate += sign * (
                point_velocity(self.bias[body], point) + np.cross(w, point_velocity(self.velocity[body], point))
            )
        if anchor is not None:
            rate -= anchor[6:] + 2.0 * np.cross(self.velocity[0][:3], anchor[3:6])
        return directions @ (points[1] - points[0]), directions @ jacobian, directions @ rate

    def anchor_velocity(self, cut: Cut) -> Array:
        """Velocity along the cut's directions that its anchor imposes on the second body [m/s]."""
        anchor = self.anchors.get(cut.name, np.zeros(9))
        return np.asarray(np.array(cut.directions) @ self.rotated[self.layout.body[cut.first]].T @ anchor[3:6])
