"""The planner node in a separate process, over real DDS; with the whole suite, or with the test as the vehicle."""

from __future__ import annotations

import math
import signal
import sys
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header, UInt32
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

from planner.pose import Pose
from proving_ground.ros_support import qos
from proving_ground.ros_support.point_cloud import points_to_cloud
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.units import NS_PER_S
from sensors.samples import LIDAR_POINT

START_NS = 1_767_225_600 * NS_PER_S
START_WAIT_S = 120.0  # includes compilation with a cold cache


def goal(x: float, y: float, frame: str = "map") -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y = x, y
    message.pose.orientation.w = 1.0
    return message


def figures(diagnostics: list[Any]) -> dict[str, str]:
    statuses = [status for message in diagnostics for status in message.status if "planner" in status.name]
    return {item.key: item.value for item in statuses[-1].values} if statuses else {}


def words_of(diagnostics: list[Any]) -> str:
    """Text of the planner's last report."""
    statuses = [status for message in diagnostics for status in message.status if "planner" in status.name]
    return str(statuses[-1]) if statuses else ""


class Standing:
    """The test as a vehicle that stands at the urban world's start."""

    frame = "map"

    def __init__(self, graph: Any) -> None:
        self.time_ns = START_NS
        self._publisher = graph.node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
        self._timer = graph.node.create_timer(0.02, self._publish)

    def _publish(self) -> None:
        message = Odometry(child_frame_id="base_link")
        message.header.frame_id, message.header.stamp = self.frame, ns_to_stamp(self.time_ns)
        message.pose.pose.position.x, message.pose.pose.position.y = 10.0, -2.0
        message.pose.pose.orientation.w = 1.0
        self._publisher.publish(message)
        self.time_ns += 20_000_000

    def fall_silent(self) -> None:
        self._timer.cancel()


class Obedient:
    """The test as a vehicle that follows /cmd_vel at once, from the urban world's start."""

    STEP_S = 0.02

    def __init__(self, graph: Any) -> None:
        self.time_ns, self.top_speed = START_NS, 0.0
        self._resets = 0
        self._home()
        self._publisher = graph.node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
        self._resets_publisher = graph.node.create_publisher(UInt32, "/simulation/resets", qos.LATCHED)
        self._resets_publisher.publish(UInt32(data=0))
        graph.node.create_subscription(TwistStamped, "/cmd_vel", self._obey, qos.RELIABLE)
        graph.node.create_timer(self.STEP_S, self._publish)

    def _home(self) -> None:
        self.pose, self.speed, self.yaw_rate = Pose(10.0, -2.0), 0.0, 0.0

    def reset(self) -> None:
        """Reset as /simulation/reset does: time runs on."""
        self._resets += 1
        self._home()
        self._resets_publisher.publish(UInt32(data=self._resets))

    def _obey(self, message: TwistStamped) -> None:
        self.speed, self.yaw_rate = message.twist.linear.x, message.twist.angular.z

    def _publish(self) -> None:
        curvature = self.yaw_rate / self.speed if abs(self.speed) > 0.01 else 0.0
        self.pose = self.pose.moved(self.speed, curvature, self.STEP_S)
        self.time_ns += round(1e9 * self.STEP_S)
        message = Odometry(child_frame_id="base_link")
        message.header.frame_id, message.header.stamp = "map", ns_to_stamp(self.time_ns)
        message.pose.pose.position.x, message.pose.pose.position.y = self.pose.x, self.pose.y
        message.pose.pose.orientation.z = math.sin(0.5 * self.pose.heading)
        message.pose.pose.orientation.w = math.cos(0.5 * self.pose.heading)
        message.twist.twist.linear.x = self.speed
        self._publisher.publish(message)


def test_reset_and_new_parameters_keep_a_drive_going_and_start_none(graph: Any) -> None:
    graph.start("planner", "--ros-args", "-p", "world:=urban")
    vehicle = Obedient(graph)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    goals = graph.node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
    change = graph.node.create_client(SetParameters, "/planner/set_parameters")
    graph.wait_until(lambda: figures(diagnostics), "the planner", START_WAIT_S)
    graph.wait_until(goals.get_subscription_count, "its subscription to goals")

    def set_margin(value: float) -> None:
        wanted = Parameter("margin_m", Parameter.Type.DOUBLE, value).to_parameter_msg()
        assert graph.call(change, SetParameters.Request(parameters=[wanted])).results[0].successful

    goals.publish(goal(45.0, -2.0))
    graph.wait_until(lambda: vehicle.speed > 3.0, "driving")
    slowest = vehicle.speed
    set_margin(0.3)
    end_ns = vehicle.time_ns + NS_PER_S
    while vehicle.time_ns < end_ns:
        graph.spin_for(0.02)
        slowest = min(slowest, vehicle.speed)
    assert slowest > 2.5  # it does not begin from rest

    vehicle.reset()
    graph.wait_until(lambda: vehicle.speed > 1.0, "driving on to its goal from the start")
    graph.wait_until(lambda: figures(diagnostics).get("status") == "arrived", "its arrival", 40.0)

    position = vehicle.pose
    set_margin(0.25)
    graph.spin_for(1.5)
    assert math.dist(vehicle.pose[:2], position[:2]) < 0.1
    vehicle.reset()
    graph.spin_for(2.0)
    assert vehicle.pose == Pose(10.0, -2.0)


