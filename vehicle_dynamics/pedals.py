"""Driver input: steering wheel, pedals and gear lever."""

from __future__ import annotations

import math
from typing import NamedTuple

REVERSE, NEUTRAL, DRIVE = -1, 0, 1  # positions of the gear lever
MOST_RANGES = 4  # of a transfer case
KEEP = -1  # transfer_range, locks or parking_brake of a command: as it is


class Pedals(NamedTuple):
    """Pedals as drivers press them; kernels use the tuple directly."""

    steering: float = 0.0  # -1 full right, 1 full left
    throttle: float = 0.0  # 0 to 1
    brake: float = 0.0  # 0 to 1
    selected: int = DRIVE  # gear lever
    transfer_range: int = 0  # of the transfer case, by its index in the vehicle's file
    locks: int = 0  # of lockable differentials: 1 front, 2 rear, 3 both
    parking_brake: float = 0.0  # 0 to 1

    def within_limits(self) -> Pedals:
        """The pedals clamped to their limits; raises ValueError for values that are not finite or an invalid gear.

        KEEP becomes 0: only drive-by-wire knows what there is to keep.
        """
        try:
            is_finite = all(map(math.isfinite, self))
        except OverflowError:  # an integer too large for a float
            is_finite = False
        if not is_finite:
            raise ValueError("pedals: must be finite numbers")
        if self.selected not in (REVERSE, NEUTRAL, DRIVE):
            raise ValueError(f"selected: must be -1 (reverse), 0 (neutral) or 1 (drive), got {self.selected}")
        transfer_range, locks = (0 if value == KEEP else value for value in (self.transfer_range, self.locks))
        if transfer_range not in range(MOST_RANGES):
            raise ValueError(f"transfer_range: must be 0 to {MOST_RANGES - 1}, got {self.transfer_range}")
        if locks not in range(4):
            raise ValueError(f"locks: must be 0 (none), 1 (front), 2 (rear) or 3 (both), got {self.locks}")
        return Pedals(
            float(min(max(self.steering, -1.0), 1.0)),
            float(min(max(self.throttle, 0.0), 1.0)),
            float(min(max(self.brake, 0.0), 1.0)),
            int(self.selected),
            int(transfer_range),
            int(locks),
            float(min(max(self.parking_brake, 0.0), 1.0)),
        )

    def as_command(self) -> Pedals:
        """The pedals clamped as by within_limits for a command, whose range, locks and parking brake may be KEEP."""
        kept = {name: KEEP for name in ("transfer_range", "locks", "parking_brake") if getattr(self, name) == KEEP}
        return self.within_limits()._replace(**kept)
