"""How a node knows that it was started again after a crash: whoever starts it anew sets a variable. No ROS here."""

from __future__ import annotations

import os

RESPAWN = "PROVING_GROUND_RESPAWN"  # in the environment of a node that is started again


def was_respawned() -> bool:
    """Whether this process stands for one that has crashed."""
    return bool(os.environ.get(RESPAWN))
