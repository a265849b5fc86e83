"""Names of tf frames (REP 105), with a prefix for several vehicles in one graph."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.settings import setting

BASE_FRAME, CHASSIS_FRAME = "base_link", "chassis"


@dataclass(frozen=True, kw_only=True)
class Frames:
    """Frame names of one vehicle."""

    prefix: str = setting("", "Prefix of all tf frame names, as 'truck_1/' for one of several vehicles", read_only=True)
    map: str = setting("map", "Name of the tf frame fixed to the world (REP 105 map)", read_only=True)
    odom: str = setting(
        "odom", "Name of the tf frame in which the vehicle's pose is continuous (REP 105 odom)", read_only=True
    )

    def __post_init__(self) -> None:
        for name in ("map", "odom", "prefix"):
            text = getattr(self, name)
            if text.startswith("/"):
                raise ValueError(f"{name}: must not begin with '/', which tf2 rejects, got {text!r}")
            if name != "prefix" and not text:
                raise ValueError(f"{name}: must be the name of a frame, got {text!r}")
        if self.map == self.odom:
            raise ValueError(f"odom: must be another frame than map ({self.map})")

    def named(self, frame: str) -> str:
        """Full name of a frame: prefix and name."""
        return self.prefix + frame

    @property
    def map_frame(self) -> str:
        """Full name of the world's frame."""
        return self.named(self.map)

    @property
    def odom_frame(self) -> str:
        """Full name of the frame without jumps."""
        return self.named(self.odom)

    @property
    def base_frame(self) -> str:
        """Full name of the vehicle's frame."""
        return self.named(BASE_FRAME)


RENAMED_FRAMES = {"frame_prefix": "frames.prefix", "map_frame": "frames.map", "odom_frame": "frames.odom"}
