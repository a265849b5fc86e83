"""The terrain node: publishes the world's map and shapes, latched, and again when another world is loaded.

All behaviour is in terrain.worlds and terrain.map_messages.
"""

from __future__ import annotations

from proving_ground.interfaces import topics
from proving_ground.interfaces.map_codec import fill_grid, fill_shapes
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode, run_node
from terrain.map_messages import occupancy, shapes, words_on_map, words_on_world
from terrain.node_settings import TerrainNodeSettings
from terrain.ros.changes import follow_world
from terrain.world import World
from terrain.worlds import load_world


class TerrainNode(SuiteNode[TerrainNodeSettings]):
    """Publishes the world as an occupancy grid and as markers, at the start and when another world is loaded."""

    default_name = "terrain"
    settings_type = TerrainNodeSettings

    def __init__(self) -> None:
        super().__init__()
        self._map = self.advertise(topics.MAP)
        self._markers = self.advertise(topics.MARKERS)
        self._show(load_world(self.settings.world))
        follow_world(self, lambda name, world: self._show(world))

    def _show(self, world: World) -> None:
        s = self.settings
        found, drawn = occupancy(world, s), shapes(world)
        # Stamps are 0: both are always valid, and tf2 takes that as the latest.
        grid, markers = new_message(topics.MAP.type, s.frames.map_frame), new_message(topics.MARKERS.type)
        fill_grid(grid, found.cells, found.resolution, found.x, found.y)
        fill_shapes(markers, grid.header, drawn, new_message)
        self._map.publish(grid)
        self._markers.publish(markers)
        self.report("world", Level.OK, words_on_world(world))
        self.report("map", Level.WARN if found.is_cut else Level.OK, words_on_map(found))


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(TerrainNode)


if __name__ == "__main__":
    raise SystemExit(main())
