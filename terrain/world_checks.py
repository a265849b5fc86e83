"""Requirements of a world before anyone drives in it: known soils, and a start and goal where a vehicle can stand."""

from __future__ import annotations

from terrain.obstacles import Box, Cylinder, MeshObstacle, Obstacles
from terrain.soils_file import soil_table
from terrain.world import World, WorldPose

HEADROOM = 3.0  # [m] above the ground: anything higher blocks no vehicle


def check_world(world: World) -> None:
    """Raise ValueError with one line for an unknown soil, or for a start or goal off the map or in an obstacle."""
    soil_table(world.soil_names)
    check_pose(world, "start", world.start)
    if world.goal is not None:
        check_pose(world, "goal", world.goal)


def check_pose(world: World, name: str, position: WorldPose) -> None:
    """Raise ValueError that begins with the name unless the position is on the map and outside obstacles."""
    where = f"{name}: x {position.x:g}, y {position.y:g} m"
    ground = world.ground
    if not ground.covers(position.x, position.y):
        (left, right), (low, high) = ground.x_limits, ground.y_limits
        raise ValueError(f"{where} is off the map, which has x {left:g} to {right:g}, y {low:g} to {high:g} m")
    if world.obstacles.distance(position.x, position.y) > 0.0:
        return
    height = float(ground.height_at(position.x, position.y))
    for item in world.obstacles:
        if _is_inside(item, position, height):
            raise ValueError(f"{where} is inside {_words(item)}")


def _is_inside(item: Box | Cylinder | MeshObstacle, position: WorldPose, height: float) -> bool:
    """Whether the footprint holds the position and the obstacle reaches between the ground [m] and the headroom."""
    shape = item.box() if isinstance(item, MeshObstacle) else item
    if not (shape.base < height + HEADROOM and shape.base + shape.height > height):
        return False
    alone = Obstacles(cylinders=(shape,)) if isinstance(shape, Cylinder) else Obstacles(boxes=(shape,))
    return bool(alone.distance(position.x, position.y) <= 0.0)


def _words(item: Box | Cylinder | MeshObstacle) -> str:
    what = f"the mesh {item.name}" if isinstance(item, MeshObstacle) else f"the {type(item).__name__.lower()}"
    return f"{what} at x {item.x:g}, y {item.y:g} m"
