"""All settings of the recorder; the node's parameters follow."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.recording.live_writing import COMPRESSIONS
from proving_ground.settings import setting

# By /clock without use_sim_time: rclpy's own subscription to it would cost as much as all the rest.
LOG_TIMES = ("auto", "clock", "wall")


@dataclass(frozen=True, kw_only=True)
class RecorderSettings:
    """Topics to record, and where to."""

    out: str = setting("", "Folder of the new bag; empty: runs/rosbag2_DATE", read_only=True)
    next_free: bool = setting(
        False,
        "Whether to record to the next free name (bag_2) if the folder exists; else that is an error",
        read_only=True,
    )
    topics: str = setting(
        "",
        "Topics to record, separated by spaces; empty: all but log messages, parameter events, hidden topics and "
        "reports of finished instants (NODE/finished)",
        read_only=True,
    )
    exclude: str = setting("", "Regular expression; topics whose name contains a match are left out", read_only=True)
    everything: bool = setting(
        False,
        "Whether to record log messages, parameter events, hidden topics and reports of finished instants, too",
        read_only=True,
    )
    log_time: str = setting(
        "auto",
        "Clock of the log times: clock = /clock, wall = the machine's; auto: /clock if use_sim_time is true",
        choices=LOG_TIMES,
        read_only=True,
    )
    compression: str = setting(
        "none",
        "Compression of chunks: none, lz4 (fast) or zstd (small); costs processor time",
        choices=COMPRESSIONS,
        read_only=True,
    )
    queue_mb: int = setting(
        200, "Size of the queue of messages waiting to be written; when it is full, new ones are dropped",
        unit="MB", minimum=1, maximum=16_000, read_only=True,
    )  # fmt: skip
    flush_s: float = setting(
        0.5, "Longest time until a received message is on disk and survives a kill of this process",
        unit="s", minimum=0.05, maximum=60.0, read_only=True,
    )  # fmt: skip
