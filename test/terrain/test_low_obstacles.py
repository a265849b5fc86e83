"""Wheels and underside of the HMMWV on obstacles below the bumpers: steps, logs, rocks, stumps, ridges."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from proving_ground.settings.share import share_file
from terrain.contact_plane import SAMPLES, contact_plane
from terrain.elevation_map import ElevationMap
from terrain.ground import FlatGround
from terrain.mesh import Mesh
from terrain.mesh_columns import columns_of
from terrain.obstacles import Box, Cylinder, MeshObstacle, Obstacles
from terrain.spawned import ReplaceableGround, obstacles_of
from terrain.world import World
from terrain.world_ground import SoilPlane, WorldGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import NEUTRAL, Pedals
from vehicle_dynamics.vehicle_state import STATE_SIZE, VehicleState
from vehicle_energy import body_energy

Array = NDArray[np.float64]

COASTING = Pedals(selected=NEUTRAL)
NODE_M = 0.05
EDGE_M = 5.0  # where steps begin
WEIGHT = 2573.138 * 9.81  # [N]


@pytest.fixture(scope="module")
def car() -> Hmmwv:
    """The HMMWV as built."""
    return Hmmwv(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml")))


def pad(step: float = 0.0) -> ElevationMap:
    """Level ground, with a step up [m] between the nodes before and after EDGE_M."""
    x = -20.0 + NODE_M * np.arange(1201)
    heights = np.zeros((161, len(x)), np.float32)
    heights[:, x > EDGE_M + 0.5 * NODE_M] = step
    return ElevationMap(heights=heights, resolution=NODE_M, origin_x=-20.0, origin_y=-4.0)


def ground_with(*items: Any) -> WorldGround:
    obstacles = Obstacles(
        boxes=tuple(item for item in items if isinstance(item, Box)),
        cylinders=tuple(item for item in items if isinstance(item, Cylinder)),
        meshes=tuple(item for item in items if isinstance(item, MeshObstacle)),
    )
    return WorldGround.of(World(name="pad", ground=pad(), obstacles=obstacles))


def box(height: float, length: float, x: float = EDGE_M, width: float = 8.0, y: float = 0.0) -> Box:
    """A box from x on [m]."""
    return Box(x=x + 0.5 * length, y=y, length=length, width=width, height=height)


def step_of_box(height: float) -> WorldGround:
    """The step of `pad` as an obstacle: its side rises over the same 5 cm."""
    return ground_with(box(height, 25.0, x=EDGE_M + NODE_M))


def log(radius: float, x: float = EDGE_M, length: float = 6.0, yaw: float = 0.0) -> MeshObstacle:
    """A log across the road, of 24 sides."""
    count = 24
    angle = 2.0 * math.pi * np.arange(count) / count
    ring = np.column_stack([radius * np.cos(angle), np.zeros(count), radius * (1.0 + np.sin(angle))])
    ends = np.concatenate([ring - [0.0, 0.5 * length, 0.0], ring + np.array([0.0, 0.5 * length, 0.0])])
    here, there, fan = np.arange(count), (np.arange(count) + 1) % count, np.arange(1, count - 1)
    zero = np.zeros_like(fan)
    faces = [
        np.stack(part, axis=1)
        for part in (
            (here, there, there + count),
            (here, there + count, here + count),
            (zero, fan, fan + 1),
            (zero + count, fan + 1 + count, fan + count),
        )
    ]
    return MeshObstacle(name="log", shape=Mesh(ends, np.concatenate(faces).astype(np.int32)), x=x, y=0.0, yaw=yaw)


def rock() -> MeshObstacle:
    """Half of an ellipsoid, 0.6 m long and 0.25 m high, in the left wheels' track."""
    radius, height, rings, count = 0.3, 0.25, 8, 24
    angle = 2.0 * math.pi * np.arange(count) / count
    levels = 0.5 * math.pi * np.arange(rings) / rings
    shells = [np.column_stack([radius * math.cos(e) * np.cos(angle), radius * math.cos(e) * np.sin(angle),
                               np.full(count, height * math.sin(e))]) for e in levels]  # fmt: skip
    vertices = np.concatenate([*shells, [[0.0, 0.0, height]]])
    here, there = np.arange(count), (np.arange(count) + 1) % count
    sides = [np.stack(part, axis=1) for k in range(rings - 1) for part in (
        (here + k * count, there + k * count, there + (k + 1) * count),
        (here + k * count, there + (k + 1) * count, here + (k + 1) * count))]  # fmt: skip
    cap = np.stack((here + (rings - 1) * count, there + (rings - 1) * count, np.full(count, rings * count)), axis=1)
    faces = np.concatenate([*sides, cap]).astype(np.int32)
    return MeshObstacle(name="rock", shape=Mesh(vertices, faces), x=EDGE_M, y=0.91)


