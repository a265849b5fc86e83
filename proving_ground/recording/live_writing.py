"""A bag written during a recording: rosbag2's folder with an MCAP file and, at the end, metadata.yaml.

It has its final name from the beginning, and `flush` closes chunks: a process that is killed
leaves a file that is readable up to its last flush, without an index and without metadata.yaml, as `ros2 bag` does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml
from mcap.writer import CompressionType, Writer
from rosbags.interfaces import Qos
from rosbags.rosbag2.metadata import dump_qos_v9

from proving_ground.recording.definitions import Definition
from proving_ground.recording.writing import VERSION
from proving_ground.settings import SettingsError

CHUNK_BYTES: Final = 4 << 20  # larger: fewer index entries, which are kept in memory; smaller: less to load at once
COMPRESSIONS: Final = {"none": CompressionType.NONE, "lz4": CompressionType.LZ4, "zstd": CompressionType.ZSTD}
DISTRIBUTION: Final = "jazzy"
TIMES: Final = range(1 << 63)  # [ns] that readers support: signed, since 1970


class Topic(NamedTuple):
    """Description of a topic in a bag, before its first message."""

    name: str
    message_type: str
    definition: Definition
    offered: tuple[Qos, ...]  # by each of its publishers


class LiveMessage(NamedTuple):
    """CDR of a message with its times [ns]; sequence: its number at its publisher, 0 if unknown."""

    topic: str
    log_ns: int
    publish_ns: int
    sequence: int
    data: bytes


class LiveBag:
    """A new bag. Methods raise SettingsError with one line when the disk is full; what is written stays."""

    def __init__(self, folder: Path, compression: str = "none") -> None:
        """Raises SettingsError when the folder exists or cannot be made."""
        self.folder = folder
        self.path = folder / f"{folder.name}_0.mcap"
        self.count = self.size = 0  # messages; their bytes
        self._counts: dict[str, int] = {}
        self._topics: dict[str, Topic] = {}
        self._channels: dict[str, int] = {}  # of topics that had a message
        self._schemas: dict[str, int] = {}
        self._start_ns, self._end_ns = (1 << 63) - 1, 0
        if folder.is_symlink() or folder.exists():
            raise SettingsError(f"{folder}: exists already; a bag is written into a new folder")
        try:
            folder.mkdir(parents=True)
            self._file = self.path.open("xb")
        except OSError as error:
            raise self._trouble(error) from None
        self._writer: Any = Writer(self._file, chunk_size=CHUNK_BYTES, compression=COMPRESSIONS[compression])
        self._writer.start(profile="ros2", library="proving_ground")

    def announce(self, topic: Topic) -> None:
        """Announce a topic before its first message; the offered QoS may be updated until then."""
        if topic.name not in self._channels:
            self._topics[topic.name] = topic

    def write(self, message: LiveMessage) -> None:
        """Write a message of an announced topic; raises ValueError for times that no bag can hold."""
        if message.log_ns not in TIMES or message.publish_ns not in TIMES:  # before half a record is written
            raise ValueError(f"{message.topic}: no bag holds the times {message.log_ns}, {message.publish_ns} ns")
        channel = self._channels.get(message.topic)
        if channel is None:
            channel = self._register(self._topics[message.topic])
        try:
            self._writer.add_message(
                channel, message.log_ns, message.data, message.publish_ns, message.sequence & 0xFFFFFFFF
            )
        except OSError as error:
            raise self._cut(error) from None
        self._start_ns = min(self._start_ns, message.log_ns)
        self._end_ns = max(self._end_ns, message.log_ns)
        self._counts[message.topic] += 1
        self.count += 1
        self.size += len(message.data)

    def _register(self, topic: Topic) -> int:
        if topic.message_type not in self._schemas:
            self._schemas[topic.message_type] = self._writer.register_schema(
                topic.message_type, topic.definition.encoding, topic.definition.text.encode()
            )
        channel: int = self._writer.register_channel(
            topic.name,
            "cdr",
            self._schemas[topic.message_type],
            {"offered_qos_profiles": _qos_text(topic.offered), "topic_type_hash": topic.definition.digest},
        )
        self._channels[topic.name] = channel
        self._counts[topic.name] = 0
        return channel

    def flush(self) -> None:
        """Hand all data to the system, so that a kill of this process does not lose it."""
        try:
            self._writer.flush()
        except OSError as error:
            raise self._cut(error) from None

    def close(self) -> None:
        """Write index and metadata.yaml; the latter also when the index cannot be made."""
        try:
            self._finish()
        except SettingsError:
            raise
        except Exception:
            self._file.close()
            self._write_metadata()
            raise
        self._write_metadata()

    def _finish(self) -> None:
        try:
            for name in [name for name in self._topics if name not in self._channels]:  # topics without messages
                self._register(self._topics[name])
            self._writer.flush()
            self._writer.add_metadata("rosbag2", {"serialized_metadata": _yaml_text(self._facts())})
            self._writer.finish()
            self._file.close()
        except OSError as error:
            raise self._cut(error) from None

    def _write_metadata(self) -> None:
        part = self.folder / ".metadata.yaml.part"
        try:
            part.write_text(_yaml_text({"rosbag2_bagfile_information": self._facts()}))
            part.replace(self.folder / "metadata.yaml")
        except OSError as error:
            raise self._cut(error) from None

    def _cut(self, error: OSError) -> SettingsError:
        """Give up on a file that ends inside a chunk; its messages up to there are readable if not compressed."""
        with contextlib.suppress(OSError):
            self._file.close()
        return self._trouble(error)

    def _trouble(self, error: OSError) -> SettingsError:
        return SettingsError(f"{self.folder}: cannot be written: {error.strerror or error}")

    def _facts(self) -> dict[str, Any]:
        start_ns = self._start_ns if self.count else 0
        times = {
            "starting_time": {"nanoseconds_since_epoch": start_ns},
            "duration": {"nanoseconds": max(self._end_ns - start_ns, 0)},
            "message_count": self.count,
        }
        topics = [
            {
                "topic_metadata": {
                    "name": topic.name,
                    "type": topic.message_type,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": dump_qos_v9(list(topic.offered)),
                    "type_description_hash": topic.definition.digest,
                },
                "message_count": self._counts.get(topic.name, 0),
            }
            for topic in self._topics.values()
        ]
        return {
            "version": VERSION,
            "storage_identifier": "mcap",
            **times,
            "topics_with_message_count": topics,
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [self.path.name],
            "files": [{"path": self.path.name, **times}],
            "custom_data": None,
            "ros_distro": DISTRIBUTION,
        }


def _qos_text(offered: Sequence[Qos]) -> str:
    return _yaml_text(dump_qos_v9(list(offered))).strip() if offered else ""


class _Dumper(yaml.SafeDumper):
    """YAML dumper without anchors, as rosbag2 writes none."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _yaml_text(value: Any) -> str:
    text = StringIO()
    yaml.dump(value, text, Dumper=_Dumper, sort_keys=False)
    return text.getvalue()
