"""A ground with obstacles on it, which wheels meet as hard ground."""

from __future__ import annotations

import numpy as np

from terrain.ground import Ground
from terrain.obstacle_contact import Obstacles
from terrain.soil import RIGID
from terrain.soils_file import soil_table


def with_obstacles(ground: Ground, added: Obstacles) -> Ground:
    """The ground with further obstacles.

    All its obstacles have the friction of its first hard soil, or that of the soil `hard` if it has none.
    """
    if len(added.boxes) + len(added.cylinders) == 0:
        return ground
    hard, soils = np.flatnonzero(ground.soils["kind"] == RIGID), ground.soils
    if not len(hard):
        hard, soils = np.array([len(soils)]), np.concatenate((soils, soil_table(["hard"])))
    both = Obstacles(
        np.ascontiguousarray(np.concatenate((ground.obstacles.boxes, added.boxes))),
        np.ascontiguousarray(np.concatenate((ground.obstacles.cylinders, added.cylinders))),
    )
    return ground._replace(soils=soils, obstacles=both, top_soil=int(hard[0]))
