"""Figures of an observer for diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from state_observer.vehicle.health import Health


def health_figures(found: Health, rejected: Mapping[str, int]) -> dict[str, str]:
    """Status, NIS and counts; rejected: samples by reason."""
    return {
        "status": found.status,
        **{f"nis {name}": f"{value:.2f}" for name, value in found.recent_nis.items()},
        **{f"used {name}": str(value) for name, value in found.used.items()},
        **{f"gated {name}": str(value) for name, value in found.gated.items()},
        **{f"rejected {name}": str(value) for name, value in rejected.items()},
        "resets": str(found.resets),
        "jump_m": f"{found.jump_m:.2f}",
        "restarts": str(found.restarts),
        "late_samples": str(found.replays),
        "held_samples": str(found.held),
    }
