"""`proving-ground observe`: an observer over a recorded bag; the estimate as a bag, figures and pictures."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from proving_ground.interfaces import joints
from proving_ground.interfaces.samples import Motion
from proving_ground.recording.estimate_bag import EstimateBag
from proving_ground.recording.figures import Errors, errors, figures, number
from proving_ground.recording.live_estimate import live_difference
from proving_ground.recording.observe_frames import placed
from proving_ground.recording.observe_plots import FIGURES
from proving_ground.recording.observe_print import print_figures
from proving_ground.recording.observe_settings import Request as Request
from proving_ground.recording.observe_settings import Settings, load_either, settings_text
from proving_ground.recording.observe_settings import split_names as split_names
from proving_ground.recording.observed_run import observed_run
from proving_ground.recording.offline import Replay, replay
from proving_ground.recording.reading import Bag, open_bag
from proving_ground.recording.stream import JointNames, Stream, missing_joints
from proving_ground.recording.topics import choose_topics
from proving_ground.recording.writing import BagWriter
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole
from proving_ground.settings.progress import progress_on_stderr
from proving_ground.settings.units import NS_PER_S
from state_observer.kinds import OBSERVER_KINDS, ObserverKind
from state_observer.vehicle.observer import BasicObserver
from state_observer.vehicle.settings import InsSettings, VehicleObserverSettings
from state_observer.vehicle.tuning import Tuned, tune

DAMAGED = 1  # exit status: the bag is not whole, what is intact was used
TUNED = "tuned.yaml"
TUNED_FOR_S = 300.0  # longer bags are tuned on their beginning
# The rest is better set by hand: it can be judged only on longer recordings or against a truth.
TUNED_OF_VEHICLE = ("along_mps2", "across_mps2")


def observe(request: Request) -> int:
    """Run an observer over a bag and write the results; returns the exit status.

    Raises SettingsError with one line when nothing can be done.
    """
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
        names = JointNames(request.wheel_names or joints.WHEELS, request.pedal_names or joints.DRIVE)
        self._check_joints("wheels", "--wheel-names", request.wheel_names, names.wheels)
        self._check_joints("actuation", "--actuation-names", request.pedal_names, names.pedals)
        self._stream = Stream(bag, self._topics, names)
        self._run = observed_run(request.bag, self._say)
        self._placed = placed(self._run.informed(self._choose()), bag, self._topics, request, self._say)
        self._settings = self._placed.settings
        self._out = request.out or Path("runs") / f"{request.bag.resolve().stem}_observed"

    def run(self) -> int:
        """Tune if asked, replay the bag, write estimates, figures and pictures; returns the exit status."""
        try:
            self._out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"--out {self._out}: {error.strerror or error}") from None
        tuned = self._tuned() if self._request.tune is not None else None
        if tuned is not None:
            self._settings = tuned.settings
            write_whole(self._out / TUNED, settings_text(self._settings))
        observer = self._make(self._settings)
        begun, cpu_begun = time.monotonic(), time.process_time()
        found = self._replay(observer)
        cpu = max(time.process_time() - cpu_begun, 1e-9)
        if not len(found.truth):
            self._say("truth: none; errors are not known")
        shift = self._placed.truth_shift(found)
        off = errors(found, observer.filter.sideslip_point, shift)
        lasted = (self._bag.end_ns - self._bag.start_ns) / NS_PER_S
        arm = np.array(self._settings.mounts.gps_xyz_m)
        metrics = {
            "bag": self._bag.name,
            "observer": _kind(self._settings).name,
            "duration_s": lasted,
            "real_time_factor": lasted / cpu,
            "observer_real_time_factor": lasted / max(found.observer_s, 1e-9),
            **figures(found, off, arm, shift),
            "off_live_estimate": live_difference(self._bag, found, shift, self._say),
            "status": [
                {"from_s": (since - found.status[0][0]) / NS_PER_S, "status": status} for since, status in found.status
            ],
            "topics": self._topics,
            "messages": dict(self._stream.counts),
            "messages_rejected": dict(self._stream.rejected),
            "datum": asdict(self._settings.datum) if self._settings.datum else None,
            "mounts": asdict(self._settings.mounts),
            "truth_shifted_by_m": shift.tolist(),
            "remarks": [*self._bag.remarks, *self._said],
        }
        if tuned is not None:
            metrics["tuning"] = {
                "before": number(tuned.before),
                "after": number(tuned.objective),
                "steps": [list(step) for step in tuned.history],
            }
        write_whole(self._out / "metrics.json", json.dumps(metrics, indent=2, allow_nan=False) + "\n")
        pictures = self._draw(found, off, shift) if self._request.with_pictures else []
        self._print(metrics, pictures, time.monotonic() - begun)
        return DAMAGED if self._bag.remarks else 0

    def _say(self, line: str) -> None:
        self._said.append(line)
        print(f"  {line}")

    def _why(self, *roles: str) -> str:
        lines = [line for line in self._said if line.split(":")[0] in roles]
        return "; ".join(lines) or f"no {' and no '.join(roles)}"

    def _check_joints(self, role: str, option: str, asked: tuple[str, ...], names: tuple[str, ...]) -> None:
        """Requested names must exist; a topic without the usual ones is not used."""
        if role not in self._topics:
            return
        words = missing_joints(self._bag, self._topics[role], names)
        if words and asked:
            raise SettingsError(f"{option} {','.join(asked)}: {words}")
        if words:
            self._say(f"{role}: {words}; it is not used, choose with {option}")
            del self._topics[role]

    def _choose(self) -> Settings:
        """The requested settings; raises SettingsError when the bag lacks data for them."""
        wanted, has = self._request.observer, set(self._topics)
        missing = [role for role in ("wheels", "actuation") if role not in has]
        if not wanted:
            wanted = "ins" if missing else "vehicle"
            if missing:
                self._say(f"observer: ins, because the vehicle's model needs {' and '.join(missing)}")
        settings = load_either(wanted)
        if isinstance(settings, VehicleObserverSettings) and not settings.vehicle:
            settings = replace(settings, vehicle=self._run.vehicle)
        if isinstance(settings, InsSettings):
            if "imu" not in has:
                raise SettingsError(f"{self._bag.name}: an INS needs an IMU: {self._why('imu')}")
            if "wheels" not in has:
                self._say("wheels: none; speed and sideslip come from GPS and IMU alone")
        elif missing:
            raise SettingsError(
                f"{self._bag.name}: the vehicle's model needs {' and '.join(missing)}: {self._why(*missing)}; "
                "--observer ins does without"
            )
        elif "imu" not in has:
            self._say("imu: none; attitude and yaw rate come from the model alone")
        if "velocity" not in has:
            self._say("velocity: none; the heading comes from successive positions, later and less accurately")
        return settings

    def _make(self, settings: Settings) -> BasicObserver:
        return _kind(settings).make(settings, self._run.ground())

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
            if not len(found.estimates):  # raised in here, so that no bag is left behind
                raise SettingsError(f"{self._bag.name}: the observer never started: {_reasons(found, self._stream)}")
        return found

    def _progress(self, name: str) -> Any:
        show, start, end = progress_on_stderr(name), self._bag.start_ns, self._bag.end_ns
        return lambda log_ns: show(min(max((log_ns - start) / max(end - start, 1), 0.0), 1.0))

    def _tuned(self) -> Tuned:
        names = self._request.tune or (() if isinstance(self._settings, InsSettings) else TUNED_OF_VEHICLE)
        samples, first = [], 0
        for _, item in self._stream:
            if isinstance(item, Motion):
                continue
            first = first or item.time_ns
            if item.time_ns - first > TUNED_FOR_S * NS_PER_S:
                self._say(f"tune: on the first {TUNED_FOR_S:g} s")
                break
            samples.append(item)
        try:
            return tune(
                samples, self._settings, self._make, parameters=names or None, say=lambda line: print(f"  {line}")
            )
        except ValueError as error:
            raise SettingsError(f"--tune: {error}") from None

    def _draw(self, found: Replay, off: Errors | None, shift: Any) -> list[str]:
        names = []
        for name, draw in FIGURES.items():
            picture = draw(f"{Path(self._bag.name).name}", found, off, shift)
            if picture is not None:
                write_whole(self._out / f"{name}.png", picture)
                names.append(f"{name}.png")
        return names

    def _print(self, metrics: dict[str, Any], pictures: list[str], seconds: float) -> None:
        print_figures(metrics, self._bag.remarks)
        speed = f"{metrics['real_time_factor']:.0f} times real time"
        alone = f"{metrics['observer_real_time_factor']:.0f} in the observer alone"
        print(f"{metrics['observer']}: {metrics['duration_s']:.1f} s in {seconds:.1f} s, {speed}, {alone}")
        files = ["estimate/", "metrics.json", *pictures, *([TUNED] if "tuning" in metrics else [])]
        print(f"written to {self._out}: {', '.join(files)}")


def _kind(settings: Any) -> ObserverKind:
    return next(kind for kind in OBSERVER_KINDS.values() if kind.settings is type(settings))


def _reasons(found: Replay, stream: Stream) -> str:
    reasons = {**stream.rejected, **found.health.rejected}
    return "; ".join(f"{reason} ({number_})" for reason, number_ in reasons.items()) or "too few fixes in motion"
