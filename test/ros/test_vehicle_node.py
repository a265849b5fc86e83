"""The vehicle node in a separate process, over real DDS."""

from __future__ import annotations

import itertools
import math
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest
from ackermann_msgs.msg import AckermannDriveStamped
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from benchmark.vehicle_node import run as bench
from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.units import NS_PER_S
from terrain.worlds import load_world

PERIOD_NS = 10_000_000
START_NS = 1767225600 * NS_PER_S  # 2026-01-01
START_WAIT_S = 90.0  # includes compilation with a cold cache
WHEELS = [f"{axle}_{side}_wheel" for axle in ("front", "rear") for side in ("left", "right")]
FAST = ("-p", "real_time_factor:=3.0")
EACH = QoSProfile(depth=1000)  # none is lost while the test is not scheduled


class Car:
    """A running vehicle node and its messages."""

    def __init__(self, graph: Any, *arguments: str, prefix: str = "") -> None:
        self._graph, self._prefix = graph, prefix
        self.process = graph.start("vehicle", "--ros-args", *arguments)
        self.odometry = graph.collect(Odometry, f"{prefix}/ground_truth/odom")
        self.diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
        graph.wait_until(lambda: self.odometry, "the vehicle", START_WAIT_S)

    @property
    def speed(self) -> float:
        return float(self.odometry[-1].twist.twist.linear.x)

    @property
    def time_ns(self) -> int:
        return read_stamp(self.odometry[-1].header.stamp)

    def figures(self) -> dict[str, str]:
        """Keys and values of the last diagnostics of the vehicle."""
        statuses = [status for message in self.diagnostics for status in message.status if "vehicle" in status.name]
        return {item.key: item.value for item in statuses[-1].values} if statuses else {}

    def wait_for(self, condition: Any, what: str) -> None:
        self._graph.wait_until(condition, what)

    def wait_for_words(self, words: str) -> None:
        self._graph.wait_until(lambda: words in str(self.figures()), f"a diagnostic with {words!r}")

    def call(self, service_type: type, name: str, request: Any) -> Any:
        client = self._graph.node.create_client(service_type, f"{self._prefix}/simulation/{name}")
        return self._graph.call(client, request)


class Sender:
    """Publishes a command at 50 Hz until silenced."""

    def __init__(self, graph: Any, topic: str, message: Any) -> None:
        self.message = message
        self._publisher = graph.node.create_publisher(type(message), topic, qos.RELIABLE)
        self._timer = graph.node.create_timer(0.02, lambda: self._publisher.publish(self.message))

    def fall_silent(self) -> None:
        self._timer.cancel()


def twist(speed: float, yaw_rate: float = 0.0) -> Twist:
    message = Twist()
    message.linear.x, message.angular.z = speed, yaw_rate
    return message


def stamped(speed: float, yaw_rate: float = 0.0, stamp_ns: int = 0) -> TwistStamped:
    message = TwistStamped(twist=twist(speed, yaw_rate))
    message.header.stamp = ns_to_stamp(stamp_ns)
    return message


def pedals(names: list[str], positions: list[float]) -> JointState:
    return JointState(name=names, position=positions)


def ackermann(speed: float, angle: float) -> AckermannDriveStamped:
    message = AckermannDriveStamped()
    message.drive.speed, message.drive.steering_angle = speed, angle
    return message


@pytest.mark.parametrize("kind", ["twist", "twist_stamped"])
def test_drives_as_commanded_and_stops_on_silence_with_the_steering_kept(graph: Any, kind: str) -> None:
    car = Car(graph, *FAST)
    joints = graph.collect(JointState, "/joint_states")
    command = Sender(graph, "/cmd_vel", twist(4.0, 0.4) if kind == "twist" else stamped(4.0, 0.4))

    car.wait_for(lambda: car.speed > 3.7, "driving")
    car.wait_for(lambda: car.odometry[-1].twist.twist.angular.z > 0.3, "turning")
    car.wait_for_words("driven by motion commands")
    command.fall_silent()
    car.wait_for(lambda: abs(car.speed) < 0.01, "standing")

    last = joints[-1]
    steer = dict(zip(last.name, last.position, strict=True))
    assert abs(steer["steering_pitman_arm"]) > 0.05
    car.wait_for_words("stopping: no command since")


