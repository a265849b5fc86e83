"""Figures of a drive to a goal for diagnostics."""

from __future__ import annotations

from planner.progress import Progress


def progress_figures(progress: Progress, plans: int) -> dict[str, str]:
    """Status, reason and distance to go; plans: number of plans made."""
    return {
        "status": progress.status.value,
        "reason": progress.reason.value,
        "detail": progress.detail,
        "to_go_m": f"{progress.to_go:.2f}",
        "waypoint": str(progress.waypoint),
        "plans": str(plans),
    }
