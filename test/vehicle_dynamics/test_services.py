"""The simulation that services act on, with a running loop and without ROS."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from proving_ground.settings import SettingsError
from terrain.obstacles import Box, Cylinder
from terrain.spawned import BoxSize, ReplaceableGround, Spawnable, obstacles_of
from terrain.surroundings import Surroundings
from terrain.world import World
from vehicle_dynamics.control.drive_by_wire import DriveByWire
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.services import entities
from vehicle_dynamics.services.entities import Body, Entity
from vehicle_dynamics.services.rejection import RejectionError
from vehicle_dynamics.services.site import VEHICLE, Site
from vehicle_dynamics.simulation_loop import SimulationLoop
from vehicle_dynamics.start import Origin
from vehicle_dynamics.stepper import Instant, Pacer, Stepper
from vehicle_dynamics.vehicle_choice import VehicleChoice, make_vehicle


class Announced:
    """Keeps the announcements to other nodes."""

    def __init__(self) -> None:
        self.resets = 0
        self.lists: list[list[str]] = []
        self.worlds: list[str] = []

    def reset(self) -> None:
        self.resets += 1

    def spawned(self, found: list[Entity]) -> None:
        self.lists.append([item.name for item in found])

    def world(self, name: str, world: World) -> None:
        self.worlds.append(name)

    def wait(self) -> None: ...

    def quit(self) -> None: ...


class Run:
    """A paused vehicle in the flat world."""

    def __init__(self) -> None:
        settings = VehicleNodeSettings(vehicle=VehicleChoice(fidelity="single_track"), world="flat")
        parameters = settings.vehicle.parameters()
        vehicle = make_vehicle(settings.vehicle, parameters)
        there = Surroundings(settings)
        ground, origin = ReplaceableGround(there.ground), settings.start.origin(there.world)
        self.simulation = Stepper(
            vehicle, ground, DriveByWire(vehicle, settings), settings.schedule(), start=origin._asdict()
        )
        self.simulation.is_paused = True
        self.instants: list[Instant] = []
        self.loop = SimulationLoop(self.simulation, Pacer(0.0), self.instants.append)
        self.announced = Announced()
        body = Body.of(parameters, vehicle.base_in_chassis)
        self.site = Site(self.loop, ground, there.world, origin, vehicle, body, self.announced)


@pytest.fixture
def run() -> Iterator[Run]:
    made = Run()
    made.loop.start()
    yield made
    made.loop.stop()


def box(name: str, x: float, **size: float) -> Entity:
    return Entity(name=name, shape=BoxSize(**size).at((x, 0.0, 0.0), 0.0), category=5)


def test_time_goes_back_while_the_vehicle_stays(run: Run) -> None:
    run.site.move_vehicle(Origin(20.0, 0.0, 0.0, 3.0), "INVALID_POSE")
    for _ in range(7):
        run.site.step()
    before = run.site.motion()

    run.site.reset(time=True, state=False, spawned=False)

    assert (run.simulation.tick, run.site.motion()) == (0, before)
    assert run.announced.resets == 1


def test_state_is_reset_while_time_goes_on(run: Run) -> None:
    run.site.put_up(box("crate", 30.0), "INVALID_POSE")
    run.site.move_vehicle(Origin(10.0, 5.0, 1.0), "INVALID_POSE")
    run.site.step()

    run.site.reset(time=False, state=True, spawned=False)

    assert run.site.motion().position[:2] == pytest.approx((0.0, 0.0), abs=1e-6)
    assert run.simulation.seconds == pytest.approx(0.01)
    assert set(run.site.entities()) == {VEHICLE, "crate"}


def test_only_a_stopped_simulation_is_stopped(run: Run) -> None:
    assert run.site.state == "PAUSED"
    run.site.stop()
    assert run.site.state == "STOPPED"
    run.site.step()
    assert run.site.state == "PAUSED"
    run.site.pause(False)
    assert run.site.state == "PLAYING"


def test_a_moved_vehicle_keeps_its_heading_and_speed(run: Run) -> None:
    run.site.move_vehicle(Origin(10.0, -4.0, 0.5 * math.pi, 2.0), "INVALID_POSE")

    motion = run.site.motion()

    assert motion.position[:2] == pytest.approx((10.0, -4.0), abs=1e-6)
    assert motion.velocity[0] == pytest.approx(2.0, abs=1e-4)
    run.site.step()
    assert any(instant.has_jumped for instant in run.instants)


@pytest.mark.parametrize("x", [1e5, 31.0])  # outside the world; in the crate
def test_the_vehicle_is_not_moved_to_where_it_cannot_be(run: Run, x: float) -> None:
    run.site.put_up(box("crate", 30.0), "INVALID_POSE")
    before = run.site.motion()

    with pytest.raises(RejectionError) as rejected:
        run.site.move_vehicle(Origin(x, 0.0, 0.0), "INVALID_POSE")

    assert rejected.value.constant == "INVALID_POSE"
    assert run.site.motion() == before


def test_a_vehicle_is_not_started_faster_than_a_run_may_start(run: Run) -> None:
    with pytest.raises(RejectionError, match="from -10 to 40 m/s"):
        run.site.move_vehicle(Origin(10.0, 0.0, 0.0, 300.0), "INVALID_POSE")


def test_spawned_obstacles_are_in_the_ground_that_the_vehicle_meets(run: Run) -> None:
    run.site.put_up(box("crate", 30.0), "INVALID_POSE")
    run.site.put_up(Entity(name="post", shape=Cylinder(x=9.0, y=4.0, radius=0.2, height=1.0), category=5), "")

    obstacles = run.site.ground.kernel().obstacles
    assert (len(obstacles.boxes), len(obstacles.cylinders)) == (1, 1)
    np.testing.assert_array_equal(obstacles.boxes[0][:3], (30.0, 0.0, 0.0))

    run.site.remove("crate")
    assert len(run.site.ground.kernel().obstacles.boxes) == 0
    assert run.announced.lists == [["crate"], ["crate", "post"], ["post"]]
    for name, constant in ((VEHICLE, "RESULT_OPERATION_FAILED"), ("crate", "RESULT_NOT_FOUND")):
        with pytest.raises(RejectionError) as rejected:
            run.site.remove(name)
        assert rejected.value.constant == constant


def test_another_world_replaces_ground_start_and_obstacles(run: Run) -> None:
    run.site.put_up(box("crate", 30.0), "INVALID_POSE")
    run.site.step()

    run.site.load("ramp")

    assert (run.site.state, run.simulation.tick) == ("STOPPED", 0)
    assert set(run.site.entities()) == {VEHICLE}
    assert run.site.ground_height(30.0, 0.0) > 2.0
    assert run.announced.worlds == ["ramp"]


def test_a_world_that_cannot_be_built_changes_nothing(run: Run, tmp_path: Any) -> None:
    (tmp_path / "broken.yaml").write_text("version: 1\n")
    run.site.pause(False)

    with pytest.raises(SettingsError):
        run.site.load(str(tmp_path / "broken.yaml"))

    assert run.site.state == "PLAYING"
    assert run.site.world_name == "flat"
    assert run.announced.worlds == []


def test_a_request_does_not_wait_for_ever_for_another_one(run: Run) -> None:
    has_turn, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with run.site.exclusive():
            has_turn.set()
            ends.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    has_turn.wait()
    with pytest.raises(RejectionError, match="under way"), run.site.exclusive():
        pass
    ends.set()
    holder.join()
    with run.site.exclusive():
        pass


def test_names_are_free_or_made_so() -> None:
    assert entities.free_name("wall", "box", {}, False) == "wall"
    assert entities.free_name("wall", "box", {"wall", "wall_1"}, True) == "wall_2"
    assert entities.free_name("", "box", {}, True) == "box_1"
    for name, constant in (("wall", "NAME_NOT_UNIQUE"), ("", "NAME_INVALID"), ("1 wall", "NAME_INVALID")):
        with pytest.raises(RejectionError) as rejected:
            entities.free_name(name, "box", {"wall"}, False)
        assert rejected.value.constant == constant


def test_boxes_overlap_in_the_plane_as_they_stand() -> None:
    vehicle = Box(x=0.0, y=0.0, length=4.0, width=2.0, height=2.0, yaw=0.25 * math.pi)
    ahead = math.sqrt(0.5) * 2.0

    assert entities.overlap(vehicle, obstacles_of([Cylinder(x=ahead, y=ahead, radius=0.3, height=1.0)]))
    assert not entities.overlap(vehicle, obstacles_of([Cylinder(x=ahead, y=-ahead, radius=0.3, height=1.0)]))
    assert not entities.overlap(vehicle, obstacles_of([]))


def test_a_spawnable_has_exactly_one_shape() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Spawnable()
