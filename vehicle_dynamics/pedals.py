"""Driver input: steering wheel, pedals and gear lever."""

from __future__ import annotations

import math
from typing import NamedTuple

REVERSE, NEUTRAL, DRIVE = -1, 0, 1  # positions of the gear lever


class Pedals(NamedTuple):
    """Pedals as drivers press them; kernels use the tuple directly."""

    steering: float = 0.0  # -1 full right, 1 full left
    throttle: float = 0.0  # 0 to 1
    brake: float = 0.0  # 0 to 1
    selected: int = DRIVE  # gear lever

    def within_limits(self) -> Pedals:
        """The pedals clamped to their limits; raises ValueError for values that are not finite or an invalid gear."""
        try:
            is_finite = all(math.isfinite(value) for value in self)
        except OverflowError:  # an integer too large for a float
            is_finite = False
        if not is_finite:
            raise ValueError("pedals: must be finite numbers")
        if self.selected not in (REVERSE, NEUTRAL, DRIVE):
            raise ValueError(f"selected: must be -1 (reverse), 0 (neutral) or 1 (drive), got {self.selected}")
        return Pedals(
            float(min(max(self.steering, -1.0), 1.0)),
            float(min(max(self.throttle, 0.0), 1.0)),
            float(min(max(self.brake, 0.0), 1.0)),
            int(self.selected),
        )
