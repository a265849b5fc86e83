"""Whether a node was restarted after a crash: the launcher sets an environment variable. No ROS here."""

from __future__ import annotations

import os

RESPAWNED = "respawned"  # key in the diagnostics of a restarted node
RESPAWN = "PROVING_GROUND_RESPAWN"  # in the environment of a restarted node


def was_respawned() -> bool:
    """Whether this process replaces one that crashed."""
    return bool(os.environ.get(RESPAWN))
