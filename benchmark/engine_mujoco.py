"""Any mechanism in MuJoCo, from its exported MJCF: states, trajectories and times.

The free joint of the root comes first in MuJoCo's arrays: seven positions, six velocities (linear in world axes, then
angular in root axes).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark.measure import cpu_time_us, engine
from vehicle_dynamics.export.mjcf import GRAVITY, mjcf
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.tree import TreeState

Array = NDArray[np.float64]

STEPS_PER_REPEAT = 100  # each repeat is timed from the same state


class EngineState(NamedTuple):
    """State of the mechanism: the root in the world, and all tree coordinates."""

    position: Array  # of the root's origin, world axes [m]
    quaternion: Array  # w, x, y, z: root to world
    velocity: Array  # of the root's origin, world axes [m/s]
    angular_velocity: Array  # angular velocity of the root, root axes [rad/s]
    coordinates: Array
    rates: Array


class MujocoModel:
    """The mechanism as a MuJoCo model with a free root body."""

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        gravity: tuple[float, float, float] = GRAVITY,
        timestep_s: float = 0.001,
        integrator: str = "implicitfast",
    ) -> None:
        """integrator: MuJoCo's name, such as implicitfast or RK4."""
        self._mujoco = engine("mujoco")
        text = mjcf(mechanism, gravity=gravity, timestep_s=timestep_s)
        self.model = self._mujoco.MjModel.from_xml_string(text)
        self.model.opt.integrator = getattr(self._mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        self.data = self._mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in mechanism.coordinate_names]
        self._joint_ids = {joint.name: joint.id for joint in joints}
        self._position_index = np.array([joint.qposadr[0] for joint in joints], dtype=int)
        self._velocity_index = np.array([joint.dofadr[0] for joint in joints], dtype=int)

    def set_closure(self, time_constant_s: float, impedance: float) -> None:
        """Softness of all loop closures, instead of the exported one (see export/mjcf.py)."""
        self.model.eq_solref[:] = (time_constant_s, 1.0)
        self.model.eq_solimp[:, :2] = impedance

    def set_springs(self, stiffness: Mapping[str, float]) -> None:
        """Linear springs on coordinates [N m/rad or N/m], at rest at design."""
        for name, value in stiffness.items():
            self.model.jnt_stiffness[self._joint_ids[name]] = value

    def set_state(self, state: TreeState) -> None:
        """Set coordinates, rates and root velocity from a state; the root is at the world's origin."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._position_index] = state.coordinates
        self.data.qvel[:6] = np.concatenate([state.velocity[0][3:], state.velocity[0][:3]])
        self.data.qvel[self._velocity_index] = state.rates

    def run(self, duration_s: float) -> EngineState:
        """Step for a while and return the state."""
        for _ in range(round(duration_s / self.model.opt.timestep)):
            self._mujoco.mj_step(self.model, self.data)
        return self.state()

    def state(self) -> EngineState:
        """The present state, with the coordinates in our order, not MuJoCo's."""
        position, velocity = self.data.qpos.copy(), self.data.qvel.copy()
        return EngineState(
            position[:3],
            position[3:7],
            velocity[:3],
            velocity[3:6],
            position[self._position_index],
            velocity[self._velocity_index],
        )

    def violation_m(self) -> float:
        """Present gap of the worst loop [m]."""
        self._mujoco.mj_forward(self.model, self.data)
        return float(np.abs(self.data.efc_pos).max(initial=0.0))

    def times_us(self) -> dict[str, float]:
        """CPU time [us] of a step and of an evaluation, called from Python, and of a step of a model without bodies."""
        mujoco, model, data = self._mujoco, self.model, self.data
        start_position, start_velocity = data.qpos.copy(), data.qvel.copy()

        def steps() -> None:
            data.qpos[:], data.qvel[:] = start_position, start_velocity
            for _ in range(STEPS_PER_REPEAT):
                mujoco.mj_step(model, data)

        step = cpu_time_us(steps, calls=1) / STEPS_PER_REPEAT
        data.qpos[:], data.qvel[:] = start_position, start_velocity
        empty = mujoco.MjModel.from_xml_string("<mujoco/>")
        empty_data = mujoco.MjData(empty)
        return {
            "mujoco_step_us": step,
            "mujoco_forward_us": cpu_time_us(lambda: mujoco.mj_forward(model, data)),
            "mujoco_binding_us": cpu_time_us(lambda: mujoco.mj_step(empty, empty_data), calls=2000),
        }
