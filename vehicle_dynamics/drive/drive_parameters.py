"""Parameters of tyres, brakes, driveline and powertrains, from config/vehicles/*.yaml. SI units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from proving_ground.settings import setting
from vehicle_dynamics.parameter_fields import check_curve, damping_rate, length, moment
from vehicle_dynamics.pedals import MOST_RANGES

MOST_GEARS = 12
LEAST_HUB_RATIO = 0.5  # a geared hub below would put several times the wheel's torque on the chassis
DIFFERENTIALS = ("open", "torque_biasing", "lockable", "locked")
ROUNDING = 1e-12  # a straight characteristic just reaches its largest force, but for rounding
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
            if self.slope_n[index] * self.max_slip[index] < self.max_n[index] * (1.0 - ROUNDING):
                raise ValueError("slope_n: is too small to reach max_n at max_slip")
        if self.max_n[1] > 2.0 * self.max_n[0] or self.slope_n[1] > 2.0 * self.slope_n[0]:
            raise ValueError("max_n, slope_n: must not grow faster than the load")


def _pressure(description: str) -> Any:
    return setting(..., description, unit="Pa", minimum=30e3, maximum=600e3)


@dataclass(frozen=True, kw_only=True)
class Inflation:
    """Gauge pressure of the tyres, and how a tyre changes with it; see tyre/inflation.py for the laws."""

    pressure_pa: tuple[float, ...] = _pressure(
        "Inflation pressure: one for all wheels, one for each axle, or front left, front right, rear left, rear right"
    )
    reference_pressure_pa: float = _pressure("Inflation pressure at which the file's tyre parameters hold")
    carcass_pressure_pa: float = setting(
        150e3, "Pressure that would stiffen the tyre as much as its carcass does", unit="Pa", minimum=0.0, maximum=1e6
    )
    slip_exponent: tuple[float, float] = setting(
        (0.0, 0.3), "Exponents of pressure in the force per slip, along and across", minimum=-1.0, maximum=1.0
    )
    rolling_exponent: float = setting(
        0.5, "Exponent of pressure in the decrease of rolling resistance", minimum=0.0, maximum=2.0
    )
    rate_paps: float = setting(
        0.0, "Rate at which central tyre inflation changes the pressure of a driving vehicle; 0: at once",
        unit="Pa/s", minimum=0.0, maximum=1e6,
    )  # fmt: skip

    def __post_init__(self) -> None:
        if len(self.pressure_pa) not in (1, 2, 4):
            raise ValueError(f"pressure_pa: must have 1, 2 or 4 values, got {len(self.pressure_pa)}")

    def of_wheel(self, wheel: int) -> float:
        """Pressure [Pa] of a wheel: 0 front left, 1 front right, 2 rear left, 3 rear right."""
        return self.pressure_pa[wheel * len(self.pressure_pa) // 4]


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
    rolling_deflection: float = setting(
        1.0 / 3.0, "Share of the vertical deflection by which the rolling radius is smaller than the unloaded one",
        minimum=0.01, maximum=1.0,
    )  # fmt: skip
    arc_samples: int = setting(24, "Points along the contact with soft soil", minimum=4, maximum=200)
    strip_samples: int = setting(3, "Points across the contact with soft soil", minimum=1, maximum=MOST_STRIPS)
    lug_height_m: float = setting(
        0.0, "Height of the lugs, between which soft soil shears; 0: smooth", unit="m", minimum=0.0, maximum=0.2
    )
    rubber_share: float = setting(0.0, "Share of the tread that is rubber, for soft soil", minimum=0.0, maximum=1.0)
    rubber_on_soil_friction: float = setting(
        10.0, "Friction coefficient of rubber on soil that is too firm to enter the tread", minimum=0.1, maximum=10.0
    )
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
    camber_stiffness: float = setting(
        0.0, "Camber thrust on hard ground over load and camber angle", unit="1/rad", minimum=0.0, maximum=3.0
    )
    bore_torque: float = setting(
        0.0, "Share of TMeasy's bore torque on hard ground; 0 turns it off", minimum=0.0, maximum=1.0
    )
    inflation: Inflation | None = None  # None: the tyre is as the file has it, at whatever pressure that was

    def __post_init__(self) -> None:
        if self.max_load_n < self.nominal_load_n:
            raise ValueError(f"max_load_n: must be at least nominal_load_n ({self.nominal_load_n:g})")
        if any(end <= zero for end, zero in zip(self.trail_end_slip, self.trail_zero_slip, strict=True)):
            raise ValueError("trail_end_slip: must exceed trail_zero_slip")


MIN_ANTILOCK_SPAN: Final = 0.1  # of slip: with less, the control would be too quick for steps of 1 ms


@dataclass(frozen=True, kw_only=True)
class Brakes:
    """Disc brakes of one kind on all wheels; forces are those of a pad at full brake.

    Radii and forces are those at the wheel: where a geared hub is between disc and wheel, with its ratio included.
    """

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
    position: str = setting(
        "outboard",
        "Place of the discs: outboard at the wheels, or inboard at the differentials, where the chassis holds them",
        choices=("outboard", "inboard"),
    )
    force_over_pressure: tuple[float, float, float] = setting(
        (1.0, 0.0, 0.0),
        "Coefficients of the linear, squared and cubed line pressure in the pads' force, both relative to full brake",
        minimum=-10.0,
        maximum=10.0,
    )
    rear_knee: float = setting(
        1.0, "Line pressure from which the proportioning valve reduces that of the rear", minimum=0.0, maximum=1.0
    )
    rear_slope: float = setting(
        1.0, "Rear over front line pressure above the knee of the proportioning valve", minimum=0.0, maximum=1.0
    )
    parking_torque_nm: float = setting(
        0.0, "Torque of the parking brake on each rear wheel", unit="N m", minimum=0.0, maximum=1e5
    )
    antilock_slip: tuple[float, float] = setting(
        (0.0, 0.0),
        "Slips of a wheel at which anti-lock control begins to reduce its line pressure, and at which none is left; "
        "0, 0: no anti-lock control",
        minimum=0.0,
        maximum=1.0,
    )
    antilock_above_mps: float = setting(
        2.0, "Speed below which anti-lock control rests", unit="m/s", minimum=1.0, maximum=20.0
    )

    def __post_init__(self) -> None:
        if self.antilock_slip != (0.0, 0.0) and self.antilock_slip[1] - self.antilock_slip[0] < MIN_ANTILOCK_SPAN:
            first, last = self.antilock_slip
            raise ValueError(
                f"antilock_slip: must rise by at least {MIN_ANTILOCK_SPAN:g}, or be 0, 0, got {first:g}, {last:g}"
            )
        a, b, c = self.force_over_pressure
        if abs(a + b + c - 1.0) > 1e-6:
            raise ValueError(f"force_over_pressure: must add up to 1, got {a + b + c:g}")
        pressure = np.linspace(0.0, 1.0, 101)
        if np.any(np.diff(pressure * (a + pressure * (b + pressure * c))) < -1e-12):
            raise ValueError("force_over_pressure: the force must rise with the pressure from 0 to 1")


@dataclass(frozen=True, kw_only=True)
class Differential:
    """A differential: how much the torques of its two outputs may differ while their speeds differ."""

    kind: str = setting(
        "open",
        "Kind of differential: open, torque_biasing (worm gears with friction), lockable by command, or always locked",
        choices=DIFFERENTIALS,
    )
    bias_ratio: float = setting(
        1.0,
        "Torque of the slower output over that of the faster one in a torque_biasing differential",
        minimum=1.0,
        maximum=100.0,
    )
    preload_nm: float = setting(
        0.0,
        "Difference of the wheels' torques that a torque_biasing differential bears without load",
        unit="N m",
        minimum=0.0,
        maximum=1e5,
    )

    def __post_init__(self) -> None:
        if self.kind != "torque_biasing" and (self.bias_ratio != 1.0 or self.preload_nm != 0.0):
            raise ValueError(f"bias_ratio, preload_nm: are for torque_biasing differentials, this one is {self.kind}")


@dataclass(frozen=True, kw_only=True)
class TransferRange:
    """A range of the transfer case."""

    name: str = setting(..., "Name of the range, such as H or L")
    reduction: float = setting(
        1.0, "Speed of the gearbox's output over that of the propeller shafts", minimum=0.1, maximum=20.0
    )
    efficiency: float = setting(
        1.0, "Power at the wheels over power at the gearbox's output in this range", minimum=0.1, maximum=1.0
    )
    centre: Differential = field(default_factory=Differential)

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("name: must not be empty")
        if self.centre.kind == "lockable":
            raise ValueError("centre.kind: must be open, torque_biasing or locked; choosing a range locks the centre")


@dataclass(frozen=True, kw_only=True)
class Driveline:
    """All-wheel drive: transfer case with a centre differential, and a differential in each axle."""

    bevel_ratio: float = setting(..., "Wheel speed over propeller shaft speed", minimum=0.01, maximum=1.0)
    hub_ratio: float = setting(
        0.0,
        "Half shaft speed over wheel speed in a geared hub that reverses it; 0: half shafts drive the wheels directly",
        minimum=0.0,
        maximum=20.0,
    )
    front: Differential = field(default_factory=Differential)
    rear: Differential = field(default_factory=Differential)
    ranges: tuple[TransferRange, ...] = ()
    drive_shaft_inertia_kgm2: float = moment(
        "Moment of inertia of the shaft from the gearbox to the centre differential"
    )
    axle_shaft_inertia_kgm2: float = moment("Moment of inertia of the propeller shaft to one axle")
    differential_inertia_kgm2: float = moment(
        "Moment of inertia of one axle's differential box, which spins with its wheels"
    )

    def __post_init__(self) -> None:
        if len(self.ranges) > MOST_RANGES:
            raise ValueError(f"ranges: at most {MOST_RANGES} are possible, got {len(self.ranges)}")
        if 0.0 < self.hub_ratio < LEAST_HUB_RATIO:
            raise ValueError(f"hub_ratio: must be 0 (none) or at least {LEAST_HUB_RATIO:g}, got {self.hub_ratio:g}")
        names = [item.name for item in self.ranges]
        if len(set(names)) < len(names):
            raise ValueError(f"ranges: names must differ, got {', '.join(names)}")

    def all_ranges(self) -> tuple[TransferRange, ...]:
        """The ranges of the transfer case; a vehicle without one has a single range with an open centre."""
        return self.ranges or (TransferRange(name="H"),)


def _ratios(description: str) -> Any:
    return setting(..., description, minimum=1e-3, maximum=100.0)


def _speeds(description: str, default: Any = ...) -> Any:
    return setting(default, description, unit="rpm", minimum=0.0, maximum=1e5)


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
        _check_shifts(self.forward_ratios, "upshift_rpm", self.upshift_rpm, "downshift_rpm", self.downshift_rpm)


@dataclass(frozen=True, kw_only=True)
class ConverterPowertrain:
    """Engine, torque converter and gearbox; ratios are output over input speed."""

    engine_inertia_kgm2: float = moment("Moment of inertia of the crankshaft and all that spins with it")
    crankshaft_direction: int = setting(
        0,
        "Direction of the crankshaft's rotation about the chassis' x axis, 1 or -1, for its reaction; 0: none",
        minimum=-1,
        maximum=1,
    )
    full_throttle_rpm: tuple[float, ...] = setting(
        ..., "Engine speeds of the table of full_throttle_nm", unit="rpm", minimum=-1e5, maximum=1e5
    )
    full_throttle_nm: tuple[float, ...] = _torques("Engine torque at full throttle")
    losses_rpm: tuple[float, ...] = setting(
        ..., "Engine speeds of the table of losses_nm", unit="rpm", minimum=-1e5, maximum=1e5
    )
    losses_nm: tuple[float, ...] = _torques("Torque losses of the engine, without throttle")
    has_net_torque: bool = setting(
        False, "Whether full_throttle_nm is what the engine delivers; otherwise losses_nm are added to it"
    )
    idle_rpm: float = setting(
        0.0, "Engine speed at which the idle governor gives no fuel any more; 0: none",
        unit="rpm", minimum=0.0, maximum=1e4,
    )  # fmt: skip
    idle_band_rpm: float = setting(
        100.0, "Range of speed below idle_rpm over which the idle governor opens to full fuel",
        unit="rpm", minimum=1.0, maximum=1e4,
    )  # fmt: skip
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
    upshift_rpm: tuple[float, ...] = _speeds("Input speed of the gearbox above which each gear shifts up")
    downshift_rpm: tuple[float, ...] = _speeds("Input speed of the gearbox below which each gear shifts down")
    coast_upshift_rpm: tuple[float, ...] = _speeds(
        "Input speed of the gearbox above which each gear shifts up without throttle; empty: as with it", ()
    )
    coast_downshift_rpm: tuple[float, ...] = _speeds(
        "Input speed of the gearbox below which each gear shifts down without throttle; empty: as with it", ()
    )
    shift_pause_s: float = setting(..., "Least time between shifts", unit="s", minimum=0.0, maximum=60.0)

    def __post_init__(self) -> None:
        check_curve("full_throttle_rpm", self.full_throttle_rpm, "full_throttle_nm", self.full_throttle_nm)
        check_curve("losses_rpm", self.losses_rpm, "losses_nm", self.losses_nm)
        check_curve("capacity_speed_ratio", self.capacity_speed_ratio, "capacity", self.capacity)
        check_curve("torque_speed_ratio", self.torque_speed_ratio, "torque_ratio", self.torque_ratio)
        if any(nm > 0.0 for rpm, nm in zip(self.losses_rpm, self.losses_nm, strict=True) if rpm > 0.0):
            raise ValueError("losses_nm: must not be above 0 at speeds above 0, losses do not drive")
        if np.any(np.diff(self.capacity) < 0.0):
            raise ValueError("capacity: must not fall with the speed ratio")
        if np.any(np.multiply(self.torque_ratio, self.torque_speed_ratio) > 1.0 + ROUNDING):
            raise ValueError("torque_ratio: times the speed ratio must not exceed 1, a converter makes no power")
        _check_gears(self.forward_ratios)
        for end in ("", "coast_"):
            up, down = getattr(self, f"{end}upshift_rpm"), getattr(self, f"{end}downshift_rpm")
            if up or down or not end:
                _check_shifts(self.forward_ratios, f"{end}upshift_rpm", up, f"{end}downshift_rpm", down)
        if self.engine_inertia_kgm2 <= 0.0:
            raise ValueError("engine_inertia_kgm2: must be above 0")
        if self.idle_rpm and self.idle_band_rpm > self.idle_rpm:
            raise ValueError(f"idle_band_rpm: must not exceed idle_rpm ({self.idle_rpm:g})")
        pulls_to = max(
            (r for r, nm in zip(self.full_throttle_rpm, self.full_throttle_nm, strict=True) if nm > 0.0), default=0.0
        )
        if self.idle_rpm >= pulls_to > 0.0:
            raise ValueError(f"idle_rpm: must be below {pulls_to:g}, up to which full_throttle_nm is above 0")


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


def _check_shifts(
    ratios: tuple[float, ...],
    up_name: str,
    up: tuple[float, ...],
    down_name: str,
    down: tuple[float, ...],
) -> None:
    """Raise ValueError unless each gear has both speeds, and no shift up is followed by one down."""
    for name, values in ((up_name, up), (down_name, down)):
        if len(values) != len(ratios):
            raise ValueError(f"{name}: must have as many values as forward_ratios ({len(ratios)}), got {len(values)}")
    if any(fast <= slow for fast, slow in zip(up, down, strict=True)):
        raise ValueError(f"{up_name}: must exceed {down_name} in every gear")
    for gear in range(1, len(ratios)):
        after = up[gear - 1] * ratios[gear - 1] / ratios[gear]
        if after <= down[gear]:
            raise ValueError(
                f"{down_name}: gear {gear + 1} would shift down at once after an upshift, which leaves {after:.0f} rpm"
            )
