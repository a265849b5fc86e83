"""Mounts of sensors and the world's origin: from the command line, the settings file, the bag, or the suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from proving_ground.interfaces.topics import FIXED_TRANSFORMS
from proving_ground.recording.figures import fitted_shift
from proving_ground.recording.fixed import Mount, bag_datum, bag_mounts, frame_of
from proving_ground.recording.observe_settings import Request, Settings, Triple
from proving_ground.recording.offline import Replay
from proving_ground.recording.reading import Bag
from proving_ground.recording.stream import first_fix
from proving_ground.scenarios.choices import ObserverChoice
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import VERSION, Scenario, World
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import build
from sensors.gps import LocalFrame
from sensors.kinds import SENSOR_KINDS
from sensors.rig import SensorChoice
from state_observer.node_settings import ObserverNodeSettings
from state_observer.vehicle.local_frame import Frame
from state_observer.vehicle.settings import Mounts
from terrain.georeference import Datum
from terrain.ground import FlatGround

Say = Callable[[str], None]


class Placed(NamedTuple):
    """Settings with mounts and datum."""

    settings: Settings
    origin: Triple | None  # of the truth: latitude, longitude [deg], altitude [m]
    is_fitted: bool  # the datum is the first fix, so its offset from the truth is unknown

    def truth_shift(self, found: Replay) -> Any:
        """Offset from the truth's origin to the observer's datum [m]."""
        if self.is_fitted:
            return fitted_shift(found, np.array(self.settings.mounts.gps_xyz_m))
        if self.origin is None or self.settings.datum is None:
            return np.zeros(3)
        return np.array(Frame(self.settings.datum).enu(*self.origin))


def placed(settings: Settings, bag: Bag, topics: Mapping[str, str], request: Request, say: Say) -> Placed:
    """Settings with mounts and datum from the request, else from the bag; topics: by role.

    Raises SettingsError for invalid positions.
    """
    own_file = Path(request.observer) if request.observer.endswith((".yaml", ".yml")) else None
    given = yaml.safe_load(own_file.read_text()) or {} if own_file is not None else {}
    mounts = settings.mounts if "mounts" in given else _bag_mounts(bag, topics, request, say)
    if request.gps_at is not None:
        mounts = _mounts("--gps-at", mounts, gps_xyz_m=request.gps_at)
    if request.imu_at is not None:
        mounts = _mounts("--imu-at", mounts, imu_xyz_m=request.imu_at)
    origin = bag_datum(bag)
    datum, is_fitted = settings.datum, False
    if request.datum is not None:
        datum = _datum("--datum", request.datum)
    elif datum is None and origin is not None:
        datum = _datum("datum of the bag", origin)
    elif datum is None:
        first = first_fix(bag, topics["fix"])
        if first is None:
            raise SettingsError(f"{bag.name}: {topics['fix']} never has a fix")
        datum = _datum("first fix", (first.latitude, first.longitude, first.altitude))
        is_fitted = True
        say("datum: the first fix; the truth is shifted to the mean of the fixes")
    return Placed(replace(settings, mounts=mounts, datum=datum), origin, is_fitted)


def _bag_mounts(bag: Bag, topics: Mapping[str, str], request: Request, say: Say) -> Mounts:
    """Mounts from /tf_static; the suite's where they are missing or absurd."""
    there = bag_mounts(bag)
    found = _usual_mounts()
    for role, option, asked in (("fix", "--gps-at", request.gps_at), ("imu", "--imu-at", request.imu_at)):
        if role not in topics or asked is not None:
            continue
        mount = there.get(frame_of(bag, topics[role]))
        why = "is not in the bag"
        if mount is not None:
            try:
                found = _mounts(FIXED_TRANSFORMS.absolute, found, **_named(role, mount))
                continue
            except SettingsError as error:
                why = f"is absurd in the bag ({error})"
        taken = found.gps_xyz_m if role == "fix" else found.imu_xyz_m
        position = ", ".join(f"{value:g}" for value in taken)
        say(f"{role}: its position in base_link {why}; using {position} m, else give {option} X Y Z")
    return found


def _usual_mounts() -> Mounts:
    """Mounts that the observer of a run knows, with the suite's vehicle and the default sensors."""
    run = Scenario(
        version=VERSION,
        description="A recorded drive",
        duration_s=1.0,
        world=World(flat=FlatGround()),
        sensors=tuple(SensorChoice(**{name: SENSOR_KINDS[name].settings()}) for name in ("gps", "imu", "encoders")),
        observer=ObserverChoice(),
    )
    settings: ObserverNodeSettings = compiled(run)["observer"].settings
    return settings.known(LocalFrame(None)).mounts()


def _named(role: str, mount: Mount) -> dict[str, Triple]:
    return {"gps_xyz_m": mount.xyz_m} if role == "fix" else {"imu_xyz_m": mount.xyz_m, "imu_rpy_deg": mount.rpy_deg}


def _mounts(whose: str, mounts: Mounts, **changes: Triple) -> Mounts:
    try:
        return replace(mounts, **{name: getattr(build(Mounts, {name: value}), name) for name, value in changes.items()})
    except SettingsError as error:
        raise SettingsError(f"{whose}: {error}") from None


def _datum(whose: str, position: Triple) -> Datum:
    try:
        return build(Datum, dict(zip(("latitude_deg", "longitude_deg", "altitude_m"), position, strict=True)))
    except SettingsError as error:
        raise SettingsError(f"{whose}: {error}") from None
