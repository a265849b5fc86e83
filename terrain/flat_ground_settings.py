"""The flat ground of nodes that have no world."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.settings import SettingsError, setting
from terrain.ground import FlatGround


@dataclass(frozen=True, kw_only=True)
class FlatGroundSettings:
    """A plane of hard ground, level unless slopes say otherwise, with an optional bump across it."""

    friction: float = setting(0.8, "Friction of the ground", minimum=0.0, maximum=2.0, read_only=True)
    slope_x: float = setting(0.0, "Rise over run of the ground along x", minimum=-2.0, maximum=2.0, read_only=True)
    slope_y: float = setting(0.0, "Rise over run of the ground along y", minimum=-2.0, maximum=2.0, read_only=True)
    bump_start_m: float = setting(0.0, "x where the bump begins", unit="m", minimum=-1e6, maximum=1e6, read_only=True)
    bump_length_m: float = setting(1.0, "Its length along x", unit="m", minimum=0.01, maximum=1e4, read_only=True)
    bump_height_m: float = setting(0.0, "Its height; 0 is none", unit="m", minimum=-2.0, maximum=2.0, read_only=True)

    def refuse_beside(self, world: str) -> None:
        """Raises SettingsError for a ground of both kinds."""
        if world and self.flat_ground() != FlatGround():
            raise SettingsError(f"world: {world} has its own ground; leave friction, slopes and bump as they are")

    def flat_ground(self) -> FlatGround:
        """What wheels meet on it."""
        return FlatGround(
            friction=self.friction,
            slope_x=self.slope_x,
            slope_y=self.slope_y,
            bump_start_m=self.bump_start_m,
            bump_length_m=self.bump_length_m,
            bump_height_m=self.bump_height_m,
        )
