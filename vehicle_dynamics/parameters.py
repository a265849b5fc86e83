"""Vehicle parameters, from config/vehicles/*.yaml into validated dataclasses. SI units, chassis frame, left side."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np

from proving_ground.settings import SettingsError, setting
from proving_ground.settings.nested import build_nested, load_settings, plain_values
from vehicle_dynamics.drive.drive_parameters import Brakes, Driveline, Powertrains, Tyre
from vehicle_dynamics.equipment import Equipment
from vehicle_dynamics.parameter_fields import check_curve, check_table, damping_rate, length, mass, moment, point
from vehicle_dynamics.suspension.arm_motion_ratios import arm_motion_ratios
from vehicle_dynamics.suspension.pitman import PitmanPoints
from vehicle_dynamics.suspension.wishbone import Hardpoints

GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True, kw_only=True)
class RigidBody:
    """Mass, centre of mass and principal moments of a body."""

    mass_kg: float = mass("Mass of the body")
    centre_of_mass_m: tuple[float, float, float] = point("Centre of mass at the design position")
    inertia_kgm2: tuple[float, float, float] = moment("Principal moments of inertia about the centre of mass")

    def __post_init__(self) -> None:
        if 2.0 * max(self.inertia_kgm2) > sum(self.inertia_kgm2):
            raise ValueError(f"inertia_kgm2: no moment may exceed the sum of the others, got {list(self.inertia_kgm2)}")


@dataclass(frozen=True, kw_only=True)
class Rod:
    """A light, slender part, whose mass is subtracted from a neighbour."""

    mass_kg: float = mass("Mass of the rod")
    taken_from: str = setting(..., "Body that has this mass in the source", choices=("chassis", "lower_arm", "spindle"))


@dataclass(frozen=True, kw_only=True)
class SuspensionPoints:
    """Hardpoints of the left suspension at the design position, chassis frame."""

    lower_arm_pivot_front: tuple[float, float, float] = point("Front pivot of the lower arm on the chassis")
    lower_arm_pivot_rear: tuple[float, float, float] = point("Rear pivot of the lower arm on the chassis")
    lower_ball_joint: tuple[float, float, float] = point("Lower ball joint D")
    upper_arm_pivot_front: tuple[float, float, float] = point("Front pivot of the upper arm on the chassis")
    upper_arm_pivot_rear: tuple[float, float, float] = point("Rear pivot of the upper arm on the chassis")
    upper_ball_joint: tuple[float, float, float] = point("Upper ball joint F")
    tie_rod_inner: tuple[float, float, float] = point("Inner end L of the tie rod")
    tie_rod_outer: tuple[float, float, float] = point("Outer end K of the tie rod")
    shock_chassis: tuple[float, float, float] = point("End J of the shock on the chassis")
    shock_lower_arm: tuple[float, float, float] = point("End B of the shock on the lower arm")
    spring_chassis: tuple[float, float, float] = point("End of the spring on the chassis")
    spring_lower_arm: tuple[float, float, float] = point("End of the spring on the lower arm")
    wheel_centre: tuple[float, float, float] = point("Centre of the wheel")

    def hardpoints(self) -> Hardpoints:
        """The left side's points for the kinematics."""
        return Hardpoints(**{item.name: getattr(self, item.name) for item in fields(Hardpoints)})


@dataclass(frozen=True, kw_only=True)
class SuspensionBodies:
    """The heavy bodies of a suspension."""

    lower_arm: RigidBody
    upper_arm: RigidBody
    spindle: RigidBody


@dataclass(frozen=True, kw_only=True)
class SuspensionRods:
    """The light bodies of a suspension."""

    upright_arm: Rod
    tie_rod: Rod
    lower_shock: Rod
    upper_shock: Rod


@dataclass(frozen=True, kw_only=True)
class Spring:
    """Tabulated spring: force over compression, odd through zero."""

    free_length_m: float = length("Length of the spring without force")
    compression_m: tuple[float, ...] = setting(
        ..., "Compressions of the spring's force table", unit="m", minimum=0.0, maximum=10.0
    )
    force_n: tuple[float, ...] = setting(..., "Spring force at each compression", unit="N", minimum=0.0, maximum=1e8)
    is_captured: bool = setting(True, "Whether the spring pulls when it is longer than free; a loose one does not")

    def __post_init__(self) -> None:
        check_table("compression_m", self.compression_m, "force_n", self.force_n)


