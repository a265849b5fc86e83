"""The vehicle as the page draws it: a HMMWV-like body, and links that move with the joints.

Display only; sizes follow from the vehicle's parameters. Chassis axes [m].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from proving_ground.cockpit.shapes import Colour, Painted, Solid, box, cylinder, flat_shaded, joined, prism
from proving_ground.interfaces.joints import WHEELS
from proving_ground.kernels.jit import kernel
from vehicle_dynamics.export.joint_frames import JointTransforms, joint_frames, joint_name
from vehicle_dynamics.export.shapes import Box, Shape, colour
from vehicle_dynamics.export.vehicle_shapes import ARCH, BONNET_Z, vehicle_shapes
from vehicle_dynamics.multibody.mechanism import ROOT
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

Array = NDArray[np.float64]

SAND, SAND_DARK, GLASS, BLACK, LAMP = (181, 163, 122), (150, 134, 98), (38, 50, 58), (44, 44, 42), (246, 240, 214)
MATERIALS: dict[str, Colour] = {
    "bar": (176, 62, 44), "disc": (33, 33, 34), "steel": (86, 90, 96), "shock": (222, 170, 44), "rim": (150, 141, 112),
    "frame": (86, 90, 96),
}  # fmt: skip
BODY_MATERIALS = ("body", "glass")  # replaced by the drawn body
NO_ROTATION = (0.0, 0.0, 0.0, 1.0)


def body_parts(parameters: VehicleParameters) -> list[Painted]:
    """Shapes of the vehicle's body, without frame and wheels."""
    contact, wheel = parameters.body_contact, parameters.front_suspension.hardpoints_left_m.wheel_centre
    x, z = np.array(contact.points_x_m), np.array(contact.points_z_m)
    rear, front, bottom, roof = float(x.min()), float(x.max()), float(z.min()), float(z.max())
    back, fore = float(x[z == roof].min()), float(x[z == roof].max())
    radius = parameters.wheel.radius_m
    side = abs(wheel[1]) + 0.3 * parameters.tyre.width_m  # doors and wings
    sill = wheel[2] + radius + ARCH
    waist = sill + BONNET_Z
    cowl, door = fore + 0.2, wheel[0] - 1.25 * radius
    narrow = 0.82 * side
    cabin = [(rear + 0.15, waist), (cowl, waist), (fore - 0.2, roof), (back + 0.35, roof)]
    painted = [
        box((-door, door), (-0.9 * side, 0.9 * side), (bottom, sill)),
        box((rear, cowl), (-side, side), (sill, waist)),
        prism([(cowl, sill), (front, sill), (front, waist - 0.19), (front - 0.1, waist - 0.13), (cowl, waist)], side),
        prism(cabin, [0.97 * side, 0.97 * side, narrow, narrow]),
        box((rear, rear + 0.2), (-0.85 * side, 0.85 * side), (0.1, sill)),
    ]
    lip = [
        box((centre - 1.15 * radius, centre + 1.15 * radius), (sign * side, sign * (side + 0.06)), (sill, sill + 0.09))
        for centre in (wheel[0], -wheel[0])
        for sign in (-1.0, 1.0)
    ]
    ridge = [box((cowl + 0.1, front - 0.15), (-0.3 * side, 0.3 * side), (waist - 0.13, waist - 0.02))]
    trim = [
        box((front, front + 0.02), (-0.6 * side, 0.6 * side), (sill - 0.05, waist - 0.22)),
        box((front, front + 0.13), (-0.95 * side, 0.95 * side), (0.05, 0.22)),
        box((rear - 0.1, rear), (-0.9 * side, 0.9 * side), (0.05, 0.2)),
        box((front - 0.1, front), (-0.55 * side, 0.55 * side), (0.12, sill)),
        *(box((0.1, 0.16), (sign * side, sign * (side + 0.16)), (waist + 0.05, waist + 0.2)) for sign in (-1.0, 1.0)),
    ]
    lamps = [
        cylinder((front, sign * 0.78 * side, waist - 0.32), (front + 0.03, sign * 0.78 * side, waist - 0.32), 0.09)
        for sign in (-1.0, 1.0)
    ]
    return [
        Painted("body", flat_shaded(joined(painted)), SAND),
        Painted("wings", flat_shaded(joined([*lip, *ridge])), SAND_DARK),
        Painted("windows", flat_shaded(joined(_windows(cabin, side, narrow))), GLASS),
        Painted("trim", flat_shaded(joined(trim)), BLACK),
        Painted("lamps", joined(lamps), LAMP),
    ]


