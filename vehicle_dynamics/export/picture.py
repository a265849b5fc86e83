"""The picture of the vehicle in the documentation, drawn from the joint positions that RViz gets.

.venv/bin/python -m vehicle_dynamics.export.picture docs/vehicle.png
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.driving.state import PITMAN
from vehicle_dynamics.export.joint_positions import JointPositions
from vehicle_dynamics.export.raster import GROUND, Camera, Triangles, chequered_ground, render, shape_triangles
from vehicle_dynamics.export.vehicle_shapes import vehicle_shapes
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.multibody.mechanism import ROOT
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

Array = NDArray[np.float64]

WHOLE = Camera(eye=(6.2, 4.4, 1.75), target=(-0.05, 0.05, 0.62), width_angle=math.radians(38.0), size=(1000, 700))
AXLE = Camera(eye=(8.0, 0.0, 0.35), target=(1.6, 0.0, 0.05), width_angle=math.radians(21.5), size=(500, 320))
REBOUND, BUMP = -0.24, 0.3  # lower-arm angles [rad], near the front stops


class Portrait:
    """A vehicle that can be drawn in any pose."""

    def __init__(self, parameters: VehicleParameters) -> None:
        mechanism = vehicle_mechanism(parameters, steering_is_free=True)
        self._joints, self._layout = JointPositions(parameters), TreeLayout(mechanism)
        self._shapes = vehicle_shapes(parameters, mechanism)

    def standing(self, snapshot: SnapshotRecord) -> Triangles:
        """The whole vehicle at the pose of the snapshot, on flat ground."""
        rotated, shifted = Rotation.from_quat(snapshot["attitude"]).as_matrix(), snapshot["position"]
        bodies = self._bodies(self._joints.at(snapshot), list(self._shapes), rotated, shifted)
        return Triangles.joined([chequered_ground(12), bodies])

    def front_axle(self, arm_angle: float) -> Triangles:
        """Front suspension and steering at one angle of both lower arms, with the frame but no body."""
        positions = self._joints.of(np.full(4, arm_angle), np.zeros(4), 0.0)
        names = [name for name in self._shapes if name.startswith(("front", "steering"))]
        return self._bodies(positions, [ROOT, *names], np.eye(3), np.zeros(3), without=("body", "glass"))

    def _bodies(
        self, positions: Array, names: list[str], rotated: Array, shifted: Array, without: tuple[str, ...] = ()
    ) -> Triangles:
        state = TreeState(self._layout, positions, np.zeros(self._layout.count), np.zeros(6))
        parts: list[Triangles] = []
        for name in names:
            body = self._layout.body[name]
            for shape in self._shapes[name]:
                if shape.material not in without:
                    axes_box = rotated @ state.shifted[body] + shifted
                    parts.append(
                        shape_triangles(shape, rotated @ state.rotated[body], axes_box, GROUND + 1 + len(parts))
                    )
        return Triangles.joined(parts)


def draw(parameters: VehicleParameters, path: Path) -> None:
    """Write a picture: the vehicle standing with the steering full left, and its front axle at both ends of travel."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingsError(f"matplotlib cannot be imported ({error}); pip install matplotlib brings it") from error
    portrait, steered = Portrait(parameters), _standing_steered(Hmmwv(parameters))
    panels = {
        f"{parameters.name} at rest, steering full left": render(portrait.standing(steered), WHOLE),
        "front axle from ahead: wheels hanging": render(portrait.front_axle(REBOUND), AXLE),
        "front axle from ahead: wheels pushed up": render(portrait.front_axle(BUMP), AXLE),
    }
    figure = Figure(figsize=(11.0, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplot_mosaic("aab;aac")
    for axes_box, (title, image) in zip(axes.values(), panels.items(), strict=True):
        axes_box.imshow(image, interpolation="antialiased")
        axes_box.set_title(title, fontsize=10)
        axes_box.set_axis_off()
    figure.savefig(path, dpi=110)


def _standing_steered(vehicle: Hmmwv) -> SnapshotRecord:
    road, state = FlatGround(), vehicle.start(FlatGround())
    state[PITMAN] = -vehicle.kernel.servo.lock
    return vehicle.snapshot(state, Pedals(steering=1.0), road)


if __name__ == "__main__":
    draw(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml")), Path(sys.argv[1]))
