"""The replayer in a separate process, over real DDS."""

from __future__ import annotations

import itertools
import math
import signal
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.fields import read_stamp
from proving_ground.recording.types import LATCHED_QOS, STATE_QOS, new, store, to_bytes
from proving_ground.ros_support import qos
from record_commands import START_NS, S, command, resume_when_subscribed, says_one_line

ALL_TICKS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)  # a slow test misses none


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
    received, renamed = graph.collect(String, "/state"), graph.collect(String, "/memo", qos.LATCHED)
    ticks = graph.collect(Clock, "/clock", ALL_TICKS)
    bag = written(tmp_path / "drive", plugin, mode, odd_name="/1bad")
    replayer = graph.start_command(
        command("replay", str(bag), "--rate", "2", "--pause", "--delay", "0", "--remap", "/note:=/memo")
    )
    graph.wait_until(lambda: ticks, "the clock of the paused replay, which is not repeated for late subscribers")
    resume_when_subscribed(graph, 2)
    graph.wait_until(lambda: not replayer.is_running(), "the end of the replay")

    assert replayer.wait() == 0
    assert [message.data for message in received] == [f"word {k}" for k in range(20)]
    assert [message.data for message in renamed] == ["latched"]
    times = seconds(ticks)
    assert times == sorted(times)
    assert times[0] == 0.0
    assert times[-1] >= 1.8
    assert "1.9 of 1.9 s, 100 %, rate 2" in replayer.output
    assert replayer.output.count("/1bad is not played: topic name token must not start with a number") == 1


def test_replay_is_paused_stepped_sped_up_and_sought(graph: Any, tmp_path: Path) -> None:
    received, diagnostics = graph.collect(String, "/state"), graph.collect(DiagnosticArray, "/diagnostics")
    ticks = graph.collect(Clock, "/clock", ALL_TICKS)
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
    assert received == []

    answer = graph.call(step, Trigger.Request())
    graph.wait_until(lambda: received, "one message")
    assert answer.success
    assert received[0].data == "word 10"
    graph.wait_until(lambda: seconds(ticks)[-1] == 1.0, "the clock of that message")

    value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=5.0)
    request = SetParameters.Request(parameters=[Parameter(name="rate", value=value)])
    assert graph.call(rates, request).results[0].successful
    assert graph.call(resume, Trigger.Request()).success
    graph.wait_until(lambda: [m.data for m in received].count("word 19") >= 3, "three rounds")
    times = seconds(ticks)
    assert any(after < before for before, after in itertools.pairwise(times))  # time has gone back

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
    resume_when_subscribed(graph, 1)
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
