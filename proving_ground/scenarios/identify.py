"""Rolling resistance and brake friction from manoeuvres, as [Sanjurjo] identified those of its prototype.

Both runs use the model itself, so the result must be what its file says: a check of the method and of the model.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.inflation import tyre_of_wheel

SETTLED_S = 1.0  # after a start or a change of pedals
GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Identified:
    """A coefficient found from a run beside the configured one."""

    name: str
    found: float
    configured: float

    @property
    def error(self) -> float:
        """Relative error of the coefficient found."""
        return self.found / self.configured - 1.0


def rolling_resistance() -> tuple[Identified, Identified]:
    """C_rr from the coast-down, with the inertia of the rotating parts; and as Eq. 5.43 is printed, without.

    The scenario is run a second time without rolling resistance: its acceleration is a_t, the other's is a_r. Printed
    is C = (a_r - a_t) / (g cos): with these definitions the sign must be reversed, since resistance makes a_r the
    smaller. And a vehicle with rotating wheels, of mass m and effective mass m', has m' (a_t - a_r) = C m g cos, not
    m (a_t - a_r). On a slope m' is known from the second run: m' a_t = m g sin, but for the loss in misaligned wheels.
    """
    scenario, parameters = _coast_down()
    free = dataclasses.replace(parameters, tyre=dataclasses.replace(parameters.tyre, rolling_resistance=0.0))
    slope = float(np.arctan(-_slope(scenario)))
    real, ideal = (_acceleration(LockStep(scenario, parameters=item).run()) for item in (parameters, free))
    loads = _standing_loads(scenario, parameters)
    tyres = [tyre_of_wheel(parameters.tyre, wheel) for wheel in range(4)]
    configured = float(np.average([tyre.rolling_resistance for tyre in tyres], weights=loads))
    radius = parameters.wheel.radius_m - float(np.mean(loads / [tyre.stiffness_npm for tyre in tyres]))
    # The resisting torque C N R of Eq. 5.42 has the unloaded radius; the ground's force that balances it acts at the
    # distance of the ground, a tyre's deflection less.
    lever = radius / parameters.wheel.radius_m
    inertia = effective_mass_share(scenario, parameters)
    found = inertia * lever * (ideal - real) / (GRAVITY * np.cos(slope))
    printed = (ideal - real) / (GRAVITY * np.cos(slope))
    return (
        Identified("rolling resistance", float(found), configured),
        Identified("rolling resistance, Eq. 5.43 with its sign corrected", float(printed), configured),
    )


def effective_mass_share(scenario: Scenario, parameters: VehicleParameters) -> float:
    """Effective mass over mass, from the accelerations without rolling resistance on two slopes."""
    free = dataclasses.replace(parameters, tyre=dataclasses.replace(parameters.tyre, rolling_resistance=0.0))
    pulls, gains = [], []
    for slope in (_slope(scenario), 2.0 * _slope(scenario)):
        flat = dataclasses.replace(scenario.world.flat, slope_x=slope)  # type: ignore[type-var]
        steeper = dataclasses.replace(scenario, world=dataclasses.replace(scenario.world, flat=flat))
        gains.append(_acceleration(LockStep(steeper, parameters=free).run()))
        pulls.append(GRAVITY * np.sin(np.arctan(-slope)))
    return float((pulls[1] - pulls[0]) / (gains[1] - gains[0]))


def brake_friction(model: str = "") -> Identified:
    """mu from the braking run: torque of a sliding front brake over twice pad force times radius (Eq. 5.26).

    model: another vehicle than the scenario's, by its name in config/vehicles.
    """
    scenario = load_scenario(scenario_file("brake_test"))
    if model:
        scenario = dataclasses.replace(scenario, vehicle=dataclasses.replace(scenario.vehicle, model=model))
    parameters = scenario.vehicle.parameters()
    found = LockStep(scenario, parameters=parameters).run().channels
    brakes = parameters.brakes
    # The pads slide while the wheel turns; the torque on the wheel is what a torque sensor in it would measure.
    is_rolling = (found["time_s"] > 1.1 + SETTLED_S) & (found["wheel_speed_radps.front_left"] > 5.0)
    pressure = found["brake"][is_rolling]
    force = brakes.front_force_n * np.polyval([*brakes.force_over_pressure[::-1], 0.0], pressure)
    torque = -found["brake_torque_nm.front_left"][is_rolling]
    friction = float(np.mean(torque / (2.0 * force * brakes.front_radius_m)))
    return Identified("brake friction", friction, brakes.friction)


def _coast_down() -> tuple[Scenario, VehicleParameters]:
    path = scenario_file("coast_down")
    scenario = load_scenario(path)
    return scenario, scenario.vehicle.parameters()


def _slope(scenario: Scenario) -> float:
    assert scenario.world.flat is not None  # the only world there is; coast_down.yaml has it
    return scenario.world.flat.slope_x


def _acceleration(run: Run) -> float:
    """Mean acceleration along the slope from the speeds at both ends [m/s^2]."""
    speed, time = run.channels["speed_mps"], run.time
    settled = time > SETTLED_S
    return float(np.polyfit(time[settled], speed[settled], 1)[0])


def _standing_loads(scenario: Scenario, parameters: VehicleParameters) -> NDArray[np.float64]:
    """Wheel loads [N] of the standing vehicle."""
    still = dataclasses.replace(scenario, start=dataclasses.replace(scenario.start, speed_mps=0.0), duration_s=0.01)
    loads: NDArray[np.float64] = LockStep(still, parameters=parameters).run().history["load"][0]
    return loads
