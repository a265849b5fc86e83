"""Bags as rosbag2 writes them (MCAP with metadata.yaml), written atomically; memory stays small."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol

from rosbags.interfaces import Connection, Qos
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.errors import WriterError

from proving_ground.recording.types import SENSOR_QOS, store, to_bytes
from proving_ground.settings import SettingsError

VERSION: Final = 9  # of rosbag2's format, as Jazzy writes it


class Sink(Protocol):
    """Gets messages with their times of arrival."""

    def write(self, topic: str, message: Any, log_ns: int, qos: Qos = SENSOR_QOS) -> None:
        """Accept a message of a topic, by its full name; copy it to keep it: the caller fills it again."""


class BagWriter:
    """A new bag, used in a `with` statement. It appears under its name when all is written.

    Until then it is in a hidden folder beside; a process that is killed leaves it there, and `observe` reads it.
    """

    def __init__(self, folder: Path, *, replaces: bool = False) -> None:
        """replaces: remove an earlier bag of this name. Raises SettingsError when something else is there."""
        self._folder, self._replaces = folder, replaces
        self._part = folder.parent / f".{folder.name}.{os.getpid()}.part"
        self._connections: dict[str, Connection] = {}
        self._writer: Writer | None = None
        self.count = 0  # messages
        if folder.is_symlink() or folder.exists():
            if not replaces:
                raise SettingsError(f"{folder}: exists already; a bag is written into a new folder")
            if not _is_bag(folder):
                raise SettingsError(f"{folder}: exists already and is not a bag; it is not replaced")

    def __enter__(self) -> BagWriter:
        try:
            self._part.mkdir(parents=True)
            writer = Writer(self._part / self._folder.name, version=VERSION, storage_plugin=StoragePlugin.MCAP)
            writer.open()
        except (OSError, WriterError) as error:
            shutil.rmtree(self._part, ignore_errors=True)
            raise SettingsError(f"{self._folder}: cannot be written: {_words(error)}") from None
        self._writer = writer
        return self

    def write(self, topic: str, message: Any, log_ns: int, qos: Qos = SENSOR_QOS) -> None:
        """Write a message that arrived at a time [ns]; qos: that of the topic, at its first message."""
        if topic not in self._connections:
            self.announce(topic, message.__msgtype__, qos)
        self.write_bytes(topic, to_bytes(message), log_ns)

    def announce(self, topic: str, message_type: str, qos: Qos = SENSOR_QOS) -> None:
        """Announce a topic before its first message."""
        assert self._writer is not None
        self._connections[topic] = self._writer.add_connection(
            topic, message_type, typestore=store(), offered_qos_profiles=[qos]
        )

    def write_bytes(self, topic: str, data: bytes | memoryview, log_ns: int) -> None:
        """Write the CDR of a message of an announced topic. Raises SettingsError when the disk is full."""
        assert self._writer is not None
        try:
            self._writer.write(self._connections[topic], log_ns, data)
        except OSError as error:
            raise SettingsError(f"{self._folder}: cannot be written: {_words(error)}") from None
        self.count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._writer is not None
        try:
            if kind is not None:
                self._writer.abort()
                return
            try:
                self._writer.close()
                if self._replaces and self._folder.exists():
                    shutil.rmtree(self._folder)
                (self._part / self._folder.name).rename(self._folder)
            except OSError as problem:
                raise SettingsError(f"{self._folder}: cannot be written: {_words(problem)}") from None
        finally:
            shutil.rmtree(self._part, ignore_errors=True)


def _is_bag(folder: Path) -> bool:
    """Whether the folder holds nothing but a bag of ours."""
    return folder.is_dir() and {item.name for item in folder.iterdir()} == {"metadata.yaml", f"{folder.name}.mcap"}


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
