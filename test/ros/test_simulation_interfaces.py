"""A client of simulation_interfaces, over real DDS: what it asks for happens, and what cannot be done gets a code."""

from __future__ import annotations

import math
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Vector3
from rosgraph_msgs.msg import Clock
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    EntityState,
    Resource,
    Result,
    SimulationState,
    SimulatorFeatures,
    SpawnEntity,
    SpawnResult,
    TagsFilter,
)
from simulation_interfaces.srv import LoadWorld, ResetSimulation, SetEntityState, SetSimulationState, SpawnEntities

from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos
from running_vehicle import PERIOD_NS, Car, Sender, twist
from standard_client import OK, StandardClient, pose
from vehicle_dynamics.node_settings import VehicleNodeSettings

STOPPED, PLAYING, PAUSED = SimulationState.STATE_STOPPED, SimulationState.STATE_PLAYING, SimulationState.STATE_PAUSED


@pytest.fixture
def car(graph: Any) -> Car:
    return Car(graph, "-p", "world:=flat")


@pytest.fixture
def client(graph: Any, car: Car) -> StandardClient:
    return StandardClient(graph)


def test_features_are_those_of_the_services_there_are(graph: Any, client: StandardClient) -> None:
    features = client.ask("GetSimulatorFeatures").features

    names = {name for name in dir(SimulatorFeatures) if getattr(SimulatorFeatures, name, None) in features.features}
    assert {"SPAWNING", "SIMULATION_RESET_TIME", "STEP_SIMULATION_ACTION", "WORLD_LOADING"} <= names
    assert not names & {"WORLD_UNLOADING", "ENTITY_BOUNDS_CONVEX", "WORLD_RESOURCE_STRING"}
    assert features.spawn_formats == ["proving_ground"]
    served = {name for name, _ in graph.node.get_service_names_and_types()}
    assert "/simulation/unload_world" not in served


def test_states_follow_each_other_as_the_standard_says(graph: Any, car: Car, client: StandardClient) -> None:
    assert client.state == PLAYING
    assert client.set_state(PLAYING) == SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    assert client.set_state(SimulationState.STATE_LOADING_WORLD) == SetSimulationState.Response.INCORRECT_TRANSITION
    assert client.set_state(77) == SetSimulationState.Response.INCORRECT_TRANSITION

    assert client.set_state(PAUSED) == OK
    assert client.state == PAUSED

    assert client.set_state(STOPPED) == OK
    assert client.state == STOPPED
    assert read_stamp(client.where().header.stamp) == start_ns()
    assert client.ask("StepSimulation", steps=1).result.result == Result.RESULT_OPERATION_FAILED
    assert client.set_state(PAUSED) == OK  # starts paused, without a step
    assert client.state == PAUSED

    assert client.set_state(PLAYING) == OK
    assert client.ask("StepSimulation", steps=1).result.result == Result.RESULT_OPERATION_FAILED

    assert client.set_state(SimulationState.STATE_QUITTING) == OK
    graph.wait_until(lambda: not car.process.is_running(), "the end of the process")
    assert car.process.wait() == 0


def test_a_paused_simulation_makes_the_steps_that_are_asked_for(graph: Any, car: Car, client: StandardClient) -> None:
    assert client.set_state(PAUSED) == OK
    began = read_stamp(client.where().header.stamp)

    client.do("StepSimulation", steps=100)

    assert read_stamp(client.where().header.stamp) == began + 100 * PERIOD_NS
    assert client.state == PAUSED
    client.do("StepSimulation")  # one by default
    assert read_stamp(client.where().header.stamp) == began + 101 * PERIOD_NS
    car.wait_for(lambda: car.time_ns == began + 101 * PERIOD_NS, "the odometry of the last step")