def test_nonsense_is_rejected_named_and_braked_on_until_a_good_command_comes(graph: Any) -> None:
    car = Car(graph, *FAST)
    command = Sender(graph, "/cmd_vel", twist(3.0))
    car.wait_for(lambda: car.speed > 2.0, "driving")

    for bad, words in ((twist(math.nan), "linear.x is nan"), (twist(1e6), "absurd")):
        command.message = bad
        car.wait_for(lambda: abs(car.speed) < 0.01, "standing")
        car.wait_for_words(words)
        assert int(car.figures()["commands_rejected"]) > 0
        command.message = twist(3.0)
        car.wait_for(lambda: car.speed > 1.0, "driving again")

    command.message = twist(0.0, 1.0)
    car.wait_for_words("cannot turn on the spot")
    command.message = twist(50.0)
    car.wait_for_words("speed +50.00 m/s is beyond +25.00")
    assert car.process.is_running()


def test_pedals_and_ackermann_drive_too_and_bad_ones_are_rejected_by_a_rule(graph: Any) -> None:
    car = Car(graph, *FAST)
    on_pedals = Sender(graph, "/vehicle/pedals", pedals(["brake", "throttle", "steering"], [0.0, 0.5, 0.0]))
    car.wait_for(lambda: car.speed > 2.0, "driving by pedals")
    on_pedals.message = pedals(["steering", "throttle", "clutch"], [0.0, 0.5, 0.0])
    car.wait_for_words("pedal 'clutch' is unknown")
    car.wait_for(lambda: abs(car.speed) < 0.01, "standing")
    on_pedals.message = pedals(["steering", "throttle", "brake", "gear"], [0.0, 0.5, 0.0, -1.0])
    car.wait_for(lambda: car.speed < -0.5, "driving back")
    on_pedals.fall_silent()

    steered = Sender(graph, "/ackermann_cmd", ackermann(3.0, 0.2))
    car.wait_for(lambda: car.speed > 2.5 and car.odometry[-1].twist.twist.angular.z > 0.1, "a left turn")
    steered.message = ackermann(math.nan, 0.0)
    car.wait_for_words("speed is nan")
    steered.message = ackermann(3.0, 0.0)
    Sender(graph, "/vehicle/pedals", pedals(["steering", "throttle", "brake"], [0.0, 0.1, 0.0]))
    car.wait_for_words("commands come on ackermann_cmd and vehicle/pedals at once")


def test_time_is_exact_and_odometry_agrees_with_itself(graph: Any) -> None:
    car = Car(graph, "-p", "start.speed_mps:=5.0", "-p", "start.heading_deg:=90.0")
    clock = graph.collect(Clock, "/clock", qos.CLOCK)
    accelerations = graph.collect(AccelStamped, "/ground_truth/accel", EACH)
    car.odometry = graph.collect(Odometry, "/ground_truth/odom", EACH)
    Sender(graph, "/cmd_vel", twist(6.0, 0.6))
    car.wait_for(lambda: len(car.odometry) > 250, "two and a half seconds")

    times = [read_stamp(message.clock) for message in clock]
    assert all((value - START_NS) % PERIOD_NS == 0 for value in times)
    assert all(after > before for before, after in itertools.pairwise(times))
    assert len(graph.node.get_publishers_info_by_topic("/clock")) == 1
    stamps = np.array([read_stamp(message.header.stamp) for message in car.odometry])
    assert set(np.diff(stamps)) == {PERIOD_NS}

    positions = np.array([_vector(message.pose.pose.position) for message in car.odometry])
    attitudes = Rotation.from_quat([_quaternion(message.pose.pose.orientation) for message in car.odometry])
    velocities = np.array([_vector(message.twist.twist.linear) for message in car.odometry])  # in base_link
    world = attitudes.apply(velocities)
    travelled = np.cumsum(0.5 * (world[1:] + world[:-1]) * 0.01, axis=0)
    # Semi-implicit Euler moves by the new velocity, so that half a step times the change of velocity is left over.
    np.testing.assert_allclose(positions[1:] - positions[0], travelled, atol=0.5e-3 * 12.0)
    assert velocities[-1][0] > 4.0
    assert abs(velocities[-1][1]) < 1.0  # not world axes, in which it drives to the left
    turned = (attitudes[0].inv() * attitudes[-1]).as_rotvec()[2]
    rates = np.array([message.twist.twist.angular.z for message in car.odometry])
    assert turned == pytest.approx(np.sum(0.5 * (rates[1:] + rates[:-1])) * 0.01, abs=5e-3)
    first = car.odometry[0]
    assert (first.header.frame_id, first.child_frame_id) == ("map", "base_link")
    covariance = np.reshape(first.pose.covariance, (6, 6))
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    assert accelerations[-1].header.frame_id == "base_link"
    told = {read_stamp(message.header.stamp): _vector(message.accel.linear) for message in accelerations}
    by_differences = (world[2:] - world[:-2]) / 0.02
    pairs = [
        (attitude.apply(told[stamp]), found)
        for stamp, attitude, found in zip(stamps[1:-1], attitudes[1:-1], by_differences, strict=True)
        if stamp in told
    ]
    assert len(pairs) > 100
    # Springs and carcasses swing between samples: the mean square shows a wrong axis or position, single values do not.
    assert np.sqrt(np.mean([np.square(mine - found) for mine, found in pairs])) < 0.2  # [m/s^2]


