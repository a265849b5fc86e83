"""The vehicle node in a separate process, over real DDS: frames, worlds, parameters, divergence, and its end."""

from __future__ import annotations

import math
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from benchmark.vehicle_node import run as bench
from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos
from proving_ground.settings.share import share_file
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
    # Messages from before may still arrive; were there later ones, the clock would not get ahead of them.
    ahead_ns = 500_000_000

    def goes_on_without_the_vehicle() -> bool:
        return bool(clock) and read_stamp(clock[-1].clock) > read_stamp(car.odometry[-1].header.stamp) + ahead_ns

    car.wait_for(goes_on_without_the_vehicle, "time to go on without the vehicle")
    count = len(car.odometry)
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

    car.pause()
    first, second = (roll_from_reset(graph, car, 50) for _ in range(2))
    height = float(world.ground.height_at(world.start.x, world.start.y))
    assert first[0] == pytest.approx((world.start.x, world.start.y, height), abs=0.1)  # 0.03 m on its way, and sunk in
    x, y, _ = first[-1] - first[0]
    assert math.hypot(x, y) > 0.3
    assert math.atan2(y, x) == pytest.approx(world.start.heading, abs=0.05)
    np.testing.assert_array_equal(second, first)  # in ruts that stayed it would roll more easily


def test_a_scripted_fault_of_an_actuator_acts_and_is_reported_while_it_lasts(graph: Any) -> None:
    script = "fault_script:=['offset 0.0 6.0 0.4 throttle', 'offset 0.0 6.0 -1.0 brake']"
    car = Car(graph, "-p", "vehicle.fidelity:=single_track", "-p", script)

    car.wait_for_words("WARN: fault on purpose: offset 0.4 throttle, offset -1 brake")
    car.wait_for(lambda: car.speed > 0.1, "motion by a throttle that nobody commands")
    car.wait_for_words("no fault is active")


def test_conditions_change_while_the_vehicle_runs_and_impossible_ones_are_rejected(graph: Any, tmp_path: Path) -> None:
    quick = tmp_path / "quick.yaml"  # its tyres are inflated at once
    quick.write_text(share_file("config/vehicles/hmmwv.yaml").read_text().replace("rate_paps: 575.0", "rate_paps: 0.0"))
    car = Car(graph, "-p", f"vehicle.model:={quick}", "-p", "change_script:=['friction 0.5 0.4']")
    client = graph.node.create_client(SetParameters, "/vehicle/set_parameters")

    def set_to(name: str, *values: float) -> Any:
        many, one = ParameterType.PARAMETER_DOUBLE_ARRAY, ParameterType.PARAMETER_DOUBLE
        is_list = name == "tyre_pressure_pa"
        value = (
            ParameterValue(type=many, double_array_value=values)
            if is_list
            else ParameterValue(type=one, double_value=values[0])
        )
        parameter = Parameter(name=f"conditions.{name}", value=value)
        return graph.call(client, SetParameters.Request(parameters=[parameter])).results[0]

    car.wait_for_words("friction 0.4")
    height = car.odometry[-1].pose.pose.position.z
    for words, answer in (
        ("conditions.friction: must be a number from -1 to 2, got 3.0", set_to("friction", 3.0)),
        ("conditions.friction: must be -1 or not negative, got -0.5", set_to("friction", -0.5)),
        ("payload_kg: HMMWV carries 0 to 1134 kg, got 2000", set_to("payload_kg", 2000.0)),
        ("conditions.tyre_pressure_pa: must have 0, 1, 2 or 4 values, got 3", set_to("tyre_pressure_pa", *[9e4] * 3)),
    ):
        assert not answer.successful
        assert answer.reason == words

    assert set_to("payload_kg", 1000.0).successful
    assert set_to("tyre_pressure_pa", 9e4, 1e5).successful
    assert set_to("friction", 0.6).successful

    car.wait_for_words("friction 0.6, payload 1000 kg, tyre pressures 90, 90, 100, 100 kPa")
    car.wait_for(lambda: car.odometry[-1].pose.pose.position.z < height - 0.04, "a vehicle that sinks under its load")


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
        (
            ["fault_script:=['melt 1 2 0 brake']"],
            "fault_script: 'melt 1 2 0 brake': kind: must be one of stuck, slow, offset",
        ),
        (
            ["fault_script:=['stuck 1 2']"],
            "fault_script: 'stuck 1 2': actuator: must be one of steering, throttle, brake",
        ),
        (["fault_script:=['stuck']"], "write KIND START_S LENGTH_S VALUE ACTUATOR"),
        (["change_script:=['friction 1']"], "change_script: 'friction 1' is not a change; write WHAT AT_S VALUE"),
        (
            ["vehicle.model:=hmmwv_chrono", "change_script:=['tyre_pressure_pa 1 9e4']"],
            "cannot change, the file of HMMWV has no tyre.inflation",
        ),
        (["vehicle.model:=hmmwv", "vehicle.payload_kg:=2000.0"], "HMMWV carries 0 to 1134 kg, got 2000"),
        (["vehicle.fidelity:=single_track", "conditions.friction:=0.5"], "conditions: need vehicle.fidelity multibody"),
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
    assert figures["node_real_time_factor"] > 0.0  # how near to 1 depends on what else the machine does
    assert figures["node_cpu_percent"] > 0.0


def roll_from_reset(graph: Any, car: Car, count: int) -> Any:
    """Positions of a paused vehicle over some steps from its start, without commands."""
    assert car.call(Trigger, "reset", Trigger.Request()).success
    car.odometry.clear()
    step = graph.node.create_client(Trigger, "/simulation/step")
    for done in range(count):
        assert graph.call(step, Trigger.Request()).success
        car.wait_for(lambda expected=done + 1: len(car.odometry) == expected, "the state after the step")
    return np.array([vector(message.pose.pose.position) for message in car.odometry])


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
