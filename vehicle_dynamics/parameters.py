"""The vehicle's numbers, from config/vehicles/*.yaml into validated dataclasses. SI units, chassis frame, left side."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from settings import setting
from settings.nested import load_settings
from vehicle_dynamics.kernels.table import MOST_TABLE_VALUES
from vehicle_dynamics.suspension.pitman import PitmanPoints
from vehicle_dynamics.suspension.wishbone import Hardpoints

MOST_GEARS = 12


def _mass(description: str) -> Any:
    return setting(..., description, unit="kg", minimum=1e-6, maximum=1e6)


def _point(description: str) -> Any:
    return setting(..., description, unit="m", minimum=-100.0, maximum=100.0)


def _moment(description: str) -> Any:
    return setting(..., description, unit="kg m^2", minimum=0.0, maximum=1e7)


def _length(description: str) -> Any:
    return setting(..., description, unit="m", minimum=1e-6, maximum=100.0)


def _rate(description: str) -> Any:
    return setting(..., description, unit="N s/m", minimum=0.0, maximum=1e7)


@dataclass(frozen=True, kw_only=True)
class RigidBody:
    """Mass, place and principal moments of a body."""

    mass_kg: float = _mass("Mass")
    centre_of_mass_m: tuple[float, float, float] = _point("Centre of mass at design")
    inertia_kgm2: tuple[float, float, float] = _moment("Principal moments about the centre of mass")

    def __post_init__(self) -> None:
        if 2.0 * max(self.inertia_kgm2) > sum(self.inertia_kgm2):
            raise ValueError(f"inertia_kgm2: no moment may exceed the sum of the others, got {list(self.inertia_kgm2)}")


@dataclass(frozen=True, kw_only=True)
class Rod:
    """A light, slender part, whose mass is taken from a neighbour."""

    mass_kg: float = _mass("Mass")
    taken_from: str = setting(..., "Body that has this mass in the source", choices=("chassis", "lower_arm", "spindle"))


@dataclass(frozen=True, kw_only=True)
class SuspensionPoints:
    """Hardpoints of the left suspension at the design position, chassis frame."""

    lower_arm_pivot_front: tuple[float, float, float] = _point("Lower arm on the chassis, front")
    lower_arm_pivot_rear: tuple[float, float, float] = _point("Lower arm on the chassis, rear")
    lower_ball_joint: tuple[float, float, float] = _point("D")
    upper_arm_pivot_front: tuple[float, float, float] = _point("Upper arm on the chassis, front")
    upper_arm_pivot_rear: tuple[float, float, float] = _point("Upper arm on the chassis, rear")
    upper_ball_joint: tuple[float, float, float] = _point("F")
    tie_rod_inner: tuple[float, float, float] = _point("L")
    tie_rod_outer: tuple[float, float, float] = _point("K")
    shock_chassis: tuple[float, float, float] = _point("J")
    shock_lower_arm: tuple[float, float, float] = _point("B")
    spring_chassis: tuple[float, float, float] = _point("Spring on the chassis")
    spring_lower_arm: tuple[float, float, float] = _point("Spring on the lower arm")
    wheel_centre: tuple[float, float, float] = _point("Centre of the wheel")

    def hardpoints(self) -> Hardpoints:
        """What the kinematics need of the left side."""
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

    free_length_m: float = _length("Length without force")
    compression_m: tuple[float, ...] = setting(..., "Compression", unit="m", minimum=0.0, maximum=10.0)
    force_n: tuple[float, ...] = setting(..., "Force", unit="N", minimum=0.0, maximum=1e8)

    def __post_init__(self) -> None:
        _check_table("compression_m", self.compression_m, "force_n", self.force_n)


@dataclass(frozen=True, kw_only=True)
class Stops:
    """Bump and rebound stops in the spring's line."""

    bump_below_length_m: float = _length("Spring length below which the bump stop acts")
    rebound_above_length_m: float = _length("Spring length above which the rebound stop acts")
    penetration_m: tuple[float, ...] = setting(..., "Penetration", unit="m", minimum=0.0, maximum=10.0)
    force_n: tuple[float, ...] = setting(..., "Force", unit="N", minimum=0.0, maximum=1e8)

    def __post_init__(self) -> None:
        _check_table("penetration_m", self.penetration_m, "force_n", self.force_n)
        if self.rebound_above_length_m <= self.bump_below_length_m:
            raise ValueError(f"rebound_above_length_m: must exceed bump_below_length_m ({self.bump_below_length_m:g})")


