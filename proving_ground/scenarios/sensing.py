"""The sensors of a scenario, in its world."""

from __future__ import annotations

from proving_ground.scenarios.scenario import Scenario
from sensors.lidar.scene import Scene
from sensors.rig import SensorRig
from terrain.ground import GroundModel, height_at
from terrain.world import World
from vehicle_dynamics.vehicle import Vehicle


def make_rig(scenario: Scenario, vehicle: Vehicle, ground: GroundModel, world: World | None) -> SensorRig:
    """All sensors that the scenario names; world: what scenario.world.load gave."""
    x, y, z = (float(value) for value in vehicle.base_in_chassis)
    scene = Scene.of(world, ground) if world is not None else Scene.of_plane(ground)
    return SensorRig(
        scenario.sensors,
        scenario.faults,
        seed=scenario.seed,
        start_ns=scenario.start.time_ns(),
        base_in_chassis=(x, y, z),
        scene=scene,
        georeference=world.georeference if world is not None else None,
        targets=scenario.targets,
        height_at=lambda x, y: float(height_at(ground.kernel(), x, y)),
    )
