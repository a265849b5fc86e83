"""IMU: gyroscope and accelerometer readings of the true motion, in sensor axes (REP-145)."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sensors.errors import ErrorModel
from sensors.faults import Fault
from sensors.imu.settings import ImuSettings
from sensors.mounting import SensorMotion, require_motion
from sensors.samples import ImuSample
from sensors.sensor import Sensor
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]

GYRO, ACCEL, ATTITUDE = slice(0, 3), slice(3, 6), slice(6, 10)  # in a reading, in the order of ImuSettings.channels


class Imu(Sensor[ImuSettings, ImuSample]):
    """An IMU with errors; `update` at every tick returns the samples that arrive."""

    STATE = ("_gyro", "_accel", "_tilt", "_heading")

    def __init__(
        self,
        settings: ImuSettings,
        *,
        seed: int = 0,
        name: str = "imu",
        faults: Iterable[Fault] = (),
        start_ns: int = 0,
    ) -> None:
        """Arguments as of sensors.sensor.Sensor."""
        tilt, heading = settings.attitude_errors()
        self._gyro = ErrorModel(settings.gyro_errors(), 3, seed, name, "gyro")
        self._accel = ErrorModel(settings.accel_errors(), 3, seed, name, "accel")
        self._tilt = ErrorModel(tilt, 2, seed, name, "attitude")
        self._heading = ErrorModel(heading, 1, seed, name, "heading")
        self._up: Array = np.array([0.0, 0.0, settings.gravity_mps2])
        super().__init__(settings, seed=seed, name=name, faults=faults, start_ns=start_ns)
        if settings.has_attitude:
            importlib.import_module("scipy.spatial.transform")  # preload, not at the first sample

    def change(self, settings: ImuSettings) -> None:
        """Change settings while running, error models included; drawn biases are rescaled, not redrawn."""
        super().change(settings)
        self._gyro.parameters, self._accel.parameters = settings.gyro_errors(), settings.accel_errors()
        self._tilt.parameters, self._heading.parameters = settings.attitude_errors()

    def reset(self) -> None:
        """Return to the initial state, random generators included."""
        super().reset()
        for model in (self._gyro, self._accel, self._tilt, self._heading):
            model.reset()

    def update(self, time_ns: int, base: BaseMotion) -> list[ImuSample]:
        """Samples that arrive at this instant. Raises ValueError for a motion that is not finite."""
        require_motion(base)
        if self.is_due(time_ns):
            self.send(time_ns, self._sample(time_ns, self.mounting.motion(base)))
        return self.arrived(time_ns)

    def true_reading(self, motion: SensorMotion) -> tuple[Array, Array]:
        """Error-free angular velocity [rad/s] and specific force [m/s^2] ([Sanjurjo] Eqs. 5.62, 5.66), sensor axes."""
        # Eq. 5.65: acceleration minus gravity, which points down: at rest the specific force points up.
        return motion.angular_velocity, motion.world_from_sensor.T @ (motion.acceleration + self._up)

    def still(self, time_ns: int, count: int, base: BaseMotion) -> tuple[Array, Array]:
        """Angular velocities and specific forces (count x 3 each) of a constant motion, without faults and delivery.

        Identical to the bit to `update`, and much faster; samples are one period apart.
        """
        require_motion(base)
        angular_velocity, force = self.true_reading(self.mounting.motion(base))
        step_ns = self._sampler.period_ns
        return (
            self._gyro.apply_still(time_ns, step_ns, count, angular_velocity),
            self._accel.apply_still(time_ns, step_ns, count, force),
        )

    def _sample(self, time_ns: int, motion: SensorMotion) -> ImuSample:
        angular_velocity, force = self.true_reading(motion)
        attitude = self._attitude(time_ns, motion.world_from_sensor) if self.settings.has_attitude else np.zeros(4)
        measured = self._gyro.apply(time_ns, angular_velocity), self._accel.apply(time_ns, force)
        # Variances of the reading without faults, which a unit does not know about.
        angular_velocity_variances, force_variances = (
            self._gyro.variances(measured[0]),
            self._accel.variances(measured[1]),
        )
        read = self.distorted(time_ns, np.concatenate([*measured, attitude]))
        read[GYRO], read[ACCEL] = self._gyro.within_range(read[GYRO]), self._accel.within_range(read[ACCEL])
        return ImuSample(
            time_ns=time_ns,
            angular_velocity=read[GYRO],
            force=read[ACCEL],
            angular_velocity_variance=max(angular_velocity_variances.tolist()),
            force_variance=max(force_variances.tolist()),
            attitude=_unit(read[ATTITUDE]) if self.settings.has_attitude else None,
            attitude_variance=self._tilt.variance(),
            heading_variance=self._heading.variance(),
            is_clipped=self._gyro.is_clipped(read[GYRO]) or self._accel.is_clipped(read[ACCEL]),
        )

    def _attitude(self, time_ns: int, world_from_sensor: Array) -> Array:
        """Attitude with errors about the world's axes: roll and pitch about level axes, heading about the vertical."""
        from scipy.spatial.transform import Rotation  # slow to import, and few units report attitude

        tilt, heading = self._tilt.apply(time_ns, np.zeros(2)), self._heading.apply(time_ns, np.zeros(1))
        wrong = Rotation.from_rotvec(np.concatenate([tilt, heading])) * Rotation.from_matrix(world_from_sensor)
        return np.asarray(wrong.as_quat())


def _unit(quaternion: Array) -> Array:
    """Normalise a quaternion changed by faults; NaN or zero stays as it is."""
    length = float(np.linalg.norm(quaternion))
    return quaternion / length if length > 0.0 else quaternion
