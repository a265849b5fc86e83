"""The recorder and the replayer, each a separate process, over real DDS."""

from __future__ import annotations

import itertools
import json
import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from nav_msgs.msg import Path as PathMessage
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

from proving_ground.cli.main import main
from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.fields import read_stamp
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import LATCHED_QOS, STATE_QOS, from_bytes, new, store, to_bytes
from proving_ground.ros_support import qos

S = 1_000_000_000
START_NS = 1_767_225_600 * S
START_WAIT_S = 150.0  # includes compilation with a cold cache
COMMAND = (
    "import argparse, sys; from proving_ground.cli import record, replay; p = argparse.ArgumentParser();"
    "c = p.add_subparsers(); record.add_parser(c); replay.add_parser(c);"
    "o = p.parse_args(sys.argv[1:]); sys.exit(o.run(o))"
)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", COMMAND, *arguments]


def texts(bag: Any, topic: str) -> list[str]:
    return [from_bytes(data, types.TEXT).data for _, _, data in bag.messages({topic})]


def is_heard(graph: Any, publisher: Any) -> Callable[[], bool]:
    """Whether another node than the test subscribes."""
    return lambda: any(
        item.node_name == "recorder" for item in graph.node.get_subscriptions_info_by_topic(publisher.topic_name)
    )


# Recording


def test_recorder_records_all_messages_and_what_was_latched_before(graph: Any, tmp_path: Path) -> None:
    latched = graph.node.create_publisher(String, "/note", qos.LATCHED)
    latched.publish(String(data="said before"))
    recorder = graph.start_command(command("record", "--out", str(tmp_path / "drive"), "--exclude", "secret"))
    state = graph.node.create_publisher(String, "/state", qos.RELIABLE)
    sensor = graph.node.create_publisher(Imu, "/sensor", qos.SENSOR)
    secret = graph.node.create_publisher(String, "/secret", qos.RELIABLE)
    for publisher in (latched, state, sensor):
        graph.wait_until(is_heard(graph, publisher), f"a subscriber of {publisher.topic_name}")

    for k in range(200):
        state.publish(String(data=f"word {k}"))
        sensor.publish(Imu())
        secret.publish(String(data="none of it"))
        graph.spin_for(0.005)
    graph.spin_for(0.3)
    recorder.popen.send_signal(signal.SIGINT)
    assert recorder.wait() == 0

    assert "Traceback" not in recorder.output
    assert "dropped" not in recorder.output
    bag = open_bag(tmp_path / "drive")
    assert bag.remarks == []
    assert texts(bag, "/note") == ["said before"]
    assert texts(bag, "/state") == [f"word {k}" for k in range(200)]
    assert bag.counts["/sensor"] == 200
    assert not {"/secret", "/rosout", "/parameter_events"} & set(bag.topics)
    durability = {profile.durability.name for profile in bag.offered["/note"]}
    assert durability == {"TRANSIENT_LOCAL"}
    assert {profile.reliability.name for profile in bag.offered["/sensor"]} == {"BEST_EFFORT"}


def test_log_times_are_those_of_clock_when_requested(graph: Any, tmp_path: Path) -> None:
    recorder = graph.start("recorder", "--ros-args", "-p", f"out:={tmp_path / 'drive'}", "-p", "use_sim_time:=true")
    state, ticks = (
        graph.node.create_publisher(String, "/state", qos.RELIABLE),
        graph.node.create_publisher(Clock, "/clock", qos.CLOCK),
    )
    graph.wait_until(is_heard(graph, state), "an ear")
    graph.wait_until(is_heard(graph, ticks), "a subscriber of the clock")
    state.publish(String(data="early"))  # before the first /clock
    graph.spin_for(0.2)
    for k in range(10):
        tick = Clock()
        tick.clock.sec = START_NS // S + k
        ticks.publish(tick)
        graph.spin_for(0.05)
        state.publish(String(data=f"{k}"))
        graph.spin_for(0.05)
    recorder.popen.send_signal(signal.SIGTERM)
    assert recorder.wait() == 0

    bag = open_bag(tmp_path / "drive")
    found = {from_bytes(data, types.TEXT).data: log_ns for _, log_ns, data in bag.messages({"/state"})}
    assert found["early"] == START_NS
    assert [found[f"{k}"] for k in range(10)] == [START_NS + k * S for k in range(10)]