@dataclass(frozen=True, kw_only=True)
class Damper:
    """Piecewise linear damper, with other rates outside the middle of its stroke."""

    compression_nspm: float = _rate("Rate in compression")
    rebound_nspm: float = _rate("Rate in rebound")
    outer_compression_nspm: float = _rate("Rate in compression outside the middle")
    outer_rebound_nspm: float = _rate("Rate in rebound outside the middle")
    middle_from_length_m: float = _length("Shock length where the middle begins")
    middle_to_length_m: float = _length("Shock length where the middle ends")


@dataclass(frozen=True, kw_only=True)
class Suspension:
    """One axle's suspension."""

    hardpoints_left_m: SuspensionPoints
    bodies: SuspensionBodies
    rods: SuspensionRods
    spring: Spring
    stops: Stops
    damper: Damper

    def __post_init__(self) -> None:
        rods = [getattr(self.rods, item.name) for item in fields(self.rods)]
        for name in ("lower_arm", "spindle"):
            whole, taken = (
                getattr(self.bodies, name).mass_kg,
                sum(rod.mass_kg for rod in rods if rod.taken_from == name),
            )
            if taken >= 0.5 * whole:
                raise ValueError(f"rods: those taken from {name} must weigh less than half of it ({whole:g} kg)")


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """What spins."""

    mass_kg: float = _mass("Mass of hub, rim and tyre")
    inertia_kgm2: tuple[float, float, float] = _moment("Principal moments, y is the spin axis")
    extra_spin_inertia_kgm2: float = _moment("Shafts geared to the wheel")
    radius_m: float = _length("Unloaded radius")


@dataclass(frozen=True, kw_only=True)
class TyreDirection:
    """TMeasy's five numbers of one direction, each at the nominal load and at twice that."""

    slope_n: tuple[float, float] = setting(..., "Force per slip at zero slip", unit="N", minimum=1.0, maximum=1e8)
    max_n: tuple[float, float] = setting(..., "Largest force", unit="N", minimum=1.0, maximum=1e7)
    max_slip: tuple[float, float] = setting(..., "Slip of the largest force", minimum=1e-4, maximum=10.0)
    slide_n: tuple[float, float] = setting(..., "Force when sliding", unit="N", minimum=1.0, maximum=1e7)
    slide_slip: tuple[float, float] = setting(..., "Slip from where on it slides", minimum=1e-4, maximum=10.0)

    def __post_init__(self) -> None:
        for index in range(2):
            if self.slide_slip[index] <= self.max_slip[index]:
                raise ValueError(f"slide_slip: must exceed max_slip ({self.max_slip[index]:g})")
            if self.slide_n[index] > self.max_n[index]:
                raise ValueError(f"slide_n: must not exceed max_n ({self.max_n[index]:g})")
            if self.slope_n[index] * self.max_slip[index] < self.max_n[index]:
                raise ValueError("slope_n: is too small to reach max_n at max_slip")
        if self.max_n[1] > 2.0 * self.max_n[0] or self.slope_n[1] > 2.0 * self.slope_n[0]:
            raise ValueError("max_n, slope_n: must not grow faster than the load")


