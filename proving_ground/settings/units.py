"""Constants shared by all rooms."""

from __future__ import annotations

NS_PER_S = 1_000_000_000
LARGEST_SEED = 2**31 - 1  # of random numbers; fits a ROS integer parameter and a C int