def test_pause_step_and_reset(graph: Any) -> None:
    car = Car(graph)
    clock = graph.collect(Clock, "/clock", qos.CLOCK)
    Sender(graph, "/cmd_vel", twist(3.0))
    car.wait_for(lambda: car.odometry[-1].pose.pose.position.x > 0.0, "some way")

    rejected = car.call(Trigger, "step", Trigger.Request())
    assert not rejected.success
    assert "paused" in rejected.message

    assert car.call(SetBool, "pause", SetBool.Request(data=True)).success
    graph.spin_for(0.2)
    stands_at, count = car.time_ns, len(car.odometry)
    clock.clear()
    car.wait_for(lambda: len(clock) >= 3, "/clock while paused")
    assert {read_stamp(message.clock) for message in clock} == {stands_at}
    assert len(car.odometry) == count
    car.wait_for_words("paused")

    assert car.call(Trigger, "step", Trigger.Request()).success
    car.wait_for(lambda: len(car.odometry) > count, "the step")
    assert car.time_ns == stands_at + PERIOD_NS

    assert car.call(Trigger, "reset", Trigger.Request()).success
    assert car.call(Trigger, "step", Trigger.Request()).success
    car.wait_for(lambda: car.time_ns > stands_at + PERIOD_NS, "the step after the reset")
    assert car.time_ns == stands_at + 2 * PERIOD_NS
    assert abs(car.odometry[-1].pose.pose.position.x) < 0.01  # base_link is where it started

    assert car.call(SetBool, "pause", SetBool.Request(data=False)).success
    car.wait_for(lambda: car.speed > 1.0, "driving on")
    assert all(b.header.stamp != a.header.stamp for a, b in itertools.pairwise(car.odometry))


def test_frames_form_one_tree_with_wheels_and_a_late_joiner_gets_the_fixed_ones(graph: Any) -> None:
    car = Car(graph)
    parents, transforms = tree(graph)

    assert len(parents) == len(transforms)  # no frame has two parents
    for name in (*WHEELS, "chassis"):
        assert path(parents, name)[-3:] == ["base_link", "odom", "map"]
    description = graph.collect(String, "/robot_description", qos.LATCHED)
    car.wait_for(lambda: description, "the description")
    assert '<link name="base_link"' in description[-1].data
    assert all(f'name="{name}"' in description[-1].data for name in parents if name not in ("odom", "base_link"))
    joints = graph.collect(JointState, "/joint_states")
    car.wait_for(lambda: joints, "joints")
    assert set(WHEELS) <= set(joints[-1].name)
    assert len(joints[-1].name) == len(joints[-1].position) == len(joints[-1].velocity) == len(joints[-1].effort)


def test_observer_may_own_the_base_and_names_can_be_set_apart(graph: Any) -> None:
    car = Car(graph, "-r", "__ns:=/truck", "-p", "frames.prefix:=truck/", "-p", "tf_source:=observer", prefix="/truck")

    parents, _ = tree(graph, "/truck")

    assert path(parents, "truck/front_left_wheel")[-1] == "truck/base_link"
    assert not {"truck/odom", "odom", "truck/map"} & set(parents.values())
    assert car.odometry[-1].header.frame_id == "truck/map"
    assert car.odometry[-1].child_frame_id == "truck/base_link"
    assert car.call(SetBool, "pause", SetBool.Request(data=True)).success
    topics = dict(graph.node.get_topic_names_and_types())
    assert {"/truck/joint_states", "/truck/vehicle/pedals", "/clock"} <= set(topics)


def test_other_type_or_second_publisher_of_cmd_vel_is_named_and_a_change_is_followed(graph: Any) -> None:
    car = Car(graph)
    first = graph.start_command(publisher("first", "TwistStamped"))
    car.wait_for_words("cmd_vel from /first")
    second = graph.start_command(publisher("second", "Twist"))
    car.wait_for_words("not heard from /second as geometry_msgs/msg/Twist")
    third = graph.start_command(publisher("third", "TwistStamped"))
    second.popen.terminate()
    car.wait_for_words("cmd_vel has 2 publishers: /first, /third")
    car.wait_for_words("stamps on cmd_vel are not in simulation time")
    assert "not heard" in car.process.output

    for process in (first, third):
        process.popen.terminate()
    car.wait_for(lambda: abs(car.speed) < 0.01, "standing")
    graph.start_command(publisher("fourth", "Twist"))
    car.wait_for(lambda: car.speed > 0.5, "driving by the other type")
    assert car.process.output.count("]: cmd_vel is heard as") == 2


