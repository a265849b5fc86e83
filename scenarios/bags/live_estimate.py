"""What an observer told when a bag was recorded, against what one tells of the recording."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scenarios.bags.estimate_bag import ODOMETRY
from scenarios.bags.figures import LONGEST_GAP_S, yaw_of
from scenarios.bags.reading import Bag
from scenarios.bags.types import NS_PER_S, from_bytes
from scenarios.bags.types import ODOMETRY as ODOMETRY_TYPE
from sensors.from_messages import truth_pose

FEWEST = 2  # estimates to compare


def live_difference(bag: Bag, told: NDArray[np.void]) -> dict[str, float] | None:
    """RMS of place [m] and heading [deg] at the times of the live estimates; None where there are none.

    told: records of TOLD, in order.
    """
    if bag.topics.get(ODOMETRY) != ODOMETRY_TYPE or len(told) < FEWEST:
        return None
    live = []
    for _, _, data in bag.messages([ODOMETRY]):
        try:
            live.append(truth_pose(from_bytes(data, ODOMETRY_TYPE)))
        except ValueError:
            continue
    times = np.array([pose.time_ns for pose in live], np.int64)
    after = np.searchsorted(told["time_ns"], times)
    inside = (after > 0) & (after < len(told))
    after = after[inside]
    near = told["time_ns"][after] - told["time_ns"][after - 1] < LONGEST_GAP_S * NS_PER_S
    kept = np.flatnonzero(inside)[near]
    if len(kept) < FEWEST:
        return None
    zero = told["time_ns"][0]
    seconds, at = (told["time_ns"] - zero) / NS_PER_S, (times[kept] - zero) / NS_PER_S
    place = np.array([pose.position for pose in live])[kept]
    off = [np.interp(at, seconds, told["position"][:, k]) - place[:, k] for k in range(2)]
    heading = np.interp(at, seconds, yaw_of(told["attitude"])) - yaw_of(np.array([live[k].attitude for k in kept]))
    heading = np.remainder(heading + math.pi, math.tau) - math.pi
    return {
        "position_xy_m": float(np.sqrt(np.mean(off[0] ** 2 + off[1] ** 2))),
        "heading_deg": float(np.degrees(np.sqrt(np.mean(heading**2)))),
        "estimates": float(len(kept)),
    }