def test_times_before_1970_are_rejected_and_reported_and_the_recording_goes_on(graph: Any, tmp_path: Path) -> None:
    recorder = graph.start_command(command("record", "--use-sim-time", "--out", str(tmp_path / "drive")))
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    state, ticks = (
        graph.node.create_publisher(String, "/state", qos.RELIABLE),
        graph.node.create_publisher(Clock, "/clock", qos.CLOCK),
    )
    for publisher in (state, ticks):
        graph.wait_until(is_heard(graph, publisher), f"a subscriber of {publisher.topic_name}")
    for k, second in enumerate((-5, 7, -5, 8)):
        tick = Clock()
        tick.clock.sec = second
        ticks.publish(tick)
        graph.spin_for(0.1)
        state.publish(String(data=f"{k}"))
        graph.spin_for(0.1)
    words = "/clock had times before 1970; they are not used"
    graph.wait_until(lambda: words in str(diagnostics), "a report of them")
    recorder.popen.send_signal(signal.SIGINT)
    assert recorder.wait() == 0

    assert "Traceback" not in recorder.output
    assert recorder.output.count(words) == 1
    assert "2 times of /clock before 1970 were rejected" in recorder.output
    bag = open_bag(tmp_path / "drive")
    assert bag.remarks == []
    found = {from_bytes(data, types.TEXT).data: log_ns // S for _, log_ns, data in bag.messages({"/state"})}
    assert found == {"0": 7, "1": 7, "2": 7, "3": 8}


def test_unexpected_failure_is_an_error_with_status_1_and_an_intact_bag(graph: Any, tmp_path: Path) -> None:
    broken = """
from proving_ground.recording.ros import recorder_node
write = recorder_node.LiveBag.write
def write_three(bag, message):
    if bag.count == 3:
        raise RuntimeError("a bug\\nof ours")
    write(bag, message)
recorder_node.LiveBag.write = write_three
raise SystemExit(recorder_node.main())
"""
    arguments = ["--ros-args", "-p", f"out:={tmp_path / 'drive'}", "-p", "topics:=/state"]
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    recorder = graph.start_command([sys.executable, "-c", broken, *arguments])
    state = graph.node.create_publisher(String, "/state", qos.RELIABLE)
    graph.wait_until(is_heard(graph, state), "an ear")
    graph.wait_until(
        lambda: diagnostics, "its health: its last report would not reach a subscriber that has not found it yet"
    )
    for k in range(6):
        state.publish(String(data=f"{k}"))
    graph.wait_until(lambda: not recorder.is_running(), "its end")

    assert recorder.wait() == 1
    words = "recording has failed: RuntimeError: a bug of ours"
    assert recorder.output.count(words) == 1
    assert "Traceback" not in recorder.output
    assert any(
        item.level == DiagnosticStatus.ERROR and words in str(item) for array in diagnostics for item in array.status
    )
    bag = open_bag(tmp_path / "drive")
    assert bag.remarks == []
    assert texts(bag, "/state") == ["0", "1", "2"]


def test_subscribes_again_when_a_publisher_with_weaker_qos_appears(graph: Any, tmp_path: Path) -> None:
    recorder = graph.start("recorder", "--ros-args", "-p", f"out:={tmp_path / 'drive'}", "-p", "topics:=/mixed")
    first = graph.node.create_publisher(String, "/mixed", qos.RELIABLE)
    graph.wait_until(is_heard(graph, first), "an ear")
    second = graph.node.create_publisher(String, "/mixed", qos.SENSOR)

    def is_best_effort() -> bool:
        found = graph.node.get_subscriptions_info_by_topic("/mixed")
        return [item.qos_profile.reliability.name for item in found] == ["BEST_EFFORT"]

    graph.wait_until(is_best_effort, "a subscriber of both")
    graph.wait_until(lambda: first.get_subscription_count() and second.get_subscription_count(), "both to know it")
    first.publish(String(data="reliable"))
    second.publish(String(data="best effort"))
    graph.spin_for(0.3)
    recorder.popen.send_signal(signal.SIGINT)
    assert recorder.wait() == 0

    bag = open_bag(tmp_path / "drive")
    assert set(texts(bag, "/mixed")) == {"reliable", "best effort"}
    assert set(bag.topics) == {"/mixed"}
    assert len(bag.offered["/mixed"]) == 2


def test_killed_recorder_leaves_a_bag_that_is_readable_to_the_last_second(graph: Any, tmp_path: Path) -> None:
    recorder = graph.start("recorder", "--ros-args", "-p", f"out:={tmp_path / 'drive'}")
    state = graph.node.create_publisher(String, "/state", qos.RELIABLE)
    graph.wait_until(is_heard(graph, state), "an ear")
    for k in range(200):
        state.publish(String(data=f"{k}"))
        graph.spin_for(0.01)
    os.kill(recorder.popen.pid, signal.SIGKILL)
    recorder.wait()

    bag = open_bag(tmp_path / "drive")
    words = texts(bag, "/state")
    assert words == [f"{k}" for k in range(len(words))]
    assert len(words) >= 100  # of the two seconds, all but the last

    heard = graph.collect(String, "/state", QoSProfile(depth=1000))
    arguments = [f"bag:={tmp_path / 'drive'}", "rate:=5.0", "start_paused:=true"]
    replayer = graph.start("replayer", "--ros-args", *(word for item in arguments for word in ("-p", item)))
    graph.wait_until(
        lambda: "replayer" in {item.node_name for item in graph.node.get_publishers_info_by_topic("/state")},
        "the replayer",
    )
    assert graph.call(graph.node.create_client(Trigger, "/replayer/resume"), Trigger.Request()).success
    graph.wait_until(lambda: not replayer.is_running(), "the end of the replay")
    assert replayer.wait() == 1  # it was damaged, and that is reported
    assert [message.data for message in heard] == words
    assert "metadata.yaml: is missing" in replayer.output


def test_full_disk_ends_the_recording_with_one_line_and_a_readable_bag(graph: Any, tmp_path: Path) -> None:
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))}
    recorder = graph.start_command(command("record", "/big", "--out", str(tmp_path / "drive")), **limits)
    big = graph.node.create_publisher(String, "/big", qos.RELIABLE)
    graph.wait_until(is_heard(graph, big), "an ear")
    timer = graph.node.create_timer(0.05, lambda: big.publish(String(data="x" * 100_000)))
    graph.wait_until(lambda: not recorder.is_running(), "its end")
    timer.cancel()

    assert recorder.wait() == 1
    assert recorder.output.count("cannot be written: File too large") == 1
    assert "Traceback" not in recorder.output
    bag = open_bag(tmp_path / "drive")
    assert 10 <= bag.counts["/big"] < 20
    assert {len(word) for word in texts(bag, "/big")} == {100_000}