def test_free_running_vehicle_is_fast_and_still_answers(graph: Any) -> None:
    car = Car(graph)
    assert "must be a number from 0 to 100" in set_factor(graph, -1.0).reason
    assert set_factor(graph, 0.0).successful  # as fast as possible
    client = graph.node.create_client(Trigger, "/simulation/step")
    graph.call(client, Trigger.Request())

    took = []
    began, at = time.monotonic(), car.time_ns
    for _ in range(10):
        asked = time.monotonic()
        graph.call(client, Trigger.Request())
        took.append(time.monotonic() - asked)
    car.wait_for(lambda: car.time_ns > at + 20 * NS_PER_S, "20 simulated seconds")

    assert time.monotonic() - began < 10.0
    assert sorted(took)[5] < 0.1
    stamps = [read_stamp(message.header.stamp) for message in car.odometry]
    assert all(after > before for before, after in itertools.pairwise(stamps))


def test_flood_of_commands_does_not_slow_the_simulation(graph: Any) -> None:
    car = Car(graph)
    graph.start_command(publisher("flood", "Twist", rate_hz=2000))
    car.wait_for(lambda: car.speed > 0.8, "driving")
    began, at = time.monotonic(), car.time_ns

    car.wait_for(lambda: car.time_ns > at + 2 * NS_PER_S, "two seconds")

    assert time.monotonic() - began < 3.0  # a starved one would need far longer
    assert car.process.is_running()


def test_diverged_motion_is_reported_and_reset_recovers(graph: Any) -> None:
    # The single track ends 10000 km from the origin.
    arguments = ["-p", "vehicle.fidelity:=single_track", "-p", "start.x_m:=9999980.0", "-p", "start.speed_mps:=5.0"]
    car = Car(graph, *arguments, "-p", "command_timeout_s:=10.0")
    clock = graph.collect(Clock, "/clock", qos.CLOCK)
    Sender(graph, "/cmd_vel", twist(5.0))

    car.wait_for_words("the motion diverged at")
    count = len(car.odometry)
    clock.clear()
    car.wait_for(lambda: len(clock) > 10, "time to go on")
    assert len(car.odometry) == count
    assert all(math.isfinite(message.pose.pose.position.x) for message in car.odometry)

    assert car.call(Trigger, "reset", Trigger.Request()).success
    car.wait_for(lambda: len(car.odometry) > count, "the vehicle again")


def test_vehicle_starts_and_drives_in_a_world_and_reset_clears_its_ruts(graph: Any) -> None:
    world = load_world("off_road")
    car = Car(graph, *FAST, "-p", "world:=off_road", "-p", "start.speed_mps:=3.0")
    assert "world off_road: starts at x -120 m, y -120 m, 45 degrees" in car.process.output

    command = Sender(graph, "/cmd_vel", twist(4.0))
    car.wait_for(lambda: car.odometry[-1].pose.pose.position.x > world.start.x + 5.0, "some way")
    car.wait_for_words("in world off_road")
    command.fall_silent()
    car.wait_for_words("stopping: no command since")

    assert car.call(SetBool, "pause", SetBool.Request(data=True)).success
    first, second = (roll_from_reset(graph, car, 50) for _ in range(2))
    height = float(world.ground.height_at(world.start.x, world.start.y))
    assert first[0] == pytest.approx((world.start.x, world.start.y, height), abs=0.1)  # 0.03 m on its way, and sunk in
    x, y, _ = first[-1] - first[0]
    assert math.hypot(x, y) > 0.3
    assert math.atan2(y, x) == pytest.approx(world.start.heading, abs=0.05)
    np.testing.assert_array_equal(second, first)  # in ruts that stayed it would roll more easily


