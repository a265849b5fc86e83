"""The vehicle of a scenario or a node."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.settings import setting
from vehicle_dynamics.choices import FIDELITIES
from vehicle_dynamics.driving.model import POWERTRAINS
from vehicle_dynamics.hmmwv import LONGEST_STEP_S, METHODS, Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.single_track import SingleTrack
from vehicle_dynamics.stepper import steps_per_control
from vehicle_dynamics.vehicle import Vehicle
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE, vehicle_file


@dataclass(frozen=True, kw_only=True)
class VehicleChoice:
    """Choice of vehicle, model, powertrain and integrator."""

    model: str = setting(
        DEFAULT_VEHICLE, "Name of a vehicle in config/vehicles, or a path to a YAML file", read_only=True
    )
    fidelity: str = setting(
        "multibody",
        "Vehicle model: multibody with tyres, or kinematic single_track",
        choices=FIDELITIES,
        read_only=True,
    )
    powertrain: str = setting(
        "converter",
        "Powertrain model: converter = engine with torque converter, map = torque map geared to the drive shaft",
        choices=POWERTRAINS,
        read_only=True,
    )
    integrator: str = setting(
        "euler",
        "Integration method: semi-implicit euler, or rk4 (Runge-Kutta of fourth order)",
        choices=tuple(METHODS),
        read_only=True,
    )
    payload_kg: float = setting(
        0.0, "Mass of the payload at the start; 0: that of the vehicle's file (conditions.payload_kg 0 is no payload)",
        unit="kg", minimum=0.0, maximum=1e5, read_only=True,
    )  # fmt: skip
    step_s: float = setting(
        0.001, "Integration time step of the vehicle model",
        unit="s", minimum=1e-5, maximum=LONGEST_STEP_S, read_only=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        steps_per_control(self.step_s)
        if self.payload_kg > 0.0 and self.fidelity == "single_track":
            raise ValueError("payload_kg: needs fidelity multibody; single_track has no mass")

    def parameters(self) -> VehicleParameters:
        """Parameters from the model's file; raises SettingsError."""
        return VehicleParameters.from_yaml(vehicle_file(self.model))


RENAMED_VEHICLE = {
    "vehicle": "vehicle.model",
    **{name: f"vehicle.{name}" for name in ("fidelity", "powertrain", "integrator", "step_s")},
}


def make_vehicle(choice: VehicleChoice, parameters: VehicleParameters) -> Vehicle:
    """A vehicle with these parameters; raises ValueError where together they are not a valid vehicle."""
    if choice.fidelity == "single_track":
        return SingleTrack(parameters, step_s=choice.step_s)
    return Hmmwv(parameters, powertrain=choice.powertrain, method=choice.integrator, step_s=choice.step_s)