@dataclass(frozen=True, kw_only=True)
class Stops:
    """Bump and rebound stops in the spring's line."""

    bump_below_length_m: float = length("Spring length below which the bump stop acts")
    rebound_above_length_m: float = length("Spring length above which the rebound stop acts")
    penetration_m: tuple[float, ...] = setting(
        ..., "Penetrations of the stops' force table", unit="m", minimum=0.0, maximum=10.0
    )
    force_n: tuple[float, ...] = setting(..., "Force of a stop at each penetration", unit="N", minimum=0.0, maximum=1e8)

    def __post_init__(self) -> None:
        check_table("penetration_m", self.penetration_m, "force_n", self.force_n)
        if self.rebound_above_length_m <= self.bump_below_length_m:
            raise ValueError(f"rebound_above_length_m: must exceed bump_below_length_m ({self.bump_below_length_m:g})")


@dataclass(frozen=True, kw_only=True)
class Damper:
    """Piecewise linear damper, with other rates outside the middle of its stroke."""

    compression_nspm: float = damping_rate("Damping rate in compression")
    rebound_nspm: float = damping_rate("Damping rate in rebound")
    outer_compression_nspm: float = damping_rate("Damping rate in compression outside the middle of the stroke")
    outer_rebound_nspm: float = damping_rate("Damping rate in rebound outside the middle of the stroke")
    middle_from_length_m: float = length("Shock length where the middle of the stroke begins")
    middle_to_length_m: float = length("Shock length where the middle of the stroke ends")
    speed_mps: tuple[float, ...] = setting(
        (), "Speeds of the table of force_n, positive when the shock grows longer; empty: constant rates",
        unit="m/s", minimum=-100.0, maximum=100.0,
    )  # fmt: skip
    force_n: tuple[float, ...] = setting(
        (), "Resistance at each speed in the middle of the stroke, in place of the two rates",
        unit="N", minimum=-1e7, maximum=1e7,
    )  # fmt: skip

    def __post_init__(self) -> None:
        if not self.speed_mps and not self.force_n:
            return
        check_curve("speed_mps", self.speed_mps, "force_n", self.force_n)
        if any(speed * force < 0.0 for speed, force in zip(self.speed_mps, self.force_n, strict=True)):
            raise ValueError("force_n: must have the sign of the speed, a damper takes energy")
        if np.interp(0.0, self.speed_mps, self.force_n) != 0.0:
            raise ValueError("force_n: must be 0 at rest")
        if self.force_n[1] < self.force_n[0] or self.force_n[-1] < self.force_n[-2]:
            raise ValueError("force_n: must not fall at its ends, beyond which the outer slopes are kept")


@dataclass(frozen=True, kw_only=True)
class Suspension:
    """Suspension of one axle: hardpoints, masses, springs and dampers."""

    hardpoints_left_m: SuspensionPoints
    bodies: SuspensionBodies
    rods: SuspensionRods
    spring: Spring
    stops: Stops
    damper: Damper
    antiroll_nmprad: float = setting(
        0.0, "Anti-roll bar: moment on each lower arm per angle between them", unit="N m/rad", minimum=0.0, maximum=1e7
    )
    bushing_nmprad: float = setting(
        0.0,
        "Rubber bushings of the arms: moment on a lower arm per angle from the design position",
        unit="N m/rad",
        minimum=0.0,
        maximum=1e7,
    )

    def __post_init__(self) -> None:
        rods = [getattr(self.rods, item.name) for item in fields(self.rods)]
        for name in ("lower_arm", "spindle"):
            whole, taken = (
                getattr(self.bodies, name).mass_kg,
                sum(rod.mass_kg for rod in rods if rod.taken_from == name),
            )
            if taken >= 0.5 * whole:
                raise ValueError(f"rods: those taken from {name} must weigh less than half of it ({whole:g} kg)")

    def capacity_n(self) -> float:
        """Load on the wheel [N] that spring and bushings carry when the bump stop is reached, by design geometry."""
        points, spring = self.hardpoints_left_m, self.spring
        rise, change = arm_motion_ratios(points.hardpoints(), points.spring_chassis, points.spring_lower_arm)
        compression = spring.free_length_m - self.stops.bump_below_length_m
        slope = (spring.force_n[-1] - spring.force_n[-2]) / (spring.compression_m[-1] - spring.compression_m[-2])
        beyond = max(compression - spring.compression_m[-1], 0.0)
        force = float(np.interp(compression, spring.compression_m, spring.force_n)) + slope * beyond
        length_at_design = float(np.linalg.norm(np.subtract(points.spring_chassis, points.spring_lower_arm)))
        angle = (length_at_design - self.stops.bump_below_length_m) / change
        return (force * change + self.bushing_nmprad * angle) / rise


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """Spinning parts of a wheel."""

    mass_kg: float = mass("Mass of hub, rim and tyre")
    inertia_kgm2: tuple[float, float, float] = moment("Principal moments of inertia of the wheel, y is the spin axis")
    extra_spin_inertia_kgm2: float = moment("Moment of inertia about the spin axis of shafts geared to the wheel")
    radius_m: float = length("Unloaded radius of the wheel")


