"""Settings of the terrain in a run; they are its node's parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from proving_ground.interfaces.frames import RENAMED_FRAMES, Frames
from proving_ground.settings import setting
from terrain.map_messages import MapSettings


@dataclass(frozen=True, kw_only=True)
class TerrainNodeSettings(MapSettings):
    """Settings of the terrain node: the world, its frame, and those of its map."""

    renamed: ClassVar[dict[str, str]] = RENAMED_FRAMES

    world: str = setting("flat", "Name of a world in config/worlds, or a path to a YAML file", read_only=True)
    frames: Frames = field(default_factory=Frames)