def test_the_action_reports_its_steps_and_can_be_cancelled(graph: Any, car: Car, client: StandardClient) -> None:
    _, rejected = client.simulate(5)
    outcome = client.result(rejected)
    assert (outcome.status, outcome.result.result.result) == (
        GoalStatus.STATUS_ABORTED,
        Result.RESULT_OPERATION_FAILED,
    )
    assert client.set_state(PAUSED) == OK
    began = read_stamp(client.where().header.stamp)

    feedback, goal = client.simulate(20)
    outcome = client.result(goal)
    assert (outcome.status, outcome.result.result.result) == (GoalStatus.STATUS_SUCCEEDED, OK)
    done = [item.completed_steps for item in feedback]  # rclpy drops what arrives after the result
    assert done == sorted(set(done))
    assert all(item.completed_steps + item.remaining_steps == 20 for item in feedback)
    assert read_stamp(client.where().header.stamp) == began + 20 * PERIOD_NS

    feedback, goal = client.simulate(10**9)
    graph.wait_until(lambda: len(feedback) > 1, "the first of very many steps")
    assert feedback[0].completed_steps + feedback[0].remaining_steps == 10**9
    assert feedback[1].completed_steps > feedback[0].completed_steps
    goal.cancel_goal_async()
    outcome = client.result(goal)
    assert outcome.status == GoalStatus.STATUS_CANCELED
    assert client.state == PAUSED
    stands_at = read_stamp(client.where().header.stamp)
    client.do("StepSimulation", steps=1)
    assert read_stamp(client.where().header.stamp) == stands_at + PERIOD_NS


def test_each_scope_resets_its_own_part(graph: Any, car: Car, client: StandardClient) -> None:
    clock = graph.collect(Clock, "/clock", qos.CLOCK)
    Sender(graph, "/cmd_vel", twist(3.0))
    start = start_ns()
    begins_at = client.do("GetNamedPoses", tags=TagsFilter(tags=["start"])).poses[0].pose.position.x
    car.wait_for(lambda: car.odometry[-1].pose.pose.position.x > begins_at + 0.5, "some way")
    assert client.set_state(PAUSED) == OK
    client.do("SpawnEntity", name="crate", uri="box", initial_pose=pose(begins_at + 30.0, 0.0))
    before = client.where()

    client.do("ResetSimulation", scope=ResetSimulation.Request.SCOPE_TIME)
    now = client.where()
    assert read_stamp(now.header.stamp) == start
    assert now.pose == before.pose
    graph.wait_until(lambda: clock and read_stamp(clock[-1].clock) == start, "/clock of the start")
    assert entities(client) == {"vehicle", "crate"}

    client.do("ResetSimulation", scope=ResetSimulation.Request.SCOPE_SPAWNED)
    assert entities(client) == {"vehicle"}
    assert client.where().pose == before.pose

    client.do("StepSimulation", steps=3)
    client.do("ResetSimulation", scope=ResetSimulation.Request.SCOPE_STATE)
    now = client.where()
    assert now.pose.position.x == pytest.approx(begins_at, abs=0.01)
    assert read_stamp(now.header.stamp) == start + 3 * PERIOD_NS  # time runs on

    client.do("SpawnEntity", name="crate", uri="box", initial_pose=pose(begins_at + 30.0, 0.0))
    client.do("ResetSimulation")  # all
    assert entities(client) == {"vehicle"}
    assert read_stamp(client.where().header.stamp) == start
    assert client.ask("ResetSimulation", scope=8).result.result == Result.RESULT_FEATURE_UNSUPPORTED

    assert client.set_state(PLAYING) == OK
    count = len(car.odometry)
    car.wait_for(lambda: len(car.odometry) > count and car.speed > 1.0, "driving on")


def test_the_vehicle_is_moved_at_once_and_stands_on_the_ground(graph: Any, car: Car, client: StandardClient) -> None:
    assert client.set_state(PAUSED) == OK
    state = EntityState()
    state.pose.position.x, state.pose.position.y, state.pose.position.z = 12.0, -7.0, 55.0
    state.pose.orientation.z, state.pose.orientation.w = math.sin(0.25 * math.pi), math.cos(0.25 * math.pi)
    state.twist.linear.y = 4.0  # it faces y

    client.do("SetEntityState", entity="vehicle", state=state)

    found = client.where()
    assert (found.pose.position.x, found.pose.position.y) == pytest.approx((12.0, -7.0), abs=0.01)
    assert abs(found.pose.position.z) < 0.2
    assert found.twist.linear.y == pytest.approx(4.0, abs=0.05)
    client.do("StepSimulation", steps=10)
    car.wait_for(lambda: car.odometry[-1].pose.pose.position.y > -6.8, "rolling on")

    state.pose.position.x = math.nan
    rejected = client.ask("SetEntityState", entity="vehicle", state=state).result
    assert rejected.result == SetEntityState.Response.INVALID_POSE
    state.pose.position.x = 1e6
    assert client.ask("SetEntityState", entity="vehicle", state=state).result.result == 101
    state.header.frame_id = "moon"
    assert client.ask("SetEntityState", entity="vehicle", state=state).result.result == 101
    assert client.ask("SetEntityState", entity="nobody", state=state).result.result == Result.RESULT_NOT_FOUND
    assert client.where().pose.position.x == pytest.approx(12.0, abs=0.1)


