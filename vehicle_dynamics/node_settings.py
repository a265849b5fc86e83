"""All settings of the vehicle node; declared here, its parameters follow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from proving_ground.settings import setting
from proving_ground.settings.dates import date_ns
from terrain.flat_ground_settings import FlatGroundSettings
from terrain.ground import GroundModel
from terrain.world import World
from terrain.world_ground import WorldGround
from terrain.worlds import load_world
from vehicle_dynamics.choices import BASE_FRAME, CHASSIS_FRAME, FIDELITIES, TF_SOURCES, TWIST_TYPES
from vehicle_dynamics.control.drive_by_wire import DriveByWireSettings
from vehicle_dynamics.driving.model import POWERTRAINS
from vehicle_dynamics.export.vehicle_urdf import SENSOR_MOUNTS
from vehicle_dynamics.hmmwv import LONGEST_STEP_S, METHODS
from vehicle_dynamics.simulation import Schedule

OWN_FRAMES = (BASE_FRAME, CHASSIS_FRAME, *SENSOR_MOUNTS, "steering_", "front_", "rear_")  # beginnings of names


def _rate(default: float, what: str, least: float = 0.0) -> float:
    words = f"{what}, per simulated second" + ("; 0 for none" if least == 0.0 else "")
    rate: float = setting(default, words, unit="Hz", minimum=least, maximum=1000.0, read_only=True)
    return rate


@dataclass(frozen=True, kw_only=True)
class VehicleNodeSettings(DriveByWireSettings, FlatGroundSettings):
    """Which vehicle, where, how fast time runs, and what is published."""

    vehicle: str = setting("hmmwv", "Name in config/vehicles, or a path to a YAML file", read_only=True)
    fidelity: str = setting(
        "multibody", "Bodies and tyres, or a kinematic single track", choices=FIDELITIES, read_only=True
    )
    powertrain: str = setting(
        "converter", "Engine with torque converter, or torque map", choices=POWERTRAINS, read_only=True
    )
    integrator: str = setting(
        "euler", "Semi-implicit Euler, or Runge-Kutta of fourth order", choices=tuple(METHODS), read_only=True
    )
    step_s: float = setting(0.001, "Time step", unit="s", minimum=1e-5, maximum=LONGEST_STEP_S, read_only=True)

    world: str = setting(
        "",
        "Name in config/worlds, or a path to a YAML file; none: flat ground by friction, slopes and bump",
        read_only=True,
    )

    start_x_m: float = setting(0.0, "Of base_link", unit="m", minimum=-1e7, maximum=1e7, read_only=True)
    start_y_m: float = setting(0.0, "Of base_link", unit="m", minimum=-1e7, maximum=1e7, read_only=True)
    start_heading_deg: float = setting(
        0.0, "From x to the left", unit="deg", minimum=-360.0, maximum=360.0, read_only=True
    )
    start_speed_mps: float = setting(0.0, "Rolling ahead", unit="m/s", minimum=-10.0, maximum=40.0, read_only=True)
    start_gear: int = setting(0, "Engaged; 0 picks one by speed", minimum=0, maximum=12, read_only=True)
    start_at_world: bool = setting(
        True, "Where the world suggests, unless another place or heading than 0 is given", read_only=True
    )
    start_date: str = setting(
        "2026-01-01T00:00:00Z", "Date and time of the first instant, with time zone", read_only=True
    )
    start_paused: bool = setting(False, "Wait for simulation/pause to let time run", read_only=True)
    real_time_factor: float = setting(
        1.0, "Simulated time over real time; 0 is as fast as it can", minimum=0.0, maximum=100.0
    )

    clock_rate_hz: float = _rate(100.0, "Messages on /clock", 1.0)
    odom_rate_hz: float = _rate(100.0, "Messages on ground_truth/odom and ground_truth/accel")
    joints_rate_hz: float = _rate(100.0, "Messages on joint_states and ground_truth/actuation")
    tf_rate_hz: float = _rate(50.0, "Messages on tf")

    cmd_vel_type: str = setting(
        "auto", "Type of cmd_vel; auto goes by who publishes it", choices=TWIST_TYPES, read_only=True
    )
    tf_source: str = setting(
        "truth", "Who places base_link in odom and map: this node, or an observer", choices=TF_SOURCES, read_only=True
    )
    publish_body_tf: bool = setting(
        True, "Frames of chassis, suspension and wheels; off beside robot_state_publisher", read_only=True
    )
    frame_prefix: str = setting("", "Before every frame name, as in 'truck_1/'", read_only=True)
    map_frame: str = setting("map", "Name of the world's frame", read_only=True)
    odom_frame: str = setting("odom", "Name of the frame without jumps", read_only=True)

    def __post_init__(self) -> None:
        date_ns("start_date", self.start_date)
        self.schedule()
        for name in ("map_frame", "odom_frame", "frame_prefix"):
            text = getattr(self, name)
            if text.startswith("/"):
                raise ValueError(f"{name}: must not begin with '/', which tf2 refuses, got {text!r}")
            if name != "frame_prefix" and (not text or text.startswith(OWN_FRAMES)):
                raise ValueError(f"{name}: must be the name of no frame of the vehicle, got {text!r}")
        if self.map_frame == self.odom_frame:
            raise ValueError(f"odom_frame: must be another than map_frame ({self.map_frame})")
        self.refuse_beside(self.world)

    def schedule(self) -> Schedule:
        """What is published when."""
        rates = {
            "clock": self.clock_rate_hz,
            "odom": self.odom_rate_hz,
            "joints": self.joints_rate_hz,
            "tf": self.tf_rate_hz,
        }
        try:
            return Schedule(self.step_s, rates)
        except ValueError as error:
            raise ValueError(_named_as_setting(str(error), rates)) from None

    def load_world(self) -> World | None:
        """The world, if there is one; raises SettingsError with one line."""
        return load_world(self.world) if self.world else None

    def ground(self, world: World | None = None) -> GroundModel:
        """What the wheels meet."""
        return WorldGround.of(world) if world else self.flat_ground()

    def start(self, world: World | None = None) -> dict[str, float]:
        """As Vehicle.start takes it: where the world suggests, if it shall, unless a place or heading is given."""
        x, y, heading = self.start_x_m, self.start_y_m, math.radians(self.start_heading_deg)
        if world and self.start_at_world and (x, y, heading) == (0.0, 0.0, 0.0):
            x, y, heading = world.start.x, world.start.y, world.start.heading
        return {"x": x, "y": y, "heading": heading, "speed": self.start_speed_mps, "gear": self.start_gear}


def _named_as_setting(words: str, rates: dict[str, float]) -> str:
    name, _, rest = words.partition(":")
    return f"{name}_rate_hz:{rest}, got {rates[name]:g}" if name in rates else words
