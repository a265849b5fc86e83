"""Parameters of tyres, brakes, driveline and powertrains, from config/vehicles/*.yaml. SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from proving_ground.settings import setting
from vehicle_dynamics.parameter_fields import check_curve, damping_rate, length, moment

MOST_GEARS = 12
MOST_STRIPS = 20  # the kernels' arrays hold this many


@dataclass(frozen=True, kw_only=True)
class TyreDirection:
    """TMeasy's five parameters of one direction, each at the nominal load and at twice that."""

    slope_n: tuple[float, float] = setting(..., "Force per slip at zero slip", unit="N", minimum=1.0, maximum=1e8)
    max_n: tuple[float, float] = setting(..., "Largest force of the tyre", unit="N", minimum=1.0, maximum=1e7)
    max_slip: tuple[float, float] = setting(
        ..., "Slip at the largest force, at one and at two nominal loads", minimum=1e-4, maximum=10.0
    )
    slide_n: tuple[float, float] = setting(
        ..., "Force of the sliding tyre at one and at two nominal loads", unit="N", minimum=1.0, maximum=1e7
    )
    slide_slip: tuple[float, float] = setting(
        ..., "Slip above which the tyre slides, at one and at two nominal loads", minimum=1e-4, maximum=10.0
    )

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

    width_m: float = length("Width of the tyre")
    stiffness_npm: float = setting(..., "Vertical stiffness of the tyre", unit="N/m", minimum=1e3, maximum=1e8)
    damping_nspm: float = damping_rate("Vertical damping of the tyre")
    bottoming_from_m: float = length("Deflection from which the rim helps to carry")
    bottoming_stiffness_npm: float = setting(
        ..., "Stiffness of the rim that helps to carry", unit="N/m", minimum=0.0, maximum=1e9
    )
    nominal_load_n: float = setting(
        ..., "Nominal load, at which the first value of each pair holds", unit="N", minimum=1.0, maximum=1e6
    )
    max_load_n: float = setting(..., "Load beyond which forces do not grow", unit="N", minimum=1.0, maximum=1e6)
    reference_friction: float = setting(..., "Friction coefficient of the test road", minimum=0.1, maximum=1.5)
    characteristic: str = setting(
        "full", "Force over slip: TMeasy's whole curve, or straight up to the largest force", choices=("full", "linear")
    )
    rolling_resistance: float = setting(..., "Rolling resistance over load", minimum=0.0, maximum=0.5)
    arc_samples: int = setting(24, "Points along the contact with soft soil", minimum=4, maximum=200)
    strip_samples: int = setting(3, "Points across the contact with soft soil", minimum=1, maximum=MOST_STRIPS)
    longitudinal: TyreDirection
    lateral: TyreDirection
    trail_over_length: tuple[float, float] = setting(..., "Pneumatic trail over patch length", minimum=0.0, maximum=1.0)
    trail_zero_slip: tuple[float, float] = setting(..., "Lateral slip of zero trail", minimum=1e-4, maximum=10.0)
    trail_end_slip: tuple[float, float] = setting(..., "Lateral slip where trail ends", minimum=1e-4, maximum=10.0)
    deflection_stiffness_npm: tuple[float, float] = setting(
        ..., "Stiffness of the carcass along and across the wheel", unit="N/m", minimum=1e3, maximum=1e8
    )
    deflection_damping_nspm: tuple[float, float] = setting(
        ..., "Damping of the carcass along and across the wheel", unit="N s/m", minimum=0.0, maximum=1e7
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
    front_radius_m: float = length("Distance of the front pads from the wheel's axis")
    rear_force_n: float = setting(..., "Force on a rear pad", unit="N", minimum=0.0, maximum=1e6)
    rear_radius_m: float = length("Distance of the rear pads from the wheel's axis")
    stiction_stiffness_nmprad: float = setting(
        ..., "Stiffness of a wheel that the brake holds", unit="N m/rad", minimum=1.0, maximum=1e7
    )
    stiction_damping_nmsprad: float = setting(
        ..., "Damping of a wheel that the brake holds", unit="N m s/rad", minimum=0.0, maximum=1e6
    )
    transition_radps: float = setting(
        ..., "Spin rate at which sliding takes over", unit="rad/s", minimum=1e-3, maximum=100.0
    )


@dataclass(frozen=True, kw_only=True)
class Driveline:
    """All-wheel drive with three open differentials."""

    bevel_ratio: float = setting(..., "Wheel speed over propeller shaft speed", minimum=0.01, maximum=1.0)
    drive_shaft_inertia_kgm2: float = moment(
        "Moment of inertia of the shaft from the gearbox to the centre differential"
    )
    axle_shaft_inertia_kgm2: float = moment("Moment of inertia of the propeller shaft to one axle")
    differential_inertia_kgm2: float = moment(
        "Moment of inertia of one axle's differential box, which spins with its wheels"
    )


def _ratios(description: str) -> Any:
    return setting(..., description, minimum=1e-3, maximum=100.0)


def _torques(description: str) -> Any:
    return setting(..., description, unit="N m", minimum=-1e5, maximum=1e5)


@dataclass(frozen=True, kw_only=True)
class MapPowertrain:
    """An engine geared to the drive shaft; ratios are output over input speed."""

    speed_radps: tuple[float, ...] = setting(
        ..., "Engine speeds of the torque tables", unit="rad/s", minimum=-1e4, maximum=1e4
    )
    zero_throttle_nm: tuple[float, ...] = _torques("Engine torque without throttle")
    full_throttle_nm: tuple[float, ...] = _torques("Engine torque at full throttle")
    forward_ratios: tuple[float, ...] = _ratios("Gear ratios of the forward gears")
    reverse_ratio: float = setting(..., "Gear ratio of the reverse gear", minimum=-100.0, maximum=-1e-3)
    downshift_rpm: tuple[float, ...] = setting(
        ..., "Engine speed below which each gear shifts down", unit="rpm", minimum=0.0, maximum=1e5
    )
    upshift_rpm: tuple[float, ...] = setting(
        ..., "Engine speed above which each gear shifts up", unit="rpm", minimum=0.0, maximum=1e5
    )

    def __post_init__(self) -> None:
        for name in ("zero_throttle_nm", "full_throttle_nm"):
            check_curve("speed_radps", self.speed_radps, name, getattr(self, name))
        _check_gears(self.forward_ratios)
        for name in ("downshift_rpm", "upshift_rpm"):
            if len(getattr(self, name)) != len(self.forward_ratios):
                raise ValueError(f"{name}: must have as many values as forward_ratios ({len(self.forward_ratios)})")
        if any(up <= down for up, down in zip(self.upshift_rpm, self.downshift_rpm, strict=True)):
            raise ValueError("upshift_rpm: must exceed downshift_rpm in every gear")


@dataclass(frozen=True, kw_only=True)
class ConverterPowertrain:
    """Engine, torque converter and gearbox; ratios are output over input speed."""

    engine_inertia_kgm2: float = moment("Moment of inertia of the crankshaft and all that spins with it")
    full_throttle_rpm: tuple[float, ...] = setting(
        ..., "Engine speeds of the table of full_throttle_nm", unit="rpm", minimum=-1e5, maximum=1e5
    )
    full_throttle_nm: tuple[float, ...] = _torques("Engine torque at full throttle")
    losses_rpm: tuple[float, ...] = setting(
        ..., "Engine speeds of the table of losses_nm", unit="rpm", minimum=-1e5, maximum=1e5
    )
    losses_nm: tuple[float, ...] = _torques("Torque losses of the engine, at any throttle")
    capacity_speed_ratio: tuple[float, ...] = setting(
        ..., "Speed ratios of the table of capacity", minimum=0.0, maximum=1.0
    )
    capacity: tuple[float, ...] = setting(
        ..., "Capacity factor of the torque converter", unit="rad/s per sqrt(N m)", minimum=0.1, maximum=1e3
    )
    torque_speed_ratio: tuple[float, ...] = setting(
        ..., "Speed ratios of the table of torque_ratio", minimum=0.0, maximum=1.0
    )
    torque_ratio: tuple[float, ...] = setting(
        ..., "Torque out of the converter over torque into it", minimum=0.0, maximum=10.0
    )
    input_shaft_inertia_kgm2: float = moment("Moment of inertia of the shaft between converter and gears")
    forward_ratios: tuple[float, ...] = _ratios("Gear ratios of the forward gears")
    reverse_ratio: float = setting(..., "Gear ratio of the reverse gear", minimum=-100.0, maximum=-1e-3)
    upshift_rpm: float = setting(
        ..., "Input speed of the gearbox above which it shifts up", unit="rpm", minimum=0.0, maximum=1e5
    )
    downshift_rpm: float = setting(
        ..., "Input speed of the gearbox below which it shifts down", unit="rpm", minimum=0.0, maximum=1e5
    )
    shift_pause_s: float = setting(..., "Least time between shifts", unit="s", minimum=0.0, maximum=60.0)

    def __post_init__(self) -> None:
        check_curve("full_throttle_rpm", self.full_throttle_rpm, "full_throttle_nm", self.full_throttle_nm)
        check_curve("losses_rpm", self.losses_rpm, "losses_nm", self.losses_nm)
        check_curve("capacity_speed_ratio", self.capacity_speed_ratio, "capacity", self.capacity)
        check_curve("torque_speed_ratio", self.torque_speed_ratio, "torque_ratio", self.torque_ratio)
        _check_gears(self.forward_ratios)
        if self.upshift_rpm <= self.downshift_rpm:
            raise ValueError(f"upshift_rpm: must exceed downshift_rpm ({self.downshift_rpm:g})")
        if self.engine_inertia_kgm2 <= 0.0:
            raise ValueError("engine_inertia_kgm2: must be above 0")


@dataclass(frozen=True, kw_only=True)
class Powertrains:
    """Parameters of both powertrain models; a scenario selects one."""

    map: MapPowertrain
    converter: ConverterPowertrain


def _check_gears(ratios: tuple[float, ...]) -> None:
    if not 1 <= len(ratios) <= MOST_GEARS:
        raise ValueError(f"forward_ratios: must have 1 to {MOST_GEARS} values, got {len(ratios)}")
    if not np.all(np.diff(ratios) > 0.0):
        raise ValueError("forward_ratios: must rise from gear to gear")
