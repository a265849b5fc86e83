"""A planner's whole repertoire in a few simulated seconds, so that nothing is left to compile when it drives."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from planner.navigator import Navigator
from planner.node_settings import PlannerNodeSettings
from proving_ground.settings.units import NS_PER_S
from sensors.samples import LIDAR_POINT
from terrain.world import World
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle import Vehicle

LENGTH_S = 1.6
PERIOD_S = 0.05
AWAY_M = 20.0  # of the goals: behind, where it has to turn, then ahead
FAR_M = 12.0  # of the points that it sees
WALL_M = 8.0


def rehearse(settings: PlannerNodeSettings, vehicle: Vehicle, parameters: VehicleParameters, world: World) -> None:
    """Compile all kernels of a planner by driving another one of the same settings; nothing else is changed."""
    at, rest = world.start, (0.0, 0.0, 0.0)
    attitude = (0.0, 0.0, math.sin(0.5 * at.heading), math.cos(0.5 * at.heading))
    height = settings.lidar.mount.mounting().arm[2]
    for away in (-AWAY_M, AWAY_M):
        navigator = Navigator(settings, vehicle, parameters, world)
        navigator.core.warm_up()
        navigator.drive_to([(at.x + away * math.cos(at.heading), at.y + away * math.sin(at.heading))])
        for count in range(round(LENGTH_S / PERIOD_S)):
            time_ns = NS_PER_S + round(count * PERIOD_S * NS_PER_S)
            navigator.add_cloud(time_ns, _cloud(height, has_wall=count % 16 > 7, tilt=0.01 * (count % 3)))
            motion = BaseMotion((at.x + 0.02 * count, at.y, 0.0), attitude, rest, rest, rest, rest)
            navigator.move(time_ns, motion)


def _cloud(height: float, *, has_wall: bool, tilt: float) -> NDArray[np.void]:
    """Level ground around the vehicle, in the sensor's axes, tilted as by a wrong pitch; a wall comes and goes."""
    x, y = (axis.ravel() for axis in np.mgrid[-FAR_M:FAR_M:0.25, -FAR_M:FAR_M:0.25])
    points = np.zeros(len(x), LIDAR_POINT)
    points["x"], points["y"], points["z"] = x, y, tilt * x - height
    if has_wall:
        behind = x > WALL_M
        points["x"][behind], points["z"][behind] = WALL_M, 0.5 * (x[behind] - WALL_M) - height
    return points