@dataclass(frozen=True, kw_only=True)
class Tyre:
    """A tyre by TMeasy; its unloaded radius is the wheel's."""

    width_m: float = _length("Width")
    stiffness_npm: float = setting(..., "Vertical stiffness", unit="N/m", minimum=1e3, maximum=1e8)
    damping_nspm: float = _rate("Vertical damping")
    bottoming_from_m: float = _length("Deflection from which the rim helps to carry")
    bottoming_stiffness_npm: float = setting(..., "Its stiffness", unit="N/m", minimum=0.0, maximum=1e9)
    nominal_load_n: float = setting(..., "Load of the first value of each pair", unit="N", minimum=1.0, maximum=1e6)
    max_load_n: float = setting(..., "Load beyond which forces do not grow", unit="N", minimum=1.0, maximum=1e6)
    reference_friction: float = setting(..., "Friction coefficient of the test road", minimum=0.1, maximum=1.5)
    rolling_resistance: float = setting(..., "Rolling resistance over load", minimum=0.0, maximum=0.5)
    longitudinal: TyreDirection
    lateral: TyreDirection
    trail_over_length: tuple[float, float] = setting(..., "Pneumatic trail over patch length", minimum=0.0, maximum=1.0)
    trail_zero_slip: tuple[float, float] = setting(..., "Lateral slip of zero trail", minimum=1e-4, maximum=10.0)
    trail_end_slip: tuple[float, float] = setting(..., "Lateral slip where trail ends", minimum=1e-4, maximum=10.0)
    deflection_stiffness_npm: tuple[float, float] = setting(
        ..., "Stiffness of the carcass along and across the wheel", unit="N/m", minimum=1e3, maximum=1e8
    )
    deflection_damping_nspm: tuple[float, float] = setting(
        ..., "Its damping along and across", unit="N s/m", minimum=0.0, maximum=1e7
    )

    def __post_init__(self) -> None:
        if self.max_load_n < self.nominal_load_n:
            raise ValueError(f"max_load_n: must be at least nominal_load_n ({self.nominal_load_n:g})")
        if any(end <= zero for end, zero in zip(self.trail_end_slip, self.trail_zero_slip, strict=True)):
            raise ValueError("trail_end_slip: must exceed trail_zero_slip")


@dataclass(frozen=True, kw_only=True)
class Brakes:
    """Disc brakes of one kind on all wheels; forces are those of a pad at full brake."""

    friction: float = setting(..., "Friction coefficient of pad and disc", minimum=0.01, maximum=1.0)
    front_force_n: float = setting(..., "Force on a front pad", unit="N", minimum=0.0, maximum=1e6)
    front_radius_m: float = _length("Distance of the front pads from the wheel's axis")
    rear_force_n: float = setting(..., "Force on a rear pad", unit="N", minimum=0.0, maximum=1e6)
    rear_radius_m: float = _length("Distance of the rear pads from the wheel's axis")
    stiction_stiffness_nmprad: float = setting(
        ..., "Stiffness of a held wheel", unit="N m/rad", minimum=1.0, maximum=1e7
    )
    stiction_damping_nmsprad: float = setting(..., "Its damping", unit="N m s/rad", minimum=0.0, maximum=1e6)
    transition_radps: float = setting(
        ..., "Spin rate at which sliding takes over", unit="rad/s", minimum=1e-3, maximum=100.0
    )


@dataclass(frozen=True, kw_only=True)
class Driveline:
    """All-wheel drive with three open differentials."""

    bevel_ratio: float = setting(..., "Wheel speed over propeller shaft speed", minimum=0.01, maximum=1.0)
    drive_shaft_inertia_kgm2: float = _moment("Shaft from the gearbox to the centre differential")
    axle_shaft_inertia_kgm2: float = _moment("Propeller shaft to one axle")
    differential_inertia_kgm2: float = _moment("Box of one axle's differential, which turns with its wheels")


def _ratios(description: str) -> Any:
    return setting(..., description, minimum=1e-3, maximum=100.0)


def _torques(description: str) -> Any:
    return setting(..., description, unit="N m", minimum=-1e5, maximum=1e5)


