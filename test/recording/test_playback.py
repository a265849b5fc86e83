"""Bags written live and played back, without ROS: timing of messages, and what a crash or a full disk leaves."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcap.reader import make_reader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer

from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.message_types import message_class
from proving_ground.recording.definitions import definition
from proving_ground.recording.live_writing import LiveBag, LiveMessage, Topic
from proving_ground.recording.playback import BagSource, Playback, PlaybackOptions, has_own_clock
from proving_ground.recording.reading import Message, open_bag
from proving_ground.recording.types import LATCHED_QOS, SENSOR_QOS, STATE_QOS, from_bytes, new, stamp, store, to_bytes
from proving_ground.recording.writer_thread import WriterThread
from proving_ground.settings import SettingsError

S = 1_000_000_000
START_NS = 1_767_225_600 * S
TEXT = definition(types.TEXT)
assert TEXT is not None


def text(word: str) -> bytes:
    return bytes(to_bytes(new(types.TEXT, word)))


def clock(time_ns: int) -> bytes:
    return b"\x00\x01\x00\x00" + struct.pack("<iI", *divmod(time_ns, S))


class Listed:
    """A source of messages at given seconds; those of /map are latched."""

    def __init__(self, *messages: tuple[str, float]) -> None:
        self._messages = [(topic, START_NS + round(at_s * S), f"{at_s:g}".encode()) for topic, at_s in messages]
        self.start_ns, self.end_ns = START_NS, self._messages[-1][1]

    def after(self, time_ns: int) -> Iterator[Message]:
        return (message for message in self._messages if message[1] >= time_ns)

    def latched_before(self, time_ns: int) -> list[Message]:
        return [message for message in self._messages if message[0] == "/map" and message[1] < time_ns][-1:]


class Received:
    """Output of a playback in order, and a clock to drive it by."""

    def __init__(self, source: Any, **options: Any) -> None:
        self.events: list[str] = []
        self.now = 100.0
        self.playback = Playback(source, self._publish, self._tick, PlaybackOptions(**options), self.now)

    def _publish(self, topic: str, data: bytes) -> None:
        self.events.append(data.decode())

    def _tick(self, time_ns: int) -> None:
        self.events.append(f"t{(time_ns - START_NS) / S:g}")

    def until(self, now: float) -> list[str]:
        """Play on, as a thread that sleeps as long as requested; returns the output meanwhile."""
        self.events.clear()
        while True:
            wait_s = self.playback.advance(self.now)
            if self.now + wait_s > now or self.playback.has_ended:
                break
            self.now += wait_s
        self.now = now
        return list(self.events)


FOUR = Listed(("/a", 0.0), ("/a", 0.5), ("/b", 1.0), ("/a", 1.5))


def test_messages_come_at_their_times_and_the_end_is_reported() -> None:
    received = Received(FOUR, clock_hz=0.0)
    assert received.until(100.4) == ["0"]
    assert received.until(100.6) == ["0.5"]
    assert not received.playback.has_ended
    assert received.until(103.0) == ["1", "1.5"]
    assert received.playback.has_ended
    assert received.playback.position_s(received.now) == 1.5


def test_each_tick_of_the_clock_precedes_the_messages_of_its_time() -> None:
    received = Received(FOUR, clock_hz=2.0)
    assert received.events == ["t0"]
    assert received.until(102.0) == ["0", "t0.5", "0.5", "t1", "1", "t1.5", "1.5"]


def test_clock_catches_up_without_the_ticks_that_were_missed() -> None:
    received = Received(Listed(("/a", 0.0), ("/a", 10.0)), clock_hz=10.0)
    received.events.clear()
    received.playback.advance(105.03)  # after five seconds without being scheduled
    assert received.events == ["0", "t5"]


def test_twice_the_rate_takes_half_the_time_and_can_change_meanwhile() -> None:
    received = Received(FOUR, clock_hz=0.0, rate=2.0)
    assert received.until(100.3) == ["0", "0.5"]
    received.playback.set_rate(0.5, received.now)  # at 0.6 s of the bag
    assert received.until(101.0) == []
    assert received.until(101.2) == ["1"]


def test_fast_replays_publish_the_time_less_often() -> None:
    received = Received(Listed(("/a", 0.0), ("/a", 100.0)), clock_hz=1000.0, rate=100.0)
    ticks = received.until(101.0)
    assert 400 <= len(ticks) <= 600  # not 100 000


def test_time_stands_while_paused_and_the_clock_is_still_published() -> None:
    received = Received(FOUR, clock_hz=10.0, is_paused=True)
    played = received.until(101.0)
    assert set(played) == {"t0"}
    assert len(played) >= 5
    received.playback.pause(False, received.now)
    assert "0" in received.until(101.2)


def test_step_plays_one_message_and_takes_the_clock_there() -> None:
    received = Received(FOUR, clock_hz=10.0, is_paused=True)
    received.events.clear()
    assert received.playback.step(received.now)
    assert received.playback.step(received.now)
    assert received.events == ["t0", "0", "t0.5", "0.5"]
    assert received.playback.position_s(received.now) == 0.5
    received.playback.pause(False, received.now)
    assert not received.playback.step(received.now)


def test_loop_restarts_with_the_clock_back_at_the_start() -> None:
    received = Received(FOUR, clock_hz=2.0, loops=True)
    played = received.until(103.2)
    assert played.count("0") == 3
    assert played[played.index("1.5") + 1 :][:2] == ["t0", "0"]


def test_start_offset_begins_with_what_is_latched_there() -> None:
    source = Listed(("/map", 0.0), ("/a", 0.1), ("/map", 0.2), ("/a", 1.0))
    received = Received(source, clock_hz=2.0, start_offset_s=0.5)
    assert received.events == ["t0.5", "0.2"]
    assert received.until(101.0) == ["t1", "1"]


def test_seek_goes_back_and_on_from_there() -> None:
    received = Received(FOUR, clock_hz=0.0)
    received.until(101.1)
    received.playback.seek(0.4, received.now)
    assert received.until(101.3) == ["0.5"]


# Live bags


def live(folder: Path, *topics: str) -> LiveBag:
    bag = LiveBag(folder)
    for topic in topics:
        profile = LATCHED_QOS if topic == "/map" else STATE_QOS
        bag.announce(Topic(topic, types.TEXT, TEXT, (profile,)))
    return bag


def message(topic: str, at_s: float, word: str) -> LiveMessage:
    return LiveMessage(topic, START_NS + round(at_s * S), START_NS + round(at_s * S) - 1000, 7, text(word))


def test_metadata_is_that_of_jazzy(tmp_path: Path) -> None:
    bag = live(tmp_path / "drive", "/map", "/a")
    bag.announce(Topic("/a", types.TEXT, TEXT, (STATE_QOS, SENSOR_QOS)))  # a second publisher has appeared
    bag.write(message("/a", 0.25, "first"))
    bag.write(message("/a", 0.75, "last"))
    bag.close()

    facts = yaml.safe_load((tmp_path / "drive" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert (facts["version"], facts["storage_identifier"], facts["ros_distro"]) == (9, "mcap", "jazzy")
    assert facts["relative_file_paths"] == ["drive_0.mcap"]
    assert facts["starting_time"] == {"nanoseconds_since_epoch": START_NS + S // 4}
    assert facts["duration"] == {"nanoseconds": S // 2}
    assert facts["message_count"] == facts["files"][0]["message_count"] == 2
    counts = {item["topic_metadata"]["name"]: item["message_count"] for item in facts["topics_with_message_count"]}
    assert counts == {"/map": 0, "/a": 2}
    offered = facts["topics_with_message_count"][1]["topic_metadata"]["offered_qos_profiles"]
    assert [profile["reliability"] for profile in offered] == ["reliable", "best_effort"]
    # The same keys as the independent library writes.
    with Writer(tmp_path / "theirs", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        writer.add_connection("/a", types.TEXT, typestore=store(), offered_qos_profiles=[STATE_QOS])
    theirs = yaml.safe_load((tmp_path / "theirs" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert set(facts) == set(theirs)
    their_topic, our_topic = theirs["topics_with_message_count"][0], facts["topics_with_message_count"][1]
    assert set(our_topic["topic_metadata"]) == set(their_topic["topic_metadata"])
    assert (
        our_topic["topic_metadata"]["type_description_hash"] == their_topic["topic_metadata"]["type_description_hash"]
    )


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_two_libraries_read_what_was_written(tmp_path: Path, compression: str) -> None:
    bag = LiveBag(tmp_path / "drive", compression)
    bag.announce(Topic("/a", types.TEXT, TEXT, (STATE_QOS,)))
    for k in range(100):
        bag.write(message("/a", 0.01 * k, f"word {k}"))
        if k % 30 == 0:
            bag.flush()
    bag.close()

    with Reader(tmp_path / "drive") as reader:
        words = [from_bytes(data, types.TEXT).data for _, _, data in reader.messages()]
    assert words == [f"word {k}" for k in range(100)]
    with bag.path.open("rb") as file:
        (_, channel, found), *_ = make_reader(file, validate_crcs=True).iter_messages()
    assert (found.publish_time, found.sequence) == (START_NS - 1000, 7)
    assert channel.metadata["topic_type_hash"] == TEXT.digest


def test_killed_writer_leaves_all_that_was_flushed_under_the_bags_own_name(tmp_path: Path) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_playback import live, message
bag = live(Path({str(tmp_path / "drive")!r}), "/map", "/a")
for k in range(50):
    bag.write(message("/a", 0.01 * k, f"word {{k}}"))
bag.flush()
bag.write(message("/a", 9.0, "in memory"))
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == -signal.SIGKILL

    bag = open_bag(tmp_path / "drive")
    assert [from_bytes(data, types.TEXT).data for _, _, data in bag.messages({"/a"})] == [
        f"word {k}" for k in range(50)
    ]
    assert bag.offered["/a"] == [STATE_QOS]
    assert any("metadata.yaml: is missing" in line for line in bag.remarks)


def test_full_disk_is_one_line_and_what_was_written_stays(tmp_path: Path) -> None:
    code = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_playback import live, message
from proving_ground.recording.writer_thread import WriterThread
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))  # like a full disk
bag = live(Path({str(tmp_path / "drive")!r}), "/a")
thread = WriterThread(bag, 10_000_000, 0.0)
for k in range(100):
    thread.put([message("/a", 0.01 * k, "x" * 10_000)])
thread.close()
print(thread.error, bag.count, sum(thread.dropped.values()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path / 'drive'}: cannot be written: File too large" in done.stdout
    whole = open_bag(tmp_path / "drive")
    assert 1 <= whole.counts["/a"] <= 19
    assert all(len(from_bytes(data, types.TEXT).data) == 10_000 for _, _, data in whole.messages({"/a"}))


def test_unexpected_failure_is_one_line_and_leaves_an_intact_bag_of_what_came_before(tmp_path: Path) -> None:
    thread = WriterThread(live(tmp_path / "drive", "/a"), 10_000, 10.0)
    stranger = message("/never_announced", 0.3, "whose topic the bag does not know")
    thread.put([message("/a", 0.1, "one"), message("/a", 0.2, "two"), stranger, message("/a", 0.4, "after it")])
    thread.close()
    thread.put([message("/a", 0.5, "much later")])

    assert thread.error == f"{tmp_path / 'drive'}: recording has failed: KeyError: '/never_announced'"
    assert thread.dropped == {"/never_announced": 1, "/a": 2}
    assert thread.waiting == 0
    bag = open_bag(tmp_path / "drive")
    assert bag.remarks == []  # with index and metadata
    assert [from_bytes(data, types.TEXT).data for _, _, data in bag.messages({"/a"})] == ["one", "two"]


@pytest.mark.parametrize("times", [(-5 * S, START_NS), (START_NS, -1), (1 << 63, START_NS)])
def test_time_that_no_bag_can_hold_is_rejected_before_anything_is_written(
    tmp_path: Path, times: tuple[int, int]
) -> None:
    bag = live(tmp_path / "drive", "/a")
    bag.write(message("/a", 0.1, "one"))
    with pytest.raises(ValueError, match="no bag holds the times"):
        bag.write(LiveMessage("/a", *times, 7, text("odd")))
    bag.write(message("/a", 0.2, "two"))
    bag.close()

    with Reader(tmp_path / "drive") as reader:
        assert [from_bytes(data, types.TEXT).data for _, _, data in reader.messages()] == ["one", "two"]


def test_full_queue_drops_messages_and_counts_them(tmp_path: Path) -> None:
    thread = WriterThread(live(tmp_path / "drive", "/a"), 1000, 10.0)
    size = len(text("x" * 100))
    thread.put([message("/a", 0.1 * k, "x" * 100) for k in range(20)])  # at once: nothing is written between
    thread.close()

    fit = 1000 // size
    assert thread.dropped == {"/a": 20 - fit}
    assert thread.most_waiting <= 1000
    assert open_bag(tmp_path / "drive").counts["/a"] == fit


def test_existing_folder_is_never_written_into(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="exists already"):
        LiveBag(tmp_path)


def test_type_that_is_not_of_jazzy_is_defined_by_its_installed_package() -> None:
    found = definition("ackermann_msgs/msg/AckermannDriveStamped")
    if message_class("ackermann_msgs/msg/AckermannDriveStamped") is None:
        pytest.skip("ackermann_msgs is not installed")
    assert found is not None
    assert "steering_angle_velocity" in found.text
    assert found.digest.startswith("RIHS01_")
    assert definition("nowhere_msgs/msg/Nothing") is None


# Foreign bags


def written(path: Path, plugin: StoragePlugin, mode: CompressionMode = CompressionMode.NONE) -> Path:
    """A bag of the independent library with a latched map and twenty messages."""
    writer = Writer(path, version=9, storage_plugin=plugin)
    if mode != CompressionMode.NONE:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        latched = writer.add_connection("/map", types.TEXT, typestore=store(), offered_qos_profiles=[LATCHED_QOS])
        connection = writer.add_connection("/a", types.TEXT, typestore=store(), offered_qos_profiles=[SENSOR_QOS])
        writer.write(latched, START_NS, text("map"))
        for k in range(20):
            writer.write(connection, START_NS + k * S // 10, text(f"word {k}"))
    return path


BAGS = [
    (StoragePlugin.MCAP, CompressionMode.NONE),
    (StoragePlugin.MCAP, CompressionMode.STORAGE),
    (StoragePlugin.SQLITE3, CompressionMode.NONE),
    (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    (StoragePlugin.SQLITE3, CompressionMode.FILE),
]


@pytest.mark.parametrize(("plugin", "mode"), BAGS)
def test_bag_of_any_storage_is_played_from_an_offset_with_its_qos(
    tmp_path: Path, plugin: StoragePlugin, mode: CompressionMode
) -> None:
    bag = open_bag(written(tmp_path / "theirs", plugin, mode))
    assert bag.offered == {"/map": [LATCHED_QOS], "/a": [SENSOR_QOS]}

    source = BagSource(bag, {"/map", "/a"}, {"/map": 1})
    words = [from_bytes(data, types.TEXT).data for _, _, data in source.after(START_NS + S)]
    assert words == [f"word {k}" for k in range(10, 20)]
    assert [from_bytes(data, types.TEXT).data for _, _, data in source.latched_before(START_NS + S)] == ["map"]
    assert source.latched_before(START_NS) == []


@pytest.mark.parametrize(("ahead_s", "is_own"), [(0.0, False), (1e6, True)])
def test_own_clock_of_a_bag_is_recognised_by_its_log_times(tmp_path: Path, ahead_s: float, is_own: bool) -> None:
    kind = "rosgraph_msgs/msg/Clock"
    with Writer(tmp_path / "drive", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/clock", kind, typestore=store())
        for k in range(3):
            data = to_bytes(new(kind, stamp(START_NS + k * S // 100)))
            assert bytes(data) == clock(START_NS + k * S // 100)
            writer.write(connection, START_NS + k * S // 100 + round(ahead_s * S), data)
    assert has_own_clock(open_bag(tmp_path / "drive")) == is_own
