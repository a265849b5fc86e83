"""`proving-ground observe`: an observer over a recorded bag; the estimate as a bag, figures and pictures."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from scenarios.bags.estimate_bag import EstimateBag
from scenarios.bags.figures import Errors, errors, figures, fitted_shift, number
from scenarios.bags.fixed import Mount, bag_datum, bag_mounts, frame_of
from scenarios.bags.offline import Replay, replay
from scenarios.bags.reading import Bag, open_bag
from scenarios.bags.stream import JointNames, Stream, first_fix
from scenarios.bags.to_messages import WHEELS
from scenarios.bags.topics import choose_topics
from scenarios.bags.types import NS_PER_S
from scenarios.bags.writing import BagWriter
from scenarios.observe_plots import FIGURES
from scenarios.progress import progress_on_stderr
from scenarios.table import text_table
from sensors.from_messages import PEDALS, TruthPose
from sensors.gps import GpsSettings
from sensors.imu import ImuSettings
from settings import SettingsError
from settings.files import write_whole
from state_observer.vehicle.local_frame import Frame
from state_observer.vehicle.observer import BasicObserver, InsObserver, VehicleObserver
from state_observer.vehicle.settings import (
    Datum,
    InsNoise,
    InsSettings,
    ModelNoise,
    Mounts,
    VehicleObserverSettings,
    load_ins,
    load_observer,
)
from state_observer.vehicle.tuning import Tuned, tune

DAMAGED = 1  # exit status: the bag is not whole, what is intact was used
TUNED = "tuned.yaml"
TUNED_FOR_S = 300.0  # of a bag: longer ones are tuned on their beginning
# The rest is better known by hand: whether it is right shows only in longer recordings or against a truth.
TUNED_OF_VEHICLE = ("along_mps2", "across_mps2")
Place = tuple[float, float, float]
Settings = VehicleObserverSettings | InsSettings


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    bag: Path
    observer: str = ""  # vehicle, ins, a YAML file; none: what the bag is enough for
    topics: dict[str, str] = field(default_factory=dict)  # by role
    wheel_names: tuple[str, ...] = ()  # none: the suite's
    pedal_names: tuple[str, ...] = ()
    datum: Place | None = None  # latitude, longitude [deg], altitude [m]
    gps_at: Place | None = None  # in base_link [m]
    imu_at: Place | None = None
    out: Path | None = None
    tune: tuple[str, ...] | None = None  # parameters; empty: the usual ones; None: no tuning
    with_pictures: bool = True


def observe(request: Request) -> int:
    """Run it; raises SettingsError with one line when nothing can be done."""
    bag = open_bag(request.bag)
    try:
        return _Observation(request, bag).run()
    finally:
        bag.close()


class _Observation:
    def __init__(self, request: Request, bag: Bag) -> None:
        self._request, self._bag = request, bag
        self._said: list[str] = []
        self._topics = choose_topics(bag.topics, request.topics, self._say)
        if "fix" not in self._topics:
            raise SettingsError(f"{bag.name}: nothing to observe with: {self._why('fix')}")
        self._stream = Stream(
            bag, self._topics, JointNames(request.wheel_names or WHEELS, request.pedal_names or PEDALS)
        )
        self._settings = self._with_places(self._choose())
        self._out = request.out or Path("runs") / f"{request.bag.resolve().stem}_observed"

    def run(self) -> int:
        """All of it."""
        try:
            self._out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"--out {self._out}: {error.strerror or error}") from None
        tuned = self._tuned() if self._request.tune is not None else None
        if tuned is not None:
            self._settings = tuned.settings
            write_whole(self._out / TUNED, settings_text(self._settings))
        observer = _make(self._settings)
        begun, cpu_begun = time.monotonic(), time.process_time()
        found = self._replay(observer)
        cpu = max(time.process_time() - cpu_begun, 1e-9)
        if not len(found.truth):
            self._say("truth: none; errors are not known")
        shift = self._shift(found)
        middle = _middle(observer)
        off = errors(found, middle, shift)
        lasted = (self._bag.end_ns - self._bag.start_ns) / NS_PER_S
        arm = np.array(self._settings.mounts.gps_xyz_m)
        told = {
            "bag": self._bag.name,
            "observer": "ins" if isinstance(self._settings, InsSettings) else "vehicle",
            "duration_s": lasted,
            "real_time_factor": lasted / cpu,
            "observer_real_time_factor": lasted / max(found.observer_s, 1e-9),
            **figures(found, off, arm, shift),
            "status": [
                {"from_s": (since - found.status[0][0]) / NS_PER_S, "status": status} for since, status in found.status
            ],
            "topics": self._topics,
            "messages": dict(self._stream.counts),
            "messages_refused": dict(self._stream.refused),
            "datum": asdict(self._settings.datum) if self._settings.datum else None,
            "mounts": asdict(self._settings.mounts),
            "truth_shifted_by_m": shift.tolist(),
            "remarks": [*self._bag.remarks, *self._said],
        }
        if tuned is not None:
            told["tuning"] = {
                "before": number(tuned.before),
                "after": number(tuned.objective),
                "steps": [list(step) for step in tuned.history],
            }
        write_whole(self._out / "metrics.json", json.dumps(told, indent=2, allow_nan=False) + "\n")
        pictures = self._draw(found, off, shift) if self._request.with_pictures else []
        self._print(told, pictures, time.monotonic() - begun, tuned)
        return DAMAGED if self._bag.remarks else 0

    def _say(self, line: str) -> None:
        self._said.append(line)
        print(f"  {line}")

    def _why(self, *roles: str) -> str:
        lines = [line for line in self._said if line.split(":")[0] in roles]
        return "; ".join(lines) or f"no {' and no '.join(roles)}"

    def _choose(self) -> Settings:
        """The settings asked for; raises SettingsError when the bag is not enough for them."""
        wanted, has = self._request.observer, set(self._topics)
        lacks = [role for role in ("wheels", "actuation") if role not in has]
        if not wanted:
            wanted = "ins" if lacks else "vehicle"
            if lacks:
                self._say(f"observer: ins, because the vehicle's model needs {' and '.join(lacks)}")
        settings = load_either(wanted)
        if isinstance(settings, InsSettings):
            if "imu" not in has:
                raise SettingsError(f"{self._bag.name}: an INS needs an IMU: {self._why('imu')}")
            if "wheels" not in has:
                self._say("wheels: none; speed and sideslip come from GPS and IMU alone")
        elif lacks:
            raise SettingsError(
                f"{self._bag.name}: the vehicle's model needs {' and '.join(lacks)}: {self._why(*lacks)}; "
                "--observer ins does without"
            )
        elif "imu" not in has:
            self._say("imu: none; attitude and yaw rate come from the model alone")
        if "velocity" not in has:
            self._say("velocity: none; the heading comes from places that are apart, later and less well")
        return settings

    def _with_places(self, settings: Settings) -> Settings:
        """Mounts and datum: as asked for, else of the settings file, else of the bag, else the suite's."""
        request = self._request
        own_file = Path(request.observer) if request.observer.endswith((".yaml", ".yml")) else None
        given = yaml.safe_load(own_file.read_text()) or {} if own_file is not None else {}
        mounts = settings.mounts
        if "mounts" not in given:
            there = bag_mounts(self._bag)
            gps = self._mount("fix", there, Mount(GpsSettings().mount_xyz_m, (0.0, 0.0, 0.0)))
            imu = self._mount("imu", there, Mount(ImuSettings().mount_xyz_m, ImuSettings().mount_rpy_deg))
            mounts = Mounts(gps_xyz_m=gps.xyz_m, imu_xyz_m=imu.xyz_m, imu_rpy_deg=imu.rpy_deg)
        if request.gps_at is not None:
            mounts = replace(mounts, gps_xyz_m=request.gps_at)
        if request.imu_at is not None:
            mounts = replace(mounts, imu_xyz_m=request.imu_at)
        self._origin = bag_datum(self._bag)
        self._is_fitted = False
        datum = settings.datum
        if request.datum is not None:
            datum = _datum(*request.datum)
        elif datum is None and self._origin is not None:
            datum = _datum(*self._origin)
        elif datum is None:
            first = first_fix(self._bag, self._topics["fix"])
            if first is None:
                raise SettingsError(f"{self._bag.name}: {self._topics['fix']} never has a fix")
            datum = _datum(first.latitude, first.longitude, first.altitude)
            self._is_fitted = True
            self._say("datum: the first fix; the truth is moved to where the fixes say, on the whole")
        return replace(settings, mounts=mounts, datum=datum)

    def _mount(self, role: str, there: dict[str, Mount], usual: Mount) -> Mount:
        if role not in self._topics or getattr(self._request, "gps_at" if role == "fix" else "imu_at") is not None:
            return usual
        frame = frame_of(self._bag, self._topics[role])
        if frame in there:
            return there[frame]
        place = ", ".join(f"{value:g}" for value in usual.xyz_m)
        option = "--gps-at" if role == "fix" else "--imu-at"
        self._say(f"{role}: its place in base_link is not in the bag; {place} m is taken, else {option} X Y Z")
        return usual

    def _replay(self, observer: BasicObserver) -> Replay:
        progress = self._progress("observe")
        with BagWriter(self._out / "estimate", replaces=True) as writer:
            estimates = EstimateBag(writer)
            found = replay(
                self._stream,
                observer,
                knows_arrival=self._stream.is_one_clock,
                on_estimates=estimates.write,
                on_status=estimates.status,
                progress=progress,
            )
            progress(self._bag.end_ns)
            if not len(found.told):  # raised in here: no bag is left
                raise SettingsError(f"{self._bag.name}: the observer never started: {_reasons(found, self._stream)}")
        return found

    def _progress(self, name: str) -> Any:
        show, start, end = progress_on_stderr(name), self._bag.start_ns, self._bag.end_ns
        return lambda log_ns: show(min(max((log_ns - start) / max(end - start, 1), 0.0), 1.0))

    def _tuned(self) -> Tuned:
        names = self._request.tune or (() if isinstance(self._settings, InsSettings) else TUNED_OF_VEHICLE)
        samples, first = [], 0
        for _, item in self._stream:
            if isinstance(item, TruthPose):
                continue
            first = first or item.time_ns
            if item.time_ns - first > TUNED_FOR_S * NS_PER_S:
                self._say(f"tune: on the first {TUNED_FOR_S:g} s")
                break
            samples.append(item)
        try:
            return tune(samples, self._settings, _make, parameters=names or None, say=lambda line: print(f"  {line}"))
        except ValueError as error:
            raise SettingsError(f"--tune: {error}") from None

    def _shift(self, found: Replay) -> Any:
        """From the truth's origin to the observer's datum [m]."""
        if self._is_fitted:
            return fitted_shift(found, np.array(self._settings.mounts.gps_xyz_m))
        if self._origin is None or self._settings.datum is None:
            return np.zeros(3)
        return np.array(Frame(self._settings.datum).enu(*self._origin))

    def _draw(self, found: Replay, off: Errors | None, shift: Any) -> list[str]:
        names = []
        for name, draw in FIGURES.items():
            picture = draw(f"{Path(self._bag.name).name}", found, off, shift)
            if picture is not None:
                write_whole(self._out / f"{name}.png", picture)
                names.append(f"{name}.png")
        return names

    def _print(self, told: dict[str, Any], pictures: list[str], seconds: float, tuned: Tuned | None) -> None:
        for line in self._bag.remarks:
            print(f"  {line}")
        for reason, number_ in self._stream.refused.items():
            print(f"  {reason}: {number_} messages not used")
        for reason, number_ in told["refused"].items():
            print(f"  {reason}: {number_} samples refused")
        rows = [
            [name, *(_short(told[key][name]) for key in ("used", "gated", "nis"))]
            for name in told["used"]
            if told["used"][name] or told["gated"][name]
        ]
        print(text_table(["sensor", "used", "gated", "mean NIS"], rows))
        if told["rmse"] is not None:
            print(text_table(["RMSE", ""], [[name, _short(value)] for name, value in told["rmse"].items()]))
            print(f"GPS itself: {_short(told['gps_rmse_xy_m'])} m in the plane")
        if tuned is not None:
            print(f"tuning: objective {tuned.before:.3f} -> {tuned.objective:.3f}; settings in {self._out / TUNED}")
        print("status: " + ", ".join(f"{item['status']} from {item['from_s']:.1f} s" for item in told["status"][:8]))
        speed = f"{told['real_time_factor']:.0f} times real time"
        alone = f"{told['observer_real_time_factor']:.0f} in the observer alone"
        print(f"{told['observer']}: {told['duration_s']:.1f} s in {seconds:.1f} s, {speed}, {alone}")
        files = ["estimate/", "metrics.json", *pictures, *([TUNED] if tuned is not None else [])]
        print(f"written to {self._out}: {', '.join(files)}")


