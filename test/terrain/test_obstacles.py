"""Obstacles: arrays for kernels, distances from footprints, tops, meshes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from terrain.mesh import Mesh
from terrain.obstacles import Box, Cylinder, MeshObstacle, Obstacles

HOUSE = Box(x=10.0, y=0.0, base=1.0, length=6.0, width=4.0, height=8.0, yaw=math.pi / 2.0)
POST = Cylinder(x=0.0, y=5.0, base=0.5, radius=0.3, height=1.0)
BOTH = Obstacles(boxes=(HOUSE,), cylinders=(POST,))


def volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_kernels_get_plain_arrays() -> None:
    boxes, cylinders = BOTH.to_arrays()

    assert_allclose(boxes, [[10.0, 0.0, 1.0, 6.0, 4.0, 8.0, 0.0, 1.0]], atol=1e-12)
    assert_allclose(cylinders, [[0.0, 5.0, 0.5, 0.3, 1.0]])
    assert Obstacles().to_arrays().boxes.shape == (0, 8)
    assert Obstacles().to_arrays().cylinders.shape == (0, 5)


def test_distance_is_from_the_nearest_footprint_and_negative_inside() -> None:
    # The house is rotated: 4 m along x, 6 m along y.
    assert_allclose(BOTH.distance([15.0, 10.0, 10.0, 0.0, 0.0], [0.0, 4.0, 0.0, 4.0, 5.0]), [3.0, 1.0, -2.0, 0.7, -0.3])
    assert Obstacles().distance(0.0, 0.0) == np.inf


@settings(derandomize=True, deadline=None)
@given(yaw=st.floats(-3.0, 3.0), x=st.floats(-9.0, 9.0), y=st.floats(-9.0, 9.0), angle=st.floats(-3.0, 3.0))
def test_distance_does_not_change_when_everything_is_rotated(yaw: float, x: float, y: float, angle: float) -> None:
    straight = Obstacles(boxes=(Box(x=0.0, y=0.0, length=3.0, width=1.0, height=1.0, yaw=yaw),))
    rotated = Obstacles(boxes=(Box(x=0.0, y=0.0, length=3.0, width=1.0, height=1.0, yaw=yaw + angle),))
    cos, sin = math.cos(angle), math.sin(angle)

    assert_allclose(rotated.distance(cos * x - sin * y, sin * x + cos * y), straight.distance(x, y), atol=1e-9)


def test_the_top_is_that_of_the_obstacle() -> None:
    assert_allclose(BOTH.top_at([10.0, 0.0, -20.0], [0.0, 5.0, 0.0]), [9.0, 1.5, -np.inf])


def test_meshes_are_closed_and_have_the_right_volume() -> None:
    sides = 16
    prism = 0.5 * sides * math.sin(2.0 * math.pi / sides) * POST.radius**2 * POST.height

    assert volume(HOUSE.mesh()) == pytest.approx(6.0 * 4.0 * 8.0)
    assert volume(POST.mesh()) == pytest.approx(prism)
    assert volume(BOTH.mesh()) == pytest.approx(6.0 * 4.0 * 8.0 + prism)


def test_a_mesh_counts_as_its_bounding_box_rotated_with_it() -> None:
    shape = Box(x=1.0, y=0.0, base=0.0, length=4.0, width=2.0, height=3.0).mesh()
    rock = MeshObstacle(name="rock", shape=shape, x=10.0, y=20.0, base=5.0, yaw=math.pi / 2.0)

    box = rock.box()

    assert (box.x, box.y, box.base) == pytest.approx((10.0, 21.0, 5.0))
    assert (box.length, box.width, box.height) == pytest.approx((4.0, 2.0, 3.0))
    assert_allclose(np.sort(rock.mesh().vertices, axis=0), np.sort(box.mesh().vertices, axis=0), atol=1e-12)
    assert Obstacles(meshes=(rock,)).distance(10.0, 24.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"length": 0.0}, "length: must be above 0, got 0"),
        ({"height": -1.0}, "height: must be above 0, got -1"),
        ({"x": math.nan}, "x: must be within 1e.08 of 0, got nan"),
        ({"yaw": math.inf}, "yaw: must be within 1e.08 of 0, got inf"),
    ],
)
def test_a_box_rejects_invalid_values(numbers: dict[str, float], words: str) -> None:
    sound = {"x": 0.0, "y": 0.0, "length": 1.0, "width": 1.0, "height": 1.0}

    with pytest.raises(ValueError, match=words):
        Box(**{**sound, **numbers})