@dataclass(frozen=True, kw_only=True)
class MapPowertrain:
    """An engine geared to the drive shaft; ratios are output over input speed."""

    speed_radps: tuple[float, ...] = setting(..., "Engine speeds", unit="rad/s", minimum=-1e4, maximum=1e4)
    zero_throttle_nm: tuple[float, ...] = _torques("Torque without throttle")
    full_throttle_nm: tuple[float, ...] = _torques("Torque at full throttle")
    forward_ratios: tuple[float, ...] = _ratios("Forward gears")
    reverse_ratio: float = setting(..., "Reverse gear", minimum=-100.0, maximum=-1e-3)
    downshift_rpm: tuple[float, ...] = setting(..., "Shift down below", unit="rpm", minimum=0.0, maximum=1e5)
    upshift_rpm: tuple[float, ...] = setting(..., "Shift up above", unit="rpm", minimum=0.0, maximum=1e5)

    def __post_init__(self) -> None:
        for name in ("zero_throttle_nm", "full_throttle_nm"):
            _check_curve("speed_radps", self.speed_radps, name, getattr(self, name))
        _check_gears(self.forward_ratios)
        for name in ("downshift_rpm", "upshift_rpm"):
            if len(getattr(self, name)) != len(self.forward_ratios):
                raise ValueError(f"{name}: must have as many values as forward_ratios ({len(self.forward_ratios)})")


@dataclass(frozen=True, kw_only=True)
class ConverterPowertrain:
    """Engine, torque converter and gearbox; ratios are output over input speed."""

    engine_inertia_kgm2: float = _moment("Crankshaft and what turns with it")
    full_throttle_rpm: tuple[float, ...] = setting(..., "Engine speeds", unit="rpm", minimum=-1e5, maximum=1e5)
    full_throttle_nm: tuple[float, ...] = _torques("Torque at full throttle")
    losses_rpm: tuple[float, ...] = setting(..., "Engine speeds", unit="rpm", minimum=-1e5, maximum=1e5)
    losses_nm: tuple[float, ...] = _torques("Losses, at any throttle")
    capacity_speed_ratio: tuple[float, ...] = setting(..., "Speed ratios", minimum=0.0, maximum=1.0)
    capacity: tuple[float, ...] = setting(..., "Capacity factor", unit="rad/s per sqrt(N m)", minimum=0.1, maximum=1e3)
    torque_speed_ratio: tuple[float, ...] = setting(..., "Speed ratios", minimum=0.0, maximum=1.0)
    torque_ratio: tuple[float, ...] = setting(..., "Torque out over torque in", minimum=0.0, maximum=10.0)
    input_shaft_inertia_kgm2: float = _moment("Shaft between converter and gears")
    forward_ratios: tuple[float, ...] = _ratios("Forward gears")
    reverse_ratio: float = setting(..., "Reverse gear", minimum=-100.0, maximum=-1e-3)
    upshift_rpm: float = setting(..., "Shift up above", unit="rpm", minimum=0.0, maximum=1e5)
    downshift_rpm: float = setting(..., "Shift down below", unit="rpm", minimum=0.0, maximum=1e5)
    shift_pause_s: float = setting(..., "Least time between shifts", unit="s", minimum=0.0, maximum=60.0)

    def __post_init__(self) -> None:
        _check_curve("full_throttle_rpm", self.full_throttle_rpm, "full_throttle_nm", self.full_throttle_nm)
        _check_curve("losses_rpm", self.losses_rpm, "losses_nm", self.losses_nm)
        _check_curve("capacity_speed_ratio", self.capacity_speed_ratio, "capacity", self.capacity)
        _check_curve("torque_speed_ratio", self.torque_speed_ratio, "torque_ratio", self.torque_ratio)
        _check_gears(self.forward_ratios)
        if self.upshift_rpm <= self.downshift_rpm:
            raise ValueError(f"upshift_rpm: must exceed downshift_rpm ({self.downshift_rpm:g})")
        if self.engine_inertia_kgm2 <= 0.0:
            raise ValueError("engine_inertia_kgm2: must be above 0")


