"""Run an observer over a recording, as fast as possible, and compare it with the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from state_observer.vehicle.drive import Drive
from state_observer.vehicle.estimate_log import EstimateLog
from state_observer.vehicle.health import Health
from state_observer.vehicle.layout import SENSORS
from state_observer.vehicle.observer import BasicObserver
from state_observer.vehicle.validation import Sample

Array = NDArray[np.float64]

PLANAR = [0, 1, 5, 6, 7, 11]  # in an estimate's covariance: x, y, yaw, longitudinal and lateral speed, yaw rate


@dataclass(frozen=True)
class Track:
    """Estimates of an observer, each as known at its time."""

    estimates: NDArray[np.void]  # records of ESTIMATE, one for each step of the grid since the start
    innovations: dict[str, Array]  # by sensor: samples x readings, over their standard deviation
    health: Health

    @property
    def time_ns(self) -> NDArray[np.int64]:
        """Times of the estimates [ns]."""
        return np.asarray(self.estimates["time_ns"])

    @property
    def yaw(self) -> Array:
        """Estimated yaw [rad]."""
        x, y, z, w = self.estimates["attitude"].T
        return np.asarray(np.arctan2(2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z)))


@dataclass(frozen=True)
class Errors:
    """Estimate minus truth at common instants."""

    seconds: Array  # since the drive began
    position: Array  # n x 3 [m]
    yaw: Array  # [rad]
    velocity: Array  # n x 3, base_link axes [m/s]
    yaw_rate: Array
    sideslip: Array  # [rad]; only while the vehicle moves
    covariance: Array  # n x 6 x 6 of PLANAR

    @property
    def horizontal_rmse(self) -> float:
        """RMS position error in the horizontal plane [m]."""
        return float(np.sqrt((self.position[:, :2] ** 2).sum(axis=1).mean()))

    @property
    def yaw_rmse(self) -> float:
        """RMS yaw error [rad]."""
        return _rms(self.yaw)

    @property
    def speed_rmse(self) -> float:
        """RMSE of the forward speed [m/s]."""
        return _rms(self.velocity[:, 0])

    @property
    def sideslip_rmse(self) -> float:
        """RMS sideslip error [rad]."""
        return _rms(self.sideslip)

    def nees(self, chosen: Iterable[int] = (0, 1, 2)) -> Array:
        """Normalised estimation error squared over time; chosen: indices into PLANAR."""
        index = list(chosen)
        error = np.column_stack([self.position[:, :2], self.yaw, self.velocity[:, :2], self.yaw_rate])[:, index]
        covariance = self.covariance[:, index][:, :, index]
        return np.asarray(np.einsum("ni,ni->n", error, np.linalg.solve(covariance, error[:, :, None])[:, :, 0]))

    def after(self, seconds: float, until: float = math.inf) -> Errors:
        """Errors from `seconds` to `until`, times since the start [s]."""
        chosen = (self.seconds >= seconds) & (self.seconds <= until)
        names = ("seconds", "position", "yaw", "velocity", "yaw_rate", "sideslip", "covariance")
        return Errors(**{name: getattr(self, name)[chosen] for name in names})


def observe(samples: Iterable[Sample], observer: BasicObserver, keep_innovations: bool = False) -> Track:
    """Process samples in order of arrival; each estimate uses only samples that had arrived."""
    filter_ = observer.filter
    log = EstimateLog(filter_)
    kept: dict[str, list[Array]] = {name: [] for name in SENSORS}
    try:
        tally = filter_.filter_state[0]
        for sample in samples:
            before = tally["used"].copy() if keep_innovations else None
            observer.process(sample)
            if before is not None:
                for k in np.flatnonzero(tally["used"] > before):
                    kept[SENSORS[k]].append(tally["innovation"][k].copy())
        if filter_.time_ns % filter_.step_ns == 0:
            log.record()
    finally:
        log.close()
    found = {name: np.array(values).reshape(-1, 4) for name, values in kept.items()}
    return Track(log.estimates.copy(), found, observer.health())


def errors(track: Track, truth: Drive) -> Errors:
    """Errors at the instants of the track that the truth has."""
    common, ours, theirs = np.intersect1d(track.time_ns, truth.time_ns, return_indices=True)
    estimate = track.estimates[ours]
    off = np.remainder(track.yaw[ours] - truth.yaw[theirs] + math.pi, 2.0 * math.pi) - math.pi
    moving = np.hypot(truth.velocity[theirs, 0], truth.velocity[theirs, 1]) > 1.0
    slip = np.where(moving, estimate["sideslip"] - truth.sideslip[theirs], 0.0)
    return Errors(
        (common - truth.time_ns[0]) * 1e-9,
        estimate["position"] - truth.position[theirs],
        off,
        estimate["velocity"] - truth.velocity[theirs],
        estimate["angular_velocity"][:, 2] - truth.angular_velocity[theirs, 2],
        slip,
        estimate["covariance"][:, PLANAR][:, :, PLANAR],
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else math.nan
