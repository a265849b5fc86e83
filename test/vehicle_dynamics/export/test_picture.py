"""The picture of the vehicle, and the small renderer behind it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vehicle_dynamics.export.picture import draw
from vehicle_dynamics.export.raster import Camera, Triangles, chequered_ground, render, shape_triangles
from vehicle_dynamics.export.shapes import Box, Cylinder, Shape
from vehicle_dynamics.parameters import VehicleParameters

AHEAD = Camera(eye=(10.0, 0.0, 1.0), target=(0.0, 0.0, 1.0), width_angle=0.6, size=(60, 40))
STILL = np.eye(3), np.zeros(3)


def scene(*shapes: Shape) -> Triangles:
    return Triangles.joined([shape_triangles(shape, *STILL, number) for number, shape in enumerate(shapes, start=1)])


def test_picture_of_the_vehicle_is_written_and_small(parameters: VehicleParameters, tmp_path: Path) -> None:
    draw(parameters, tmp_path / "vehicle.png")

    content = (tmp_path / "vehicle.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert 50_000 < len(content) < 300_000


def test_left_side_of_a_vehicle_seen_from_ahead_is_on_the_right() -> None:
    image = render(scene(Box((0.0, 1.5, 1.0), (1.0, 1.0, 1.0), "rim")), AHEAD)

    assert image[20, 45].mean() < 0.9
    assert image[20, 15].mean() == 1.0


@pytest.mark.parametrize("order", [1, -1])
def test_nearer_object_hides_the_farther_one_in_any_order(order: int) -> None:
    red = Box((2.0, 0.0, 1.0), (0.5, 1.0, 1.0), "bar")
    grey = Cylinder((-2.0, -1.0, 1.0), (-2.0, 1.0, 1.0), 0.5, "rim")

    shapes: list[Shape] = [red, grey]
    image = render(scene(*shapes[::order]), AHEAD)

    assert image[20, 30, 0] > 2.0 * image[20, 30, 2]


def test_translucent_object_shows_what_is_behind() -> None:
    behind, glass = Box((-2.0, 0.0, 1.0), (0.5, 1.0, 1.0), "bar"), Box((2.0, 0.0, 1.0), (0.5, 1.0, 1.0), "glass")

    plain, through, alone = (render(scene(*parts), AHEAD)[20, 30] for parts in ([behind], [behind, glass], [glass]))

    blue = 2
    assert plain[blue] < through[blue] < alone[blue]


def test_shadow_falls_on_the_ground_only() -> None:
    above = Camera(eye=(6.0, 0.0, 6.0), target=(0.0, 0.0, 0.0), width_angle=0.8, size=(60, 40))
    ground = chequered_ground(6)

    bare, shaded = (
        render(part, above)
        for part in (ground, Triangles.joined([ground, scene(Box((0.0, 0.0, 1.0), (1.0, 1.0, 0.2), "rim"))]))
    )

    assert (shaded < bare - 0.1).any()
    assert bare.min() > 0.85