def test_a_box_in_the_way_stops_the_vehicle(graph: Any, car: Car, client: StandardClient) -> None:
    assert client.set_state(STOPPED) == OK
    at = client.where().pose.position
    box = client.do("GetSpawnables").spawnables[0]
    assert box.spawn_bounds.type == Bounds.TYPE_BOX

    name = client.do("SpawnEntity", name="wall", uri=box.uri, initial_pose=pose(at.x + 10.0, at.y, at.z)).entity_name
    assert name == "wall"
    Sender(graph, "/cmd_vel", twist(5.0))
    assert client.set_state(PLAYING) == OK

    car.wait_for(lambda: int(car.figures().get("collisions", "0")) > 0, "the collision")
    assert client.where().pose.position.x < at.x + 9.0


def test_names_poses_and_resources_of_obstacles_are_checked(graph: Any, car: Car, client: StandardClient) -> None:
    at = client.where().pose.position
    free = pose(at.x + 20.0, at.y)

    def code(**fields: Any) -> int:
        return int(client.ask("SpawnEntity", **{"uri": "box", "initial_pose": free, **fields}).result.result)

    assert code(name="crate") == OK
    assert code(name="crate") == SpawnResult.NAME_NOT_UNIQUE
    assert code(name="vehicle") == SpawnResult.NAME_NOT_UNIQUE
    assert client.do("SpawnEntity", name="crate", allow_renaming=True, uri="box", initial_pose=free).entity_name == (
        "crate_1"
    )
    assert code(name="") == SpawnResult.NAME_INVALID
    assert code(name="two words") == SpawnResult.NAME_INVALID
    assert code(name="a", entity_namespace="not a name") == SpawnResult.NAMESPACE_INVALID
    assert code(name="a", uri="") == SpawnResult.NO_RESOURCE
    assert code(name="a", uri="pyramid") == SpawnResult.NO_RESOURCE
    assert code(name="a", uri="house.sdf") == SpawnResult.UNSUPPORTED_FORMAT
    assert code(name="a", uri="", resource_string="<sdf/>") == SpawnResult.UNSUPPORTED_FORMAT
    assert code(name="a", uri="box?length_m=-1") == SpawnResult.RESOURCE_PARSE_ERROR
    assert code(name="a", uri="", resource_string="box: {longth_m: 1}") == SpawnResult.RESOURCE_PARSE_ERROR
    assert code(name="a", initial_pose=pose(at.x, at.y)) == SpawnResult.INVALID_POSE  # in the vehicle
    assert code(name="a", initial_pose=pose(1e5, 0.0)) == SpawnResult.INVALID_POSE  # outside the world
    assert code(name="a", initial_pose=pose(0.0, 0.0, frame="moon")) == SpawnResult.INVALID_POSE
    lying = pose(at.x + 20.0, at.y)
    lying.pose.orientation.x, lying.pose.orientation.w = 1.0, 0.0
    assert code(name="a", initial_pose=lying) == SpawnResult.INVALID_POSE
    assert code(name="post", uri="", resource_string="cylinder: {radius_m: 0.5, height_m: 2.0}") == OK
    assert entities(client) == {"vehicle", "crate", "crate_1", "post"}

    requests = [
        SpawnEntity(name="one", entity_resource=Resource(uri="cylinder?radius_m=0.2"), initial_pose=free),
        SpawnEntity(name="one", entity_resource=Resource(uri="cylinder"), initial_pose=free),
    ]
    several = client.ask("SpawnEntities", spawn_requests=requests)
    assert several.result.result == SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert [item.result.result for item in several.results] == [OK, SpawnResult.NAME_NOT_UNIQUE]

    client.do("DeleteEntity", entity="crate")
    assert client.ask("DeleteEntity", entity="crate").result.result == Result.RESULT_NOT_FOUND
    assert client.ask("DeleteEntity", entity="vehicle").result.result == Result.RESULT_OPERATION_FAILED


