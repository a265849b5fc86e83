"""Any rosbag2 bag, MCAP or sqlite3, intact or not: its topics, and its messages by time of arrival.

bag = open_bag(Path("drive"))  # or the folder of a run, with all parts of its recording
for topic, log_ns, data in bag.messages({topics.IMU_RAW.absolute}):
    ...
print(bag.remarks)  # what was wrong, one line each
"""

from __future__ import annotations

import contextlib
import heapq
import re
from collections.abc import Callable, Collection, Iterator
from itertools import count
from pathlib import Path
from typing import Protocol

from rosbags.interfaces import ConnectionExtRosbag2, Qos
from rosbags.rosbag2 import Reader
from rosbags.rosbag2.metadata import parse_qos

from proving_ground.recording.mcap_scan import McapScan
from proving_ground.recording.parts import parts as parts_of_run
from proving_ground.recording.sqlite_scan import SqliteScan
from proving_ground.settings import SettingsError

STORAGES = (".mcap", ".db3")
SHUFFLED = 2000  # messages: window in which a damaged file is sorted
LATEST_NS = 1 << 62  # later log times are invalid
OVERLAP_NS = 100_000_000  # a part that begins this long before the end of another is of another run
METADATA = "metadata.yaml"

Message = tuple[str, int, bytes]  # topic, time of arrival [ns], CDR


class Bag:
    """A bag to read: its topics with their types, and its messages."""

    def __init__(self, name: str, parts: list[Part], remarks: list[str]) -> None:
        self.name = name
        self.remarks = remarks  # grows while messages are read
        self._parts = parts
        self.topics: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.offered: dict[str, list[Qos]] = {}  # by each publisher of a topic, where the bag has it
        for part in parts:
            self.offered |= {topic: profiles for topic, profiles in part.offered().items() if profiles}
            for topic, (message_type, number) in part.topics.items():
                if self.topics.setdefault(topic, message_type) != message_type:
                    remarks.append(f"{topic}: is of two types, {self.topics[topic]} and {message_type}")
                self.counts[topic] = self.counts.get(topic, 0) + number
        starts, ends = [part.start_ns for part in parts if part.topics], [part.end_ns for part in parts if part.topics]
        self.start_ns, self.end_ns = (min(starts), max(ends)) if starts else (0, 0)

    def messages(self, topics: Collection[str], start_ns: int = 0, stop_ns: int = LATEST_NS) -> Iterator[Message]:
        """Messages of some topics by time of arrival, from start_ns to stop_ns."""
        for part in self._parts:
            yield from part.messages(topics, self.remarks.append, start_ns, stop_ns)

    def close(self) -> None:
        """Close the files."""
        for part in self._parts:
            part.close()


class Part(Protocol):
    """One or more files of a bag that are read alike."""

    topics: dict[str, tuple[str, int]]  # type and number of messages
    start_ns: int
    end_ns: int

    def offered(self) -> dict[str, list[Qos]]: ...

    def messages(
        self, topics: Collection[str], say: Callable[[str], None], start_ns: int, stop_ns: int
    ) -> Iterator[Message]: ...

    def close(self) -> None: ...


def open_bag(path: Path) -> Bag:
    """Open a bag's folder, one of its files, or a run's folder with the parts of its recording one after the other.

    Raises SettingsError with one line when there is nothing to read.
    """
    if not path.exists():
        raise SettingsError(f"{path}: No such file or directory")
    remarks: list[str] = []
    folders = [] if is_bag(path) else parts_of_run(path)
    parts = _joined(folders, remarks) if folders else _read(path, remarks)
    bag = Bag(str(path), parts, remarks)
    if not any(bag.counts.values()):
        why = "; ".join(remarks) or ("is empty" if parts else f"has no file that ends with {' or '.join(STORAGES)}")
        bag.close()
        raise SettingsError(f"{path}: no messages: {why}")
    return bag


def is_bag(path: Path) -> bool:
    """Whether a file or a folder is a bag, intact or not."""
    return bool(_files(path)) or (path / METADATA).exists()


def _joined(folders: list[Path], remarks: list[str]) -> list[Part]:
    """Parts of one recording, with remarks on the gaps between them; the last recording, if there are several."""
    joined: list[Part] = []
    before, end_ns = "", 0
    for folder in folders:
        own: list[str] = []
        found = _read(folder, own)
        start_ns = min((part.start_ns for part in found if part.topics), default=None)
        if start_ns is None:
            remarks += [f"{folder.name}: no messages: {'; '.join(own) or 'is empty'}"]
            joined += found
            continue
        if before and start_ns < end_ns - OVERLAP_NS:  # as when ROS's own launch was used twice in a folder
            for part in joined:
                part.close()
            joined, remarks[:] = [], [f"what was recorded before {folder.name} is of an earlier run, and left out"]
        elif before:
            gap_s = max(start_ns - end_ns, 0) * 1e-9
            remarks.append(f"{folder.name}: goes on {gap_s:.1f} s after the end of {before}; nothing in between")
        remarks += [f"{folder.name}: {line}" for line in own]
        joined += found
        before, end_ns = folder.name, max(part.end_ns for part in found if part.topics)
    return joined


