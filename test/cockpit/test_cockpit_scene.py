"""Drawing of vehicle and world in the cockpit, and the point at which a click meets the ground."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proving_ground.cockpit.ground_view import ground_view, kept_lines
from proving_ground.cockpit.obstacle_view import obstacle_parts
from proving_ground.cockpit.picking import ray_on_ground
from proving_ground.cockpit.reading import Grid
from proving_ground.cockpit.shapes import Solid, ball, box, cylinder, prism
from proving_ground.cockpit.stage import grid_squares
from proving_ground.cockpit.vehicle_view import Links, body_parts
from proving_ground.recording.figures import rotated
from proving_ground.settings.share import share_file
from terrain.world import World
from terrain.worlds import load_world
from vehicle_dynamics.export.joint_positions import JointPositions
from vehicle_dynamics.parameters import VehicleParameters

HMMWV = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


@pytest.fixture(scope="module")
def town() -> World:
    return load_world("urban")


def volume(solid: Solid) -> float:
    """Volume by the divergence theorem; positive where all triangles face outwards."""
    a, b, c = (solid.vertices[solid.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


# The vehicle


def test_triangles_of_all_shapes_face_outwards() -> None:
    assert volume(box((1.0, 3.0), (0.0, 1.0), (2.0, 5.0))) == pytest.approx(6.0)
    assert volume(prism([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)], 0.5)) == pytest.approx(2.0)
    # A polygon of 24 sides has 1.2 % less area than its circle.
    assert volume(cylinder((0.0, 0.0, 0.0), (0.0, 2.0, 0.0), 1.0)) == pytest.approx(2.0 * math.pi, rel=0.02)
    assert 0.0 < volume(ball((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))) < 4.0 / 3.0 * math.pi


def test_body_is_as_long_wide_and_high_as_the_real_one() -> None:
    corners = np.vstack([part.solid.vertices for part in body_parts(HMMWV)])
    length, width, height = np.ptp(corners, axis=0)
    assert 4.5 < length < 4.9  # 4.57 m without bumpers
    assert 2.0 < width < 2.6  # 2.16 m, and mirrors
    assert 1.2 < height < 1.6  # from the tub to the roof


def test_links_stand_where_the_vehicles_own_kinematics_put_them() -> None:
    links, joints = Links(HMMWV), JointPositions(HMMWV)
    angle = 0.2
    positions = dict(zip(joints.names, joints.of(np.full(4, angle), np.zeros(4), 0.1).tolist(), strict=True))

    placed, design = links.at(positions), links.at({})

    # The lower ball joint goes round the lower arm's pivots: the upright arm, which begins there, is carried along.
    p = HMMWV.front_suspension.hardpoints_left_m
    pivot, axis = np.array(p.lower_arm_pivot_rear), np.subtract(p.lower_arm_pivot_front, p.lower_arm_pivot_rear)
    axis = axis / np.linalg.norm(axis)
    rotation = np.append(axis * math.sin(0.5 * angle), math.cos(0.5 * angle))
    expected = pivot + rotated(rotation, np.array([p.lower_ball_joint]) - pivot)[0]
    assert_allclose(design["front_left_upright_arm"][0], p.lower_ball_joint, atol=1e-9)
    assert_allclose(placed["front_left_upright_arm"][0], expected, atol=1e-9)
    # The shock's two tubes stay in line, though each hangs on another body.
    along = rotated(placed["front_left_lower_shock"][1], np.array([np.subtract(p.shock_chassis, p.shock_lower_arm)]))[0]
    upper = np.array(p.shock_chassis) - placed["front_left_lower_shock"][0]
    assert_allclose(np.cross(along / np.linalg.norm(along), upper / np.linalg.norm(upper)), 0.0, atol=1e-9)


def test_a_joint_that_is_not_finite_is_rejected() -> None:
    with pytest.raises(ValueError, match="finite"):
        Links(HMMWV).at({"front_left_wheel": math.nan})


# The world


def test_ground_is_drawn_where_the_wheels_meet_it(town: World) -> None:
    view = ground_view(town, triangles=160_000)
    x, y, z = view.vertices.T.astype(float)
    # Positions are of single precision: 1e-5 m beside a kerb's slope of 1.5.
    assert_allclose(z, town.ground.height_at(x, y), atol=1e-4)
    # Along kerbs no triangle spans more than the step itself.
    corners = view.vertices[view.faces]
    steps = np.ptp(corners[..., 2], axis=1) > 0.1
    straight = steps & (np.ptp(corners[..., :2], axis=1).min(axis=1) < 0.11)
    assert straight.sum() > 0.6 * steps.sum()
    assert len(view.faces) < 170_000


def test_roads_kerbs_and_yards_of_a_town_have_colours_of_their_own(town: World) -> None:
    view = ground_view(town, triangles=2000)
    rows, columns = view.picture.shape[:2]
    (left, right), (low, high) = town.ground.x_limits, town.ground.y_limits

    def colour(x: float, y: float) -> Any:
        row, column = int((high - y) / (high - low) * rows), int((x - left) / (right - left) * columns)
        return view.picture[row, column].astype(int)

    road, yard = colour(36.0, 2.0), colour(36.0, 15.0)
    assert np.ptp(road) < 15  # grey
    assert yard[1] > yard[2] + 15  # green
    paint = colour(town.markings[3, [0, 2]].mean(), town.markings[3, [1, 3]].mean())
    assert paint.min() > road.max() + 100


@given(count=st.integers(5, 90), positions=st.lists(st.integers(2, 97), max_size=6))
def test_kept_lines_reach_both_ends_and_every_kink(count: int, positions: list[int]) -> None:
    bend = np.zeros(100)
    bend[positions] = 1.0
    kept = kept_lines(bend, count)
    assert kept[0] == 0
    assert kept[-1] == 99
    assert len(kept) <= count + 1
    if count - round(0.4 * count) > 3 * len(set(positions)):
        assert set(positions) <= set(kept.tolist())


def test_every_obstacle_of_a_world_is_drawn(town: World) -> None:
    corners = np.vstack([part.solid.vertices for part in obstacle_parts(town)])
    for item in (*town.obstacles.boxes[:20], *town.obstacles.cylinders[:20]):
        assert np.hypot(corners[:, 0] - item.x, corners[:, 1] - item.y).min() < 12.0


def test_a_click_finds_the_ground_it_points_at(town: World) -> None:
    target = np.array([40.0, -2.0, float(town.ground.height_at(40.0, -2.0))])
    eye = np.array([10.0, -2.0, 12.0])
    found = ray_on_ground(eye, target - eye, lambda x, y: np.asarray(town.ground.height_at(x, y)))
    assert found is not None
    assert_allclose(found, target, atol=1e-3)


@pytest.mark.parametrize("direction", [(0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (math.nan, 0.0, -1.0)])
def test_a_click_into_the_sky_finds_nothing(direction: tuple[float, float, float]) -> None:
    assert ray_on_ground((0.0, 0.0, 2.0), direction, lambda x, y: np.zeros_like(x)) is None


def test_only_occupied_cells_of_the_local_map_are_drawn() -> None:
    cells = np.array([[0, 100], [-1, 0]], np.int8)
    vertices, faces = grid_squares(Grid(cells, 0.5, np.array([10.0, 20.0, 0.0])), height=1.0)
    assert len(faces) == 2
    assert_allclose(vertices.min(axis=0), (10.5, 20.0, 1.0))
    assert_allclose(vertices.max(axis=0), (11.0, 20.5, 1.0))
