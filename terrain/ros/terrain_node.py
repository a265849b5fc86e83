"""The terrain node: publishes the world's map and what it looks like, once and latched.

All behaviour is in terrain.worlds and terrain.map_messages.
"""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.interfaces import topics
from proving_ground.interfaces.map_codec import fill_grid, fill_shapes
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.settings import setting
from terrain.map_messages import MapSettings, occupancy, shapes, words_on_map, words_on_world
from terrain.worlds import load_world


@dataclass(frozen=True, kw_only=True)
class TerrainNodeSettings(MapSettings):
    """Which world, and in which frame."""

    world: str = setting("flat", "Name in config/worlds, or a path to a YAML file", read_only=True)
    frame_prefix: str = setting("", "Before every frame name, as in 'truck_1/'", read_only=True)
    map_frame: str = setting("map", "Name of the world's frame", read_only=True)

    def __post_init__(self) -> None:
        if not self.frame or self.frame.startswith("/"):
            raise ValueError(f"map_frame: must be a name that does not begin with '/', got {self.frame!r}")

    @property
    def frame(self) -> str:
        """The world's frame with its prefix."""
        return self.frame_prefix + self.map_frame


class TerrainNode(SuiteNode[TerrainNodeSettings]):
    """Builds, converts, publishes, reports."""

    default_name = "terrain"
    settings_type = TerrainNodeSettings

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        world = load_world(s.world)
        found, drawn = occupancy(world, s), shapes(world)
        self._map = self.advertise(topics.MAP)
        self._markers = self.advertise(topics.MARKERS)
        # Stamps are 0: both hold at all times, and tf2 takes that as the latest.
        grid, markers = new_message(topics.MAP.type, s.frame), new_message(topics.MARKERS.type)
        fill_grid(grid, found.cells, found.resolution, found.x, found.y)
        fill_shapes(markers, grid.header, drawn, new_message)
        self._map.publish(grid)
        self._markers.publish(markers)
        self.report("world", Level.OK, words_on_world(world))
        self.report("map", Level.WARN if found.is_cut else Level.OK, words_on_map(found))


def main() -> int:
    """Entry point."""
    return run_node(TerrainNode)


if __name__ == "__main__":
    raise SystemExit(main())
