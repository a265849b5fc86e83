"""All settings of the vehicle node; its parameters are generated from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from proving_ground.interfaces.faults import scripted_faults
from proving_ground.interfaces.frames import BASE_FRAME, CHASSIS_FRAME, RENAMED_FRAMES, Frames
from proving_ground.settings import setting
from terrain.ground import GroundModel
from terrain.surroundings import SiteSettings
from vehicle_dynamics.choices import TF_SOURCES, TWIST_TYPES
from vehicle_dynamics.conditions import (
    FRICTION,
    MULTIBODY_ONLY,
    PAYLOAD,
    PRESSURE,
    Condition,
    ConditionChange,
    Conditions,
    ConditionSettings,
    check_changes,
    scripted_changes,
)
from vehicle_dynamics.control.actuators import ACTUATOR_FAULTS, ActuatorFault, Actuators
from vehicle_dynamics.control.drive_by_wire import DriveByWireSettings
from vehicle_dynamics.control.levers import VehicleLevers
from vehicle_dynamics.parameters import ActuatorLags, VehicleParameters
from vehicle_dynamics.participants import SyncSettings
from vehicle_dynamics.standing import EndSettings
from vehicle_dynamics.start import RENAMED_START, Start
from vehicle_dynamics.stepper import Schedule
from vehicle_dynamics.vehicle_choice import RENAMED_VEHICLE, VehicleChoice

OWN_FRAMES = (BASE_FRAME, CHASSIS_FRAME, "steering_", "front_", "rear_")  # beginnings of names
SENSOR_FRAME = "_link"  # end of a name


def _rate(default: float, what: str, least: float = 0.0) -> float:
    words = f"{what}, per simulated second" + ("; 0 switches them off" if least == 0.0 else "")
    rate: float = setting(default, words, unit="Hz", minimum=least, maximum=1000.0, read_only=True)
    return rate


@dataclass(frozen=True, kw_only=True)
class VehicleNodeSettings(DriveByWireSettings, SiteSettings):
    """Vehicle, world, pace of time, and published topics."""

    renamed: ClassVar[dict[str, str]] = {**RENAMED_VEHICLE, **RENAMED_START, **RENAMED_FRAMES}

    vehicle: VehicleChoice = field(default_factory=VehicleChoice)
    start: Start = field(default_factory=lambda: Start(at_world=True))
    start_paused: bool = setting(
        False, "Start with time paused, until the service simulation/pause is called with false", read_only=True
    )
    real_time_factor: float = setting(
        1.0, "Simulated time over real time; 0: as fast as possible", minimum=0.0, maximum=100.0
    )

    fault_script: tuple[str, ...] = setting(
        (),
        f"Faults of actuators during the run, each '{ActuatorFault.form}', as 'stuck 10 5 0 brake'. Kinds: "
        + "; ".join(f"{kind}: {words}" for kind, words in ACTUATOR_FAULTS.items()),
        read_only=True,
    )

    change_script: tuple[str, ...] = setting(
        (),
        f"Changes of {FRICTION}, {PAYLOAD} or {PRESSURE} during the run, each '{ConditionChange.form}', "
        "as 'tyre_pressure_pa 10 90000 rear'; without WHEELS, of all wheels",
        read_only=True,
    )
    conditions: ConditionSettings = field(default_factory=ConditionSettings)

    sync: SyncSettings = field(default_factory=SyncSettings)
    end: EndSettings = field(default_factory=EndSettings)

    clock_rate_hz: float = _rate(100.0, "Messages on /clock", 1.0)
    odom_rate_hz: float = _rate(100.0, "Messages on ground_truth/odom and ground_truth/accel")
    joints_rate_hz: float = _rate(100.0, "Messages on joint_states and ground_truth/actuation")
    tf_rate_hz: float = _rate(50.0, "Messages on tf")

    cmd_vel_type: str = setting(
        "auto",
        "Message type of cmd_vel: twist, twist_stamped, or auto = that of its publishers",
        choices=TWIST_TYPES,
        read_only=True,
    )
    tf_source: str = setting(
        "truth",
        "Source of the transforms from map over odom to base_link: truth = this node, observer = an observer",
        choices=TF_SOURCES,
        read_only=True,
    )
    publish_body_tf: bool = setting(
        True,
        "Publish tf frames of chassis, suspension and wheels; set to false if robot_state_publisher publishes them",
        read_only=True,
    )
    frames: Frames = field(default_factory=Frames)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.schedule()
        self.actuators(ActuatorLags())
        if self._all_changes() and self.vehicle.fidelity == "single_track":
            raise ValueError(f"conditions: {MULTIBODY_ONLY}")
        if not self.levers.is_default:
            VehicleLevers.of(self.vehicle.parameters()).positions(self.levers)
        for name in ("map", "odom"):
            frame = getattr(self.frames, name)
            if frame.startswith(OWN_FRAMES) or frame.endswith(SENSOR_FRAME):
                raise ValueError(f"frames.{name}: must be the name of no frame of the vehicle, got {frame!r}")

    def actuators(self, lags: ActuatorLags) -> Actuators:
        """The vehicle's actuators, with the faults of the script; raises ValueError for a bad one."""
        return Actuators(lags, scripted_faults(ActuatorFault, self.fault_script))

    def start_condition(self) -> Condition:
        """Conditions of the start that differ from the world and the vehicle's file."""
        return Condition().after(self._start_changes())

    def made_conditions(self, parameters: VehicleParameters, ground: GroundModel) -> Conditions:
        """The vehicle's conditions, with the changes of the script; raises SettingsError for impossible ones."""
        self.check_conditions(parameters, ground)
        return Conditions(scripted_changes(self.change_script), start=self.start_condition(), parameters=parameters)

    def check_conditions(self, parameters: VehicleParameters, ground: GroundModel) -> None:
        """Raise SettingsError for conditions that a vehicle on a ground cannot have."""
        check_changes(self._all_changes(), parameters, ground)

    def _start_changes(self) -> list[ConditionChange]:
        payload = self.vehicle.payload_kg
        first = [ConditionChange(what=PAYLOAD, value=payload)] if payload > 0.0 else []
        return [*first, *self.conditions.changes()]

    def _all_changes(self) -> list[ConditionChange]:
        return [*self._start_changes(), *scripted_changes(self.change_script)]

    @property
    def publishes_base(self) -> bool:
        """Whether the vehicle's node publishes base_link in odom and map."""
        return self.tf_source == "truth"

    def schedule(self) -> Schedule:
        """Schedule of what is published at which rate."""
        rates = {
            "clock": self.clock_rate_hz,
            "odom": self.odom_rate_hz,
            "joints": self.joints_rate_hz,
            "tf": self.tf_rate_hz,
        }
        try:
            return Schedule(self.vehicle.step_s, rates)
        except ValueError as error:
            raise ValueError(_named_as_setting(str(error), rates)) from None


def _named_as_setting(words: str, rates: dict[str, float]) -> str:
    name, _, rest = words.partition(":")
    return f"{name}_rate_hz:{rest}, got {rates[name]:g}" if name in rates else words