def energy(car: Hmmwv, state: Array) -> float:
    return body_energy(car, VehicleState.from_array(state[:STATE_SIZE]))


def drive(
    car: Hmmwv, ground: Any, seconds: float, pedals: Pedals = COASTING, steps: int = 1, **start: float
) -> Iterable[tuple[Array, Any]]:
    state = car.start(ground, **start)
    for _ in range(round(1000 * seconds) // steps):
        assert car.advance(state, pedals, ground, steps) == steps
        yield state, car.snapshot(state, pedals, ground)


def loads_over(car: Hmmwv, ground: Any, speed: float, seconds: float) -> Array:
    return np.array([seen["load"].copy() for _, seen in drive(car, ground, seconds, speed=speed)])


@pytest.mark.parametrize("speed", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("height", [0.1, 0.2, 0.3])
def test_box_acts_as_the_same_step_of_a_map(car: Hmmwv, height: float, speed: float) -> None:
    seconds = min(3.35 + 0.8 * height, 4.5) / speed + 0.1  # the front wheels are on it

    mapped = loads_over(car, WorldGround(pad(height)), speed, seconds)
    built = loads_over(car, step_of_box(height), speed, seconds)

    assert mapped.max() > 1.3 * mapped[0].max()
    assert_allclose(built, mapped, atol=0.02 * mapped.max())


def test_wheel_beside_a_wall_does_not_see_its_top(car: Hmmwv) -> None:
    scratch = np.zeros(SAMPLES)
    for height, expected in ((0.3, 0.3), (3.0, 0.0)):
        ground = ground_with(box(height, 2.0, x=-1.0)).kernel()
        plane = contact_plane(ground, (0.0, 0.0, 0.46 + expected), (0.0, 1.0, 0.0), 0.47, 0.3, 0.0, scratch)
        assert plane.height == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("height", [0.1, 0.2, 0.3])
def test_log_lifts_axle_after_axle(car: Hmmwv, height: float) -> None:
    highest = np.zeros(4)
    loads = []
    for state, seen in drive(car, ground_with(log(0.5 * height)), 6.0, Pedals(throttle=0.45), speed=1.5):
        in_world = state[2] + seen["wheel_centre"][:, 2] - 2.0 * np.array([1.65, 1.65, -1.65, -1.65]) * state[4]
        highest = np.maximum(highest, in_world - 0.45)
        loads.append(seen["load"].copy())
        if state[0] > EDGE_M + 3.0:
            break

    assert state[0] > EDGE_M + 3.0
    assert np.all(highest > 0.7 * height)
    changes = np.abs(np.diff(loads, axis=0))
    assert changes.mean() < 200.0  # [N] from one millisecond to the next
    # As on steps of a map the contact plane may flip over an edge: only then a load jumps.
    assert np.quantile(changes, 0.995) < 0.1 * np.max(loads)


OBSTACLES = {
    "box 0.1": (box(0.1, 0.3),), "box 0.3": (box(0.3, 0.4),), "box 0.5": (box(0.5, 0.5),),
    "one side": (box(0.25, 0.5, width=1.0, y=0.9),), "log": (log(0.15),), "log at an angle": (log(0.1, yaw=0.5),),
    "rock": (rock(),), "stump": (Cylinder(x=EDGE_M, y=0.9, radius=0.2, height=0.35),),
    "stump in the middle": (Cylinder(x=EDGE_M, y=0.0, radius=0.15, height=0.5),),
    "ridge": (box(0.6, 0.2, width=1.0),), "rail": (box(0.5, 6.0, width=0.3),), "block": (box(0.65, 2.0),),
}  # fmt: skip


@pytest.mark.parametrize("speed", [1.0, 3.0, 8.0])
@pytest.mark.parametrize("name", list(OBSTACLES))
def test_obstacles_never_add_energy(car: Hmmwv, name: str, speed: float) -> None:
    begun = None
    for state, seen in drive(car, ground_with(*OBSTACLES[name]), 4.0, steps=10, speed=speed):
        begun = energy(car, state) if begun is None else begun
        # Tyres begin with a deflection of 15 to 20 mm: some 250 J that no other term has.
        assert energy(car, state) < begun + 300.0
        assert np.isfinite(seen["load"]).all()


@pytest.mark.parametrize("speed", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("height", [0.15, 0.2, 0.3, 0.5])
def test_steps_as_obstacles_never_add_energy(car: Hmmwv, height: float, speed: float) -> None:
    begun = None
    for state, _ in drive(car, step_of_box(height), 8.0, steps=10, speed=speed):
        begun = energy(car, state) if begun is None else begun
        assert energy(car, state) < begun + 300.0


def test_vehicle_hangs_on_a_high_ridge_between_its_wheels(car: Hmmwv) -> None:
    """The wheels turn in the air: the belly carries the vehicle, on an obstacle and on ground alike."""
    lifted = 0.65
    ridge = box(lifted, 0.8, x=-0.4, width=1.2)
    heights = pad().heights.copy()
    nodes_x, nodes_y = -20.0 + NODE_M * np.arange(1201), -4.0 + NODE_M * np.arange(161)
    heights[np.ix_(np.abs(nodes_y) < 0.6, np.abs(nodes_x) < 0.4)] = lifted
    for ground in (ground_with(ridge), WorldGround(replace(pad(), heights=heights))):
        state = car.start(FlatGround())
        state[0] = 0.0
        state[2] += lifted - 0.38
        for _ in range(300):
            assert car.advance(state, Pedals(throttle=0.3), ground, 10) == 10
        seen = car.snapshot(state, COASTING, ground)

        assert seen["load"].sum() < 0.5 * WEIGHT
        assert abs(state[0]) < 0.7
        assert state[2] > lifted - 0.05


def clearance_angle(car: Hmmwv, end: float) -> float:
    """Steepest ramp [rad] that a wheel at the front (1) or rear (-1) reaches before the body does."""
    seen = car.snapshot(car.start(FlatGround()), COASTING, FlatGround())
    centre = seen["wheel_centre"][0 if end > 0.0 else 2]
    points = car.kernel.body.points
    ahead, up = end * (points[:, 0] - centre[0]), points[:, 2] - centre[2]
    is_ahead = (ahead > 0.0) & (up < 0.6)
    distance, rise = np.hypot(ahead, up)[is_ahead], np.arctan2(up, ahead)[is_ahead]
    return float((rise + np.arcsin(np.minimum(car.wheel_radius / distance, 1.0)))[distance > car.wheel_radius].min())


@pytest.mark.parametrize(("end", "low_deg", "high_deg"), [(1.0, 63.0, 69.0), (-1.0, 43.0, 47.0)])
def test_approach_and_departure_angles_are_those_of_the_data_sheet(
    car: Hmmwv, end: float, low_deg: float, high_deg: float
) -> None:
    assert low_deg < math.degrees(clearance_angle(car, end)) < high_deg


@pytest.mark.parametrize("end", [1.0, -1.0])
@pytest.mark.parametrize("steeper_deg", [-4.0, 4.0])
def test_body_hits_a_ramp_steeper_than_its_clearance_angle(car: Hmmwv, end: float, steeper_deg: float) -> None:
    level = car.start(FlatGround())
    seen = car.snapshot(level, COASTING, FlatGround())
    centre = seen["wheel_centre"][0 if end > 0.0 else 2] + level[:3]
    slope = clearance_angle(car, end) + math.radians(steeper_deg)
    # The foot of a ramp that the wheel touches, pressed in by a centimetre.
    foot = end * centre[0] + (car.wheel_radius - 0.01 - centre[2] * math.cos(slope)) / math.sin(slope)
    x = -6.0 + 0.01 * np.arange(1201)
    profile = np.maximum(end * x - foot, 0.0) * math.tan(slope)
    heights = np.tile(np.minimum(profile, 3.0).astype(np.float32), (3, 1))
    ramp = WorldGround(ElevationMap(heights=heights, resolution=0.01, origin_x=-6.0, origin_y=-0.01))
    bare = Hmmwv(car.parameters)
    bare.kernel = bare.kernel._replace(body=bare.kernel.body._replace(points=np.zeros((0, 3))))

    pushes = [vehicle.snapshot(level, COASTING, ramp)["acceleration"] for vehicle in (car, bare)]

    touches = bool(np.any(pushes[0] != pushes[1]))
    assert touches == (steeper_deg > 0.0)


def test_mesh_is_split_into_columns_of_its_own_heights() -> None:
    shape = rock().shape
    columns = columns_of(shape)

    volume = (columns[:, 3] * columns[:, 4] * columns[:, 5]).sum()
    assert len(columns) > 20
    assert volume == pytest.approx(2.0 / 3.0 * math.pi * 0.3 * 0.3 * 0.25, rel=0.15)
    assert (columns[:, 2] + columns[:, 5]).max() == pytest.approx(0.25, abs=0.01)


def test_gate_lets_a_low_vehicle_through() -> None:
    """Two posts and a beam, as one mesh: a column is not solid where the mesh is open."""
    parts = (
        Box(x=0.0, y=-2.0, length=0.3, width=0.3, height=3.0), Box(x=0.0, y=2.0, length=0.3, width=0.3, height=3.0),
        Box(x=0.0, y=0.0, base=3.0, length=0.3, width=4.3, height=0.3),
    )  # fmt: skip
    gate = MeshObstacle(name="gate", shape=Obstacles(boxes=parts).mesh(), x=0.0, y=0.0)

    middle = [row for row in gate.columns() if abs(row[1]) < 1.0]
    posts = [row for row in gate.columns() if abs(row[1]) > 1.8]

    assert min(row[2] for row in middle) == pytest.approx(3.0, abs=1e-3)
    assert min(row[2] for row in posts) == pytest.approx(0.0, abs=1e-3)


def test_vehicle_drives_through_a_gate_that_is_one_mesh(car: Hmmwv) -> None:
    parts = (
        Box(x=0.0, y=-2.0, length=0.3, width=0.3, height=3.0), Box(x=0.0, y=2.0, length=0.3, width=0.3, height=3.0),
        Box(x=0.0, y=0.0, base=3.0, length=0.3, width=4.3, height=0.3),
    )  # fmt: skip
    gate = MeshObstacle(name="gate", shape=Obstacles(boxes=parts).mesh(), x=8.0, y=0.0)

    pushes = [float(seen["collision"]) for _, seen in drive(car, ground_with(gate), 3.0, steps=10, speed=8.0)]

    assert max(pushes) == 0.0


def test_columns_follow_a_mesh_that_is_rotated_and_moved() -> None:
    item = replace(log(0.15, yaw=0.7), x=3.0, y=-2.0, base=1.0)
    triangles, columns = item.mesh().vertices, item.columns()

    heights = columns[:, 2] + columns[:, 5]
    assert heights.max() == pytest.approx(triangles[:, 2].max(), abs=0.01)
    assert_allclose(columns[:, :2].mean(axis=0), [3.0, -2.0], atol=0.02)
    assert_allclose(columns[0, 6:], [math.cos(0.7), math.sin(0.7)])


@pytest.mark.parametrize("soil", ["hard", "dry_sand", "clay"])
def test_wheel_climbs_a_spawned_box_on_any_soil(car: Hmmwv, soil: str) -> None:
    ground = ReplaceableGround(SoilPlane(soil))
    ground.set_spawned(obstacles_of([box(0.2, 1.0, x=2.5)]))
    highest = 0.0
    for state, _ in drive(car, ground, 2.0, Pedals(throttle=0.7), steps=10, speed=4.0):
        highest = max(highest, float(state[2] - 2.0 * 1.65 * state[4]))

    assert highest > 0.47 + 0.1  # the front axle went up


def test_obstacles_out_of_reach_change_nothing(car: Hmmwv) -> None:
    ends = []
    for ground in (
        WorldGround(pad()),
        ground_with(box(0.3, 1.0, x=30.0), Cylinder(x=3.0, y=9.0, radius=0.3, height=0.3)),
    ):
        state = car.start(ground, speed=5.0)
        car.advance(state, Pedals(throttle=0.3, steering=0.05), ground, 1000)
        ends.append(state)

    np.testing.assert_array_equal(ends[0], ends[1])
