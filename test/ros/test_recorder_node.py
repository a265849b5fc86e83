"""The recorder in a separate process, over real DDS."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_msgs.msg import String
from std_srvs.srv import Trigger

from proving_ground.interfaces import message_types as types
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import from_bytes
from proving_ground.ros_support import qos
from record_commands import START_NS, S, command, says_one_line


def texts(bag: Any, topic: str) -> list[str]:
    return [from_bytes(data, types.TEXT).data for _, _, data in bag.messages({topic})]


def has_subscriber(graph: Any, publisher: Any) -> Callable[[], bool]:
    """Whether another node than the test subscribes."""
    return lambda: any(
        item.node_name == "recorder" for item in graph.node.get_subscriptions_info_by_topic(publisher.topic_name)
    )


def test_recorder_records_all_messages_and_what_was_latched_before(graph: Any, tmp_path: Path) -> None:
    latched = graph.node.create_publisher(String, "/note", qos.LATCHED)
    latched.publish(String(data="said before"))
    recorder = graph.start_command(command("record", "--out", str(tmp_path / "drive"), "--exclude", "secret"))
    state = graph.node.create_publisher(String, "/state", qos.RELIABLE)
    sensor = graph.node.create_publisher(Imu, "/sensor", qos.SENSOR)
    secret = graph.node.create_publisher(String, "/secret", qos.RELIABLE)
    for publisher in (latched, state, sensor):
        graph.wait_until(has_subscriber(graph, publisher), f"a subscriber of {publisher.topic_name}")

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
    graph.wait_until(has_subscriber(graph, state), "a subscriber")
    graph.wait_until(has_subscriber(graph, ticks), "a subscriber of the clock")
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
        graph.wait_until(has_subscriber(graph, publisher), f"a subscriber of {publisher.topic_name}")
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
    graph.wait_until(has_subscriber(graph, state), "a subscriber")
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
    graph.wait_until(has_subscriber(graph, first), "a subscriber")
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
    graph.wait_until(has_subscriber(graph, state), "a subscriber")
    for k in range(200):
        state.publish(String(data=f"{k}"))
        graph.spin_for(0.01)
    os.kill(recorder.popen.pid, signal.SIGKILL)
    recorder.wait()

    bag = open_bag(tmp_path / "drive")
    words = texts(bag, "/state")
    assert words == [f"{k}" for k in range(len(words))]
    assert len(words) >= 100  # of the two seconds, all but the last

    received = graph.collect(String, "/state", QoSProfile(depth=1000))
    arguments = [f"bag:={tmp_path / 'drive'}", "rate:=5.0", "start_paused:=true"]
    replayer = graph.start("replayer", "--ros-args", *(word for item in arguments for word in ("-p", item)))
    graph.wait_until(
        lambda: "replayer" in {item.node_name for item in graph.node.get_publishers_info_by_topic("/state")},
        "the replayer",
    )
    assert graph.call(graph.node.create_client(Trigger, "/replayer/resume"), Trigger.Request()).success
    graph.wait_until(lambda: not replayer.is_running(), "the end of the replay")
    assert replayer.wait() == 1  # it was damaged, and that is reported
    assert [message.data for message in received] == words
    assert "metadata.yaml: is missing" in replayer.output


def test_full_disk_ends_the_recording_with_one_line_and_a_readable_bag(graph: Any, tmp_path: Path) -> None:
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))}
    recorder = graph.start_command(command("record", "/big", "--out", str(tmp_path / "drive")), **limits)
    big = graph.node.create_publisher(String, "/big", qos.RELIABLE)
    graph.wait_until(has_subscriber(graph, big), "a subscriber")
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
