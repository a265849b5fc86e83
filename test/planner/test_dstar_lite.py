"""D* Lite against A*: the same cost after every change, and a path of that cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.a_star import Cell, shortest
from planner.dstar_lite import DStarLite
from planner.grid_cost import BLOCKED, CHEAPEST, DIAGONAL, NO_PATH, STRAIGHT, Costs


def random_costs(random: np.random.Generator, shape: tuple[int, int], blocked: float) -> Costs:
    return np.where(random.random(shape) < blocked, BLOCKED, random.integers(CHEAPEST, 60, shape)).astype(np.int32)


def cost_of(costs: Costs, path: np.ndarray) -> int:
    steps = np.diff(path, axis=0)
    assert (np.abs(steps).max(axis=1) == 1).all()  # from neighbour to neighbour
    length = np.where(np.abs(steps).sum(axis=1) == 2, DIAGONAL, STRAIGHT)
    here = costs[path[:, 0], path[:, 1]].astype(np.int64)
    assert (here != BLOCKED).all()
    return int(((here[1:] + here[:-1]) * length).sum())


def random_cell(random: np.random.Generator, costs: Costs) -> Cell:
    row, column = (int(random.integers(count)) for count in costs.shape)
    costs[row, column] = CHEAPEST
    return row, column


@given(seed=st.integers(0, 2**31), blocked=st.sampled_from([0.0, 0.2, 0.4]))
@settings(max_examples=60, deadline=None)
def test_path_costs_the_same_as_that_of_a_star_after_every_change_and_move(seed: int, blocked: float) -> None:
    random = np.random.default_rng(seed)
    costs = random_costs(random, (int(random.integers(3, 30)), int(random.integers(3, 30))), blocked)
    start, goal = random_cell(random, costs), random_cell(random, costs)
    search = DStarLite(costs, start, goal)

    for _ in range(12):
        search.repair()
        cost, _ = shortest(costs, start, goal)
        path = search.path(costs.size)
        assert search.cost == cost
        assert len(path) == 0 if cost == NO_PATH else cost_of(costs, path) == cost
        if len(path) > 1:
            row, column = path[min(int(random.integers(1, 4)), len(path) - 1)].tolist()
            start = row, column
        moves_first = bool(random.integers(2))  # the order of the calls makes no difference
        if moves_first:
            search.move_to(start)
        changes = np.argwhere(random.random(costs.shape) < 0.1)
        changes = changes[[tuple(cell) not in (start, goal) for cell in changes.tolist()]]
        costs[tuple(changes.T)] = random_costs(random, costs.shape, blocked)[tuple(changes.T)]
        search.changed(changes)
        if not moves_first:
            search.move_to(start)


@given(seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_map_may_grow_on_any_side(seed: int) -> None:
    random = np.random.default_rng(seed)
    costs = random_costs(random, (12, 15), 0.3)
    start, goal = random_cell(random, costs), random_cell(random, costs)
    search = DStarLite(costs, start, goal)
    search.repair()
    above, below, left, right = random.integers(0, 6, 4).tolist()
    larger = random_costs(random, (12 + above + below, 15 + left + right), 0.2)
    larger[above : above + 12, left : left + 15] = costs

    search = search.grown(larger, above, left)
    search.repair()

    moved = (start[0] + above, start[1] + left)
    assert search.goal == (goal[0] + above, goal[1] + left)
    assert search.cost == shortest(larger, moved, search.goal)[0]


def test_change_far_from_the_path_costs_no_search() -> None:
    costs = np.full((200, 200), CHEAPEST, np.int32)
    search = DStarLite(costs, (10, 10), (10, 190))
    search.repair()

    costs[150:160, 20:30] = BLOCKED
    search.changed(np.argwhere(costs == BLOCKED))

    assert search.repair() == 0


def test_change_near_the_vehicle_is_repaired_with_less_work_than_a_new_search() -> None:
    costs = np.full((300, 300), CHEAPEST, np.int32)
    random = np.random.default_rng(5)
    for row, column in random.integers(20, 260, (60, 2)):
        costs[row : row + 12, column : column + 12] = BLOCKED
    costs[:15], costs[290:] = CHEAPEST, CHEAPEST
    whole = DStarLite(costs, (5, 5), (295, 295)).repair()
    search = DStarLite(costs, (5, 5), (295, 295))
    search.repair()

    at = search.path(40)[30]
    change = np.argwhere(np.ones((6, 6), bool)) + at
    costs[tuple(change.T)] = BLOCKED
    search.changed(change)

    assert search.repair() < 0.2 * whole
    assert search.cost == shortest(costs, (5, 5), (295, 295))[0]


@pytest.mark.parametrize("walled", ["start", "goal"])
def test_walled_in_means_no_path(walled: str) -> None:
    costs = np.full((30, 30), CHEAPEST, np.int32)
    start, goal = (5, 5), (20, 20)
    row, column = start if walled == "start" else goal
    costs[row - 2 : row + 3, column - 2 : column + 3] = BLOCKED
    costs[row, column] = CHEAPEST

    search = DStarLite(costs, start, goal)
    search.repair()

    assert search.cost == NO_PATH
    assert len(search.path(1000)) == 0


def test_start_at_the_goal_is_a_path_of_one_cell() -> None:
    search = DStarLite(np.full((5, 5), CHEAPEST, np.int32), (2, 2), (2, 2))
    search.repair()

    assert search.cost == 0
    assert search.path(10).tolist() == [[2, 2]]
