"""The vehicle as a general mechanism (mechanism.py): chassis and 32 bodies, 6 + 44 velocities, 36 loop constraints.

By default the steering is held at the design position: its bodies are part of the chassis, on which the front tie rods
end. With free steering there are three more bodies and velocities and two more constraints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.mechanism import ROOT, Axis, Body, Cut, Mechanism, Motion
from vehicle_dynamics.multibody.spatial import skew
from vehicle_dynamics.parameters import Cargo, RigidBody, Suspension, VehicleParameters
from vehicle_dynamics.suspension.wishbone import WishboneGeometry

Array = NDArray[np.float64]

ROD_RADIUS = 0.02  # [m], for the inertia of the light rods about their own axis
Lump = tuple[float, Array, Array]  # mass, centre, inertia about the centre


def vehicle_mechanism(parameters: VehicleParameters, steering_is_free: bool = False) -> Mechanism:
    """The vehicle as bodies, hinges and cuts, named 'front_left.lower_arm' and so on; the root is the chassis."""
    bodies: list[Body] = []
    cuts: list[Cut] = []
    tie_carrier = {"front": ROOT, "rear": ROOT}
    if steering_is_free:
        bodies += steering_bodies(parameters)
        cuts.append(_idler_cut(parameters))
        tie_carrier["front"] = "steering.link"
    for corner in CORNERS:
        builder = CornerBuilder(parameters, corner)
        bodies += builder.bodies()
        cuts += builder.cuts(tie_carrier[corner.split("_")[0]])
    mass, centre, inertia = chassis_lump(parameters, steering_is_fixed=not steering_is_free)
    return Mechanism(tuple(bodies), tuple(cuts), mass, _triple(centre), inertia)


def chassis_lump(parameters: VehicleParameters, steering_is_fixed: bool) -> Lump:
    """The chassis less the rods whose mass is subtracted from it, with the payload; with the steering when fixed."""
    taken = [rod for corner in CORNERS for rod in CornerBuilder(parameters, corner).taken_from("chassis")]
    chassis = without(_lump(parameters.chassis, np.eye(3)), taken)
    if parameters.cargo.mass_kg > 0.0:
        chassis = joined([chassis, _payload(parameters.cargo)])
    return joined([chassis, *steering_lumps(parameters).values()]) if steering_is_fixed else chassis


def _payload(cargo: Cargo) -> Lump:
    """A box of even density."""
    x, y, z = (size * size for size in cargo.size_m)
    inertia = cargo.mass_kg / 12.0 * np.diag([y + z, x + z, x + y])
    return cargo.mass_kg, np.array(cargo.centre_m), inertia


def steering_lumps(parameters: VehicleParameters) -> dict[str, Lump]:
    """Pitman arm, link and idler at design."""
    steering, frame = parameters.steering, _steering_axes(parameters)
    idler = slender(steering.idler_mass_kg, steering.idler_pivot_m, steering.idler_joint_m)
    return {
        "pitman_arm": _lump(steering.pitman_arm, frame),
        "link": without(_lump(steering.link, frame), [idler]),
        "idler": idler,
    }


def steering_bodies(parameters: VehicleParameters) -> list[Body]:
    """Pitman arm with the link, and idler, all rotating about parallel axes."""
    steering = parameters.steering
    hinges = {
        "pitman_arm": (ROOT, steering.pitman_pivot_m),
        "link": ("steering.pitman_arm", steering.pitman_joint_m),
        "idler": (ROOT, steering.idler_pivot_m),
    }
    return [
        Body(f"steering.{name}", parent, (_revolute(steering.axis, pivot),), mass, _triple(centre), inertia)
        for (name, (parent, pivot)), (mass, centre, inertia) in zip(
            hinges.items(), steering_lumps(parameters).values(), strict=True
        )
    ]


def _idler_cut(parameters: VehicleParameters) -> Cut:
    """V: holds in the plane of the steering only, since the axes are parallel."""
    frame = _steering_axes(parameters)
    across = (_triple(frame[:, 0]), _triple(frame[:, 1]))
    return Cut("steering.V", "steering.idler", "steering.link", parameters.steering.idler_joint_m, across)


def without(whole: Lump, parts: list[Lump]) -> Lump:
    """The remainder without the parts: less their mass and moment of mass. The inertia is kept, parts being small."""
    mass = whole[0] - sum(part[0] for part in parts)
    centre = (whole[0] * whole[1] - sum((part[0] * part[1] for part in parts), np.zeros(3))) / mass
    return mass, centre, whole[2]


def joined(lumps: list[Lump]) -> Lump:
    """Several bodies as one (parallel axes)."""
    mass = sum(lump[0] for lump in lumps)
    centre = sum((lump[0] * lump[1] for lump in lumps), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part_mass, part_centre, part_inertia in lumps:
        offset = skew(part_centre - centre)
        inertia += part_inertia - part_mass * offset @ offset
    return mass, centre, inertia


class CornerBuilder:
    """Builds one suspension. The right side mirrors the left one's points and inertias."""

    def __init__(self, parameters: VehicleParameters, corner: str) -> None:
        front = corner.startswith("front")
        self.corner = corner
        self.suspension: Suspension = parameters.front_suspension if front else parameters.rear_suspension
        self.wheel = parameters.wheel
        self.mirror = np.diag([1.0, 1.0 if corner.endswith("left") else -1.0, 1.0])
        points = self.suspension.hardpoints_left_m.hardpoints()
        self.points = points if corner.endswith("left") else points.mirrored()
        self.geometry: WishboneGeometry = self.points.geometry()
        self.rods = self._rods()

    def lumps(self) -> dict[str, Lump]:
        """Mass, centre and inertia of each body of this side, at design."""
        p, heavy, rods = self.points, self.suspension.bodies, self.rods
        lower_axes = self._arm_axes(p.lower_arm_pivot_rear, p.lower_arm_pivot_front, p.lower_ball_joint)
        upper_axes = self._arm_axes(p.upper_arm_pivot_rear, p.upper_arm_pivot_front, p.upper_ball_joint)
        spin = np.diag(self.wheel.inertia_kgm2) + np.diag([0.0, self.wheel.extra_spin_inertia_kgm2, 0.0])
        return {
            **rods,
            "lower_arm": without(self._mirrored(heavy.lower_arm, lower_axes), self.taken_from("lower_arm")),
            "upper_arm": self._mirrored(heavy.upper_arm, upper_axes),
            "spindle": without(self._mirrored(heavy.spindle, np.eye(3)), self.taken_from("spindle")),
            "wheel": (self.wheel.mass_kg, np.array(p.wheel_centre), spin),
        }

    def taken_from(self, body: str) -> list[Lump]:
        """The rods whose mass is part of the given body in the source."""
        return [rod for name, rod in self.rods.items() if getattr(self.suspension.rods, name).taken_from == body]

    def tie_cross(self) -> Array:
        """First axis of the tie rod's universal joint on the spindle: across the upright and the rod."""
        upright = np.subtract(self.geometry.upper_ball, self.geometry.lower_ball)
        across = np.cross(upright, np.subtract(self.points.tie_rod_inner, self.points.tie_rod_outer))
        return np.asarray(across / np.linalg.norm(across))

    def bodies(self) -> list[Body]:
        """The bodies with their hinges, each after its parent."""
        g, p = self.geometry, self.points
        upright = np.subtract(g.upper_ball, g.lower_ball)
        tie = np.subtract(p.tie_rod_inner, p.tie_rod_outer)
        shock = np.subtract(p.shock_chassis, p.shock_lower_arm)
        hinges = {
            "lower_arm": (ROOT, (_revolute(g.lower_axis, g.lower_pivot),)),
            "upright_arm": ("lower_arm", universal(g.lower_axis, upright, g.lower_ball)),
            "spindle": ("upright_arm", (_revolute(upright, g.lower_ball),)),
            "wheel": ("spindle", (_revolute((0.0, 1.0, 0.0), p.wheel_centre),)),
            "tie_rod": ("spindle", universal(self.tie_cross(), tie, p.tie_rod_outer)),
            "upper_arm": (ROOT, (_revolute(g.upper_axis, g.upper_pivot),)),
            "lower_shock": ("lower_arm", universal(g.lower_axis, shock, p.shock_lower_arm)),
            "upper_shock": ("lower_shock", (_slide(shock, p.shock_chassis),)),
        }
        lumps = self.lumps()
        return [self._body(name, parent, lumps[name], axes) for name, (parent, axes) in hinges.items()]

    def cuts(self, tie_carrier: str) -> list[Cut]:
        """The joints that close the loops; the tie rod ends on the named body."""
        name, p = self.corner, self.points
        return [
            Cut(f"{name}.F", f"{name}.upper_arm", f"{name}.upright_arm", p.upper_ball_joint),
            Cut(f"{name}.L", tie_carrier, f"{name}.tie_rod", p.tie_rod_inner),
            Cut(f"{name}.J", ROOT, f"{name}.upper_shock", p.shock_chassis),
        ]

    def _rods(self) -> dict[str, Lump]:
        p, rods = self.points, self.suspension.rods
        middle = tuple(np.add(p.shock_chassis, p.shock_lower_arm) / 2.0)  # each shock tube is half as long as the shock
        return {
            "upright_arm": slender(rods.upright_arm.mass_kg, p.lower_ball_joint, p.upper_ball_joint),
            "tie_rod": slender(rods.tie_rod.mass_kg, p.tie_rod_inner, p.tie_rod_outer),
            "lower_shock": slender(rods.lower_shock.mass_kg, p.shock_lower_arm, _triple(middle)),
            "upper_shock": slender(rods.upper_shock.mass_kg, _triple(middle), p.shock_chassis),
        }

    def _mirrored(self, body: RigidBody, axes: Array) -> Lump:
        """The body of this side; `axes` are the columns of its principal axes on this side."""
        return body.mass_kg, self.mirror @ body.centre_of_mass_m, axes @ np.diag(body.inertia_kgm2) @ axes.T

    def _arm_axes(self, rear: Vector3, front: Vector3, ball: Vector3) -> Array:
        """Principal axes of an arm: from rear to front pivot, -, and the normal of its three points."""
        x = np.subtract(front, rear)
        z = np.cross(x, np.subtract(ball, rear))
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        return np.column_stack([x, np.cross(z, x), z])

    def _body(self, name: str, parent: str, lump: Lump, axes: tuple[Axis, ...]) -> Body:
        mass, centre, inertia = lump
        full_parent = parent if parent == ROOT else f"{self.corner}.{parent}"
        return Body(f"{self.corner}.{name}", full_parent, axes, mass, _triple(centre), inertia)


