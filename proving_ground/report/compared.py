"""Estimates of a run against its truth, with the observer's standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.report.run_record import RunRecord
from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.plots import BAND

if TYPE_CHECKING:
    from proving_ground.recording.offline import Replay

Array = NDArray[np.float64]

NS = 1e-9
DEGREES = 180.0 / np.pi
MOTION = {
    "x_m", "y_m", "z_m", "roll_rad", "pitch_rad", "yaw_rad", "speed_mps", "side_speed_mps", "up_speed_mps",
    "roll_rate_radps", "pitch_rate_radps", "yaw_rate_radps",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity over time, true and estimated, in its unit."""

    name: str
    unit: str
    time_s: Array
    truth: Array
    error: Array  # estimate less truth; NaN where it is meaningless
    deviation: Array  # standard deviation, from the observer

    @property
    def estimate(self) -> Array:
        """Estimated value over time."""
        return self.truth + self.error

    @property
    def rms(self) -> float:
        """RMS of the error; NaN where there is none."""
        seen = self.error[np.isfinite(self.error)]
        return float(np.sqrt(np.mean(seen**2))) if len(seen) else np.nan

    @property
    def share_inside(self) -> float:
        """Share of the errors within the 95 % band."""
        seen = np.isfinite(self.error)
        return float(np.mean(np.abs(self.error[seen]) <= BAND * self.deviation[seen])) if seen.any() else np.nan


@dataclass(frozen=True, eq=False)
class _Pair:
    """Estimates and truth in the form that recording.figures.errors needs."""

    estimates: NDArray[np.void]
    truth: NDArray[np.void]


def compared(record: RunRecord) -> list[Quantity]:
    """x, y, yaw, speed of base_link and sideslip; empty where truth and estimates have no common time."""
    if record.estimates is None or not set(record.channels) >= MOTION:
        return []
    from proving_ground.recording.figures import errors  # its libraries take a while to import

    truth = _truth(record)
    middle = np.array(record.sideslip_at_m)
    found = errors(cast("Replay", _Pair(record.estimates, truth)), middle, np.zeros(3))
    if found is None:
        return []
    seconds: Array = np.asarray((found.time_ns - record.start_ns) * NS, np.float64)
    rows = truth[np.searchsorted(truth["time_ns"], found.time_ns)]
    yaw = DEGREES * np.interp(seconds, record.channels["time_s"], record.channels["yaw_rad"])
    at_middle = rows["velocity"] + np.cross(rows["angular_velocity"], middle)
    slip = np.where(np.isfinite(found.sideslip), np.arctan2(at_middle[:, 1], np.abs(at_middle[:, 0])), np.nan)
    return [
        Quantity("x", "m", seconds, rows["position"][:, 0], found.position[:, 0], found.position_std[:, 0]),
        Quantity("y", "m", seconds, rows["position"][:, 1], found.position[:, 1], found.position_std[:, 1]),
        Quantity("Yaw", "deg", seconds, yaw, DEGREES * found.heading, DEGREES * found.heading_std),
        Quantity("Speed", "m/s", seconds, rows["velocity"][:, 0], found.speed, found.speed_std),
        Quantity(
            "Sideslip", "deg", seconds, DEGREES * slip, DEGREES * found.sideslip, DEGREES * found.sideslip_std
        ),
    ]  # fmt: skip


def _truth(record: RunRecord) -> NDArray[np.void]:
    """Records of proving_ground.recording.offline.TRUTH, of base_link."""
    from proving_ground.recording.offline import TRUTH

    c: Channels = record.channels
    rows = np.zeros(len(c["time_s"]), TRUTH)
    rows["time_ns"] = record.start_ns + np.rint(c["time_s"] / NS).astype(np.int64)
    rows["position"] = np.column_stack([c["x_m"], c["y_m"], c["z_m"]])
    angles = np.column_stack([c["yaw_rad"], c["pitch_rad"], c["roll_rad"]])
    rows["attitude"] = Rotation.from_euler("ZYX", angles).as_quat()
    rows["angular_velocity"] = np.column_stack([c["roll_rate_radps"], c["pitch_rate_radps"], c["yaw_rate_radps"]])
    at_centre = np.column_stack([c["speed_mps"], c["side_speed_mps"], c["up_speed_mps"]])
    rows["velocity"] = at_centre - np.cross(rows["angular_velocity"], np.array(record.centre_in_base_m))
    return rows
