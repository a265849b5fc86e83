"""Commands to the vehicle node over real DDS: followed, rejected, from several publishers, and a flood of them."""

from __future__ import annotations

import math
import signal
import sys
from typing import Any

import pytest
from ackermann_msgs.msg import AckermannDriveStamped
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState, Joy

from benchmark.vehicle_node import cpu_seconds
from proving_ground.ros_support import qos
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.units import NS_PER_S
from running_vehicle import FAST, START_WAIT_S, Car, Sender, twist


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


def test_commands_of_others_may_be_best_effort(graph: Any) -> None:
    car = Car(graph, *FAST)

    Sender(graph, "/cmd_vel", twist(4.0), qos.SENSOR)

    car.wait_for(lambda: car.speed > 3.7, "driving")


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


def test_levers_reach_the_vehicle_by_message_and_by_parameter(graph: Any) -> None:
    car = Car(graph, "-p", "vehicle.model:=hmmwv")
    wheels = graph.collect(JointState, "/ground_truth/wheels")
    names = ["steering", "throttle", "brake", "transfer_range"]

    def thrust() -> float:
        seen = dict(zip(wheels[-1].name, wheels[-1].position, strict=True)) if wheels else {}
        return sum(value for name, value in seen.items() if name.startswith("drive_torque"))

    on_pedals = Sender(graph, "/vehicle/pedals", pedals(names, [0.0, 0.0, 1.0, 0.0]))
    car.wait_for_words("driven by pedals")
    car.wait_for(lambda: thrust() > 0.0, "creep torque in H")
    graph.spin_for(1.0)
    high = thrust()
    on_pedals.message = pedals(names, [0.0, 0.0, 1.0, 2.0])
    car.wait_for(lambda: thrust() > 2.0 * high, "creep torque in L")
    on_pedals.message = pedals(names[:3], [0.0, 0.0, 1.0])
    graph.spin_for(0.5)
    assert thrust() > 2.0 * high  # what is not named stays
    assert set_lever(graph, "H/L").successful
    car.wait_for(lambda: thrust() < 1.5 * high, "creep torque in H/L")

    rejected = set_lever(graph, "LL")
    assert (rejected.successful, rejected.reason) == (
        False, "levers.transfer_range: must be 0 (H), 1 (H/L) or 2 (L), got 'LL'",
    )  # fmt: skip
    on_pedals.message = pedals(names, [0.0, 0.0, 1.0, 3.0])
    car.wait_for_words("transfer_range: must be 0 (H), 1 (H/L) or 2 (L), got 3")


def set_lever(graph: Any, name: str) -> Any:
    client = graph.node.create_client(SetParameters, "/vehicle/set_parameters")
    parameter = Parameter("levers.transfer_range", value=name).to_parameter_msg()
    return graph.call(client, SetParameters.Request(parameters=[parameter])).results[0]


def test_other_type_or_second_publisher_of_cmd_vel_is_named_and_a_change_is_followed(graph: Any) -> None:
    car = Car(graph)
    first = graph.start_command(publisher("first", "TwistStamped"))
    car.wait_for_words("cmd_vel from /first")
    second = graph.start_command(publisher("second", "Twist"))
    car.wait_for_words("not received from /second as geometry_msgs/msg/Twist")
    third = graph.start_command(publisher("third", "TwistStamped"))
    second.popen.terminate()
    car.wait_for_words("cmd_vel has 2 publishers: /first, /third")
    car.wait_for_words("stamps on cmd_vel are not in simulation time")
    assert "not received" in car.process.output

    for process in (first, third):
        process.popen.terminate()
    car.wait_for(lambda: abs(car.speed) < 0.01, "standing")
    graph.start_command(publisher("fourth", "Twist"))
    car.wait_for(lambda: car.speed > 0.5, "driving by the other type")
    assert car.process.output.count("]: cmd_vel is received as") == 2


def test_flood_of_commands_does_not_slow_the_simulation(graph: Any) -> None:
    car = Car(graph)
    graph.start_command(publisher("flood", "Twist", rate_hz=2000))
    car.wait_for(lambda: car.speed > 0.8, "driving")
    pid = car.process.popen.pid
    used, at = cpu_seconds(pid), car.time_ns

    car.wait_for(lambda: car.time_ns > at + 2 * NS_PER_S, "two seconds")

    simulated = (car.time_ns - at) / NS_PER_S
    assert cpu_seconds(pid) - used < simulated  # one that obeys each of them keeps a core busy, and is late
    assert car.process.is_running()


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
