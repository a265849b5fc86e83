"""All settings of the cockpit; the node's parameters follow."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from planner.drive_command import DriverSettings
from proving_ground.cockpit.camera import CHASE, MODES
from proving_ground.interfaces.frames import RENAMED_FRAMES, Frames
from proving_ground.settings import setting
from vehicle_dynamics.equipment import Equipment


@dataclass(frozen=True, kw_only=True)
class CockpitSettings:
    """Address of the page, its content and rates, and driving from it."""

    renamed: ClassVar[dict[str, str]] = RENAMED_FRAMES

    host: str = setting("127.0.0.1", "Address to listen on; 0.0.0.0 lets other machines in", read_only=True)
    port: int = setting(
        8080, "Port of the page; the next free one if it is in use", minimum=1, maximum=65535, read_only=True
    )
    open_browser: bool = setting(False, "Open the page in a browser too, where there is a screen", read_only=True)
    world: str = setting(
        "", "Name of a world in config/worlds, or a path to a YAML file; empty: a flat grid", read_only=True
    )
    vehicle: str = setting(
        "hmmwv", "Name of a vehicle in config/vehicles, or a path; gives its shape and curvature", read_only=True
    )
    vehicle_node: str = setting("vehicle", "Name of the node whose pace the page sets", read_only=True)
    replayer_node: str = setting("replayer", "Name of the node that plays a bag", read_only=True)
    frames: Frames = field(default_factory=Frames)

    camera: str = setting(
        CHASE,
        "Camera mode at the start: chase turns with the vehicle, follow does not, from above looks down, free stays",
        choices=MODES,
        read_only=True,
    )
    update_rate_hz: float = setting(20.0, "Pictures per second", unit="Hz", minimum=1.0, maximum=30.0, read_only=True)
    cloud_rate_hz: float = setting(8.0, "Clouds per second", unit="Hz", minimum=0.1, maximum=10.0)
    cloud_points: int = setting(20_000, "Largest number of points of a cloud", minimum=100, maximum=20_000)
    ground_triangles: int = setting(
        60_000,
        "Approximate number of triangles that make up the ground",
        minimum=1000,
        maximum=1_000_000,
        read_only=True,
    )

    shadows: bool = setting(True, "Whether the sun casts shadows; slow graphics are faster without", read_only=True)

    max_speed_mps: float = setting(6.0, "Speed while 'ahead' is held", unit="m/s", minimum=0.5, maximum=20.0)
    max_reverse_mps: float = setting(2.0, "Speed while 'back' is held", unit="m/s", minimum=0.5, maximum=10.0)
    max_curvature_1pm: float = setting(
        0.0, "Path curvature at full steering; 0: from the vehicle's file", unit="1/m", minimum=0.0, maximum=1.0
    )

    def __post_init__(self) -> None:
        if not self.host:
            raise ValueError("host: must be an address, as 127.0.0.1")

    def fitted(self, equipment: Equipment) -> CockpitSettings:
        """The settings with open values filled in from the vehicle's file."""
        return replace(self, max_curvature_1pm=equipment.curvature(self.max_curvature_1pm))

    def driver(self) -> DriverSettings:
        """Settings for the slew limits that all drivers share."""
        return DriverSettings(max_curvature_1pm=self.max_curvature_1pm)
