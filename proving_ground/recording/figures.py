"""Errors of a replay against the truth of its bag, and figures of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.recording.offline import Replay

Array = NDArray[np.float64]

NS = 1e-9
MOVES = 1.0  # [m/s]: below this, a sideslip angle is meaningless
LONGEST_GAP_S = 0.5  # between two estimates or truths; longer gaps are not compared


@dataclass(frozen=True)
class Errors:
    """Estimate less truth, at the times of the truth, since the first estimate; with standard deviations."""

    time_ns: NDArray[np.int64]
    position: Array  # n x 3 [m]
    heading: Array  # [rad]
    speed: Array  # longitudinal [m/s]
    sideslip: Array  # [rad]; NaN where the vehicle hardly moves
    position_std: Array
    heading_std: Array
    speed_std: Array
    sideslip_std: Array


def yaw_of(attitude: Array) -> Array:
    """Yaw [rad], unwrapped; attitude: quaternions x y z w (n x 4)."""
    x, y, z, w = attitude.T
    return np.asarray(np.unwrap(np.arctan2(2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z))))


def rotated(quaternions: Array, vectors: Array) -> Array:
    """Vectors (n x 3), rotated by one quaternion or by one each (x y z w)."""
    axis, real = quaternions[..., :3], quaternions[..., 3:]
    twice = 2.0 * np.cross(np.broadcast_to(axis, vectors.shape), vectors)
    return np.asarray(vectors + real * twice + np.cross(np.broadcast_to(axis, vectors.shape), twice))


def errors(replay: Replay, middle: Array, shift: Array) -> Errors | None:
    """Errors of a replay; middle: point of base_link whose sideslip is estimated [m]; shift: of the truth [m].

    The shift leads from the truth's origin to the observer's datum.

    None if truth and estimate have no common time.
    """
    estimates, truth = _in_order(replay.estimates), _in_order(replay.truth)
    if len(estimates) < 2 or not len(truth):
        return None
    truth = truth[(truth["time_ns"] >= estimates["time_ns"][0]) & (truth["time_ns"] <= estimates["time_ns"][-1])]
    after = np.clip(np.searchsorted(estimates["time_ns"], truth["time_ns"]), 1, len(estimates) - 1)
    truth = truth[(estimates["time_ns"][after] - estimates["time_ns"][after - 1]) * NS < LONGEST_GAP_S]
    if not len(truth):
        return None
    at = truth["time_ns"]

    def ours(values: Array) -> Array:
        zero = estimates["time_ns"][0]
        return np.asarray(np.interp((at - zero) * NS, (estimates["time_ns"] - zero) * NS, values))

    position = np.column_stack([ours(estimates["position"][:, k]) for k in range(3)]) - truth["position"] - shift
    heading = ours(yaw_of(estimates["attitude"])) - yaw_of(truth["attitude"])
    at_middle = truth["velocity"] + np.cross(truth["angular_velocity"], middle)
    slip = ours(estimates["sideslip"]) - np.arctan2(at_middle[:, 1], np.abs(at_middle[:, 0]))
    moves = np.hypot(at_middle[:, 0], at_middle[:, 1]) > MOVES
    return Errors(
        at,
        position,
        np.remainder(heading + math.pi, math.tau) - math.pi,
        ours(estimates["velocity"][:, 0]) - truth["velocity"][:, 0],
        np.where(moves, slip, math.nan),
        np.column_stack([_root(ours(estimates["position_variance"][:, k])) for k in range(3)]),
        _root(ours(estimates["planar"][:, 0, 0])),
        _root(ours(estimates["planar"][:, 1, 1])),
        _root(ours(estimates["sideslip_variance"])),
    )


def antenna_truth(replay: Replay, arm: Array) -> Array:
    """True antenna position at each fix [m], n x 3; NaN where no truth is near. arm: in base_link [m]."""
    truth = _in_order(replay.truth)
    at = replay.fixes["time_ns"]
    if len(truth) < 2 or not len(at):
        return np.full((len(at), 3), math.nan)
    positions = truth["position"] + rotated(truth["attitude"], np.broadcast_to(arm, truth["position"].shape))
    zero = truth["time_ns"][0]
    seconds = (at - zero) * NS
    found = np.column_stack([np.interp(seconds, (truth["time_ns"] - zero) * NS, positions[:, k]) for k in range(3)])
    found[(at < truth["time_ns"][0]) | (at > truth["time_ns"][-1])] = math.nan
    return found


def fitted_shift(replay: Replay, arm: Array) -> Array:
    """Mean offset of the fixes from the truth [m]; with an unknown datum, this is its position."""
    off = replay.fixes["position"] - antenna_truth(replay, arm)
    good = np.isfinite(off).all(axis=1)
    return np.asarray(np.median(off[good], axis=0)) if good.any() else np.zeros(3)


def figures(replay: Replay, found: Errors | None, arm: Array, shift: Array) -> dict[str, Any]:
    """Figures for metrics.json; None where there is no data."""
    health = replay.health
    said: dict[str, Any] = {
        "estimates": len(replay.estimates),
        "nis": {name: number(value) for name, value in health.mean_nis.items()},
        "used": health.used,
        "gated": health.gated,
        "rejected": health.rejected,
        "resets": health.resets,
        "restarts": health.restarts,
        "replays": health.replays,
        "rmse": None,
        "gps_rmse_xy_m": None,
    }
    if found is None:
        return said
    slips = found.sideslip[np.isfinite(found.sideslip)]
    said["rmse"] = {
        "position_xy_m": number(np.sqrt((found.position[:, :2] ** 2).sum(axis=1).mean())),
        "position_up_m": rms(found.position[:, 2]),
        "heading_deg": rms(np.degrees(found.heading)),
        "speed_mps": rms(found.speed),
        "sideslip_deg": rms(np.degrees(slips)),
    }
    off = (replay.fixes["position"] - antenna_truth(replay, arm) - shift)[:, :2]
    off = off[np.isfinite(off).all(axis=1)]
    said["gps_rmse_xy_m"] = number(np.sqrt((off**2).sum(axis=1).mean())) if len(off) else None
    inside = np.abs(found.position[:, :2]) <= 3.0 * found.position_std[:, :2]
    said["position_inside_3_sigma"] = number(inside.mean())
    return said


def number(value: Any) -> float | None:
    """A figure for JSON, which has no NaN or infinity: those become None."""
    return float(value) if math.isfinite(value) else None


def _in_order(rows: NDArray[np.void]) -> NDArray[np.void]:
    """Sorted by time, each time once; of duplicates the latest."""
    _, last = np.unique(rows["time_ns"][::-1], return_index=True)
    return rows[len(rows) - 1 - last]


def _root(values: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(values, 0.0)))


def rms(values: Array) -> float | None:
    """Root mean square for JSON; None without values."""
    return number(np.sqrt(np.mean(values**2))) if len(values) else None
