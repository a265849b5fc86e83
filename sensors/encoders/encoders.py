"""The sensors of wheels, steering, pedals, engine and tilt, read together as by one data acquisition board."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sensors.drive_truth import require_finite_drive
from sensors.encoders.inclinometer import Inclinometer
from sensors.encoders.pulses import PulseCounter
from sensors.encoders.settings import EncoderSettings
from sensors.errors import ErrorModel
from sensors.faults import Fault
from sensors.mounting import require_motion
from sensors.samples import DriveTruth, EncoderSample
from sensors.sensor import Sensor
from sensors.streams import stream
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]

SIZES = {"torque": 4, "steering": 1, "throttle": 1, "brake_pressure": 1, "tilt": 2}  # channels of each error model
TORQUE, THROTTLE = slice(8, 12), slice(13, 14)  # parts of a reading, in the order of EncoderSettings.channels


class Encoders(Sensor[EncoderSettings, EncoderSample]):
    """Counts pulses at every update and samples at its rate; `update` returns the samples that arrive."""

    STATE = ("_errors", "_wheels", "_engine", "_inclinometer", "_jitter", "_engine_angle", "_engine_before")

    def __init__(
        self,
        settings: EncoderSettings,
        *,
        seed: int = 0,
        name: str = "encoders",
        faults: Iterable[Fault] = (),
        start_ns: int = 0,
    ) -> None:
        """Arguments as of sensors.sensor.Sensor."""
        errors = settings.errors()
        self._errors = {kind: ErrorModel(errors[kind], size, seed, name, kind) for kind, size in SIZES.items()}
        phase = stream(seed, name, "phase").random(5)  # position of the edges at the start of the run
        stopped = settings.stopped_after_s
        self._wheels = PulseCounter(
            settings.wheel_pulses,
            phase[:4],
            knows_direction=settings.knows_direction,
            hysteresis=settings.pulse_hysteresis,
            stopped_after_s=stopped,
        )
        self._engine = PulseCounter(
            settings.engine_pulses,
            phase[4:],
            knows_direction=False,
            hysteresis=settings.pulse_hysteresis,
            stopped_after_s=stopped,
        )
        self._inclinometer = Inclinometer(settings.tilt_smoothing_s)
        self._up: Array = np.array([0.0, 0.0, settings.gravity_mps2])
        self._begin(seed, name)
        super().__init__(settings, seed=seed, name=name, faults=faults, start_ns=start_ns)

    def change(self, settings: EncoderSettings) -> None:
        """Change settings while running, error models included."""
        super().change(settings)
        for kind, parameters in settings.errors().items():
            self._errors[kind].parameters = parameters
        self._inclinometer.smoothing_s = settings.tilt_smoothing_s

    def reset(self) -> None:
        """Return to the initial state, random generators included."""
        super().reset()
        for model in self._errors.values():
            model.reset()
        for part in (self._wheels, self._engine, self._inclinometer):
            part.reset()
        self._begin(self.seed, self.name)

    def update(self, time_ns: int, base: BaseMotion, drive: DriveTruth) -> list[EncoderSample]:
        """Samples that arrive at this instant. Raises ValueError for a truth that is not finite."""
        require_motion(base)
        require_finite_drive(drive)
        self._wheels.rotate_to(time_ns, drive.spin)
        self._engine.rotate_to(time_ns, self._rotate_engine(time_ns, drive.engine_speed))
        motion = self.mounting.motion(base)
        self._inclinometer.feel(time_ns, motion.world_from_sensor.T @ (motion.acceleration + self._up))
        if self.is_due(time_ns):
            self.send(time_ns, self._sample(time_ns, drive))
        return self.arrived(time_ns)

    def _begin(self, seed: int, name: str) -> None:
        self._jitter = stream(seed, name, "jitter")
        self._engine_angle = 0.0
        self._engine_before: tuple[int, float] | None = None  # time [ns] and speed [rad/s]

    def _rotate_engine(self, time_ns: int, speed: float) -> Array:
        """Angle of the engine, integrated from its speed, which is taken as linear between updates."""
        if self._engine_before is not None:
            before_ns, before = self._engine_before
            self._engine_angle += 0.5 * (before + speed) * (time_ns - before_ns) * 1e-9
        self._engine_before = (time_ns, speed)
        return np.array([self._engine_angle])

    def _sample(self, time_ns: int, drive: DriveTruth) -> EncoderSample:
        shift = self.settings.pulse_jitter * self._jitter.normal(size=5)
        pressure = drive.brake * self.settings.full_brake_pressure_pa
        reading = np.concatenate(
            [
                self._wheels.angle,
                self._wheels.read_rate(shift[:4]),
                self._errors["torque"].apply(time_ns, drive.wheel_torque),
                self._errors["steering"].apply(time_ns, np.array([drive.steering])),
                self._errors["throttle"].apply(time_ns, np.array([drive.throttle])),
                self._errors["brake_pressure"].apply(time_ns, np.array([pressure])),
                self._engine.read_rate(shift[4:]),
                self._errors["tilt"].apply(time_ns, self._inclinometer.tilt),
            ]
        )
        read = self.distorted(time_ns, reading)
        read[TORQUE] = self._errors["torque"].within_range(read[TORQUE])
        read[THROTTLE] = np.clip(read[THROTTLE], 0.0, 1.0) + 0.0  # no -0.0
        steering, throttle, brake_pressure, engine_speed = read[12:16].tolist()
        return EncoderSample(
            time_ns=time_ns,
            wheel_angle=read[0:4],
            wheel_rate=read[4:8],
            wheel_torque=read[TORQUE],
            steering=steering,
            throttle=throttle,
            brake_pressure=brake_pressure,
            engine_speed=engine_speed,
            tilt=read[16:18],
        )
