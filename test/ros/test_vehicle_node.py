"""The vehicle node in a separate process, over real DDS: frames, worlds, parameters, divergence, and its end."""

from __future__ import annotations

import math
import signal
from typing import Any

import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from benchmark.vehicle_node import run as bench
from proving_ground.ros_support import qos
from running_vehicle import FAST, Car, Sender, twist, vector
from terrain.worlds import load_world

WHEELS = [f"{axle}_{side}_wheel" for axle in ("front", "rear") for side in ("left", "right")]


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

    car.process.popen.send_signal(number)

    assert car.process.wait() == 0
    assert "Traceback" not in car.process.output
    assert "use_sim_time is ignored" in car.process.output


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
    return np.array([vector(message.pose.pose.position) for message in car.odometry[:count]])


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
