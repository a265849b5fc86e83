"""Constants shared by all rooms."""

from __future__ import annotations

NS_PER_S = 1_000_000_000
FAR_M = 1e7  # largest coordinate of a start, goal or object in a settings file; beyond, millimetres are lost
LONGEST_RUN_S = 7200.0  # the history of a run is kept in memory, 80 MB for 1000 s
FOREVER_S = 1e6  # longer than any run: time of what ends with the run, or not before
LARGEST_SEED = 2**31 - 1  # of random numbers; fits a ROS integer parameter and a C int