def _read(path: Path, remarks: list[str]) -> list[Part]:
    return _whole(path, remarks) or [part for file in _files(path) for part in _rescued(file, remarks)]


def _whole(path: Path, remarks: list[str]) -> list[Part]:
    """The bag as the library reads it, or None."""
    try:
        return [_Intact(path)]
    except Exception as error:  # damaged files make the library raise arbitrary exceptions
        if path.is_dir():
            remarks.append(_metadata_trouble(path, error))
        return []


def _rescued(file: Path, remarks: list[str]) -> list[Part]:
    try:
        return [_Intact(file)]
    except Exception as error:
        scanned = _Scanned(file)
        remarks.append(f"{file.name}: {scanned.damage or _first_line(error)}; what is intact is used")
        return [scanned] if scanned.topics else []


def _scan(file: Path) -> McapScan | SqliteScan:
    return SqliteScan(file) if file.suffix == ".db3" else McapScan(file)


def _files(path: Path) -> list[Path]:
    found = [path] if path.is_file() else sorted(path.iterdir(), key=_by_number)
    return [file for file in found if file.is_file() and file.suffix in STORAGES]


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Sort key by the numbers in names: bag_9 before bag_10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.name)]


def _metadata_trouble(folder: Path, error: Exception) -> str:
    if not (folder / METADATA).exists():
        return f"{METADATA}: is missing"
    return f"cannot be read as a whole: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


class _Intact:
    """A bag or a file that the library opens."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = Reader(path)
        self._reader.open()
        self.topics = {topic: (info.msgtype or "", info.msgcount) for topic, info in self._reader.topics.items()}
        self.start_ns, self.end_ns = self._reader.start_time, self._reader.end_time
        if not self._reader.message_count:
            self.topics = {}

    def offered(self) -> dict[str, list[Qos]]:
        found: dict[str, list[Qos]] = {}
        for item in self._reader.connections:
            if isinstance(item.ext, ConnectionExtRosbag2):
                found.setdefault(item.topic, []).extend(item.ext.offered_qos_profiles)
        return found

    def messages(
        self, topics: Collection[str], say: Callable[[str], None], start_ns: int, stop_ns: int
    ) -> Iterator[Message]:
        wanted = [item for item in self._reader.connections if item.topic in topics]
        if not wanted:
            return
        last = start_ns - 1
        limits = {} if (start_ns, stop_ns) == (0, LATEST_NS) else {"start": start_ns, "stop": stop_ns}
        try:
            for connection, log_ns, data in self._reader.messages(connections=wanted, **limits):
                last = log_ns
                yield connection.topic, log_ns, data
        except Exception as error:  # a damaged chunk or page
            files = _files(self._path)
            say(f"is damaged: {_first_line(error)}; what is intact is used")
            for file in files:
                rest = _Scanned(file).messages(topics, say, start_ns, stop_ns)
                yield from (found for found in rest if found[1] > last)

    def close(self) -> None:
        self._reader.close()


class _Scanned:
    """A file that the library does not open. It is read twice: for its topics, and for its messages."""

    def __init__(self, path: Path) -> None:
        self._path = path
        scan = _scan(path)
        self.topics: dict[str, tuple[str, int]] = {}
        times: list[int] = []
        for found in scan.messages():
            self.topics[found.topic] = (found.message_type, self.topics.get(found.topic, ("", 0))[1] + 1)
            times[1:] = [found.log_ns]
        self.start_ns, self.end_ns = (times[0], times[-1]) if times else (0, 0)
        self.damage = scan.damage
        self._qos_texts = scan.qos_texts

    def offered(self) -> dict[str, list[Qos]]:
        found: dict[str, list[Qos]] = {}
        for topic, text in self._qos_texts.items():
            with contextlib.suppress(Exception):  # whatever the library raises for malformed text
                found[topic] = parse_qos(text)
        return found

    def messages(
        self, topics: Collection[str], say: Callable[[str], None], start_ns: int, stop_ns: int
    ) -> Iterator[Message]:
        """Messages, sorted within a small window; memory stays small."""
        heap: list[tuple[int, int, Message]] = []
        number = count()
        for found in _scan(self._path).messages():
            if found.topic not in topics or not start_ns <= found.log_ns < stop_ns:
                continue
            heapq.heappush(heap, (found.log_ns, next(number), (found.topic, found.log_ns, found.data)))
            if len(heap) > SHUFFLED:
                yield heapq.heappop(heap)[2]
        while heap:
            yield heapq.heappop(heap)[2]

    def close(self) -> None:
        """Nothing is open between reads."""
