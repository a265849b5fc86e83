"""Checkpoints of whole runs: bytes from which a run goes on to the bit, in this process or another.

Three lines of text come first: the format, the hash of all that follows, and what the checkpoint is of. Then the state
of all parts, as proving_ground.saving.codec writes it, compressed.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from proving_ground.saving.codec import decoded, encoded
from proving_ground.scenarios.parts import Compiled
from proving_ground.settings import SettingsError, as_parameters
from terrain.world import World
from vehicle_dynamics.parameters import VehicleParameters

FORMAT = b"proving_ground checkpoint, format 1"
QUICK = 1  # level of zlib: most of a state is zeros or noise
SUFFIX = ".checkpoint"


def _installed_version() -> str:
    try:
        return importlib.metadata.version("proving_ground")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


class Origin(NamedTuple):
    """Origin of a checkpoint: the run that it was saved from."""

    time_s: float  # since the start
    seed: int
    fingerprint: dict[str, str]  # see `fingerprint`
    version: str = _installed_version()


def fingerprint(parts: Mapping[str, Compiled], parameters: VehicleParameters, world: World | None) -> dict[str, str]:
    """Hashes of all that a run follows from, by name. Criteria and duration may differ between runs of one state."""
    hashes = {f"the settings of {name}": _hash(as_parameters(part.settings)) for name, part in parts.items()}
    hashes["the vehicle's parameters"] = _hash({"": parameters})  # not as text, which could be taken for a path
    hashes["the world"] = _world_hash(world)
    return hashes


def to_bytes(origin: Origin, state: Any) -> bytes:
    """A checkpoint; raises SettingsError if a part has no state that can be saved."""
    body = json.dumps(origin._asdict()).encode() + b"\n" + zlib.compress(encoded(state), QUICK)
    return b"\n".join([FORMAT, hashlib.sha256(body).hexdigest().encode(), body])


def from_bytes(data: bytes, origin: Origin, *, changed: bool = False) -> tuple[Origin, Any]:
    """Origin and state of a checkpoint; raises SettingsError unless it fits the run of an origin.

    changed: settings and seed of that run may differ.
    """
    found, body = _split(data)
    _require_fit(found, origin, changed)
    try:
        return found, decoded(zlib.decompress(body))
    except zlib.error as error:
        raise SettingsError(f"checkpoint: is damaged: {error}") from None


def require_fit(data: bytes, origin: Origin) -> None:
    """Raise SettingsError unless a checkpoint is of an origin, at its time or before."""
    _require_fit(_split(data)[0], origin, changed=False)


def _require_fit(found: Origin, origin: Origin, changed: bool) -> None:
    """changed: settings may differ, and take effect from here on; the parts must be the same."""
    if found.version != origin.version:
        raise SettingsError(f"checkpoint: is of version {found.version}, this is {origin.version}")
    differing = sorted(set(found.fingerprint) ^ set(origin.fingerprint))
    if differing:
        raise SettingsError(f"checkpoint: does not fit: only one of the runs has {differing[0]}")
    for name, value in origin.fingerprint.items():
        if not changed and found.fingerprint[name] != value:
            raise SettingsError(f"checkpoint: does not fit: {name} must be as in its run, and differ")
    if found.time_s > origin.time_s:
        raise SettingsError(f"checkpoint: is of {found.time_s:g} s, but the run ends at {origin.time_s:g} s")


def read_checkpoint(path: Path) -> bytes:
    """The checkpoint in a file; raises SettingsError that names the file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    try:
        _split(data)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None
    return data


def checkpoint_name(time_s: float) -> str:
    """Name of a file for the checkpoint of a time.

    >>> checkpoint_name(30.0), checkpoint_name(2.25)
    ('at_30s.checkpoint', 'at_2.25s.checkpoint')
    """
    return f"at_{time_s:.10g}s{SUFFIX}"


def _split(data: bytes) -> tuple[Origin, bytes]:
    """Origin and compressed state of a checkpoint."""
    words, _, rest = data.partition(b"\n")
    if words != FORMAT:
        kind = "has another format" if words.startswith(FORMAT[:25]) else "is not a checkpoint"
        raise SettingsError(f"checkpoint: {kind}; must begin with {FORMAT.decode()!r}")
    digest, _, body = rest.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise SettingsError("checkpoint: is damaged: its content does not have the hash that it promises")
    line, _, body = body.partition(b"\n")
    try:
        return Origin(**json.loads(line)), body
    except (ValueError, TypeError) as error:
        raise SettingsError(f"checkpoint: is damaged: {error}") from None


def _world_hash(world: World | None) -> str:
    if world is None:
        return _hash({})
    ground, (boxes, cylinders) = world.ground, world.obstacles.to_arrays()
    digest = hashlib.sha256(repr((ground.origin_x, ground.origin_y, ground.resolution, ground.soil_names)).encode())
    for array in (ground.heights, ground.soils, boxes, cylinders):
        digest.update(b"" if array is None else array.tobytes())
    return digest.hexdigest()


def _hash(values: Mapping[str, Any]) -> str:
    """Hash of settings by name; that of a file is of its content, wherever it is."""
    digest = hashlib.sha256()
    for name, value in sorted(values.items()):
        is_file = isinstance(value, str) and _is_file(value)
        digest.update(f"{name}\0".encode() + (Path(value).read_bytes() if is_file else repr(value).encode()) + b"\0")
    return digest.hexdigest()


def _is_file(text: str) -> bool:
    try:
        return "/" in text and "\n" not in text and Path(text).is_file()
    except OSError:  # too long for a path
        return False
