"""The errorEKF on the vehicle ([Sanjurjo] Sections 3.4.6 and 5.7): a multibody model corrected by measurements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import state_observer.vehicle.layout as at
from state_observer.vehicle.constants import ROLLING_SHARE, filter_constants
from state_observer.vehicle.error_dynamics import BIASES, SLOWEST, grow
from state_observer.vehicle.estimate import write_vehicle_estimate
from state_observer.vehicle.filter_base import FilterBase
from state_observer.vehicle.layout import VEHICLE_STATE
from state_observer.vehicle.measurements import correct_with_gps, correct_with_imu, correct_with_wheels
from state_observer.vehicle.settings import VehicleObserverSettings
from state_observer.vehicle.start import ENOUGH_STILL, STILL_STD, InitialState
from state_observer.vehicle.validation import Reading
from terrain.ground import FlatGround, GroundModel
from terrain.ruts import restore_ruts, rewind, save_ruts
from vehicle_dynamics.driving.handle import advance, handle
from vehicle_dynamics.driving.model import driving_workspace
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.driving.state import ENGINE_SPEED, PITMAN, PITMAN_RATE
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import heading_of
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import DRIVE, REVERSE, Pedals
from vehicle_dynamics.rigid_steps import SEMI_IMPLICIT_EULER
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE, vehicle_file
from vehicle_dynamics.vehicle_state import ANGULAR_VELOCITY, ATTITUDE, POSITION, SPIN, SPIN_RATE, VELOCITY

Array = NDArray[np.float64]

REVERSES = 0.3  # [rad/s] of all wheels in reverse
FASTEST_PITMAN = 2.0  # [rad/s]
FIRST_DISTURBANCE = np.array([1.0, 1.0, 0.3])  # [m/s^2, m/s^2, rad/s^2]
FIRST_INFLATION = 4.0  # the model is unreliable at first
BLIND_NS = 200_000_000  # without encoders, before the model coasts
COASTING = np.array([7.0, 7.0, 0.0, 7.0])  # noise inflation while coasting
PRESSED = 0.005  # a smaller brake value is noise


class ErrorEkf(FilterBase):
    """Error-state extended Kalman filter that predicts with a vehicle model of its own, on any ground."""

    def __init__(
        self,
        settings: VehicleObserverSettings,
        *,
        parameters: VehicleParameters | None = None,
        ground: GroundModel | None = None,
    ) -> None:
        """parameters: used instead of the settings' vehicle file."""
        self.ground: GroundModel = ground or FlatGround()
        vehicle = parameters or VehicleParameters.from_yaml(vehicle_file(settings.vehicle or DEFAULT_VEHICLE))
        self.model = Hmmwv(vehicle, powertrain=settings.powertrain, step_s=settings.model_step_s)
        work = driving_workspace(self.model.kernel)
        self._handle = handle(self.model.kernel, work, SEMI_IMPLICIT_EULER)
        self._kernel_ground = self.ground.kernel()
        self.constants = filter_constants(settings, self.model, vehicle)
        self._own = settings
        self._axes = self.constants["imu_axes"][0]
        super().__init__(settings, VEHICLE_STATE, settings.step_s)
        self._state: Array = self.filter_state["state"][0]
        self._before = self._state.copy()
        self._pedals = Pedals(0.0, 0.0, 0.0, DRIVE)

    def pedals(self) -> Pedals:
        """Driver inputs as measured by the encoders."""
        steering, throttle, brake, selected = self.filter_state["pedals"][0].tolist()
        return Pedals(steering, throttle, brake, int(selected) if selected else DRIVE)

    def snapshot(self) -> SnapshotRecord:
        """Current snapshot of the model: tyre forces, loads, slips. Raises ValueError before there is an estimate."""
        return self.model.snapshot(self._state, self.pedals(), self.ground)

    def _rut_changes(self) -> int:
        return int(self._kernel_ground.ruts.changes[0])

    def _rewind_ruts(self, changes: int) -> None:
        rewind(self._kernel_ground.ruts, changes)

    def saved_state(self) -> dict[str, Any]:
        """State of the filter: its record, and the ruts that its model has left."""
        return super().saved_state() | {"ruts": save_ruts(self._kernel_ground.ruts)}

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """See Stateful."""
        rest = dict(state)
        restore_ruts(self._kernel_ground.ruts, rest.pop("ruts"))
        super().restore_state(rest, keep_random=keep_random)

    def write_estimate(self, out: Any, index: int) -> None:
        write_vehicle_estimate(self.constants, self.filter_state, out, index)

    def base_angular_velocity(self, angular_velocity: Array) -> Array:
        return np.asarray(self._axes @ angular_velocity)

    @property
    def sideslip_point(self) -> Array:
        """Point in base_link [m] whose sideslip is estimated: the chassis origin."""
        return np.asarray(-self.model.base_in_chassis)

    def wheel_speed(self, rates: Array) -> float:
        return float(np.mean(rates)) * self.model.wheel_radius * ROLLING_SHARE

    def _step(self, seconds: float) -> bool:
        state = self._state
        if self.filter_state["time_ns"][0] - self.filter_state["encoders_ns"][0] > BLIND_NS:
            self._coast()
        self._before[:] = state
        steps = max(math.ceil(seconds / self.model.step_s - 1e-6), 1)
        made = advance(self._handle, self._kernel_ground, self.pedals(), seconds / steps, steps, state)
        if made < steps:
            return False
        grow(self.constants, self.filter_state, self._before, seconds)
        return True

    def _coast(self) -> None:
        """Step without driver inputs and wheels: the model follows the IMU, its steering the measured yaw rate."""
        now, known, state = self.filter_state[0], self.constants[0], self._state
        now["pedals"][1:3] = 0.0
        np.maximum(now["noise_inflation"], COASTING, out=now["noise_inflation"])
        x, y, z, w = state[ATTITUDE].tolist()
        speed = (1.0 - 2.0 * (y * y + z * z)) * state[VELOCITY][0] + 2.0 * (x * y + z * w) * state[VELOCITY][1]
        if speed > SLOWEST:
            angle = (known["axle"][0] - known["axle"][1]) * state[ANGULAR_VELOCITY][2] / speed
            lock = known["pedal_lock"]
            state[PITMAN] = min(max(angle / float(known["steer"][:2].mean()), -lock), lock)
            now["pedals"][0] = -state[PITMAN] / lock

    def _start(self, initial: InitialState) -> None:
        known, now = self.constants[0], self.filter_state[0]
        cosine, sine = math.cos(initial.heading), math.sin(initial.heading)
        arm = known["gps_arm"] - known["base"]
        x = initial.antenna[0] - cosine * arm[0] + sine * arm[1]
        y = initial.antenna[1] - sine * arm[0] - cosine * arm[1]
        speed = initial.speed if abs(initial.speed) > 0.3 else 0.0
        counted, engine = self._state[SPIN].copy(), self._state[ENGINE_SPEED]
        pitman = self._state[PITMAN]
        self._state[:] = self.model.start(self.ground, x=x, y=y, heading=initial.heading, speed=speed)
        self._state[SPIN] = counted
        if now["counted_rate"].any():  # wheels may spin; zero before the first edges
            self._state[SPIN_RATE] = now["counted_rate"]
        if engine > 0.0:
            self._state[ENGINE_SPEED] = engine
        self._state[PITMAN] = pitman
        now["ground"] = 0.0
        if not self._own.knows_ground:
            now["ground"] = initial.antenna[2] - self._state[POSITION][2] - known["gps_arm"][2]
        now["noise_inflation"] = FIRST_INFLATION
        now["disturbance"] = now["angular_acceleration"] = now["acceleration"] = 0.0
        rests = now["still"] >= ENOUGH_STILL and self._own.estimates_biases
        if rests:
            now["gyro_bias"] = now["still_angular_velocity"]
        now["covariance"] = np.diag(self._first_variances(initial, rests))

    def _first_variances(self, initial: InitialState, rests: bool) -> Array:
        own, variances = self._own, np.zeros(at.ERROR_SIZE)
        variances[at.POSITION : at.POSITION + 2] = initial.position_variance
        variances[at.POSITION + 2] = 0.02**2
        variances[[at.ROLL, at.PITCH]] = 0.02**2
        variances[at.YAW] = initial.heading_variance + 0.02**2
        variances[at.WHEEL : at.WHEEL + 4] = self.constants["pulse"][0] ** 2
        variances[at.VELOCITY] = max(initial.speed_variance, 0.2**2)
        variances[at.VELOCITY + 1 : at.VELOCITY + 3] = 0.1**2
        variances[at.ANGULAR_VELOCITY : at.ANGULAR_VELOCITY + 3] = 0.1**2
        variances[at.WHEEL_RATE : at.WHEEL_RATE + 4] = 0.5**2
        gyro = (STILL_STD if rests else own.start.gyro_bias_std_radps) ** 2
        variances[at.GYRO_BIAS : at.GYRO_BIAS + 3] = gyro
        variances[at.FORCE_BIAS : at.FORCE_BIAS + 3] = own.start.force_bias_std_mps2**2
        variances[at.GROUND] = 0.0 if own.knows_ground else initial.up_variance
        if own.estimates_disturbance:
            variances[at.DISTURBANCE : at.DISTURBANCE + 3] = FIRST_DISTURBANCE**2
        if not own.estimates_biases:
            variances[BIASES] = 0.0
        return variances

    def _correct_with_encoders(self, reading: Reading, passed: float) -> None:
        now, values = self.filter_state[0], reading.values
        backward = self._goes_backward(values[4:8])
        self._take_inputs(values, passed, backward)
        sign = -1.0 if backward and not self._own.wheels_know_direction else 1.0
        moved = sign * (values[:4] - now["counted"]) if now["encoders_ns"] and passed > 0.0 else np.zeros(4)
        now["rotated"] += moved
        rates = sign * values[4:8]
        if self.is_running and passed > 0.0:
            correct_with_wheels(self.constants, self.filter_state, moved, rates, passed, reading.time_ns)
        else:
            self._state[SPIN] = now["rotated"] + 0.5 * self.constants["pulse"]
        now["counted"], now["counted_rate"] = values[:4], rates

    def _goes_backward(self, rates: Array) -> bool:
        """Whether it reverses: by the wheels if they know direction, else by the estimate, slow with a wrong gear."""
        if self._own.wheels_know_direction:
            return float(rates.max()) < -REVERSES
        return self.is_running and float(self._state[SPIN_RATE].mean()) < -REVERSES

    def _take_inputs(self, values: Array, passed: float, backward: bool) -> None:
        """Steering, pedals and engine drive the model as they drive the vehicle."""
        now, state = self.filter_state[0], self._state
        steering, throttle, pressure, engine = values[8:12].tolist()
        lock = float(self.constants["pedal_lock"][0])
        pitman = min(max(-steering, -lock), lock)  # in chassis axes, left is negative
        rate = (pitman - state[PITMAN]) / passed if 0.0 < passed < 0.5 else 0.0
        brake = pressure / self._own.full_brake_pa
        held = min(brake, 1.0) if brake > PRESSED else 0.0
        now["pedals"] = -pitman / lock, min(max(throttle, 0.0), 1.0), held, REVERSE if backward else DRIVE
        state[PITMAN] = pitman
        if engine > 0.0 or not self.is_running:
            state[ENGINE_SPEED] = max(engine, 0.0)
        if self.is_running:
            state[PITMAN_RATE] = min(max(rate, -FASTEST_PITMAN), FASTEST_PITMAN)

    def _correct_with_imu(self, reading: Reading, passed: float) -> None:
        if self.is_running:
            correct_with_imu(self.constants, self.filter_state, reading.values, reading.variance)

    def _correct_with_gps(self, reading: Reading) -> int:
        return int(correct_with_gps(self.constants, self.filter_state, reading.values, reading.variance))

    def _move_to(self, reading: Reading) -> None:
        """Move to the GPS position after lasting disagreement, and widen the heading's variance."""
        now, known = self.filter_state[0], self.constants[0]
        covariance = now["covariance"]
        estimate = self.estimate()
        heading = heading_of(estimate["attitude"].tolist())
        arm = known["gps_arm"]
        off = (
            math.cos(heading) * arm[0] - math.sin(heading) * arm[1],
            math.sin(heading) * arm[0] + math.cos(heading) * arm[1],
        )
        for k in range(2):
            self._state[POSITION][k] = reading.values[k] - off[k]
            covariance[at.POSITION + k, :] = covariance[:, at.POSITION + k] = 0.0
            covariance[at.POSITION + k, at.POSITION + k] = reading.variance[k] + 0.01
        covariance[at.YAW, at.YAW] += 0.15**2
        covariance[at.VELOCITY, at.VELOCITY] += 0.5**2