@dataclass(frozen=True, kw_only=True)
class Steering:
    """Pitman steering: a four-bar linkage T U V W of Pitman arm, link and idler ([Jain])."""

    pitman_pivot_m: tuple[float, float, float] = point("Pivot T of the Pitman arm")
    pitman_joint_m: tuple[float, float, float] = point("Joint U of Pitman arm and link")
    idler_joint_m: tuple[float, float, float] = point("Joint V of idler and link")
    idler_pivot_m: tuple[float, float, float] = point("Pivot W of the idler")
    axis: tuple[float, float, float] = setting(..., "Axis of both pivots", minimum=-1.0, maximum=1.0)
    max_pitman_angle_deg: float = setting(..., "Pitman angle at full steering", unit="deg", minimum=0.0, maximum=80.0)
    max_pitman_rate_degps: float = setting(
        ..., "Fastest rate of the Pitman angle", unit="deg/s", minimum=0.1, maximum=1e4
    )
    servo_bandwidth_radps: float = setting(
        ..., "Bandwidth of the critically damped steering servo", unit="rad/s", minimum=1.0, maximum=500.0
    )
    pitman_arm: RigidBody
    link: RigidBody
    idler_mass_kg: float = mass("Mass of the idler, a slender rod; the source has it in the link")

    def __post_init__(self) -> None:
        x, _, z = self.axis
        if np.hypot(x, z) < 0.1:
            raise ValueError(f"axis: must not be zero nor point along y, got {list(self.axis)}")
        if self.idler_mass_kg >= self.link.mass_kg:
            raise ValueError(f"idler_mass_kg: must be below the mass of the link ({self.link.mass_kg:g})")

    def points(self) -> PitmanPoints:
        """Points of the steering linkage for its kinematics."""
        return PitmanPoints(
            pitman_pivot=self.pitman_pivot_m,
            pitman_joint=self.pitman_joint_m,
            idler_joint=self.idler_joint_m,
            idler_pivot=self.idler_pivot_m,
            axis=self.axis,
        )


@dataclass(frozen=True, kw_only=True)
class Aerodynamics:
    """Drag; disabled in the reference vehicle."""

    drag_area_m2: float = setting(0.0, "Drag coefficient times frontal area", unit="m^2", minimum=0.0, maximum=100.0)
    centre_m: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.5), "Point where drag acts", unit="m", minimum=-100.0, maximum=100.0
    )
    air_density_kgpm3: float = setting(1.225, "Density of the air", unit="kg/m^3", minimum=0.0, maximum=10.0)


@dataclass(frozen=True, kw_only=True)
class ActuatorLags:
    """Lags of the actuators that move the pedals; that of the steering wheel is the steering's servo."""

    throttle_lag_s: float = setting(
        0.0, "Time constant of the throttle's first-order lag behind its command; 0 for none",
        unit="s", minimum=0.0, maximum=10.0,
    )  # fmt: skip
    brake_lag_s: float = setting(
        0.0, "Time constant of the brake's first-order lag behind its command; 0 for none",
        unit="s", minimum=0.0, maximum=10.0,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class BodyContact:
    """Points of the body that touch the ground when the vehicle bottoms out or rolls over."""

    points_x_m: tuple[float, ...] = setting(
        ..., "Forward positions of the contact points", unit="m", minimum=-100.0, maximum=100.0
    )
    points_y_m: tuple[float, ...] = setting(
        ..., "Lateral positions of the contact points, positive to the left", unit="m", minimum=-100.0, maximum=100.0
    )
    points_z_m: tuple[float, ...] = setting(
        ..., "Vertical positions of the contact points, positive upwards", unit="m", minimum=-100.0, maximum=100.0
    )
    stiffness_npm: float = setting(..., "Stiffness of each contact point", unit="N/m", minimum=1e3, maximum=1e7)
    damping_nspm: float = damping_rate("Damping of each contact point")
    friction: float = setting(..., "Friction coefficient of the contact points", minimum=0.0, maximum=2.0)

    def __post_init__(self) -> None:
        if not 1 <= len(self.points_x_m) == len(self.points_y_m) == len(self.points_z_m):
            raise ValueError("points_x_m, points_y_m, points_z_m: must have equally many values, at least one")


@dataclass(frozen=True, kw_only=True)
class Cargo:
    """Payload: a box of even density, fixed to the chassis."""

    centre_m: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.5), "Centre of the payload in the chassis frame", unit="m", minimum=-100.0, maximum=100.0
    )
    size_m: tuple[float, float, float] = setting(
        (1.0, 1.0, 0.5), "Length, width and height of the payload", unit="m", minimum=0.01, maximum=100.0
    )
    mass_kg: float = setting(0.0, "Mass of the payload", unit="kg", minimum=0.0, maximum=1e5)
    max_kg: float = setting(1e5, "Largest payload of the vehicle", unit="kg", minimum=0.0, maximum=1e5)

    def __post_init__(self) -> None:
        if self.mass_kg > self.max_kg:
            raise ValueError(f"mass_kg: must not exceed max_kg ({self.max_kg:g}), got {self.mass_kg:g}")