def test_entities_are_found_by_name_category_tag_and_bounds(graph: Any, car: Car, client: StandardClient) -> None:
    at = client.where().pose.position
    client.do("SpawnEntity", name="near", uri="box", initial_pose=pose(at.x + 10.0, at.y, 1.0))
    client.do("SpawnEntity", name="far", uri="cylinder", initial_pose=pose(at.x + 40.0, at.y))

    def found(**filters: Any) -> set[str]:
        return set(client.do("GetEntities", filters=EntityFilters(**filters)).entities)

    assert found(filter="^[[:lower:]]{3,4}$") == {"near", "far"}
    assert found(categories=[EntityCategory(category=EntityCategory.CATEGORY_ROBOT)]) == {"vehicle"}
    assert found(tags=TagsFilter(tags=["box", "cylinder"])) == {"near", "far"}
    assert found(tags=TagsFilter(tags=["box", "cylinder"], filter_mode=TagsFilter.FILTER_MODE_ALL)) == set()
    ball = Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(x=at.x + 40.0, y=at.y), Vector3(x=2.0)])
    assert found(bounds=ball) == {"far"}
    box = Bounds(type=Bounds.TYPE_BOX, points=[Vector3(x=at.x + 12.0, y=5.0, z=5.0), Vector3(x=-50.0, y=-5.0, z=-5.0)])
    assert found(bounds=box) == {"vehicle", "near"}
    hull = EntityFilters(bounds=Bounds(type=Bounds.TYPE_CONVEX_HULL, points=[Vector3()] * 3))
    assert client.ask("GetEntities", filters=hull).result.result == Result.RESULT_FEATURE_UNSUPPORTED
    bad = client.ask("GetEntities", filters=EntityFilters(filter="("))
    assert bad.result.result == Result.RESULT_OPERATION_FAILED

    states = client.do("GetEntitiesStates", filters=EntityFilters(filter="near"))
    assert (states.entities, states.states[0].pose.position.z) == (["near"], 1.0)
    info = EntityInfo(category=EntityCategory(category=EntityCategory.CATEGORY_HUMAN), tags=["walker"])
    client.do("SetEntityInfo", entity="far", info=info)
    assert client.do("GetEntityInfo", entity="far").info == info
    upper, lower = client.do("GetEntityBounds", entity="near").bounds.points
    assert (upper.x, upper.z, lower.x, lower.z) == (1.0, 1.5, -1.0, 0.0)

    moved = EntityState()
    moved.pose.position.x = at.x + 15.0
    client.do("SetEntityState", entity="near", state=moved)
    assert client.where("near").pose.position.x == at.x + 15.0
    moved.twist.linear.x = 1.0
    rejected = client.ask("SetEntityState", entity="near", state=moved).result
    assert rejected.result == Result.RESULT_OPERATION_FAILED


def test_another_world_is_loaded_and_the_vehicle_starts_there(graph: Any, car: Car, client: StandardClient) -> None:
    worlds = {world.name: world for world in client.do("GetAvailableWorlds").worlds}
    assert {"flat", "ramp", "urban"} <= set(worlds)
    assert client.do("GetCurrentWorld").world == worlds["flat"]
    of_towns = client.do("GetAvailableWorlds", filter=TagsFilter(tags=["urban"])).worlds
    assert [world.name for world in of_towns] == ["urban"]
    client.do("SpawnEntity", name="crate", uri="box", initial_pose=pose(30.0, 0.0))

    loaded = client.do("LoadWorld", uri=worlds["ramp"].world_resource.uri)

    assert loaded.world == worlds["ramp"]
    assert client.do("GetCurrentWorld").world == worlds["ramp"]
    assert client.state == STOPPED
    assert entities(client) == {"vehicle"}
    start = client.do("GetNamedPoses", tags=TagsFilter(tags=["start"])).poses[0]
    here = client.where().pose.position
    assert (here.x, here.y) == pytest.approx((start.pose.position.x, start.pose.position.y), abs=0.01)
    assert client.do("GetNamedPoseBounds", name="start").bounds.type == Bounds.TYPE_BOX
    assert client.ask("GetNamedPoseBounds", name="moon").result.result == Result.RESULT_NOT_FOUND
    Sender(graph, "/cmd_vel", twist(4.0))
    assert client.set_state(PLAYING) == OK
    car.wait_for(lambda: car.odometry[-1].pose.pose.position.z > 0.3, "the ramp under the vehicle")

    def code(**fields: Any) -> int:
        return int(client.ask("LoadWorld", **fields).result.result)

    assert code() == LoadWorld.Response.NO_RESOURCE
    assert code(uri="atlantis") == LoadWorld.Response.NO_RESOURCE
    assert code(uri="town.sdf") == LoadWorld.Response.UNSUPPORTED_FORMAT
    assert code(resource_string="version: 1") == Result.RESULT_FEATURE_UNSUPPORTED
    assert client.state == PLAYING  # as before


