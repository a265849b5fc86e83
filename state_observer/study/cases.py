"""One run of the study: the true linkage, its noisy sensors, and a filter on a wrong model ([Sanjurjo] Section 4.1)."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import SettingsError
from state_observer.filters.observer import LinkageObserver, Run
from state_observer.filters.tuning import Tuning, load_tuning
from state_observer.linkages.mechanism import Mechanism
from state_observer.linkages.sensors import readings_along, sensor_set
from state_observer.linkages.simulation import Trajectory, fall
from state_observer.study.merit import Merit, merit
from state_observer.study.parameters import Case, StudyParameters

Array = NDArray[np.float64]


class Bench:
    """Everything that the runs of a study share."""

    def __init__(self, study: StudyParameters, tuning: Tuning | None = None, *, as_released: bool = False) -> None:
        self.study = study
        self.tuning = tuning or load_tuning()
        self.as_released = as_released
        self.step = self.tuning.step_s
        self.steps = round(study.duration_s / self.step)
        self.truth = functools.cache(self._truth)
        self.mechanism = functools.cache(Mechanism.named)

    def run(self, case: Case) -> tuple[Run, Merit]:
        """Estimates of the filter, and their figures of merit."""
        result = self.observer(case).run(self.readings(case))
        return result, merit(result, self.truth(case.linkage), self.step)

    def observer(self, case: Case, **changes: object) -> LinkageObserver:
        """The filter of a case in its initial state."""
        wrong = self.study.error(case.error)
        model = self.mechanism(case.linkage, self.study.true_gravity_mps2 + wrong.gravity_mps2)
        settings = {
            "plant_psd": self._plant_psd(case),
            "start_angles": model.start_angles + wrong.start_angle_rad,
            "variances": self.tuning.variances(case.linkage, case.sensors, case.method),
            "tuning": self.tuning,
            "as_released": self.as_released,
        }
        return LinkageObserver(case.method, model, case.sensors, **{**settings, **changes})  # type: ignore[arg-type]

    def readings(self, case: Case) -> Array:
        """Sensor readings, NaN between them. The noise of a step does not depend on the rate."""
        every = 1.0 / (case.rate_hz * self.step)
        if not np.isclose(every, round(every)):
            raise SettingsError(f"rate {case.rate_hz} Hz: must divide the {1.0 / self.step:g} steps per second")
        truth, mechanism = self.truth(case.linkage), self.mechanism(case.linkage, self.study.true_gravity_mps2)
        sensors = sensor_set(mechanism, case.sensors)
        readings = np.empty((self.steps, sensors.kinds.size))
        readings_along(mechanism.kernel, sensors, truth.q, truth.qd, readings)
        width = max(2, sensors.kinds.size)
        noise = np.random.RandomState(self.study.noise_seed).standard_normal((self.steps, width))
        readings += self.tuning.sensor_std * noise[:, : sensors.kinds.size]
        readings[np.arange(1, self.steps + 1) % round(every) != 0] = np.nan
        return readings

    def wrong_model_alone(self, linkage: str, error: str) -> Trajectory:
        """Motion of a linkage's model with a modelling error, both by name, without any correction."""
        wrong = self.study.error(error)
        model = self.mechanism(linkage, self.study.true_gravity_mps2 + wrong.gravity_mps2)
        start = model.motion(model.start_angles + wrong.start_angle_rad, np.zeros(model.degrees_of_freedom))
        return fall(model, self.step, self.steps, start)

    def _truth(self, linkage: str) -> Trajectory:
        return fall(self.mechanism(linkage, self.study.true_gravity_mps2), self.step, self.steps)

    def _plant_psd(self, case: Case) -> float:
        if case.method == "forceEKF":
            return self.tuning.force.psd
        return self.tuning.plant_psd(case.linkage, case.error, case.sensors, case.method)