def test_vehicle_beyond_the_map_gives_a_warning(graph: Any) -> None:
    car = Car(graph, "-p", "vehicle.fidelity:=single_track", "-p", "world:=kerb", "-p", "start.x_m:=5000.0")

    car.wait_for_words("WARN: outside world kerb")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["vehicle.step_s:=0.003"], "vehicle.step_s: must fit into 0.01 s a whole number of times, got 0.003"),
        (["vehicle.model:=humvee"], "vehicle humvee: unknown"),
        (["vehicle:=humvee"], "vehicle: is called vehicle.model now"),
        (["world:=of_road"], "world of_road: unknown; did you mean off_road?"),
        (["world:=urban", "ground.slope_x:=0.1"], "world: urban has its own ground"),
        (["ground.slope_x:=2.0"], "cannot start"),
    ],
)
def test_bad_parameters_are_rejected_in_one_line(graph: Any, arguments: list[str], words: str) -> None:
    flags = [part for argument in arguments for part in ("-p", argument)]
    process = graph.start("vehicle", "--ros-args", *flags)

    assert process.wait() == 2
    assert words in process.output
    assert "Traceback" not in process.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_clean_on_a_signal(graph: Any, number: int) -> None:
    car = Car(graph, "-p", "use_sim_time:=true")
    began = time.monotonic()

    car.process.popen.send_signal(number)

    assert car.process.wait() == 0
    assert time.monotonic() - began < 3.0
    assert "Traceback" not in car.process.output
    assert "use_sim_time is ignored" in car.process.output


def test_drive_launch_carries_the_stick_to_the_wheels(graph: Any) -> None:
    launch = graph.start_command([sys.executable, "-m", "proving_ground", "launch", "drive", "--show"])
    odometry = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: odometry, "the vehicle", START_WAIT_S)
    held = Joy(axes=[0.0, 1.0, 1.0, 0.0, 0.0, 1.0], buttons=[0, 0, 0, 0, 1, 0])
    Sender(graph, "/joy", held)

    graph.wait_until(lambda: odometry[-1].twist.twist.linear.x > 2.0, "driving")
    graph.wait_until(lambda: "drives +" in launch.output, "the monitor's words")
    launch.popen.send_signal(signal.SIGINT)

    assert launch.wait() == 0
    assert "not in simulation time" not in launch.output


def test_benchmark_of_the_node_finds_no_lost_step(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "FASTDDS_BUILTIN_TRANSPORTS"):
        monkeypatch.setenv(name, "")  # set by the benchmark, and restored after it

    figures = bench(lambda text: None, seconds=2.0)

    assert figures["node_lost_steps"] == 0
    assert 0.9 < figures["node_real_time_factor"] < 1.1
    assert figures["node_cpu_percent"] > 0.0


def roll_from_reset(graph: Any, car: Car, count: int) -> Any:
    """Positions of a paused vehicle over some steps from its start, without commands."""
    assert car.call(Trigger, "reset", Trigger.Request()).success
    car.odometry.clear()
    step = graph.node.create_client(Trigger, "/simulation/step")
    while len(car.odometry) < count:
        assert graph.call(step, Trigger.Request()).success
    return np.array([_vector(message.pose.pose.position) for message in car.odometry[:count]])


def set_factor(graph: Any, factor: float) -> Any:
    client = graph.node.create_client(SetParameters, "/vehicle/set_parameters")
    parameter = Parameter("real_time_factor", value=factor).to_parameter_msg()
    return graph.call(client, SetParameters.Request(parameters=[parameter])).results[0]


def publisher(name: str, kind: str, rate_hz: int = 20) -> list[str]:
    """A process that publishes a slow drive ahead as Twist or TwistStamped, stamped with the machine's time."""
    code = f"""
import time, rclpy
from geometry_msgs.msg import {kind}
rclpy.init()
node = rclpy.create_node("{name}")
publisher = node.create_publisher({kind}, "/cmd_vel", 10)
message = {kind}()
(message.twist if "{kind}" == "TwistStamped" else message).linear.x = 1.0
while True:
    if "{kind}" == "TwistStamped":
        message.header.stamp = node.get_clock().now().to_msg()
    publisher.publish(message)
    time.sleep(1.0 / {rate_hz})
"""
    return [sys.executable, "-c", code]


def tree(graph: Any, namespace: str = "") -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Parent of each frame, and all edges."""
    moving = graph.collect(TFMessage, f"{namespace}/tf", qos.TF)
    fixed = graph.collect(TFMessage, f"{namespace}/tf_static", qos.LATCHED)
    graph.wait_until(lambda: moving and fixed, "frames")
    edges = [
        (item.header.frame_id, item.child_frame_id)
        for message in (moving[-1], fixed[-1])
        for item in message.transforms
    ]
    return {child: parent for parent, child in edges}, edges


def path(parents: dict[str, str], frame: str) -> list[str]:
    """Frames from a frame to the root."""
    way = [frame]
    while way[-1] in parents:
        way.append(parents[way[-1]])
    return way


def _vector(message: Any) -> tuple[float, float, float]:
    return message.x, message.y, message.z


def _quaternion(message: Any) -> tuple[float, float, float, float]:
    return message.x, message.y, message.z, message.w
