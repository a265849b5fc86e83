"""Estimates recorded live, compared with estimates computed from the recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.message_types import ODOMETRY as ODOMETRY_TYPE
from proving_ground.interfaces.motion_codec import read_odometry
from proving_ground.recording.estimate_bag import ODOMETRY
from proving_ground.recording.figures import Array, errors, rms
from proving_ground.recording.fixed import frame_of
from proving_ground.recording.offline import TRUTH, Replay
from proving_ground.recording.reading import Bag
from proving_ground.recording.types import from_bytes

MAP = "map"


def live_difference(
    bag: Bag, replay: Replay, shift: Array, say: Callable[[str], None]
) -> dict[str, float | None] | None:
    """RMS difference between the replayed and the recorded live estimates, at the times of the latter.

    Position [m] and heading [deg]; None if the bag has no live estimates.

    shift: of the bag's map frame, to the observer's datum [m].
    """
    if bag.topics.get(ODOMETRY) != ODOMETRY_TYPE:
        return None
    frame = frame_of(bag, ODOMETRY)
    if frame != MAP:
        say(f"{ODOMETRY}: is in frame {frame!r}, not {MAP!r}, and is not compared")
        return None
    found = errors(replace(replay, truth=_live_estimates(bag)), np.zeros(3), shift)
    if found is None:
        return None
    return {
        "position_xy_m": rms(np.hypot(*found.position[:, :2].T)),
        "heading_deg": rms(np.degrees(found.heading)),
        "estimates": len(found.time_ns),
    }


def _live_estimates(bag: Bag) -> NDArray[np.void]:
    """Records of TRUTH, which have the same layout."""
    rows = []
    for _, _, data in bag.messages([ODOMETRY]):
        try:
            rows.append(tuple(read_odometry(from_bytes(data, ODOMETRY_TYPE))))
        except ValueError:
            continue
    return np.array(rows, TRUTH)
