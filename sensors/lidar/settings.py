"""Settings of a LIDAR: beams, errors, and mount on the vehicle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from proving_ground.settings import setting
from sensors.sensor import SensorSettings, rate
from vehicle_dynamics.equipment import Equipment

SPINNING, FLASH = "spinning", "flash"
REMOVED, SEEN, ABSENT = "removed", "seen", "absent"
MOST_RAYS = 1_000_000
NUMBERS_OF_A_BOX = 6


def _reflectivity(default: float, of_what: str) -> float:
    value: float = setting(default, f"Diffuse reflectivity of {of_what}", minimum=0.0, maximum=1.0)
    return value


@dataclass(frozen=True, kw_only=True)
class LidarSettings(SensorSettings):
    """A spinning unit fires all beams of a column at once; a flash unit its whole raster at one instant."""

    presets: ClassVar[str] = "sensors/lidar"
    channels: ClassVar[Sequence[str]] = ("range",)

    rate_hz: float = rate(10.0, 100.0)
    kind: str = setting(
        SPINNING,
        "Kind of LIDAR: spinning, or flash = the whole image at one instant",
        choices=(SPINNING, FLASH),
        read_only=True,
    )
    elevations_deg: tuple[float, ...] = setting(
        tuple(float(angle) for angle in range(-15, 16, 2)),
        "Elevation angles of the beams of a spinning LIDAR, lowest first",
        unit="deg",
        minimum=-89.0,
        maximum=89.0,
        read_only=True,
    )
    columns: int = setting(
        1800,
        "Number of columns: per revolution of a spinning LIDAR, or of the image of a flash LIDAR",
        minimum=1,
        maximum=100_000,
        read_only=True,
    )
    rows: int = setting(
        32, "Number of rows of a flash LIDAR; ignored if it spins", minimum=1, maximum=10_000, read_only=True
    )
    horizontal_fov_deg: float = setting(
        120.0, "Horizontal field of view of a flash LIDAR", unit="deg", minimum=0.1, maximum=360.0, read_only=True
    )
    vertical_fov_deg: float = setting(
        30.0, "Vertical field of view of a flash LIDAR", unit="deg", minimum=0.1, maximum=178.0, read_only=True
    )
    min_range_m: float = setting(
        0.5, "Distance below which a return is reported as -inf (too close)", unit="m", minimum=0.0, maximum=1000.0
    )
    max_range_m: float = setting(
        100.0, "Distance beyond which there is no return, reported as +inf", unit="m", minimum=0.1, maximum=1000.0
    )
    range_noise_m: float = setting(
        0.02, "Standard deviation of white noise on each measured range", unit="m", minimum=0.0, maximum=10.0
    )
    range_bias_m: float = setting(
        0.0, "Standard deviation of the constant range error of each beam", unit="m", minimum=0.0, maximum=10.0
    )
    range_resolution_m: float = setting(
        0.0, "Resolution of the measured ranges; 0: no rounding", unit="m", minimum=0.0, maximum=10.0
    )
    weak_signal: float = setting(
        0.05, "Signal, reflectivity * cos(incidence) * (max_range / range)^2, at which 37 % of returns are lost; "
        "0: no return is lost",
        minimum=0.0, maximum=1e6,
    )  # fmt: skip
    full_intensity_m: float = setting(
        20.0, "Distance beyond which the intensity falls with 1/range^2", unit="m", minimum=0.1, maximum=1000.0
    )
    soil_reflectivity: float = _reflectivity(0.25, "the ground")
    building_reflectivity: float = _reflectivity(0.5, "boxes and meshes")
    tree_reflectivity: float = _reflectivity(0.35, "cylinders")
    target_reflectivity: float = _reflectivity(0.7, "moving targets and the own body")
    deskew: bool = setting(False, "Whether points of a cloud are motion-compensated to the time of its stamp")
    own_body: str = setting(
        REMOVED, "Treatment of rays that hit the own vehicle: removed = no return, seen = reported, absent = they pass",
        choices=(REMOVED, SEEN, ABSENT), read_only=True,
    )  # fmt: skip
    body_boxes_m: tuple[float, ...] = setting(
        (),
        "Own body in base_link, each box as x y z of its least and its largest corner; empty: from the vehicle's file",
        unit="m",
        minimum=-100.0,
        maximum=100.0,
        read_only=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.elevations_deg or any(
            high <= low for low, high in zip(self.elevations_deg, self.elevations_deg[1:], strict=False)
        ):
            raise ValueError(f"elevations_deg: must be one or more, rising, got {_short(self.elevations_deg)}")
        if not self.min_range_m < self.max_range_m:
            raise ValueError(f"max_range_m: must be above min_range_m ({self.min_range_m:g}), got {self.max_range_m:g}")
        if self.rings * self.columns > MOST_RAYS:
            raise ValueError(f"columns: {self.rings} x {self.columns} rays are more than {MOST_RAYS}")
        for low, high in self.boxes():
            if any(not least < most for least, most in zip(low, high, strict=True)):
                raise ValueError(f"body_boxes_m: must have the least corner first, got {low} and {high}")
            inside = all(a <= x <= b for a, x, b in zip(low, self.mount.position, high, strict=True))
            if inside and self.own_body != ABSENT:
                raise ValueError(f"mount.xyz_m: {self.mount.position} is inside the own body (body_boxes_m)")

    def fitted(self, kind: str, equipment: Equipment) -> LidarSettings:
        """Settings with the own body and mount from the vehicle's file."""
        mounted = super().fitted(kind, equipment)
        return mounted if mounted.body_boxes_m else replace(mounted, body_boxes_m=equipment.body_boxes_m)

    @property
    def rings(self) -> int:
        """Number of beams, or of rows of a raster."""
        return len(self.elevations_deg) if self.kind == SPINNING else self.rows

    def elevations(self) -> list[float]:
        """Elevations of the rings, lowest first [rad]."""
        if self.kind == SPINNING:
            return [math.radians(angle) for angle in self.elevations_deg]
        return _middles(math.radians(self.vertical_fov_deg), self.rows)

    def azimuths(self) -> list[float]:
        """Azimuths of the columns, counter-clockwise from x [rad]; a sweep begins at the rear, a raster at right."""
        if self.kind == SPINNING:
            return [2.0 * math.pi * column / self.columns - math.pi for column in range(self.columns)]
        return _middles(math.radians(self.horizontal_fov_deg), self.columns)

    def boxes(self) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
        """Least and largest corner of each box of the own body [m]; raises ValueError for a wrong number of values."""
        numbers = self.body_boxes_m
        if len(numbers) % NUMBERS_OF_A_BOX:
            raise ValueError(f"body_boxes_m: must have {NUMBERS_OF_A_BOX} numbers for each box, got {len(numbers)}")
        starts = range(0, len(numbers), NUMBERS_OF_A_BOX)
        return [(numbers[start : start + 3], numbers[start + 3 : start + 6]) for start in starts]


def _middles(view: float, count: int) -> list[float]:
    """Centres of equal parts of a field of view around 0 [rad]."""
    return [view * ((item + 0.5) / count - 0.5) for item in range(count)]


def _short(numbers: Sequence[float]) -> str:
    text = ", ".join(f"{number:g}" for number in numbers)
    return text if len(text) <= 60 else text[:57] + "..."