def slender(mass: float, start: Vector3, end: Vector3) -> Lump:
    """A thin rod of a mass [kg] between two points [m]."""
    span = np.subtract(end, start)
    length = float(np.linalg.norm(span))
    along = span / length
    axial, across = mass * ROD_RADIUS**2 / 2.0, mass * (length**2 / 12.0 + ROD_RADIUS**2 / 4.0)
    inertia = across * np.eye(3) + (axial - across) * np.outer(along, along)
    return mass, np.add(start, end) / 2.0, inertia


def universal(first: Vector3 | Array, rod: Array, point: Vector3) -> tuple[Axis, Axis]:
    """A universal joint that carries a rod: the second axis is perpendicular to the first and to the rod."""
    return _revolute(first, point), _revolute(np.cross(rod, first), point)


def _revolute(direction: Vector3 | Array, point: Vector3) -> Axis:
    return Axis(Motion.REVOLUTE, _triple(np.divide(direction, np.linalg.norm(direction))), point)


def _slide(direction: Array, point: Vector3) -> Axis:
    return Axis(Motion.SLIDE, _triple(direction / np.linalg.norm(direction)), point)


def _lump(body: RigidBody, axes: Array) -> Lump:
    return body.mass_kg, np.array(body.centre_of_mass_m), axes @ np.diag(body.inertia_kgm2) @ axes.T


def _steering_axes(parameters: VehicleParameters) -> Array:
    z = np.array(parameters.steering.axis) / np.linalg.norm(parameters.steering.axis)
    x = np.cross([0.0, 1.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _triple(values: Array | tuple[float, ...]) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z