def test_recorder_that_cannot_begin_says_why_in_one_line(graph: Any) -> None:
    for words, parameter in {
        "exclude: is not a regular expression": "exclude:='['",
        "/proc/nowhere: cannot be written": "out:=/proc/nowhere",
        "topics: /1bad cannot be recorded: topic name token must not start with a number": "topics:=/ok /1bad",
    }.items():
        says_one_line(graph.start("recorder", "--ros-args", "-p", parameter), words)
    people = graph.start_command([sys.executable, "-m", "proving_ground", "record", "bad topic"])
    says_one_line(people, "record 'bad topic': a topic's name has no spaces")


def says_one_line(process: Any, words: str) -> None:
    """Check the output of processes that do not start; one after the other, because starting takes a core."""
    assert process.wait() == 2
    assert words in process.output
    assert len(process.output.strip().splitlines()) == 1


# Replaying


def written(
    path: Path, plugin: StoragePlugin = StoragePlugin.MCAP, mode: Any = CompressionMode.NONE, odd_name: str = ""
) -> Path:
    """Two seconds: a latched note, twenty words, and one more topic if a name is given."""
    writer = Writer(path, version=9, storage_plugin=plugin)
    if mode != CompressionMode.NONE:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        record = writer.add_connection("/note", types.TEXT, typestore=store(), offered_qos_profiles=[LATCHED_QOS])
        state = writer.add_connection("/state", types.TEXT, typestore=store(), offered_qos_profiles=[STATE_QOS])
        writer.write(record, START_NS, to_bytes(new(types.TEXT, "latched")))
        if odd_name:
            odd = writer.add_connection(odd_name, types.TEXT, typestore=store(), offered_qos_profiles=[STATE_QOS])
            writer.write(odd, START_NS, to_bytes(new(types.TEXT, "odd")))
        for k in range(20):
            writer.write(state, START_NS + k * S // 10, to_bytes(new(types.TEXT, f"word {k}")))
    return path


def resume_when_heard(graph: Any, subscribers: int) -> None:
    """Resume a paused replay once its publishers have found that many subscribers, however long that takes."""
    figures: dict[str, str] = {}
    graph.node.create_subscription(
        DiagnosticArray,
        "/diagnostics",
        lambda message: figures.update({item.key: item.value for item in message.status[0].values}),
        qos.RELIABLE,
    )
    graph.wait_until(lambda: figures.get("subscribers") == str(subscribers), f"{subscribers} subscribers")
    assert graph.call(graph.node.create_client(Trigger, "/replayer/resume"), Trigger.Request()).success


def seconds(ticks: list[Any]) -> list[float]:
    return [(read_stamp(tick.clock) - START_NS) / S for tick in ticks]


@pytest.mark.parametrize(
    ("plugin", "mode"),
    [
        (StoragePlugin.MCAP, CompressionMode.STORAGE),
        (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    ],
)
def test_bag_is_played_to_its_last_message_with_the_clock_of_its_log_times_and_without_invalid_names(
    graph: Any, tmp_path: Path, plugin: StoragePlugin, mode: CompressionMode
) -> None:
    heard, renamed = graph.collect(String, "/state"), graph.collect(String, "/memo", qos.LATCHED)
    ticks = graph.collect(Clock, "/clock", qos.CLOCK)
    bag = written(tmp_path / "drive", plugin, mode, odd_name="/1bad")
    replayer = graph.start_command(
        command("replay", str(bag), "--rate", "2", "--pause", "--delay", "0", "--remap", "/note:=/memo")
    )
    resume_when_heard(graph, 2)
    graph.wait_until(lambda: not replayer.is_running(), "the end of the replay")

    assert replayer.wait() == 0
    assert [message.data for message in heard] == [f"word {k}" for k in range(20)]
    assert [message.data for message in renamed] == ["latched"]
    told = seconds(ticks)
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] >= 1.8
    assert "1.9 of 1.9 s, 100 %, rate 2" in replayer.output
    assert replayer.output.count("/1bad is not played: topic name token must not start with a number") == 1


def test_replay_is_paused_stepped_sped_up_and_sought(graph: Any, tmp_path: Path) -> None:
    heard, diagnostics = graph.collect(String, "/state"), graph.collect(DiagnosticArray, "/diagnostics")
    ticks = graph.collect(Clock, "/clock", qos.CLOCK)
    bag = written(tmp_path / "drive")
    replayer = graph.start_command(
        command("replay", str(bag), "--pause", "--loop", "--rate", "0.5", "--start-offset", "0.95", "--delay", "0.5")
    )
    step = graph.node.create_client(Trigger, "/replayer/step")
    pause, resume = (
        graph.node.create_client(SetBool, "/replayer/pause"),
        graph.node.create_client(Trigger, "/replayer/resume"),
    )
    rates = graph.node.create_client(SetParameters, "/replayer/set_parameters")
    seek = graph.node.create_publisher(Float64, "/replayer/seek", qos.RELIABLE)
    late = graph.collect(String, "/note", qos.LATCHED)
    graph.wait_until(lambda: late, "what is latched, though it stands before the start")
    graph.wait_until(lambda: "paused" in str(diagnostics), "a report that it is paused")
    assert heard == []

    answer = graph.call(step, Trigger.Request())
    graph.wait_until(lambda: heard, "one message")
    assert answer.success
    assert heard[0].data == "word 10"
    graph.wait_until(lambda: seconds(ticks)[-1] == 1.0, "the clock of that message")

    value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=5.0)
    request = SetParameters.Request(parameters=[Parameter(name="rate", value=value)])
    assert graph.call(rates, request).results[0].successful
    assert graph.call(resume, Trigger.Request()).success
    graph.wait_until(lambda: [m.data for m in heard].count("word 19") >= 3, "three rounds")
    told = seconds(ticks)
    assert any(after < before for before, after in itertools.pairwise(told))  # time has gone back

    assert graph.call(pause, SetBool.Request(data=True)).success
    assert graph.call(pause, SetBool.Request(data=True)).message == "paused"
    graph.wait_until(seek.get_subscription_count, "a subscriber of seeks")
    seek.publish(Float64(data=math.nan))
    graph.wait_until(lambda: "~/seek rejected" in str(diagnostics), "a report of NaN")
    seek.publish(Float64(data=0.25))
    graph.wait_until(lambda: seconds(ticks)[-1] == 0.25, "the clock to be there")
    replayer.popen.send_signal(signal.SIGINT)
    assert replayer.wait() == 0
    assert "Traceback" not in replayer.output


