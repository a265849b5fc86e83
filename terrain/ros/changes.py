"""Follows what changes in a world while nodes run: another world, and obstacles that were spawned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proving_ground.interfaces import topics
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode
from proving_ground.settings import SettingsError
from terrain.obstacles import Obstacles
from terrain.spawned import read_obstacles
from terrain.world import World
from terrain.worlds import load_world


def follow_world(node: SuiteNode[Any], on_world: Callable[[str, World], None]) -> None:
    """Call on_world with name and world whenever another one was loaded."""

    def load(message: Any) -> None:
        try:
            on_world(message.data, load_world(message.data))
            node.report("loaded world", Level.OK, f"in world {message.data}")
        except SettingsError as error:
            node.report("loaded world", Level.ERROR, f"{topics.LOADED_WORLD.name}: {error}")

    node.listen(topics.LOADED_WORLD, load)


def follow_spawned(node: SuiteNode[Any], on_spawned: Callable[[Obstacles], None]) -> None:
    """Call on_spawned with all spawned obstacles whenever they change."""

    def read(message: Any) -> None:
        try:
            on_spawned(read_obstacles(message))
            node.health.report("spawned", Level.OK, "spawned obstacles are known")
        except ValueError as error:
            node.report("spawned", Level.WARN, f"{topics.SPAWNED.name} rejected: {error}")

    node.listen(topics.SPAWNED, read)
