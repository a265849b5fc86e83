"""Inputs of the compiled models of a mechanism besides its arrays and its state: root, forces, constraints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3

Array = NDArray[np.float64]


class RootMotion(NamedTuple):
    """Motion of the root body, in root axes."""

    velocity: Array  # 6: angular velocity, velocity of the origin
    is_held: bool  # the root keeps its velocity: its acceleration is zero
    gravity: Vector3  # [m/s^2]


class Forces(NamedTuple):
    """Forces on a mechanism; spatial ones are about the origin and in the axes of the model."""

    bodies: Array  # bodies x 6, root first: moment [N m] and force [N]
    coordinates: Array  # on all tree coordinates [N m] or [N]


class Constraints(NamedTuple):
    """Stabilisation of a multiplier model: constraint errors obey e'' + 2 alpha e' + beta^2 e = 0 (Baumgarte)."""

    anchor: Array  # cuts x 9: see tree_arrays.anchors_at_rest
    alpha: float  # [1/s]; zeros disable the stabilisation
    beta: float  # [1/s]