def test_odometry_that_is_old_by_the_clock_stops_the_vehicle(graph: Any) -> None:
    graph.start("planner", "--ros-args", "-p", "world:=urban", "-p", "use_sim_time:=true")
    vehicle, ahead_ns = Obedient(graph), [0]
    clock = graph.node.create_publisher(Clock, "/clock", qos.RELIABLE)
    graph.node.create_timer(0.02, lambda: clock.publish(Clock(clock=ns_to_stamp(vehicle.time_ns + ahead_ns[0]))))
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    goals = graph.node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
    graph.wait_until(lambda: figures(diagnostics), "the planner", START_WAIT_S)
    graph.wait_until(goals.get_subscription_count, "its subscription to goals")
    goals.publish(goal(60.0, -2.0))
    graph.wait_until(lambda: vehicle.speed > 1.0, "driving")

    ahead_ns[0] = NS_PER_S
    graph.wait_until(lambda: vehicle.speed == 0.0, "a stop")
    graph.wait_until(lambda: figures(diagnostics).get("reason") == "the pose is too old", "a report of it")


def test_restarted_planner_waits_for_a_goal(graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVING_GROUND_RESPAWN", "1")
    graph.start("planner", "--ros-args", "-p", "world:=urban", "-p", "goal.source:=world")
    vehicle = Obedient(graph)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")

    graph.wait_until(lambda: "was started again" in words_of(diagnostics), "a report of it", START_WAIT_S)
    graph.spin_for(1.0)

    assert figures(diagnostics)["status"] == "no_goal"
    assert vehicle.pose == Pose(10.0, -2.0)


def test_error_in_a_users_planner_stops_the_vehicle_and_the_node_lives_on(
    graph: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_planner.py").write_text(
        "from planner.planning import Outcome, Plan\n\n\n"
        "class Fails:\n"
        "    def __init__(self, settings, footprint, extent):\n        self.plans = 0\n\n"
        "    def reset(self):\n        self.plans = 0\n\n"
        "    def plan(self, request):\n        self.plans += 1\n"
        "        if self.plans > 20:\n            raise KeyError('mine')\n"
        "        return Plan(Outcome.DRIVE, 1.0)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    process = graph.start("planner", "--ros-args", "-p", "world:=urban", "-p", "planner:=my_planner:Fails")
    vehicle = Obedient(graph)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    goals = graph.node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
    graph.wait_until(lambda: figures(diagnostics), "the planner", START_WAIT_S)
    graph.wait_until(goals.get_subscription_count, "its subscription to goals")

    goals.publish(goal(60.0, -2.0))
    graph.wait_until(lambda: vehicle.speed > 0.5, "driving")
    graph.wait_until(lambda: "KeyError: 'mine'" in figures(diagnostics).get("detail", ""), "the error")

    graph.wait_until(lambda: vehicle.speed == 0.0, "a stop")
    level = [status.level for message in diagnostics for status in message.status if "planner" in status.name][-1]
    assert level == DiagnosticStatus.ERROR
    assert process.is_running()
    assert "Traceback" not in process.output


def flat_cloud(time_ns: int, frame: str) -> Any:
    """Level ground around a LIDAR 2 m high."""
    random = np.random.default_rng(1)
    points = np.zeros(20_000, LIDAR_POINT)
    away, angle = random.uniform(4.0, 30.0, len(points)), random.uniform(-math.pi, math.pi, len(points))
    points["x"], points["y"], points["z"] = away * np.cos(angle), away * np.sin(angle), -2.0
    points["ring"] = random.integers(0, 32, len(points))
    return points_to_cloud(points, Header(stamp=ns_to_stamp(time_ns), frame_id=frame))


def test_clouds_wait_for_odometry_that_lags_and_wrong_frames_are_rejected_by_name(graph: Any) -> None:
    arguments = ("world:=urban", "sensing:=lidar", "lidar.is_deskewed:=true")
    graph.start("planner", "--ros-args", *(word for text in arguments for word in ("-p", text)))
    vehicle = Standing(graph)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    clouds = graph.node.create_publisher(PointCloud2, "/lidar/points", qos.SENSOR)
    graph.wait_until(lambda: figures(diagnostics), "the planner", START_WAIT_S)
    graph.wait_until(clouds.get_subscription_count, "its subscription to clouds")

    for _ in range(10):  # each from 0.08 s after the newest odometry
        clouds.publish(flat_cloud(vehicle.time_ns + 80_000_000, "lidar_link"))
        graph.spin_for(0.15)
    graph.wait_until(lambda: "clouds arrive" in words_of(diagnostics), "a report of clouds")
    assert "lidar/points rejected" not in words_of(diagnostics)

    clouds.publish(flat_cloud(vehicle.time_ns, "camera_link"))
    expected = "lidar/points rejected: is in frame 'camera_link', must be in 'lidar_link'"
    graph.wait_until(lambda: expected in words_of(diagnostics).replace("\\", ""), "a report of the frame")

    vehicle.frame = "odom"
    graph.wait_until(lambda: "must be of 'base_link' in 'map'" in words_of(diagnostics), "a report of the odometry")
    assert int(figures(diagnostics)["ground_truth/odom rejected"]) > 0


def test_vehicle_drives_to_a_goal_shows_how_and_stops_there(graph: Any) -> None:
    arguments = ["world:=urban", "real_time_factor:=2.0", "to_world_goal:=false"]
    launch = graph.start_command([sys.executable, "-m", "proving_ground", "launch", "navigate", *arguments])
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
    fans = [{marker.ns: marker for marker in fan.markers if marker.action == Marker.ADD} for fan in arcs]
    shown = next(fan for fan in fans if {"chosen", "clear", "blocked"} <= set(fan))
    assert len({(m.color.r, m.color.g, m.color.b) for m in shown.values()}) == 3
    info = maps[0].info
    assert info.resolution == pytest.approx(0.2)
    assert {0, 100} <= set(maps[0].data)

    launch.popen.send_signal(signal.SIGINT)
    assert launch.wait() == 0
    assert "Traceback" not in launch.output


def test_bad_goals_are_rejected_with_a_reason_each(graph: Any) -> None:
    graph.start("planner", "--ros-args", "-p", "world:=urban")
    vehicle = Standing(graph)
    diagnostics, commands = graph.collect(DiagnosticArray, "/diagnostics"), graph.collect(TwistStamped, "/cmd_vel")
    goals = graph.node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
    graph.wait_until(lambda: figures(diagnostics), "the planner", START_WAIT_S)
    graph.wait_until(goals.get_subscription_count, "its subscription to goals")

    for position, words in (
        (goal(30.0, 0.0, "odom"), "the goal is in another frame: 'odom', must be in 'map'"),
        (goal(math.nan, 0.0), "not finite"),
        (goal(5000.0, 0.0), "outside the map"),
    ):
        goals.publish(position)
        graph.wait_until(lambda words=words: words in str(figures(diagnostics)), f"a report of {words}")
    assert not [command for command in commands if command.twist.linear.x]

    # A rejected goal stops the vehicle, whatever is wrong with it; so does an empty list.
    waypoints = graph.node.create_publisher(Path, "/waypoints", qos.RELIABLE)
    graph.wait_until(waypoints.get_subscription_count, "its subscription to waypoints")
    for send in (
        lambda: goals.publish(goal(30.0, 0.0, "odom")),
        lambda: goals.publish(goal(math.nan, 0.0)),
        lambda: waypoints.publish(Path()),
    ):
        goals.publish(goal(30.0, -2.0))
        graph.wait_until(lambda: commands and commands[-1].twist.linear.x > 0.3, "driving")
        send()
        graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "a stop")
    graph.wait_until(lambda: "drives to" not in words_of(diagnostics), "no report of the old goal")
    # A vehicle that never moves may have made the planner give up just before.
    graph.wait_until(lambda: figures(diagnostics)["status"] == "no_goal", "no goal")

    goals.publish(goal(30.0, -2.0))
    graph.wait_until(lambda: commands[-1].twist.linear.x > 0.3, "driving")
    client = graph.node.create_client(Trigger, "/planner/cancel")
    assert graph.call(client, Trigger.Request()).success
    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "a stop")

    goals.publish(goal(30.0, -2.0))
    graph.wait_until(lambda: commands[-1].twist.linear.x > 0.3, "driving again")
    vehicle.fall_silent()
    graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "a stop without odometry", 3.0)
    graph.wait_until(lambda: "ground_truth/odom is silent" in str(figures(diagnostics)), "a report of it")


def test_planner_that_cannot_be_loaded_is_reported_in_one_line(graph: Any) -> None:
    process = graph.start("planner", "--ros-args", "-p", "planner:=nowhere:Best")
    assert process.wait() == 2
    assert "nowhere" in process.output
    assert len(process.output.strip().splitlines()) == 1