def test_own_clock_of_a_bag_is_kept_where_stamps_are_of_it(graph: Any, tmp_path: Path) -> None:
    kind = "rosgraph_msgs/msg/Clock"
    with Writer(tmp_path / "drive", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/clock", kind, typestore=store())
        for k in range(10):
            moment = new("builtin_interfaces/msg/Time", 50 + k, 0)
            writer.write(connection, START_NS + k * S // 10, to_bytes(new(kind, moment)))
    ticks = graph.collect(Clock, "/clock")
    replayer = graph.start("replayer", "--ros-args", "-p", f"bag:={tmp_path / 'drive'}", "-p", "start_paused:=true")
    resume_when_heard(graph, 1)
    graph.wait_until(lambda: not replayer.is_running(), "the end of the replay")

    assert replayer.wait() == 0
    assert [tick.clock.sec for tick in ticks] == list(range(50, 60))


def test_replay_that_cannot_begin_says_why_in_one_line(graph: Any, tmp_path: Path) -> None:
    bag = str(written(tmp_path / "drive"))
    for words, options in {
        "has no /nothing; it has /note, /state": ["--topics", "/nothing"],
        "start_offset_s: ": ["--start-offset", "50"],
        "no topic is left to play": ["--exclude", "."],
        "rate: must be a number from 0.001": ["--rate", "0"],
    }.items():
        says_one_line(graph.start_command(command("replay", bag, *options)), words)


# Both, and nodes that run on recordings

SENSORS = ["/imu/data_raw", "/gps/fix", "/gps/vel", "/wheels/joint_states", "/vehicle/actuation"]


def drive(graph: Any, folder: Path, metres: float) -> dict[int, Any]:
    """Record a live drive of the vehicle with sensors; returns true positions by time [ns]."""
    arguments = ["world:=urban", "lidar:=none", "gps:=low_cost", "encoders:=quadrature"]
    launch = graph.start_command([sys.executable, "-m", "proving_ground", "launch", "sensors", *arguments])
    truth = graph.collect(Odometry, "/ground_truth/odom")
    recorder = graph.start_command(command("record", "--use-sim-time", "--out", str(folder)))
    commands = graph.node.create_publisher(Twist, "/cmd_vel", qos.RELIABLE)
    for topic in [*SENSORS, "/ground_truth/odom"]:
        graph.wait_until(
            lambda topic=topic: (
                "recorder" in {item.node_name for item in graph.node.get_subscriptions_info_by_topic(topic)}
            ),
            f"the recorder on {topic}",
            START_WAIT_S,
        )
    order = Twist()
    order.linear.x = 4.0
    timer = graph.node.create_timer(0.05, lambda: commands.publish(order))
    graph.wait_until(lambda: truth and truth[-1].pose.pose.position.x > 10.0 + metres, "the drive", 60.0)
    timer.cancel()
    recorder.popen.send_signal(signal.SIGINT)
    assert recorder.wait() == 0
    launch.popen.send_signal(signal.SIGINT)
    assert launch.wait() == 0
    assert "dropped" not in recorder.output
    bag = open_bag(folder)
    assert bag.remarks == []
    odometry = [from_bytes(data, types.ODOMETRY) for _, _, data in bag.messages({"/ground_truth/odom"})]
    return {read_stamp(message.header.stamp): message.pose.pose.position for message in odometry}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {"folder": tmp_path_factory.mktemp("recorded") / "drive"}


def test_observer_follows_a_recording_of_the_sensors_alone(graph: Any, recorded: dict[str, Any]) -> None:
    recorded["truth"] = drive(graph, recorded["folder"], 15.0)
    told = graph.collect(Odometry, "/odometry/filtered")
    observer = graph.start(
        "observer", "--ros-args", "-p", "world:=urban", "-p", "knows_start:=true", "-p", "use_sim_time:=true",
        "-p", "encoders.wheel_pulses:=400", "-p", "encoders.knows_direction:=true",
    )  # fmt: skip
    graph.wait_until(lambda: graph.node.count_publishers("/odometry/filtered"), "the observer", START_WAIT_S)
    replayer = graph.start_command(command("replay", str(recorded["folder"]), "--topics", *SENSORS))
    graph.wait_until(lambda: not replayer.is_running(), "the end of the replay", 60.0)
    assert replayer.wait() == 0
    assert observer.is_running()

    true = recorded["truth"]
    pairs = [(m.pose.pose.position, true[t]) for m in told if (t := read_stamp(m.header.stamp)) in true]
    assert len(pairs) > 100
    off = np.array([(a.x - b.x, a.y - b.y) for a, b in pairs])
    replayed = float(np.sqrt((off**2).sum(axis=1).mean()))
    assert replayed < 1.0  # the GPS alone: 1.8 m
    assert pairs[-1][0].x > 20.0  # it drove

    # The same recording offline: the same filter, which here must find its heading by itself.
    seen = Path(f"{recorded['folder']}_seen")
    assert main(["observe", str(recorded["folder"]), "--observer", "vehicle", "--out", str(seen), "--no-pictures"]) == 0
    offline = json.loads((seen / "metrics.json").read_text())["rmse"]["position_xy_m"]
    print(f"position from the replay {replayed:.2f} m, offline {offline:.2f} m (RMSE)")
    assert offline < 2.0


def test_planner_plans_from_a_recording(graph: Any, recorded: dict[str, Any]) -> None:
    if "truth" not in recorded:
        recorded["truth"] = drive(graph, recorded["folder"], 15.0)
    plans, commands = graph.collect(PathMessage, "/plan"), graph.collect(TwistStamped, "/planned")
    graph.start(
        "planner", "--ros-args", "-p", "world:=urban", "-p", "goal.source:=world", "-p", "use_sim_time:=true",
        "-r", "cmd_vel:=planned",
    )  # fmt: skip
    graph.wait_until(
        lambda: (
            "planner" in {item.node_name for item in graph.node.get_subscriptions_info_by_topic("/ground_truth/odom")}
        ),
        "the planner",
        START_WAIT_S,
    )
    replayer = graph.start_command(
        command("replay", str(recorded["folder"]), "--loop", "--exclude", "^/cmd_vel$|^/diagnostics$")
    )
    graph.wait_until(
        lambda: len(plans) >= 3 and any(order.twist.linear.x > 0.3 for order in commands), "plans and orders", 60.0
    )
    replayer.popen.send_signal(signal.SIGINT)
    assert replayer.wait() == 0

    stamps = [read_stamp(plan.header.stamp) for plan in plans]
    true = recorded["truth"]
    assert all(min(true) <= stamp <= max(true) for stamp in stamps)  # the time of the recording, not of the machine
