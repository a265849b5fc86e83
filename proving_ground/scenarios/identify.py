"""Rolling resistance and brake friction from manoeuvres, as [Sanjurjo] identified those of its prototype.

Both runs use the model itself, so the result must be what its file says: a check of the method and of the model.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.lock_step import LockStep
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


def rolling_resistance(model: str = "") -> tuple[Identified, Identified]:
    """C_rr from the coast-down, with the inertia of the rotating parts; and as [Sanjurjo] Eq. 5.43 is printed, without.

    The scenario is run a second time without rolling resistance: its acceleration is a_t, the other's is a_r. Printed
    is C = (a_r - a_t) / (g cos): with these definitions the sign must be reversed, since resistance makes a_r the
    smaller. And a vehicle with rotating wheels, of mass m and effective mass m', has m' (a_t - a_r) = C m g cos, not
    m (a_t - a_r). On a slope m' is known from the second run: m' a_t = m g sin, but for the loss in misaligned wheels.
    Air drag D is greater in the faster run, so that D_t - D_r adds to m' (a_t - a_r); its area is taken as known.

    model: another vehicle than the scenario's, by its name in config/vehicles.
    """
    scenario = _scenario("coast_down", model)
    parameters = scenario.vehicle.parameters()
    free = dataclasses.replace(parameters, tyre=dataclasses.replace(parameters.tyre, rolling_resistance=0.0))
    slope = float(np.arctan(-_slope(scenario)))
    real, ideal = (_coasting(scenario, item) for item in (parameters, free))
    loads = _standing_loads(scenario, parameters)
    tyres = [tyre_of_wheel(parameters.tyre, wheel) for wheel in range(4)]
    configured = float(np.average([tyre.rolling_resistance for tyre in tyres], weights=loads))
    radius = parameters.wheel.radius_m - float(np.mean(loads / [tyre.stiffness_npm for tyre in tyres]))
    # The resisting torque C N R of Eq. 5.42 has the unloaded radius; the ground's force that balances it acts at the
    # distance of the ground, a tyre's deflection less.
    lever = radius / parameters.wheel.radius_m
    inertia = effective_mass_share(scenario, parameters)
    gained = ideal.acceleration - real.acceleration
    found = lever * (inertia * gained + ideal.drag - real.drag) / (GRAVITY * np.cos(slope))
    printed = gained / (GRAVITY * np.cos(slope))
    return (
        Identified("rolling resistance", float(found), configured),
        Identified("rolling resistance, Eq. 5.43 with its sign corrected", float(printed), configured),
    )


def effective_mass_share(scenario: Scenario, parameters: VehicleParameters) -> float:
    """Effective mass m' over mass m, from m' a + D = m g sin without rolling resistance on two slopes."""
    free = dataclasses.replace(parameters, tyre=dataclasses.replace(parameters.tyre, rolling_resistance=0.0))
    pulls, runs = [], []
    for slope in (_slope(scenario), 2.0 * _slope(scenario)):
        flat = dataclasses.replace(scenario.world.flat, slope_x=slope)  # type: ignore[type-var]
        steeper = dataclasses.replace(scenario, world=dataclasses.replace(scenario.world, flat=flat))
        runs.append(_coasting(steeper, free))
        pulls.append(GRAVITY * np.sin(np.arctan(-slope)))
    gentle, steep = runs
    return float((pulls[1] - pulls[0] - (steep.drag - gentle.drag)) / (steep.acceleration - gentle.acceleration))


def brake_friction(model: str = "") -> Identified:
    """mu from the braking run: torque of a sliding front brake over twice pad force times radius (Eq. 5.26).

    model: another vehicle than the scenario's, by its name in config/vehicles.
    """
    scenario = _scenario("brake_test", model)
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


def _scenario(name: str, model: str) -> Scenario:
    """A scenario of the suite, with another vehicle if one is named."""
    scenario = load_scenario(scenario_file(name))
    if not model:
        return scenario
    return dataclasses.replace(scenario, vehicle=dataclasses.replace(scenario.vehicle, model=model))


def _slope(scenario: Scenario) -> float:
    assert scenario.world.flat is not None  # the only world there is; coast_down.yaml has it
    return scenario.world.flat.slope_x


class _Coasting(NamedTuple):
    """Means over a run in neutral."""

    acceleration: float  # along the slope [m/s^2]
    drag: float  # of the air, over the vehicle's mass [m/s^2]


def _coasting(scenario: Scenario, parameters: VehicleParameters) -> _Coasting:
    """Slopes of the lines through speed and through the integral of the air's deceleration, over time."""
    run = LockStep(scenario, parameters=parameters).run()
    settled = run.time > SETTLED_S
    time, speed = run.time[settled], run.channels["speed_mps"][settled]
    air = parameters.aerodynamics
    mass = _standing_loads(scenario, parameters).sum() / (GRAVITY * np.cos(np.arctan(_slope(scenario))))
    slowed = 0.5 * air.air_density_kgpm3 * air.drag_area_m2 * speed**2 / mass
    lost = np.cumsum(slowed) * (time[1] - time[0])
    return _Coasting(*(float(np.polyfit(time, item, 1)[0]) for item in (speed, lost)))


def _standing_loads(scenario: Scenario, parameters: VehicleParameters) -> NDArray[np.float64]:
    """Wheel loads [N] of the standing vehicle."""
    still = dataclasses.replace(scenario, start=dataclasses.replace(scenario.start, speed_mps=0.0), duration_s=0.01)
    loads: NDArray[np.float64] = LockStep(still, parameters=parameters).run().history["load"][0]
    return loads
