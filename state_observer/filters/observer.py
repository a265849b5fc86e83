"""One interface to all filters: predict, correct, state, covariance, innovation.

>>> from state_observer.filters.observer import LinkageObserver
>>> from state_observer.linkages.mechanism import Mechanism
>>> observer = LinkageObserver("errorEKF", Mechanism.named("four_bar", gravity=-9.81), "encoder", plant_psd=0.09)
>>> observer.predict()
>>> observer.correct([1.05])
>>> round(float(observer.state.angles[0]), 2)
1.05
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proving_ground.settings import SettingsError
from state_observer.filters.linkage_filter import LinkageFilter, filter_named
from state_observer.filters.noise import van_loan
from state_observer.filters.run import Recording
from state_observer.filters.setup import ENDINGS, SOUND, FilterState, Options, Setup
from state_observer.filters.tuning import Tuning, load_tuning
from state_observer.linkages.mechanism import Mechanism
from state_observer.linkages.sensors import sensor_set

Array = NDArray[np.float64]


class ObserverError(RuntimeError):
    """A filter cannot continue; the message says why."""


class LinkageState(NamedTuple):
    """Estimated angles and rates of the cranks, and forces missing from the model."""

    angles: Array  # crank angles [rad]
    rates: Array  # [rad/s]
    forces: Array  # missing from the model, on the cranks [N m]; zero except for forceEKF


class Run(NamedTuple):
    """A whole run of a filter: one row per step until it ended."""

    angles: Array
    rates: Array
    forces: Array
    covariances: Array  # of [angles, rates]
    innovations: Array
    innovation_covariances: Array
    gaps: Array
    ending: str
    is_sound: bool


class LinkageObserver:
    """A filter on its own model of a linkage."""

    def __init__(
        self,
        method: str,
        model: Mechanism,
        sensors: str,
        *,
        plant_psd: float,
        start_angles: ArrayLike | None = None,
        variances: tuple[float, float] | None = None,
        tuning: Tuning | None = None,
        as_released: bool = False,
        solves_position: bool = False,
    ) -> None:
        """method: a name in filters.registry.FILTERS, or your own filter as module:Class.

        sensors: a name in SENSOR_SETS. plant_psd: PSD of acceleration noise [rad^2/s^3] (forceEKF: of its derivative
        [rad^2/s^5]). variances: initial ones of angles and rates, by default those of the tuning.

        solves_position: the errorEKF solves the position problem after a correction, instead of Eq. 3.119.

        as_released: follow the authors' code where it departs from the text ([Sanjurjo] Section 4.6's toolbox):
        errorEKF starts without acceleration; two-angle derivatives keep each angle's own products only; the
        five-bar's velocity constraints have sine and cosine exchanged in SCKF and DIEKFpm.
        """
        if not (np.isfinite(plant_psd) and plant_psd >= 0.0):
            raise SettingsError(f"plant_psd must be finite and >= 0, got {plant_psd}")
        tuning = tuning or load_tuning()
        self.method, self.model, self.step = method, model, tuning.step_s
        self._filter = filter_named(method)
        self._cranks = model.degrees_of_freedom
        self._setup = _setup(self._filter, model, sensors, plant_psd, tuning, as_released, solves_position)
        angles = model.start_angles if start_angles is None else np.asarray(start_angles, dtype=float)
        if angles.shape != (self._cranks,) or not np.all(np.isfinite(angles)):
            raise SettingsError(f"start_angles must be {self._cranks} finite numbers, got {angles.tolist()}")
        q, qd, qdd = model.motion(angles, np.zeros(self._cranks))
        qdd = self._filter.start_accelerations(qdd, as_released)
        covariance = _initial_covariance(self._filter, model, tuning, variances)
        self._state = self._filter.filter_state(self._setup, (q, qd, qdd), covariance)
        self._before: FilterState | None = None
        self._scratch = self._recording(1)

    @property
    def state(self) -> LinkageState:
        """The current estimate."""
        state, cranks = self._state.state, self._cranks
        if self._filter.in_all_coordinates:
            half = state.size // 2
            return LinkageState(state[half - cranks : half].copy(), state[-cranks:].copy(), np.zeros(cranks))
        forces = state[2 * cranks :] if self._filter.has_forces else np.zeros(cranks)
        return LinkageState(state[:cranks].copy(), state[cranks : 2 * cranks].copy(), forces.copy())

    @property
    def covariance(self) -> Array:
        """Covariance of the filter's whole state; errorEKF: of the error of the model's state."""
        return np.array(self._state.covariance)

    @property
    def innovation(self) -> Array:
        """Readings minus expectation at the last correction; zero for sensors without a reading."""
        return np.array(self._state.innovation)

    @property
    def innovation_covariance(self) -> Array:
        """Expected covariance of the innovation."""
        return np.array(self._state.innovation_covariance)

    @property
    def position_gap(self) -> float:
        """Largest violated constraint after the last correction [m^2 for lengths, m for angles]."""
        return float(self._state.gap[0])

    @property
    def filter_state(self) -> FilterState:
        """Complete state of the filter: for studies (observability) and tests."""
        return self._state

    @property
    def setup(self) -> Setup:
        """Constants of the filter in the form that kernels use."""
        return self._setup

    def predict(self) -> None:
        """Predict one time step ahead."""
        if self._filter.is_fused:
            self._before = FilterState(*(part.copy() for part in self._state))
        nothing = np.full((1, self._setup.sensors.kinds.size), np.nan)
        self._step(nothing, predicts=True, corrects=self._filter.is_fused)

    def correct(self, readings: Sequence[float] | Array) -> None:
        """Correct with the readings of this instant; NaN: no reading."""
        given = np.array(readings, dtype=float)
        count = self._setup.sensors.kinds.size
        if given.shape != (count,) or np.any(np.isinf(given)):
            raise SettingsError(f"readings must be {count} numbers (NaN: no reading), got {given.tolist()}")
        if not self._filter.is_fused:
            self._step(given[None], predicts=False, corrects=True)
            return
        if self._before is None:
            raise ObserverError(f"{self.method}: call correct once after each predict")
        for part, before in zip(self._state, self._before, strict=True):
            part[...] = before
        self._before = None
        self._step(given[None], predicts=True, corrects=True)

    def run(self, readings: Array) -> Run:
        """Run one step per row of readings (NaN: no reading), from the current state."""
        steps, cranks, count = len(readings), self._cranks, self._setup.sensors.kinds.size
        if readings.shape != (steps, count):
            raise SettingsError(f"readings must have {count} columns, got shape {readings.shape}")
        kept = self._recording(steps)
        ending, done = self._filter.run(self._setup, self._state, readings, kept, predicts=True, corrects=True)
        states = kept.states[:done]
        forces = states[:, 2 * cranks :] if self._filter.has_forces else np.zeros((done, cranks))
        return Run(
            states[:, :cranks], states[:, cranks : 2 * cranks], forces, kept.covariances[:done],
            kept.innovations[:done], kept.innovation_covariances[:done], kept.gaps[:done],
            ENDINGS[ending], ending == SOUND,
        )  # fmt: skip

    def _recording(self, steps: int) -> Recording:
        cranks, count = self._cranks, self._setup.sensors.kinds.size
        width = 3 * cranks if self._filter.has_forces else 2 * cranks
        return Recording(
            states=np.zeros((steps, width)),
            covariances=np.zeros((steps, 2 * cranks, 2 * cranks)),
            innovations=np.full((steps, count), np.nan),
            innovation_covariances=np.full((steps, count, count), np.nan),
            gaps=np.full(steps, np.nan),
        )

    def _step(self, readings: Array, predicts: bool, corrects: bool) -> None:
        ending, _ = self._filter.run(self._setup, self._state, readings, self._scratch, predicts, corrects)
        if ending != SOUND:
            raise ObserverError(f"{self.method}: {ENDINGS[ending]}")


def _setup(
    chosen: LinkageFilter, model: Mechanism, sensors: str, psd: float, tuning: Tuning,
    as_released: bool, solves_position: bool,
) -> Setup:  # fmt: skip
    dynamics, noise_psd = chosen.dynamics(chosen.size(model), psd, tuning)
    transition, noise = van_loan(dynamics, noise_psd, tuning.step_s)
    placed = sensor_set(model, sensors)
    iterated = chosen.iteration(tuning)
    options = Options(
        as_released=as_released,
        penalty=tuning.penalty,
        solves_position=solves_position,
        alpha=tuning.unscented.alpha,
        beta=tuning.unscented.beta,
        kappa=tuning.unscented.kappa,
        weakening=tuning.smooth.weakening,
        decay=tuning.smooth.decay,
        perfect_variance=tuning.perfect.variance,
        shrink=tuning.perfect.shrink,
        gap=iterated.gap,
        most_iterations=iterated.most_iterations,
    )
    covariance = tuning.sensor_std**2 * np.eye(placed.kinds.size)
    transition = np.ascontiguousarray(transition)
    return Setup(model.kernel, placed, covariance, tuning.step_s, transition, noise, noise_psd, options)


def _initial_covariance(
    chosen: LinkageFilter, model: Mechanism, tuning: Tuning, variances: tuple[float, float] | None
) -> Array:
    angle, rate = variances or (np.radians(5.0) ** 2, np.radians(5.0) ** 2)
    if not (angle > 0.0 and rate > 0.0):
        raise SettingsError(f"variances must be > 0, got {angle} and {rate}")
    return np.diag(chosen.start_variances(chosen.size(model), angle, rate, tuning))