def test_a_file_that_is_no_world_is_named(graph: Any, client: StandardClient, tmp_path: Any) -> None:
    (tmp_path / "broken.yaml").write_text("version: 1\n")

    rejected = client.ask("LoadWorld", uri=str(tmp_path / "broken.yaml")).result
    assert rejected.result == LoadWorld.Response.RESOURCE_PARSE_ERROR
    assert "broken.yaml" in rejected.error_message
    listed = client.ask("GetAvailableWorlds", additional_sources=[str(tmp_path)])
    assert listed.result.result == Result.RESULT_OPERATION_FAILED
    listed = client.do("GetAvailableWorlds", additional_sources=[str(tmp_path)], continue_on_error=True)
    assert "broken.yaml" in listed.result.error_message
    assert listed.worlds


def test_a_client_that_only_knows_the_standard_runs_a_test_drive(graph: Any, car: Car, client: StandardClient) -> None:
    features = client.ask("GetSimulatorFeatures").features.features
    for name in ("STEP_SIMULATION_MULTIPLE", "SPAWNING", "ENTITY_STATE_SETTING", "SIMULATION_RESET", "WORLD_LOADING"):
        assert getattr(SimulatorFeatures, name) in features
    assert client.set_state(PAUSED) == OK
    began = read_stamp(client.where().header.stamp)
    for _ in range(100):
        client.do("StepSimulation")
    assert read_stamp(client.where().header.stamp) == began + 100 * PERIOD_NS

    here = client.where().pose.position
    spawnable = client.do("GetSpawnables").spawnables[0].uri
    box = client.do("SpawnEntity", allow_renaming=True, uri=spawnable, initial_pose=pose(here.x + 8.0, here.y, here.z))
    robot = EntityFilters(categories=[EntityCategory(category=EntityCategory.CATEGORY_ROBOT)])
    (vehicle,) = client.do("GetEntities", filters=robot).entities
    state = client.where(vehicle)
    state.pose.position.x -= 5.0
    client.do("SetEntityState", entity=vehicle, state=state)
    assert client.where(vehicle).pose.position.x == pytest.approx(here.x - 5.0, abs=0.01)
    client.do("StepSimulation", steps=10)

    for scope in ("TIME", "STATE", "SPAWNED", "ALL"):
        client.do("ResetSimulation", scope=getattr(ResetSimulation.Request, f"SCOPE_{scope}"))
        assert (box.entity_name in entities(client)) == (scope in ("TIME", "STATE"))
    assert client.where(vehicle).pose.position.x == pytest.approx(0.0, abs=0.01)

    other = next(world for world in client.do("GetAvailableWorlds").worlds if world.name == "bump")
    client.do("LoadWorld", uri=other.world_resource.uri)
    assert client.state == STOPPED
    assert client.set_state(PLAYING) == OK
    count = len(car.odometry)
    car.wait_for(lambda: len(car.odometry) > count + 10, "time in the other world")
    assert start_ns() < car.time_ns


def entities(client: StandardClient) -> set[str]:
    return set(client.do("GetEntities").entities)


def start_ns() -> int:
    """Time at which the vehicle of these tests starts; its first odometry may be missed."""
    return VehicleNodeSettings().start.time_ns()
