"""The terrain node: publishes the world's map and what it looks like, once and latched.

All behaviour is in terrain.worlds and terrain.map_messages.
"""

from __future__ import annotations

from nav_msgs.msg import OccupancyGrid
from visualization_msgs.msg import MarkerArray

from proving_ground.ros_support import qos
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, run_node
from terrain.map_messages import occupancy, shapes, words_on_map, words_on_world
from terrain.node_settings import TerrainNodeSettings
from terrain.ros.terrain_messages import occupancy_to_msg, shapes_to_msg
from terrain.worlds import load_world


class TerrainNode(SuiteNode[TerrainNodeSettings]):
    """Builds, converts, publishes, reports."""

    default_name = "terrain"
    settings_type = TerrainNodeSettings

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        world = load_world(s.world)
        found, drawn = occupancy(world, s), shapes(world)
        self._map = self.advertise(OccupancyGrid, "map", qos.LATCHED)
        self._markers = self.advertise(MarkerArray, "terrain/markers", qos.LATCHED)
        self._map.publish(occupancy_to_msg(found, s.frames.map_frame))
        self._markers.publish(shapes_to_msg(drawn, s.frames.map_frame))
        self.report("world", Level.OK, words_on_world(world))
        self.report("map", Level.WARN if found.is_cut else Level.OK, words_on_map(found))


def main() -> int:
    """Entry point."""
    return run_node(TerrainNode)


if __name__ == "__main__":
    raise SystemExit(main())