def _windows(cabin: Sequence[tuple[float, float]], side: float, narrow: float) -> list[Solid]:
    """Two on each side, one at each end, slightly proud of the cabin."""
    (rear, low), (front, _), (top_front, high), (top_rear, _) = cabin
    inset, proud = 0.12, 0.012

    def half(z: float) -> float:
        share = (z - low) / (high - low)
        return (1.0 - share) * 0.97 * side + share * narrow

    def across(z: float, start: tuple[float, float], end: tuple[float, float]) -> float:
        return start[0] + (z - start[1]) / (end[1] - start[1]) * (end[0] - start[0])

    under, over = low + 0.06, high - 0.1
    edge_front = [across(z, cabin[1], cabin[2]) - inset for z in (under, over)]
    edge_rear = [across(z, cabin[0], cabin[3]) + 3.0 * inset for z in (under, over)]
    middle = 0.5 * (top_front + top_rear)
    widths = [half(under) + proud, half(under) + proud, half(over) + proud, half(over) + proud]
    sides = [
        prism([(middle + 0.06, under), (edge_front[0], under), (edge_front[1], over), (middle + 0.06, over)], widths),
        prism([(edge_rear[0], under), (middle - 0.06, under), (middle - 0.06, over), (edge_rear[1], over)], widths),
    ]
    ends = []
    for foot, head, sign in ((front, top_front, 1.0), (rear, top_rear, -1.0)):
        slope = np.array([head - foot, high - low])
        a, b = np.array([foot, low]) + 0.14 * slope, np.array([foot, low]) + 0.88 * slope
        out = np.array([sign * proud, proud])
        ring = [a - out, a + out, b + out, b - out]
        ring = ring if sign > 0.0 else ring[::-1]
        widths = [0.9 * half(float(point[1])) for point in ring]
        ends.append(prism([(float(point[0]), float(point[1])) for point in ring], widths))
    return [*sides, *ends]


class Links:
    """The moving bodies: their shapes in their own frames, and their poses for given joint positions."""

    def __init__(self, parameters: VehicleParameters) -> None:
        mechanism = vehicle_mechanism(parameters, steering_is_free=True)
        frames = joint_frames(mechanism)
        self._joints = {frame.name: number for number, frame in enumerate(frames)}
        self._transforms = JointTransforms(frames)
        children = {frame.child: number for number, frame in enumerate(frames)}
        self._parents = np.array([children.get(frame.parent, -1) for frame in frames])
        self._numbers = {name: children[name] for name in map(joint_name, (b.name for b in mechanism.bodies))}
        self.names = tuple(self._numbers)
        self._design = self._placed(np.zeros(len(frames)))[0]
        shapes = vehicle_shapes(parameters, mechanism)
        self._frame = _painted(
            "frame", [item for item in shapes[ROOT] if item.material not in BODY_MATERIALS], np.zeros(3)
        )
        self._parts = {
            joint_name(body): _painted(joint_name(body), items, self._design[self._numbers[joint_name(body)]])
            for body, items in shapes.items()
            if body != ROOT and items
        }

    @property
    def wheels(self) -> tuple[str, ...]:
        """Links of the wheels, front left to rear right."""
        return WHEELS

    def frame(self) -> list[Painted]:
        """Parts of suspension and frame that are fixed to the chassis."""
        return self._frame

    def parts(self) -> Mapping[str, list[Painted]]:
        """Shapes by link, each in its link's own frame."""
        return self._parts

    def poses(self, positions: Mapping[str, float]) -> Array:
        """A row for each link, as in `names`: position [m] and quaternion x y z w in the chassis.

        Joints that are not named are at design. Raises ValueError where a position is not finite.
        """
        angles = np.zeros(len(self._joints))
        for name, value in positions.items():
            number = self._joints.get(name)
            if number is not None:
                angles[number] = value
        if not np.isfinite(angles).all():
            raise ValueError("joint positions must be finite")
        points, rotations = self._placed(angles)
        order = list(self._numbers.values())
        return np.hstack((points[order], rotations[order]))

    def at(self, positions: Mapping[str, float]) -> dict[str, tuple[Array, Array]]:
        """Poses by body name: position and quaternion."""
        rows = self.poses(positions)
        return {name: (row[:3], row[3:]) for name, row in zip(self.names, rows, strict=True)}

    def _placed(self, positions: Array) -> tuple[Array, Array]:
        translations, quaternions = self._transforms.at(positions)
        _chain(self._parents, translations, quaternions)
        return translations, quaternions


@kernel
def _chain(parents: NDArray[np.int64], points: Array, rotations: Array) -> None:
    """Transform poses from each parent's frame to the root's, in place; parents come before their children."""
    for k in range(len(parents)):
        parent = parents[k]
        if parent < 0:
            continue
        x, y, z, w = rotations[parent]
        a, b, c = points[k]
        # p + 2 w (q x p) + 2 q x (q x p)
        s, t, u = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
        points[k, 0] = points[parent, 0] + a + w * s + y * u - z * t
        points[k, 1] = points[parent, 1] + b + w * t + z * s - x * u
        points[k, 2] = points[parent, 2] + c + w * u + x * t - y * s
        i, j, m, n = rotations[k]
        rotations[k, 0] = w * i + x * n + y * m - z * j
        rotations[k, 1] = w * j - x * m + y * n + z * i
        rotations[k, 2] = w * m + x * j - y * i + z * n
        rotations[k, 3] = w * n - x * i - y * j - z * m


def _painted(name: str, items: Sequence[Shape], origin: Array) -> list[Painted]:
    by_material: dict[str, list[Solid]] = {}
    for item in items:
        by_material.setdefault(colour(item), []).append(_solid(item).moved(-origin))
    return [
        Painted(f"{name}_{material}", flat_shaded(joined(solids)), MATERIALS.get(material, MATERIALS["frame"]))
        for material, solids in by_material.items()
    ]


def _solid(item: Shape) -> Solid:
    if isinstance(item, Box):
        (x, y, z), (length, width, height) = item.centre, (0.5 * size for size in item.size)
        return box((x - length, x + length), (y - width, y + width), (z - height, z + height))
    return cylinder(item.start, item.end, item.radius)
