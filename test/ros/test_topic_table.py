"""A running graph has the topics, services and profiles of the topic table."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import rclpy
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.context import Context
from rclpy.node import NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from proving_ground.interfaces import simulation_services, topics
from proving_ground.interfaces.topic import Service, Topic
from proving_ground.interfaces.topics import ACTIONS, EVERY_NODE, EVERY_SENSOR, SERVICES, TOPICS
from proving_ground.launching.node_process import node_command
from proving_ground.ros_support.domain import private_domain
from sensors.kinds import SENSOR_KINDS

RUNNING: dict[str, list[str]] = {
    "vehicle": [],
    "imu": ["-p", "has_attitude:=true"],
    "gps": [],
    "encoders": [],
    "lidar": [],
    "observer": ["-p", "tf_rate_hz:=50.0"],
    "planner": ["-p", "world:=flat", "-p", "sensing:=lidar", "-p", "stamped:=true"],
    "terrain": ["-p", "world:=flat"],
}
OF_ROS = {"/rosout", "/parameter_events"}
OF_ACTION = "/_action/"  # feedback and status
SYNCHRONOUS = (topics.FINISHED,)  # these nodes run free
NOT_RECEIVED = (
    topics.CMD_VEL,
    topics.ESTIMATE,
    topics.RUTS,
)  # not published here; the pose is the truth's, the soil hard
Found = dict[str, dict[str, set[str]]]


@pytest.fixture(scope="module")
def graph() -> Iterator[Any]:
    """A node in a domain of its own, with nodes of the suite running."""
    with private_domain() as domain, pytest.MonkeyPatch.context() as environment, ExitStack() as processes:
        for name, value in domain.items():
            environment.setenv(name, value)
        for name, parameters in RUNNING.items():
            process = subprocess.Popen(node_command(name, ["--ros-args", *parameters]))
            processes.callback(process.wait, 20.0)
            processes.callback(process.terminate)
        context = Context()
        rclpy.init(args=[], context=context)
        node = rclpy.create_node("reader", context=context)
        try:
            yield node
        finally:
            node.destroy_node()
            rclpy.try_shutdown(context=context)


def test_a_running_graph_has_the_topics_and_services_of_the_table(graph: Any) -> None:
    nodes = [*RUNNING, simulation_services.NODE]  # the last is in the vehicle's process
    wanted = {name: _of_table(name) for name in nodes}
    found: Found = {}
    deadline = time.monotonic() + 240.0

    while found != wanted and time.monotonic() < deadline:
        found = {name: _of_graph(graph, name) for name in nodes}
        time.sleep(0.2)

    assert found == wanted


def test_publishers_of_a_running_graph_have_the_profiles_of_the_table(graph: Any) -> None:
    for topic in TOPICS:
        for info in graph.get_publishers_info_by_topic(f"/{topic.name.lstrip('/~')}"):
            profile = info.qos_profile
            is_reliable = profile.reliability is ReliabilityPolicy.RELIABLE
            is_latched = profile.durability is DurabilityPolicy.TRANSIENT_LOCAL
            assert (topic.name, is_reliable, is_latched) == (topic.name, topic.qos.is_reliable, topic.qos.is_latched)


def _of_table(node: str) -> dict[str, set[str]]:
    own = {node} if node == simulation_services.NODE else {node, EVERY_NODE}  # its health is the vehicle's
    own |= {EVERY_SENSOR} if node in SENSOR_KINDS else set()
    return {
        "published": {_line(item) for item in TOPICS if own & set(item.publishers) and item not in SYNCHRONOUS},
        "received": {
            _line(item) for item in TOPICS if own & set(item.listeners) and item not in (*NOT_RECEIVED, *SYNCHRONOUS)
        },
        "served": {_line(item) for item in SERVICES if item.node == node},
        "actions": {_line(item) for item in ACTIONS if item.node == node},
    }


def _of_graph(graph: Any, node: str) -> dict[str, set[str]]:
    try:
        published = graph.get_publisher_names_and_types_by_node(node, "/")
        received = graph.get_subscriber_names_and_types_by_node(node, "/")
        served = graph.get_service_names_and_types_by_node(node, "/")
        actions = get_action_server_names_and_types_by_node(graph, node, "/")
    except NodeNameNonExistentError:
        return {}
    # cmd_vel is subscribed when its publisher's type is known; /clock and parameter services are rclpy's own.
    unwanted = {f"/{topics.CMD_VEL.name}", topics.CLOCK.name} | OF_ROS
    return {
        "published": {f"{name} {kind}" for name, (kind,) in published if name not in OF_ROS and OF_ACTION not in name},
        "received": {f"{name} {kinds[0]}" for name, kinds in received if name not in unwanted},
        "served": {f"{name} {kind}" for name, (kind,) in served if not name.startswith(f"/{node}/")}
        | {f"{name} {kind}" for name, (kind,) in served if name.startswith(f"/{node}/") and is_ours(kind)},
        "actions": {f"{name} {kind}" for name, (kind,) in actions},
    }


def is_ours(kind: str) -> bool:
    """Whether it is neither a parameter service nor a part of an action."""
    return kind.startswith(("std_srvs/", f"{simulation_services.PACKAGE}/srv/"))


def _line(item: Topic | Service) -> str:
    return f"/{item.name.lstrip('/')} {item.type}"
