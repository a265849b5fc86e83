"""Spawned obstacles and loaded worlds reach LIDAR, planner and map, over real DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid
from sensor_msgs.msg import PointCloud2
from simulation_interfaces.msg import SimulationState
from visualization_msgs.msg import Marker, MarkerArray

from proving_ground.interfaces import topics
from proving_ground.ros_support import qos
from proving_ground.ros_support.point_cloud import cloud_to_points
from running_vehicle import Car
from standard_client import OK, StandardClient, pose

FOLLOWERS = topics.LOADED_WORLD.listeners
AHEAD_M = 15.0  # of the obstacle
STARTS_WITHIN_S = 120.0  # includes compilation with a cold cache


class Watch:
    """Reports of LIDAR, planner and terrain node about the world."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
        self.clouds = graph.collect(PointCloud2, "/lidar/points", qos.SENSOR)
        self.maps = graph.collect(OccupancyGrid, "/map", qos.LATCHED)
        self.local_maps = graph.collect(OccupancyGrid, "/local_map")
        self.shown = graph.collect(MarkerArray, "/simulation/spawned", qos.LATCHED)

    def highest_hit(self, ahead: float, around: float = 2.0) -> float:
        """Largest z [m] over the LIDAR of points of the last cloud about ahead of it [m]; -inf without a point."""
        points = cloud_to_points(self.clouds[-1]).reshape(-1)
        near = (np.abs(points["x"] - ahead) < around) & (np.abs(points["y"]) < 0.9)
        return float(points["z"][near].max(initial=-np.inf))

    def is_occupied(self, x: float, y: float) -> bool:
        """Whether the planner's last local map is occupied there."""
        grid = self.local_maps[-1]
        cells = np.array(grid.data).reshape(grid.info.height, grid.info.width)
        column = int((x - grid.info.origin.position.x) / grid.info.resolution)
        row = int((y - grid.info.origin.position.y) / grid.info.resolution)
        return bool(cells[row, column] == 100)

    def are_in(self, world: str) -> set[str]:
        """Nodes whose diagnostics say that they have loaded a world."""
        statuses = [status for message in self._diagnostics for status in message.status]
        return {
            node for node in FOLLOWERS for item in statuses if node in item.name and f"in world {world}" in str(item)
        }

    def wait(self, condition: Any, what: str) -> None:
        self._graph.wait_until(condition, what, STARTS_WITHIN_S)


def test_a_spawned_box_is_seen_by_lidar_and_planner_and_a_new_world_by_all(graph: Any) -> None:
    watch = Watch(graph)
    for node in FOLLOWERS:
        graph.start(node, "--ros-args", "-p", "world:=flat")
    car = Car(graph, "-p", "world:=flat")
    client = StandardClient(graph)
    goals = graph.node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
    watch.wait(lambda: watch.clouds and watch.maps and goals.get_subscription_count(), "all nodes")
    assert client.set_state(SimulationState.STATE_STOPPED) == OK
    at = client.where().pose.position
    box_x = at.x + AHEAD_M

    client.do("SpawnEntity", name="wall", uri="box?height_m=3", initial_pose=pose(box_x, at.y))
    goals.publish(pose(at.x + 60.0, at.y, frame="map"))
    watch.wait(lambda: watch.shown, "the latched topic of obstacles")
    assert [item.action for item in watch.shown[-1].markers] == [Marker.DELETEALL, Marker.ADD]
    assert client.set_state(SimulationState.STATE_PLAYING) == OK
    watch.wait(lambda: watch.local_maps and watch.is_occupied(box_x, at.y), "the box in the planner's map")
    assert client.set_state(SimulationState.STATE_PAUSED) == OK
    front = car_to_lidar(client, box_x)
    watch.clouds.clear()
    client.do("StepSimulation", steps=25)
    watch.wait(lambda: watch.clouds and watch.highest_hit(front) > -1.5, "the box in the cloud")

    client.do("DeleteEntity", entity="wall")
    watch.wait(lambda: len(watch.shown[-1].markers) == 1, "the empty list")
    watch.clouds.clear()
    watch.local_maps.clear()
    client.do("StepSimulation", steps=50)
    watch.wait(lambda: watch.local_maps and not watch.is_occupied(box_x, at.y), "a planner's map without the box")
    watch.wait(lambda: watch.clouds and watch.highest_hit(front) < -1.5, "a cloud without the box")

    width = watch.maps[-1].info.width
    client.do("LoadWorld", uri="ramp")
    watch.wait(lambda: watch.maps[-1].info.width != width, "the map of the other world")
    watch.wait(lambda: watch.are_in("ramp") == set(FOLLOWERS), "all nodes in the other world")
    watch.clouds.clear()
    assert client.set_state(SimulationState.STATE_PLAYING) == OK
    # The ramp begins 20 m from the start and rises to 5.4 m; the LIDAR is at 2 m, and flat ground is below it.
    watch.wait(lambda: watch.clouds and watch.highest_hit(35.0, around=15.0) > 2.0, "the ramp in the cloud")
    assert car.process.is_running()


def car_to_lidar(client: StandardClient, x: float) -> float:
    """Distance [m] from the vehicle to a position; its LIDAR is about in its middle."""
    return float(x - client.where().pose.position.x - 1.5)
