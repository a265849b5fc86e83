"""What a sensor's node sees of the world: ground, obstacles, and targets that move as a scenario says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proving_ground.settings import setting
from proving_ground.settings.nested import load_list
from sensors.lidar.moving import MovingTarget
from sensors.lidar.scene import Scene
from terrain.flat_ground_settings import FlatGroundSettings
from terrain.ground import GroundModel, height_at
from terrain.world import World
from terrain.world_ground import WorldGround


@dataclass(frozen=True, kw_only=True)
class SceneSettings(FlatGroundSettings):
    """Where a node finds it."""

    world: str = setting(
        "", "Name in config/worlds, or a path to a YAML file; none: flat ground by its slopes", read_only=True
    )
    targets: str = setting(
        "", "YAML file with a list `targets` of what moves, as a scenario; none: nothing does", read_only=True
    )

    def scene(self, world: World | None) -> NodeScene:
        """Raises SettingsError for targets that are none, and for ground of two kinds."""
        self.refuse_beside(self.world)
        targets = load_list(Path(self.targets), "targets", MovingTarget) if self.targets else ()
        if world is None:
            ground: GroundModel = self.flat_ground()
            return NodeScene(Scene.of_plane(ground), targets, ground)
        return NodeScene(Scene.of(world), targets, WorldGround.of(world))


class NodeScene:
    """The scene, with its targets where they are at a time."""

    def __init__(self, scene: Scene, targets: Sequence[MovingTarget], ground: GroundModel) -> None:
        self.scene = scene
        self._targets, self._ground = targets, ground

    def move_to(self, time_s: float) -> None:
        """Since the start of the run."""
        if self._targets:
            self.scene.set_targets([target.target(time_s, self._height_at) for target in self._targets])

    def _height_at(self, x: float, y: float) -> float:
        return float(height_at(self._ground.kernel(), x, y))