@dataclass(frozen=True, kw_only=True)
class Powertrains:
    """Both kinds; a scenario picks one."""

    map: MapPowertrain
    converter: ConverterPowertrain


@dataclass(frozen=True, kw_only=True)
class Steering:
    """Pitman steering T U V W."""

    pitman_pivot_m: tuple[float, float, float] = _point("T")
    pitman_joint_m: tuple[float, float, float] = _point("U")
    idler_joint_m: tuple[float, float, float] = _point("V")
    idler_pivot_m: tuple[float, float, float] = _point("W")
    axis: tuple[float, float, float] = setting(..., "Axis of both pivots", minimum=-1.0, maximum=1.0)
    max_pitman_angle_deg: float = setting(..., "At full steering", unit="deg", minimum=0.0, maximum=80.0)
    max_pitman_rate_degps: float = setting(..., "Fastest steering", unit="deg/s", minimum=0.1, maximum=1e4)
    pitman_arm: RigidBody
    link: RigidBody
    idler_mass_kg: float = _mass("Mass of the idler, a slender rod; the source has it in the link")

    def __post_init__(self) -> None:
        x, _, z = self.axis
        if np.hypot(x, z) < 0.1:
            raise ValueError(f"axis: must not be zero nor point along y, got {list(self.axis)}")
        if self.idler_mass_kg >= self.link.mass_kg:
            raise ValueError(f"idler_mass_kg: must be below the mass of the link ({self.link.mass_kg:g})")

    def points(self) -> PitmanPoints:
        """What the kinematics need."""
        return PitmanPoints(
            pitman_pivot=self.pitman_pivot_m,
            pitman_joint=self.pitman_joint_m,
            idler_joint=self.idler_joint_m,
            idler_pivot=self.idler_pivot_m,
            axis=self.axis,
        )


@dataclass(frozen=True, kw_only=True)
class VehicleParameters:
    """A vehicle with four double wishbones and Pitman steering."""

    name: str = setting(..., "Name")
    chassis: RigidBody
    front_suspension: Suspension
    rear_suspension: Suspension
    wheel: Wheel
    tyre: Tyre
    brakes: Brakes
    driveline: Driveline
    powertrain: Powertrains
    steering: Steering

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("name: must not be empty")

    @staticmethod
    def from_yaml(path: Path) -> VehicleParameters:
        """Read and check; raises SettingsError with file, line, key and what is allowed."""
        return load_settings(path, VehicleParameters)


def _check_curve(x_name: str, x: tuple[float, ...], y_name: str, y: tuple[float, ...]) -> None:
    if not 2 <= len(x) <= MOST_TABLE_VALUES:
        raise ValueError(f"{x_name}: must have 2 to {MOST_TABLE_VALUES} values, got {len(x)}")
    if len(x) != len(y):
        raise ValueError(f"{y_name}: must have as many values as {x_name} ({len(x)}), got {len(y)}")
    if not np.all(np.diff(x) > 0.0):
        raise ValueError(f"{x_name}: must rise from value to value")


def _check_table(x_name: str, x: tuple[float, ...], y_name: str, y: tuple[float, ...]) -> None:
    _check_curve(x_name, x, y_name, y)
    if x[0] != 0.0 or y[0] != 0.0:
        raise ValueError(f"{x_name}, {y_name}: must begin with 0, got {x[0]:g} and {y[0]:g}")


def _check_gears(ratios: tuple[float, ...]) -> None:
    if not 1 <= len(ratios) <= MOST_GEARS:
        raise ValueError(f"forward_ratios: must have 1 to {MOST_GEARS} values, got {len(ratios)}")
    if not np.all(np.diff(ratios) > 0.0):
        raise ValueError("forward_ratios: must rise from gear to gear")
