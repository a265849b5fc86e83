"""All settings of the cockpit; the node's parameters follow."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from planner.drive_command import DriverSettings
from proving_ground.cockpit.camera import CHASE, MODES
from proving_ground.interfaces.frames import RENAMED_FRAMES, Frames
from proving_ground.settings import as_parameters, build, setting
from proving_ground.settings.nested import configured
from vehicle_dynamics.equipment import Equipment
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE


@dataclass(frozen=True, kw_only=True)
class CockpitSettings:
    """Address of the page, its content and rates, and driving from it."""

    renamed: ClassVar[dict[str, str]] = RENAMED_FRAMES

    host: str = setting(
        "127.0.0.1",
        "Network address that the page is served on; 0.0.0.0: reachable from other machines",
        read_only=True,
    )
    port: int = setting(
        8080, "TCP port of the page; if it is in use, the next free one", minimum=1, maximum=65535, read_only=True
    )
    open_browser: bool = setting(
        False, "Open the page in a browser at the start, if the machine has a display", read_only=True
    )
    world: str = setting(
        "", "Name of a world in config/worlds, or a path to a YAML file; empty: a flat grid", read_only=True
    )
    vehicle: str = setting(
        DEFAULT_VEHICLE,
        "Name of a vehicle in config/vehicles, or a path; gives its shape, and its largest curvature "
        "when driven from the page",
        read_only=True,
    )
    vehicle_node: str = setting(
        "vehicle", "Name of the vehicle node, whose real_time_factor the page can change", read_only=True
    )
    replayer_node: str = setting("replayer", "Name of the replayer node, which the page can control", read_only=True)
    frames: Frames = field(default_factory=Frames)

    camera: str = setting(
        CHASE,
        "Camera mode at the start: chase turns with the vehicle, follow does not, from above looks down, free stays",
        choices=MODES,
        read_only=True,
    )
    update_rate_hz: float = setting(
        20.0, "Updates of the 3D scene per second of real time", unit="Hz", minimum=1.0, maximum=30.0, read_only=True
    )
    cloud_rate_hz: float = setting(
        8.0, "LIDAR clouds shown per second of real time", unit="Hz", minimum=0.1, maximum=10.0
    )
    cloud_points: int = setting(
        20_000, "Largest number of points shown of a LIDAR cloud; larger clouds are thinned",
        minimum=100, maximum=20_000,
    )  # fmt: skip
    ground_triangles: int = setting(
        60_000, "Approximate number of triangles that the ground is drawn with",
        minimum=1000, maximum=1_000_000, read_only=True,
    )  # fmt: skip

    shadows: bool = setting(True, "Whether the sun casts shadows; slow graphics are faster without", read_only=True)

    max_speed_mps: float = setting(
        6.0, "Forward speed while the page's 'ahead' button or key is held", unit="m/s", minimum=0.5, maximum=20.0
    )
    max_reverse_mps: float = setting(
        2.0, "Speed in reverse while the page's 'back' button or key is held", unit="m/s", minimum=0.5, maximum=10.0
    )
    max_curvature_1pm: float = setting(
        0.0, "Curvature of the path at full steering; 0: from the vehicle's file", unit="1/m", minimum=0.0, maximum=1.0
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


def cockpit_settings(vehicle: VehicleNodeSettings, *, opens: bool, port: int | None = None) -> CockpitSettings:
    """Settings of config/cockpit.yaml for a run of a vehicle; opens: in a browser; port: in place of the file's.

    Raises SettingsError.
    """
    settings = configured("cockpit", CockpitSettings)
    model = vehicle.vehicle.model
    settings = replace(settings, world=vehicle.world, vehicle=model, frames=vehicle.frames, open_browser=opens)
    return settings if port is None else build(CockpitSettings, as_parameters(settings) | {"port": port})
