"""The results of a run, in memory and in its folder.

metrics.json    verdict, findings, figures, timing, versions, events
history.csv     channels, a row for each instant
reference.csv   channels to compare with, if the scenario names a reference
estimates.npz   estimates, innovations and NIS, if there is an observer
scenario.yaml   the scenario as it was run, if there is one
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.recording.parts import SCENARIO
from proving_ground.scenarios.channels import CHANNELS, Channels
from proving_ground.scenarios.estimates import THIN_ESTIMATE
from proving_ground.scenarios.gaps import RECORDING, Gap
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole
from state_observer.vehicle.layout import SENSORS

Array = NDArray[np.float64]
Vector = tuple[float, float, float]

METRICS, HISTORY, REFERENCE = "metrics.json", "history.csv", "reference.csv"
ESTIMATES, REPORT = "estimates.npz", "report.html"
FORMAT = 1  # of the folder
KINDS = ("lock-step", "ros")
MOST_ROWS = 1_000_000
LARGEST_TEXT = 50_000_000  # bytes of metrics.json and scenario.yaml; larger files are not ours
ORIGIN: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Event:
    """Something that happened, at seconds since the start; length: None for an instant."""

    time_s: float
    kind: str  # fault, change, planner, observer, collision, diagnostics ...
    words: str
    length_s: float | None = None


def in_order(events: Sequence[Event]) -> tuple[Event, ...]:
    """Events sorted by time."""
    return tuple(sorted(events, key=lambda event: event.time_s))


@dataclass(frozen=True)
class Timing:
    """Times of the run alone; None: unknown."""

    wall_s: float | None = None
    cpu_s: float | None = None
    real_time_factor: float | None = None  # simulated time over the time it took


@dataclass(frozen=True, eq=False)
class Innovations:
    """Innovations of one sensor over time."""

    time_s: Array
    nis: Array  # normalised innovation squared over its degrees of freedom
    values: Array | None = None  # n x 4, each over its standard deviation, 0 where there is none; None: not recorded


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRecord:
    """One run. Times are seconds since its start."""

    name: str
    channels: Channels
    description: str = ""
    kind: str = KINDS[0]
    passed: bool | None = None  # None: not judged
    diverged_at_s: float | None = None
    findings: tuple[Mapping[str, Any], ...] = ()  # as proving_ground.scenarios.metrics.Finding.plain gives them
    figures: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    timing: Timing = field(default_factory=Timing)
    versions: Mapping[str, str] = field(default_factory=dict)
    scenario: str = ""  # the file's text
    reference: Channels | None = None
    start_ns: int = 0  # of the clock that estimates are stamped with
    estimates: NDArray[np.void] | None = None  # records of THIN_ESTIMATE
    innovations: Mapping[str, Innovations] = field(default_factory=dict)  # by name in SENSORS
    centre_in_base_m: Vector = ORIGIN  # the point whose velocity the channels give
    sideslip_at_m: Vector = ORIGIN  # the point whose sideslip the estimates give, in base_link
    world: str = ""  # name or file; empty: a plane
    goal: tuple[float, float] | None = None  # x, y [m]
    arguments: Mapping[str, str] = field(default_factory=dict)  # of a launch, where they differ from the scenario
    events: tuple[Event, ...] = ()
    remarks: tuple[str, ...] = ()  # problems of its source

    @property
    def duration_s(self) -> float:
        """Simulated duration of the run [s]."""
        time = self.channels["time_s"]
        return float(time[-1] - time[0])

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        return "not judged" if self.passed is None else "passed" if self.passed else "failed"


def save_run(folder: Path, record: RunRecord) -> list[str]:
    """Write a record into an existing folder; returns the names of the files. Raises SettingsError."""
    files: dict[str, str | bytes] = {HISTORY: _csv(record.channels), METRICS: _metrics(record)}
    if record.scenario:
        files[SCENARIO] = record.scenario
    if record.reference is not None:
        files[REFERENCE] = _csv(record.reference)
    if record.estimates is not None:
        files[ESTIMATES] = _npz(record)
    for name, content in files.items():
        write_whole(folder / name, content)
    for name in {SCENARIO, REFERENCE, ESTIMATES} - files.keys():
        (folder / name).unlink(missing_ok=True)  # of an earlier run
    return list(files)


def load_run(folder: Path) -> RunRecord:
    """Load what save_run wrote; raises SettingsError with one line for anything else."""
    said = load_metrics(folder)
    path = folder / METRICS
    channels = _read_csv(folder / HISTORY)
    try:
        timing = Timing(**{key: _number(value) for key, value in said.get("timing", {}).items()})
        events = tuple(
            Event(_finite(item["time_s"]), str(item["kind"]), str(item["words"]), _number(item.get("length_s")))
            for item in said.get("events", [])
        )
        record: dict[str, Any] = {
            "name": str(said["scenario"]),
            "description": str(said.get("description", "")),
            "kind": said.get("kind", KINDS[0]),
            "passed": said["passed"],
            "diverged_at_s": _number(said.get("diverged_at_s")),
            "findings": tuple(_finding(item) for item in said.get("criteria", [])),
            "figures": {str(key): _finite(value) for key, value in said.get("figures", {}).items()},
            "seed": None if said.get("seed") is None else int(said["seed"]),
            "timing": timing,
            "versions": {str(key): str(value) for key, value in said.get("versions", {}).items()},
            "start_ns": int(said.get("start_time_ns", 0)),
            "centre_in_base_m": _vector(said.get("centre_in_base_m", ORIGIN)),
            "sideslip_at_m": _vector(said.get("sideslip_at_m", ORIGIN)),
            "world": str(said.get("world", "")),
            "goal": None if said.get("goal") is None else _vector([*said["goal"], 0.0])[:2],
            "arguments": {str(key): str(value) for key, value in said.get("arguments", {}).items()},
            "events": events,
            "remarks": tuple(str(item) for item in said.get("remarks", [])),
        }
        if record["kind"] not in KINDS or record["passed"] not in (True, False, None):
            raise ValueError("unknown kind, or passed is not true, false or null")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise SettingsError(f"{path}: not the metrics of a run: {_words(error)}") from None
    estimates, innovations = _read_npz(folder / ESTIMATES)
    return RunRecord(
        channels=channels,
        reference=_read_csv(folder / REFERENCE) if (folder / REFERENCE).exists() else None,
        scenario=_read_text(folder / SCENARIO) if (folder / SCENARIO).exists() else "",
        estimates=estimates,
        innovations=innovations,
        **record,
    )


def load_metrics(folder: Path) -> dict[str, Any]:
    """Load metrics.json alone, unchecked; raises SettingsError where there is none."""
    path = folder / METRICS
    text = _read_text(path)
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path}: not JSON: {_words(error)}") from None
    if not isinstance(said, dict) or "scenario" not in said:
        raise SettingsError(f"{path}: not the metrics of a run: names no scenario")
    return said


def _metrics(record: RunRecord) -> str:
    said = {
        "format": FORMAT,
        "scenario": record.name,
        "description": record.description,
        "kind": record.kind,
        "passed": record.passed,
        "diverged_at_s": record.diverged_at_s,
        "duration_s": record.duration_s,
        "seed": record.seed,
        "world": record.world,
        "goal": record.goal,
        "arguments": dict(record.arguments),
        "figures": dict(record.figures),
        "criteria": [dict(item) for item in record.findings],
        "timing": asdict(record.timing),
        "versions": dict(record.versions),
        "start_time_ns": record.start_ns,
        "centre_in_base_m": record.centre_in_base_m,
        "sideslip_at_m": record.sideslip_at_m,
        "events": [asdict(item) for item in record.events],
        "remarks": record.remarks,
        "channels": {
            key: {"minimum": float(values.min()), "maximum": float(values.max()), "end": float(values[-1])}
            for key, values in record.channels.items()
        },
    }
    return json.dumps(said, indent=2, allow_nan=False) + "\n"


def _csv(channels: Channels) -> str:
    names = [name for name in CHANNELS if name in channels]
    columns = np.column_stack([channels[name] for name in names])
    form = ",".join(["%.9g"] * len(names))
    return "\n".join([",".join(names), *(form % tuple(row) for row in columns.tolist())]) + "\n"


def _read_csv(path: Path) -> dict[str, Array]:
    try:
        with path.open(encoding="utf-8") as file:
            names = file.readline(100_000).strip().split(",")
            table = np.loadtxt(file, delimiter=",", ndmin=2, max_rows=MOST_ROWS)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise SettingsError(f"{path}: not a table of numbers: {_words(error)}") from None
    if len(set(names)) != len(names) or table.shape[1] != len(names) or "time_s" not in names or not len(table):
        raise SettingsError(f"{path}: needs a row of names with time_s, and as many numbers in each row below")
    found = {name: np.ascontiguousarray(table[:, index]) for index, name in enumerate(names) if name in CHANNELS}
    if not np.isfinite(table).all() or not (np.diff(found["time_s"]) > 0.0).all():
        raise SettingsError(f"{path}: needs finite numbers, and times that rise from row to row")
    return found


def _npz(record: RunRecord) -> bytes:
    assert record.estimates is not None
    arrays: dict[str, Any] = {"estimates": record.estimates}
    for name, item in record.innovations.items():
        arrays |= {f"{name}.time_s": item.time_s, f"{name}.nis": item.nis.astype(np.float32)}
        if item.values is not None:
            arrays[f"{name}.values"] = item.values.astype(np.float32)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _read_npz(path: Path) -> tuple[NDArray[np.void] | None, dict[str, Innovations]]:
    if not path.exists():
        return None, {}
    try:
        with np.load(path, allow_pickle=False) as file:
            estimates = file["estimates"]
            if estimates.dtype != THIN_ESTIMATE or estimates.ndim != 1:
                raise ValueError("estimates have another form")
            if not all(np.isfinite(estimates[name]).all() for name in THIN_ESTIMATE.names or ()):
                raise ValueError("estimates are not all finite")
            found = {}
            for name in SENSORS:
                if f"{name}.time_s" in file:
                    values = file.get(f"{name}.values")
                    found[name] = _innovations(file[f"{name}.time_s"], file[f"{name}.nis"], values)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise SettingsError(f"{path}: not the estimates of a run: {_words(error)}") from None
    return estimates, found


def _innovations(time: Any, nis: Any, values: Any) -> Innovations:
    arrays = [np.asarray(item, dtype=np.float64) for item in (time, nis, *(() if values is None else (values,)))]
    shapes = [item.shape for item in arrays]
    count = arrays[0].size
    if shapes != [(count,), (count,), (count, 4)][: len(shapes)] or not all(np.isfinite(item).all() for item in arrays):
        raise ValueError("innovations have another form")
    return Innovations(*arrays)


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_TEXT:
            raise SettingsError(f"{path}: is too large for a run")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8 text") from None


def _finding(item: Any) -> dict[str, Any]:
    found = {str(key): value for key, value in item.items()}
    if found["passed"] not in (True, False):
        raise ValueError("a criterion that neither passed nor failed")
    return {**found, "value": _number(found["value"])}


def _vector(values: Any) -> Vector:
    x, y, z = (_finite(value) for value in values)
    return x, y, z


def _number(value: Any) -> float | None:
    return None if value is None else _finite(value)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is not finite")
    return number


def _words(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def missing_events(found: Sequence[Gap], source: str = RECORDING) -> list[Event]:
    """Gaps in the recording as events for the report."""
    kind, words = ("recording", "gap in the recording") if source == RECORDING else ("silence", f"of {source}")
    return [Event(gap.start_s, kind, words, gap.length_s) for gap in found]
