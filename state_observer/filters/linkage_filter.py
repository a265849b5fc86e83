"""Base class of the filters on linkages: two kernels and their initial state. Everything else is shared."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from proving_ground.settings.named_class import named_class
from state_observer.filters.noise import acceleration_psd, double_integrator
from state_observer.filters.registry import FILTERS
from state_observer.filters.run import Recording, Steps, run_of
from state_observer.filters.setup import Array, FilterState, Setup
from state_observer.filters.tuning import PerfectTuning, SmoothTuning, Tuning
from state_observer.linkages.mechanism import Mechanism


class LinkageFilter:
    """A filter in independent coordinates, with the state [z, zd]; subclasses declare how they differ."""

    predict: ClassVar[Any]  # kernel (setup, filter_state) -> ending; advances one step
    correct: ClassVar[Any]  # kernel (setup, filter_state, readings) -> ending; NaN: no reading
    is_fused: ClassVar[bool] = False  # correct runs in every step, with or without a reading
    in_all_coordinates: ClassVar[bool] = False  # the state is [q, qd]
    has_forces: ClassVar[bool] = False  # the state ends with forces on the cranks missing from the model
    has_points: ClassVar[bool] = False  # sigma points of an unscented transform

    def size(self, model: Mechanism) -> int:
        """Number of estimated coordinates of a mechanism."""
        return int(model.size if self.in_all_coordinates else model.degrees_of_freedom)

    def dynamics(self, size: int, psd: float, tuning: Tuning) -> tuple[Array, Array]:
        """A and noise PSD of the error dynamics of `size` coordinates."""
        return double_integrator(size), acceleration_psd(psd, size)

    def iteration(self, tuning: Tuning) -> SmoothTuning | PerfectTuning:
        """Stopping criteria of an iterated correction."""
        return tuning.perfect

    def start_accelerations(self, accelerations: Array, as_released: bool) -> Array:
        """Accelerations of all coordinates at the start."""
        return accelerations

    def start_variances(self, size: int, angle: float, rate: float, tuning: Tuning) -> list[float]:
        """Diagonal of the initial covariance of `size` coordinates, from the variances of angles and of rates."""
        return [angle] * size + [rate] * size

    def filter_state(self, setup: Setup, motion: tuple[Array, Array, Array], covariance: Array) -> FilterState:
        """State of a filter that starts with a motion (q, qd, qdd)."""
        q, qd, qdd = motion
        cranks, count = setup.linkage.cranks.size, setup.sensors.kinds.size
        if self.in_all_coordinates:
            state = np.concatenate([q, qd])
        else:
            state = np.concatenate([q[-cranks:], qd[-cranks:], np.zeros(cranks if self.has_forces else 0)])
        points = 4 * cranks + 1 if self.has_points else 0
        return FilterState(
            state=state,
            covariance=covariance.copy(),
            q=q.copy(),
            qd=qd.copy(),
            qdd=qdd.copy(),
            multipliers=np.zeros(q.size - cranks),
            force=setup.linkage.force.copy(),
            innovation=np.full(count, np.nan),
            innovation_covariance=np.full((count, count), np.nan),
            sensitivity=np.zeros((count, covariance.shape[0])),
            points=np.zeros((points, 2 * cranks)),
            points_before=np.zeros((points, 2 * cranks)),
            points_q=np.zeros((points, q.size)),
            points_qd=np.zeros((points, q.size)),
            gap=np.zeros(1),
        )

    def run(
        self,
        setup: Setup,
        filter_state: FilterState,
        readings: Array,
        recording: Recording,
        predicts: bool,
        corrects: bool,
    ) -> tuple[int, int]:
        """Run one step per row of readings (NaN: no reading); returns the ending and the number of sound steps."""
        skipped = filter_state.q.size - setup.linkage.cranks.size if self.in_all_coordinates else 0
        steps = Steps(predicts, corrects, self.is_fused, skipped)
        kernel = run_of(type(self).__module__, self.predict, self.correct)
        ending, done = kernel(steps, setup, filter_state, readings, recording)
        return ending, done


def filter_named(name: str) -> LinkageFilter:
    """The filter with a name in FILTERS or as module:Class; raises SettingsError."""
    found: type[LinkageFilter] = named_class(f"filter {name}", FILTERS, name, LinkageFilter)
    return found()
