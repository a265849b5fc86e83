"""The fan of arcs: what is clear, which arc wins, how fast, and hysteresis."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.arcs import ArcPlanner, Target
from planner.maps.distance import distance_field
from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, LocalGrid, Window
from planner.pose import Pose
from planner.settings import PlannerSettings
from yards import TRUCK

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)
SIDE = DEFAULT.map_resolution_m


def grid_of(positions: list[tuple[float, float]], heights: object = None, size: float = 48.0) -> LocalGrid:
    """A map around x = y = 0 with single occupied cells."""
    window = Window.around(0.0, 0.0, size, SIDE)
    cells = np.full(window.shape, FREE, np.int8)
    for x, y in positions:
        cells[window.cell(x, y)] = OCCUPIED
    distance = np.empty(window.shape, np.float32)
    distance_field(cells, OCCUPIED, SIDE, distance)
    x, y = (
        (np.arange(count) + 0.5) * SIDE + begin
        for count, begin in ((window.columns, window.x), (window.rows, window.y))
    )
    ground = np.zeros(window.shape) if heights is None else heights(x[None, :], y[:, None])  # type: ignore[operator]
    return LocalGrid(window, cells, np.broadcast_to(ground, window.shape).astype(np.float32), distance, 0.0)


def swept(grid: LocalGrid, pose: Pose | None = None, **changes: float) -> ArcPlanner:
    arcs = ArcPlanner(PlannerSettings(max_curvature_1pm=0.14, **changes), TRUCK)  # type: ignore[arg-type]
    arcs.sweep(pose or Pose(0.0, 0.0), grid)
    return arcs


def hits(arcs: ArcPlanner, grid: LocalGrid, arc: int, length: float, lateral: float, ahead: float) -> bool:
    """Brute force: whether the middle of an occupied cell is in the footprint somewhere on the arc.

    The footprint is made wider by lateral [m] on both sides, and longer by ahead [m] at both ends.
    """
    rows, columns = np.nonzero(grid.cells == OCCUPIED)
    x, y = (columns + 0.5) * SIDE + grid.window.x, (rows + 0.5) * SIDE + grid.window.y
    at_x, at_y, heading = arcs.fan.points[arc, : round(length / DEFAULT.arc_step_m) + 1].T[:, :, None]
    along = (x - at_x) * np.cos(heading) + (y - at_y) * np.sin(heading)
    across = (y - at_y) * np.cos(heading) - (x - at_x) * np.sin(heading)
    inside = (along > TRUCK.rear - ahead) & (along < TRUCK.front + ahead)
    return bool((inside & (np.abs(across) < TRUCK.half_width + lateral)).any())


@given(seed=st.integers(0, 2**31), heading=st.floats(-math.pi, math.pi))
@settings(max_examples=25, deadline=None)
def test_clear_arcs_hit_nothing_and_arcs_with_enough_clearance_are_clear(seed: int, heading: float) -> None:
    random = np.random.default_rng(seed)
    positions = [(float(x), float(y)) for x, y in random.uniform(-17.0, 17.0, (12, 2)) if math.hypot(x, y) > 6.0]
    grid = grid_of(positions)
    arcs = swept(grid, Pose(0.0, 0.0, heading=heading))
    discs, radius = TRUCK.discs(DEFAULT.discs)
    # Discs overlap sides and ends, a grid rounds by up to a cell's diagonal: beyond that nothing blocks.
    lateral = DEFAULT.margin_m + (radius - TRUCK.half_width) + 1.5 * SIDE
    ahead = DEFAULT.margin_m + (radius - (TRUCK.front - discs[-1])) + 1.5 * SIDE
    surely = DEFAULT.margin_m - 0.5 * SIDE

    for arc in range(len(arcs.fan.free)):
        free = float(arcs.fan.free[arc])
        assert not hits(arcs, grid, arc, free, surely, surely)
        if free < DEFAULT.arc_length_m:
            assert hits(arcs, grid, arc, free + DEFAULT.arc_step_m, lateral, ahead)


def test_arcs_end_where_circles_do() -> None:
    arcs = swept(grid_of([]))
    sharpest = int(np.argmax(arcs.fan.curvature))

    x, y, heading = arcs.fan.points[sharpest, -1]

    radius = 1.0 / DEFAULT.max_curvature_1pm
    angle = DEFAULT.arc_length_m / radius
    assert (x, y, heading) == pytest.approx(
        (radius * math.sin(angle), radius * (1.0 - math.cos(angle)), angle), abs=1e-9
    )


def test_arc_that_ends_closest_to_the_goal_wins_on_an_empty_map() -> None:
    arcs = swept(grid_of([]), smooth_weight=0.0)

    for x, y in ((12.0, 0.0), (10.0, 4.0), (10.0, -4.0)):
        choice = arcs.choose(Target(x, y), 0.0, keep=False)
        ends = arcs.fan.points[arcs.fan.direction > 0.0][:, 4:, :2]  # least_arc_m is four samples
        nearest = np.hypot(ends[..., 0] - x, ends[..., 1] - y).min()
        assert choice is not None
        assert choice.miss == pytest.approx(nearest)


def test_obstacle_on_the_direct_path_is_avoided() -> None:
    arcs = swept(grid_of([(9.0, 0.0), (9.0, 0.2)]))

    choice = arcs.choose(Target(20.0, 0.0), 0.0)

    assert choice is not None
    assert abs(choice.curvature) > 0.01
    assert choice.clearance >= DEFAULT.margin_m


def test_all_arcs_blocked_returns_no_choice() -> None:
    ring = [(6.0 * math.cos(angle) + 1.6, 6.0 * math.sin(angle)) for angle in np.linspace(0.0, 2.0 * math.pi, 400)]
    near = [(4.6, float(y)) for y in np.arange(-2.0, 2.0, 0.1)]
    arcs = swept(grid_of(ring + near))

    assert arcs.choose(Target(20.0, 0.0), 0.0) is None


def test_choice_is_kept_until_another_is_clearly_better() -> None:
    grid = grid_of([(9.0, 0.0)])
    arcs = swept(grid, smooth_weight=0.0)
    first = arcs.choose(Target(20.0, 0.05), 0.0)
    assert first is not None

    # A goal that wavers from side to side would otherwise change the choice at every plan.
    for y in (-0.05, 0.05, -0.05, 0.05):
        arcs.sweep(Pose(0.0, 0.0), grid)
        kept = arcs.choose(Target(20.0, y), 0.0)
        assert kept is not None
        assert kept.curvature == first.curvature

    other = arcs.choose(Target(15.0, -math.copysign(8.0, first.curvature)), 0.0)
    assert other is not None
    assert other.curvature * first.curvature < 0.0


def test_without_hysteresis_the_side_changes() -> None:
    arcs = swept(grid_of([(9.1, 0.1), (8.9, -0.1), (9.1, -0.1), (8.9, 0.1)]), smooth_weight=0.0, hysteresis_m=0.0)

    sides = {math.copysign(1.0, arcs.choose(Target(20.0, y), 0.0).curvature) for y in (0.5, -0.5)}  # type: ignore[union-attr]

    assert sides == {1.0, -1.0}


def test_vehicle_that_stands_too_close_can_leave_but_not_come_closer() -> None:
    beside = [(x, TRUCK.half_width + 0.22) for x in np.arange(0.1, 3.5, 0.2)]
    arcs = swept(grid_of(beside), Pose(0.0, 0.0))

    free = arcs.fan.free[arcs.fan.direction > 0.0]
    straight = len(free) // 2

    assert free[straight] == DEFAULT.arc_length_m
    assert free[-1] < 1.0  # left, into it


def test_reverse_arcs_lead_backwards() -> None:
    arcs = swept(grid_of([]))

    choice = arcs.choose(Target(-10.0, 1.0), 0.0, in_reverse=True)

    assert choice is not None
    assert choice.direction == -1
    assert arcs.fan.points[choice.index, -1, 0] < -5.0
    assert arcs.speed(choice, 100.0) == pytest.approx(-DEFAULT.reverse_speed_mps)


def test_lateral_slope_that_could_roll_the_vehicle_over_is_blocked() -> None:
    tilt = 1.2 * DEFAULT.rollover_share * TRUCK.tipping
    arcs = swept(grid_of([], lambda x, y: tilt * y + 0.0 * x))

    straight = len(arcs.fan.free[arcs.fan.direction > 0.0]) // 2

    assert arcs.fan.free[straight] == 0.0


def test_level_ground_is_preferred_to_a_slope() -> None:
    # The left half is a hill: of two arcs that miss the goal equally the level one wins.
    arcs = swept(grid_of([], lambda x, y: 0.3 * np.maximum(x, 0.0) * (y > 1.0)), smooth_weight=0.0)

    choice = arcs.choose(Target(12.0, 0.0), 0.0, keep=False)

    assert choice is not None
    assert choice.curvature <= 0.0


def test_speed_falls_with_curvature_clearance_roughness_and_free_length() -> None:
    arcs = swept(grid_of([]))
    straight = arcs.choose(Target(12.0, 0.0), 0.0)
    assert straight is not None
    from dataclasses import replace

    fast = arcs.speed(straight, 100.0)
    assert fast == pytest.approx(DEFAULT.max_speed_mps - DEFAULT.speed_reserve_mps)
    assert arcs.speed(replace(straight, curvature=0.14), 100.0) < fast
    assert arcs.speed(replace(straight, clearance=0.5), 100.0) < fast
    assert arcs.speed(replace(straight, twist=0.2), 100.0) < fast
    assert arcs.speed(replace(straight, free=4.0), 100.0) < fast
    assert arcs.speed(straight, 2.0) < fast
    assert arcs.speed(straight, 0.0) == 0.0


@given(
    free=st.floats(0.0, 12.0), clearance=st.floats(0.0, 10.0), curvature=st.floats(-0.14, 0.14), to_go=st.floats(0, 50)
)
@settings(max_examples=100, deadline=None)
def test_vehicle_can_always_stop_within_the_clear_length(
    free: float, clearance: float, curvature: float, to_go: float
) -> None:
    from planner.arcs import ArcChoice

    arcs = ArcPlanner(DEFAULT, TRUCK)
    choice = ArcChoice(0, curvature, 1, free, free, 0.0, clearance, 0.0, 0.0)

    speed = arcs.speed(choice, to_go)

    assert 0.0 <= speed <= DEFAULT.max_speed_mps
    assert speed**2 / (2.0 * DEFAULT.deceleration_mps2) <= min(free, to_go) + 1e-9


@pytest.mark.parametrize("room", [3.0, 5.0, 8.0])
def test_vehicle_can_stop_before_ground_that_was_never_seen(room: float) -> None:
    grid = grid_of([])
    begin = TRUCK.front + room
    grid.cells[:, grid.window.cell(begin, 0.0)[1] :] = UNKNOWN
    known, sensed = swept(grid), swept(replace(grid, by_sight=True))

    fast, slow = (arcs.speed(arcs.choose(Target(20.0, 0.0), 0.0), 50.0) for arcs in (known, sensed))  # type: ignore[arg-type]

    assert fast == pytest.approx(DEFAULT.max_speed_mps - DEFAULT.speed_reserve_mps)
    # Up to two cells beside seen ones count as seen, and samples are arc_step_m apart.
    assert slow**2 / (2.0 * DEFAULT.deceleration_mps2) <= room - 1.0 + 3 * SIDE + DEFAULT.arc_step_m
    assert 0.5 < slow < fast


def test_gaps_between_lidar_rings_do_not_slow_the_vehicle() -> None:
    grid = grid_of([])
    for gap in np.arange(6.0, 20.0, 1.6):
        column = grid.window.cell(float(gap), 0.0)[1]
        grid.cells[:, column : column + 4] = UNKNOWN

    arcs = swept(replace(grid, by_sight=True))

    assert np.isinf(arcs.fan.seen).all()


def test_vehicle_is_slower_downhill_than_on_level_ground() -> None:
    def speed(fall: float) -> float:
        arcs = swept(grid_of([], lambda x, y: -fall * x + 0.0 * y), Pose(0.0, 0.0, slope_x=-fall))
        choice = arcs.choose(Target(20.0, 0.0), 0.0)
        assert choice is not None
        return arcs.speed(choice, 50.0)

    assert speed(0.3) < speed(0.15) < speed(0.0)
    assert speed(-0.15) == pytest.approx(speed(0.0))
