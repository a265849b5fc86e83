"""Pure pursuit on paths, poses that move along arcs, and turning in narrow spaces."""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path as FilePath

import numpy as np
import pytest

from planner.arcs import ArcPlanner
from planner.manoeuvre import Leg, ManoeuvreDriver, find_manoeuvre, least_clearance
from planner.maps.local_map import LocalMap
from planner.maps.terrain_truth import TerrainTruth
from planner.path_tracking import Path, PathTracker, pursuit_curvature
from planner.pose import Pose, pose_from_attitude
from planner.settings import PlannerSettings

sys.path.insert(0, str(FilePath(__file__).parent))
from yards import TRUCK, post, wall, yard

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)


def followed(path: Path, pose: Pose, seconds: float, speed: float = 4.0) -> Pose:
    tracker = PathTracker(DEFAULT.max_curvature_1pm)
    for _ in range(round(seconds / 0.05)):
        pose = pose.moved(speed, tracker.curvature(pose, speed, path), 0.05)
    return pose


def test_tracker_comes_back_to_a_line() -> None:
    line = Path(np.column_stack([np.arange(0.0, 200.0), np.zeros(200)]))

    pose = followed(line, Pose(0.0, 3.0, heading=0.4), 15.0)

    assert pose.y == pytest.approx(0.0, abs=0.05)
    assert pose.heading == pytest.approx(0.0, abs=0.02)


def test_tracker_holds_a_circle() -> None:
    angle = np.linspace(0.0, 2.0 * math.pi, 400)
    circle = Path(20.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)]))

    pose = followed(circle, Pose(0.0, 0.0), 20.0)

    assert math.hypot(pose.x, pose.y - 20.0) == pytest.approx(20.0, abs=0.3)


@pytest.mark.parametrize("reference", [0.0, 1.6])
@pytest.mark.parametrize(("x", "y"), [(9.0, 1.0), (7.0, -3.0), (9.0, 0.0)])
def test_pursuit_leads_the_reference_point_through_the_target(reference: float, x: float, y: float) -> None:
    curvature = pursuit_curvature(Pose(0.0, 0.0), x, y, 1.0, reference)

    poses = [Pose(0.0, 0.0).moved(1.0, curvature, length) for length in np.arange(0.0, 12.0, 0.01)]
    misses = [
        math.hypot(at.x + reference * math.cos(at.heading) - x, at.y + reference * math.sin(at.heading) - y)
        for at in poses
    ]

    assert min(misses) < 0.02


def test_pursuit_of_a_target_at_the_pose_goes_straight_on() -> None:
    assert pursuit_curvature(Pose(1.0, 2.0), 1.0, 2.0, 0.14) == 0.0


def test_points_on_a_path() -> None:
    path = Path(np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 5.0]]))

    assert path.length == 15.0
    assert path.nearest(4.0, 1.0) == pytest.approx((4.0, 1.0))
    assert path.at(12.0)[:2] == pytest.approx((10.0, 2.0))
    assert path.at(12.0).heading == pytest.approx(math.pi / 2.0)
    assert path.at(99.0)[:2] == pytest.approx((10.0, 5.0))


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.array([[0.0, math.nan]]), np.zeros((3, 3))])
def test_invalid_path_is_rejected(points: np.ndarray) -> None:
    with pytest.raises(ValueError, match="path"):
        Path(points)


@pytest.mark.parametrize("curvature", [0.0, 0.1, -0.14])
@pytest.mark.parametrize("speed", [3.0, -2.0])
def test_pose_moves_along_a_circle(curvature: float, speed: float) -> None:
    at_once = Pose(1.0, 2.0, heading=0.5).moved(speed, curvature, 2.0)
    in_steps = Pose(1.0, 2.0, heading=0.5)
    for _ in range(2000):
        in_steps = in_steps.moved(speed, curvature, 0.001)

    assert at_once == pytest.approx(in_steps, abs=1e-9)


def test_pose_of_a_tilted_frame_has_the_slope_of_its_plane() -> None:
    nose_up = 0.2  # rad about -y
    pose = pose_from_attitude((1.0, 2.0, 3.0), (0.0, -math.sin(0.1), 0.0, math.cos(0.1)))

    assert pose.heading == pytest.approx(0.0)
    assert pose.slope_x == pytest.approx(math.tan(nose_up))
    assert pose.slope_y == pytest.approx(0.0)


def test_turn_in_a_street_too_narrow_for_a_u_turn() -> None:
    street = yard(wall(-30.0, 4.5, 30.0, 4.5), wall(-30.0, -4.5, 30.0, -4.5))
    pose = Pose(0.0, -1.0)
    grid = LocalMap(TerrainTruth(street, DEFAULT), DEFAULT).update(0.0, pose)
    arcs = ArcPlanner(DEFAULT, TRUCK)
    back = Path(np.column_stack([-np.arange(0.0, 20.0, 0.5), np.zeros(40)]))

    legs = find_manoeuvre(arcs, pose, back, 0.0, grid)

    assert len(legs) >= 3  # forward, reverse, forward
    assert all(a.direction == -b.direction for a, b in itertools.pairwise(legs))
    for leg in legs:
        assert least_clearance(arcs, leg.points, grid) >= DEFAULT.margin_m - 1e-6
        steps = np.hypot(*np.diff(leg.points[:, :2], axis=0).T)
        assert steps.max() < 0.3  # no jumps
        assert np.abs(leg.curvature).max() <= DEFAULT.max_curvature_1pm
    assert abs(math.remainder(legs[-1].points[-1, 2] - math.pi, 2.0 * math.pi)) < 0.3


def test_no_manoeuvre_where_there_is_no_room() -> None:
    cage = yard(
        wall(-1.5, 2.0, 5.0, 2.0), wall(-1.5, -2.0, 5.0, -2.0), wall(-1.5, -2.0, -1.5, 2.0), wall(5.0, -2.0, 5.0, 2.0)
    )
    grid = LocalMap(TerrainTruth(cage, DEFAULT), DEFAULT).update(0.0, Pose(0.0, 0.0))
    back = Path(np.column_stack([-np.arange(0.0, 20.0, 0.5), np.zeros(40)]))

    assert find_manoeuvre(ArcPlanner(DEFAULT, TRUCK), Pose(0.0, 0.0), back, 0.0, grid) == []


@pytest.mark.parametrize(("heading", "stops"), [(0.0, False), (0.45, True)])
def test_manoeuvre_is_ended_where_the_vehicle_beside_its_leg_would_touch_a_post(heading: float, stops: bool) -> None:
    yard_with_post = yard(post(6.2, 2.3))
    along = np.arange(0.0, 8.0, 0.25)
    leg = Leg.of_arc(np.column_stack([along, np.zeros(len(along)), np.zeros(len(along))]), 0.0, 1)
    pose = Pose(1.0, 0.0, heading=heading)
    grid = LocalMap(TerrainTruth(yard_with_post, DEFAULT), DEFAULT).update(0.0, pose)
    arcs = ArcPlanner(DEFAULT, TRUCK)
    here = np.array([(pose.x, pose.y, pose.heading)])
    assert min(least_clearance(arcs, leg.points, grid), least_clearance(arcs, here, grid)) > 0.1  # both are clear

    command = ManoeuvreDriver(DEFAULT, [leg]).command(10.0, pose, 1.0, arcs, grid)

    assert (command is None) == stops