@dataclass(frozen=True, kw_only=True)
class SingleTrackPerformance:
    """Performance of the kinematic vehicle, in place of tyres, engine and brakes."""

    drive_mps2: float = setting(..., "Acceleration at full throttle from rest", unit="m/s^2", minimum=0.0, maximum=50.0)
    top_speed_mps: float = setting(
        ..., "Speed at which acceleration at full throttle has faded to zero", unit="m/s", minimum=0.1, maximum=200.0
    )
    brake_mps2: float = setting(..., "Deceleration at full brake", unit="m/s^2", minimum=0.0, maximum=50.0)
    coast_mps2: float = setting(..., "Deceleration without pedals", unit="m/s^2", minimum=0.0, maximum=10.0)


@dataclass(frozen=True, kw_only=True)
class VehicleParameters:
    """A vehicle with four double wishbones and Pitman steering."""

    name: str = setting(..., "Name of the vehicle")
    seat_m: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "Point of the driver's seat whose vibration is judged, in the chassis frame",
        unit="m", minimum=-20.0, maximum=20.0,
    )  # fmt: skip
    chassis: RigidBody
    front_suspension: Suspension
    rear_suspension: Suspension
    wheel: Wheel
    tyre: Tyre
    brakes: Brakes
    driveline: Driveline
    powertrain: Powertrains
    steering: Steering
    body_contact: BodyContact
    single_track: SingleTrackPerformance
    aerodynamics: Aerodynamics = field(default_factory=Aerodynamics)
    cargo: Cargo = field(default_factory=Cargo)
    actuators: ActuatorLags = field(default_factory=ActuatorLags)
    equipment: Equipment = field(default_factory=Equipment)

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("name: must not be empty")
        for name, load in zip(("front_suspension", "rear_suspension"), self._loads_on_springs_n(), strict=True):
            capacity = getattr(self, name).capacity_n()
            if capacity < load:
                raise ValueError(
                    f"{name}.spring: carries {1e-3 * capacity:.3g} kN per wheel at the bump stop, the vehicle needs"
                    f" {1e-3 * load:.3g} kN"
                )

    def _loads_on_springs_n(self) -> tuple[float, float]:
        """Weight of the sprung parts on each front and each rear wheel at rest, at design [N]."""
        front, rear = self.front_suspension, self.rear_suspension
        sprung = [(self.cargo.mass_kg, self.cargo.centre_m[0])]
        sprung += [
            (body.mass_kg, body.centre_of_mass_m[0])
            for body in (self.chassis, self.steering.pitman_arm, self.steering.link)
        ]
        behind, ahead = rear.hardpoints_left_m.wheel_centre[0], front.hardpoints_left_m.wheel_centre[0]
        if ahead <= behind:
            raise ValueError("rear_suspension.hardpoints_left_m: wheel_centre must be behind that of the front")
        mass = sum(part for part, _ in sprung)
        on_front = sum(part * (x - behind) for part, x in sprung) / (ahead - behind)
        return 0.5 * GRAVITY * on_front, 0.5 * GRAVITY * (mass - on_front)

    @property
    def wheelbase_m(self) -> float:
        """Distance between the axles at design [m]."""
        front, rear = (item.hardpoints_left_m.wheel_centre for item in (self.front_suspension, self.rear_suspension))
        return front[0] - rear[0]

    def loaded(self, payload_kg: float) -> VehicleParameters:
        """The vehicle with a payload [kg]; raises SettingsError beyond what it can carry."""
        cargo = plain_values(self.cargo) | {"mass_kg": payload_kg}
        try:
            return replace(self, cargo=build_nested(Cargo, cargo, "cargo"))
        except SettingsError:
            raise
        except ValueError as error:  # the springs cannot carry it
            raise SettingsError(f"cargo: mass_kg {payload_kg:g}: {error}") from None

    @staticmethod
    def from_yaml(path: Path) -> VehicleParameters:
        """Read and check; raises SettingsError with file, line, key and what is allowed."""
        return load_settings(path, VehicleParameters)
