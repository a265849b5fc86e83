"""Summary that `proving-ground observe` prints at its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proving_ground.settings.text_table import text_table


def print_figures(metrics: Mapping[str, Any], bag_remarks: Iterable[str]) -> None:
    """Print the main figures of metrics.json."""
    for line in bag_remarks:
        print(f"  {line}")
    for reason, number in metrics["messages_rejected"].items():
        print(f"  {reason}: {number} messages not used")
    for reason, number in metrics["rejected"].items():
        print(f"  {reason}: {number} samples rejected")
    rows = [
        [name, *(short(metrics[key][name]) for key in ("used", "gated", "nis"))]
        for name in metrics["used"]
        if metrics["used"][name] or metrics["gated"][name]
    ]
    print(text_table(["sensor", "used", "gated", "mean NIS"], rows))
    if metrics["rmse"] is not None:
        print(text_table(["RMSE", ""], [[name, short(value)] for name, value in metrics["rmse"].items()]))
        print(f"GPS itself: {short(metrics['gps_rmse_xy_m'])} m in the plane")
    if (off := metrics["off_live_estimate"]) is not None:
        position, heading = short(off["position_xy_m"]), short(off["heading_deg"])
        print(f"off the estimate in the bag: {position} m and {heading} deg (RMS)")
    if "tuning" in metrics:
        print(f"tuning: objective {short(metrics['tuning']['before'])} -> {short(metrics['tuning']['after'])}")
    print("status: " + ", ".join(f"{item['status']} from {item['from_s']:.1f} s" for item in metrics["status"][:8]))


def short(value: float | None) -> str:
    """A figure with four digits; a dash for None."""
    return "-" if value is None else f"{value:.4g}"
