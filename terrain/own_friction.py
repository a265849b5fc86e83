"""A ground whose hard parts have another friction, for one vehicle only: heights, ruts and obstacles stay shared."""

from __future__ import annotations

from terrain.ground import Ground, GroundModel
from terrain.soil import RIGID


class OwnFriction:
    """A ground whose friction can be set; all else is that of another ground, which stays as it is (GroundModel)."""

    def __init__(self, ground: GroundModel) -> None:
        self._ground = ground
        self._friction: float | None = None
        self._made_of = self._kernel = ground.kernel()

    def kernel(self) -> Ground:
        """The ground in the form that kernels use."""
        found = self._ground.kernel()
        if self._friction is None:
            return found
        if found is not self._made_of:  # obstacles were put up, or the world was replaced
            self._made_of, self._kernel = found, _with_friction(found, self._friction)
        return self._kernel

    def set_friction(self, friction: float | None) -> None:
        """Friction coefficient of all hard ground from now on; None: that of the ground itself."""
        self._friction = friction
        self._made_of = self._ground.kernel()
        self._kernel = self._made_of if friction is None else _with_friction(self._made_of, friction)


def hard_friction(ground: GroundModel) -> float | None:
    """Friction coefficient of the first of the ground's hard soils; None if all of them are soft."""
    soils = ground.kernel().soils
    hard = soils["friction"][soils["kind"] == RIGID]
    return float(hard[0]) if len(hard) else None


def _with_friction(ground: Ground, friction: float) -> Ground:
    soils = ground.soils.copy()
    soils["friction"][soils["kind"] == RIGID] = friction
    return ground._replace(soils=soils)
