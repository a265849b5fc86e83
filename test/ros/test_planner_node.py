"""The planner node in a process of its own, over real DDS; with the whole suite, or with the test as the vehicle."""

from __future__ import annotations

import math
import signal
import sys
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

from ros_support import qos
from ros_support.time import NS_PER_S, ns_to_stamp

START_NS = 1_767_225_600 * NS_PER_S
START_WAIT_S = 120.0  # compiles, where that was never done


def goal(x: float, y: float, frame: str = "map") -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y = x, y
    message.pose.orientation.w = 1.0
    return message


def figures(diagnostics: list[Any]) -> dict[str, str]:
    statuses = [status for message in diagnostics for status in message.status if "planner" in status.name]
    return {item.key: item.value for item in statuses[-1].values} if statuses else {}


class Standing:
    """The test as a vehicle that stands at the urban world's start."""

    def __init__(self, graph: Any) -> None:
        self.time_ns = START_NS
        self._publisher = graph.node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
        self._timer = graph.node.create_timer(0.02, self._tell)

    def _tell(self) -> None:
        message = Odometry(child_frame_id="base_link")
        message.header.frame_id, message.header.stamp = "map", ns_to_stamp(self.time_ns)
        message.pose.pose.position.x, message.pose.pose.position.y = 10.0, -2.0
        message.pose.pose.orientation.w = 1.0
        self._publisher.publish(message)
        self.time_ns += 20_000_000

    def fall_silent(self) -> None:
        self._timer.cancel()


def test_vehicle_drives_to_a_goal_shows_how_and_stops_there(graph: Any) -> None:
    arguments = ["world:=urban", "real_time_factor:=2.0", "to_world_goal:=false"]
    launch = graph.start_command([sys.executable, "-m", "scenarios.cli", "launch", "navigate", *arguments])
    odometry, commands = graph.collect(Odometry, "/ground_truth/odom"), graph.collect(TwistStamped, "/cmd_vel")
    plans, arcs = graph.collect(Path, "/plan"), graph.collect(MarkerArray, "/planner/arcs")
    maps, diagnostics = graph.collect(OccupancyGrid, "/local_map"), graph.collect(DiagnosticArray, "/diagnostics")
    goals = graph.node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
    graph.wait_until(lambda: odometry and figures(diagnostics).get("status") == "no_goal", "both nodes", START_WAIT_S)
    assert not commands  # /cmd_vel is free for others

    goals.publish(goal(35.0, -2.0))
    graph.wait_until(lambda: figures(diagnostics).get("status") == "arrived", "its arrival", START_WAIT_S)

    last = odometry[-1].pose.pose.position
    assert math.hypot(last.x - 35.0, last.y + 2.0) < 2.0
    assert max(message.twist.linear.x for message in commands) <= 5.0
    assert commands[-1].twist.linear.x == 0.0
    assert commands[0].header.frame_id == "base_link"
    assert plans[0].header.frame_id == "map"
    end = plans[0].poses[-1].pose.position
    assert (end.x, end.y) == pytest.approx((35.0, -2.0), abs=0.5)
    shown = {marker.ns: marker for marker in arcs[0].markers if marker.action == Marker.ADD}
    assert {"chosen", "clear", "blocked"} <= set(shown)
    assert len({(m.color.r, m.color.g, m.color.b) for m in shown.values()}) == 3
    info = maps[0].info
    assert info.resolution == pytest.approx(0.2)
    assert {0, 100} <= set(maps[0].data)

    launch.popen.send_signal(signal.SIGINT)
    assert launch.wait() == 0
    assert "Traceback" not in launch.output


def test_bad_goals_are_refused_with_a_reason_each(graph: Any) -> None:
    graph.start("planner", "--ros-args", "-p", "world:=urban")
    vehicle = Standing(graph)
    diagnostics, commands = graph.collect(DiagnosticArray, "/diagnostics"), graph.collect(TwistStamped, "/cmd_vel")
    goals = graph.node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
    graph.wait_until(lambda: figures(diagnostics), "the planner", START_WAIT_S)
    graph.wait_until(goals.get_subscription_count, "its ear for goals")

    for place, words in (
        (goal(30.0, 0.0, "odom"), "is in frame 'odom', must be in 'map'"),
        (goal(math.nan, 0.0), "not a finite place"),
        (goal(5000.0, 0.0), "outside the map"),
    ):
        goals.publish(place)
        graph.wait_until(lambda words=words: words in str(figures(diagnostics)), f"a word on {words}")
    assert not [command for command in commands if command.twist.linear.x]

    goals.publish(goal(30.0, -2.0))
    graph.wait_until(lambda: [c for c in commands if c.twist.linear.x > 0.3], "driving")
    client = graph.node.create_client(Trigger, "/planner/cancel")
    assert graph.call(client, Trigger.Request()).success
    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "a stop")

    goals.publish(goal(30.0, -2.0))
    graph.wait_until(lambda: commands[-1].twist.linear.x > 0.3, "driving again")
    vehicle.fall_silent()
    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "a stop without odometry", 3.0)
    graph.wait_until(lambda: "ground_truth/odom is silent" in str(figures(diagnostics)), "a word on it")


def test_planner_that_cannot_be_had_is_one_line(graph: Any) -> None:
    process = graph.start("planner", "--ros-args", "-p", "planner:=nowhere:Best")
    assert process.wait() == 2
    assert "nowhere" in process.output
    assert len(process.output.strip().splitlines()) == 1
