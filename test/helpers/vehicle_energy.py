"""Energy of the driving vehicle, computed from outside: from unit forces on its dynamics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from vehicle_dynamics.embedded_vehicle import OUT_SIZE, forward_dynamics, workspace
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.suspension.strut import spring_energy
from vehicle_dynamics.vehicle_state import VehicleState

Array = NDArray[np.float64]


def mass_matrix(car: Hmmwv, body: VehicleState) -> Array:
    """Mass matrix of angular velocity, velocity in chassis axes, lower arms and wheel spins: from unit forces."""
    ends = np.zeros((4, 9))
    ends[:, :3] = car.kernel.bodies.corners["geometry"]["tie_inner"]
    work, out = workspace(), np.zeros(OUT_SIZE)
    still = RigidMotion((0.0, 0.0, 0.0), body.theta, np.zeros(4), np.zeros(4))

    def accelerations(force: Array) -> Array:
        loads = RigidLoads((0.0, 0.0, 0.0), force[6:10], force[10:], np.zeros((4, 6)), force[:6])
        forward_dynamics(car.kernel.bodies, still, ends, loads, work, out)
        return out.copy()

    unloaded = accelerations(np.zeros(OUT_SIZE))
    # Forces of 1 MN: springs push with up to 1e5 N, and their rounding must not count.
    inverse = np.column_stack([(accelerations(1e6 * force) - unloaded) / 1e6 for force in np.eye(OUT_SIZE)])
    return np.linalg.inv(inverse)


def body_energy(car: Hmmwv, body: VehicleState) -> float:
    """Energy [J] of motion, height, and the springs with stops, bushings and anti-roll bars of the suspensions."""
    kernel, world = car.kernel, Rotation.from_quat(body.attitude).as_matrix()
    masses = mass_matrix(car, body)
    rates = np.concatenate([body.angular_velocity, world.T @ body.velocity, body.theta_rate, body.spin_rate])
    moment = np.array([masses[4, 2], masses[5, 0], masses[3, 1]])  # mass times centre of mass: M_vw is -m [c]x
    height = masses[3, 3] * body.position[2] + world[2] @ moment
    springs = sum(
        spring_energy(strut, np.cos(theta), np.sin(theta))
        for strut, theta in zip(kernel.bodies.corners["strut"], body.theta, strict=True)
    )
    twists = body.theta[::2] - body.theta[1::2]
    bars = 0.5 * np.dot(kernel.antiroll, twists**2) + 0.5 * np.dot(np.repeat(kernel.bushing, 2), body.theta**2)
    return float(0.5 * rates @ masses @ rates + kernel.gravity * height + springs + bars)
