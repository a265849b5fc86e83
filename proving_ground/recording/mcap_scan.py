"""The intact records of an MCAP file whose end, index or chunks are damaged, one after the other.

The rosbags library reads files that were closed properly; a process that was killed leaves one without an index.
A record is an opcode, a length and that many bytes (https://mcap.dev/spec).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rosbags.rosbag2.storage_mcap import decompress

MAGIC = b"\x89MCAP0\r\n"
SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 3, 4, 5, 6, 15
LARGEST_RECORD = 1 << 30  # longer ones are a sign of damage
_RECORD, _MESSAGE, _CHUNK = struct.Struct("<BQ"), struct.Struct("<HIQQ"), struct.Struct("<QQQI")


class Found(NamedTuple):
    """A message found in a file: its topic, log time and bytes."""

    topic: str
    message_type: str
    log_ns: int
    data: bytes


class McapScan:
    """Reads an MCAP file, damaged or not; `damage` says what was wrong, once `messages` has been read to its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damage = ""
        self.qos_texts: dict[str, str] = {}  # QoS offered by publishers of a topic, as YAML, where channels have it

    def messages(self) -> Iterator[Found]:
        """Messages of the intact parts; a damaged chunk is skipped. Raises OSError."""
        schemas: dict[int, str] = {}
        channels: dict[int, tuple[str, str]] = {}
        with self._path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                self.damage = "is not an MCAP file"
                return
            for code, body in self._records(file):
                if code == DATA_END:
                    return
                if code != CHUNK:
                    yield from self._take(code, body, schemas, channels)
                    continue
                try:
                    inner = io.BytesIO(_unpacked(body))
                except Exception as error:  # whatever a decompressor raises for bad bytes
                    self.damage = f"a chunk is damaged: {error}"
                    continue
                for inner_code, inner_body in self._records(inner):
                    yield from self._take(inner_code, inner_body, schemas, channels)
        self.damage = self.damage or "ends early"

    def _records(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        while head := file.read(_RECORD.size):
            if len(head) < _RECORD.size:
                self.damage = "ends early"
                return
            code, length = _RECORD.unpack(head)
            body = file.read(length) if length < LARGEST_RECORD else b""
            if len(body) < length:
                self.damage = "ends early" if length < LARGEST_RECORD else "a record is damaged"
                if code == CHUNK:  # its beginning is usable
                    yield code, body
                return
            yield code, body

    def _take(
        self, code: int, body: bytes, schemas: dict[int, str], channels: dict[int, tuple[str, str]]
    ) -> Iterator[Found]:
        """Store schemas and channels, and yield messages of known ones; records that are too short are ignored."""
        try:
            if code == SCHEMA:
                (key,) = struct.unpack_from("<H", body)
                schemas[key] = _text(body, 2)[0]
            elif code == CHANNEL:
                key, schema = struct.unpack_from("<HH", body)
                topic, end = _text(body, 4)
                channels[key] = (topic, schemas.get(schema, ""))
                _, end = _text(body, end)
                self.qos_texts[topic] = _pairs(body, end).get("offered_qos_profiles", "")
            elif code == MESSAGE:
                key, _, log_ns, _ = _MESSAGE.unpack_from(body)
                if key in channels:
                    yield Found(*channels[key], log_ns, body[_MESSAGE.size :])
        except (struct.error, UnicodeDecodeError):
            return


def _pairs(body: bytes, at: int) -> dict[str, str]:
    """The map of strings at an offset in a record."""
    (length,) = struct.unpack_from("<I", body, at)
    at, end = at + 4, at + 4 + length
    found = {}
    while at < end:
        key, at = _text(body, at)
        found[key], at = _text(body, at)
    return found


def _unpacked(body: bytes) -> bytes:
    _, _, size, crc = _CHUNK.unpack_from(body)
    if size > LARGEST_RECORD:
        raise ValueError(f"promises {size} bytes")
    compression, at = _text(body, _CHUNK.size)
    (length,) = struct.unpack_from("<Q", body, at)
    if not compression and at + 8 + length > len(body):  # cut off; its records are usable up to there
        return body[at + 8 :]
    data: bytes = decompress(body[at + 8 : at + 8 + length], compression, size, crc)
    return data


def _text(body: bytes, at: int) -> tuple[str, int]:
    """A string and where it ends."""
    (length,) = struct.unpack_from("<I", body, at)
    end = at + 4 + length
    return body[at + 4 : end].decode(), end