def split_names(option: str, text: str | None, count: int) -> tuple[str, ...]:
    """Names with commas between; none: the suite's. Raises SettingsError for too many or too few."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != count or not all(names):
        raise SettingsError(f"{option} {text}: must be {count} names with commas between")
    return names


def load_either(name: str) -> Settings:
    """`vehicle`, `ins`, or a YAML file of either: keys that only one has tell which."""
    if name == "vehicle":
        return load_observer()
    if name == "ins":
        return load_ins()
    path = Path(name)
    if not name.endswith((".yaml", ".yml")):
        raise SettingsError(f"--observer {name}: must be vehicle, ins or a YAML file")
    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        return load_observer(path)  # which says what is wrong
    keys = set(values) if isinstance(values, dict) else set()
    noise = values.get("noise") if keys else None
    keys |= {f"noise.{key}" for key in noise} if isinstance(noise, dict) else set()
    of_ins = {item.name for item in fields(InsSettings)} | {f"noise.{item.name}" for item in fields(InsNoise)}
    of_vehicle = {item.name for item in fields(VehicleObserverSettings)}
    of_vehicle |= {f"noise.{item.name}" for item in fields(ModelNoise)}
    is_ins = len(keys & (of_ins - of_vehicle)) > len(keys & (of_vehicle - of_ins))
    return load_ins(path) if is_ins else load_observer(path)


def settings_text(settings: Settings) -> str:
    """YAML that `load_either` reads back."""
    values = {key: value for key, value in _plain(asdict(settings)).items() if value is not None}
    text: str = yaml.safe_dump(values, sort_keys=False)
    return f"# Written by `proving-ground observe --tune`.\n{text}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _make(settings: Any) -> BasicObserver:
    return InsObserver(settings) if isinstance(settings, InsSettings) else VehicleObserver(settings)


def _middle(observer: BasicObserver) -> Any:
    """The point of base_link whose sideslip the observer tells [m]."""
    if isinstance(observer, VehicleObserver):
        return -observer.ekf.model.base_in_chassis
    return np.array([float(observer.filter.constants["middle"][0]), 0.0, 0.0])  # type: ignore[attr-defined]


def _datum(latitude: float, longitude: float, altitude: float) -> Datum:
    try:
        return Datum(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude)
    except ValueError as error:
        raise SettingsError(f"datum: {error}") from None


def _reasons(found: Replay, stream: Stream) -> str:
    reasons = {**stream.refused, **found.health.refused}
    return "; ".join(f"{reason} ({number_})" for reason, number_ in reasons.items()) or "too few fixes in motion"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
