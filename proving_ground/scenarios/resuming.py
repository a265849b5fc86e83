"""Saving, restoring and forking of a lock-step run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.codec import decoded, encoded
from proving_ground.saving.stateful import Stateful, restored
from proving_ground.scenarios.checkpoint import Origin, fingerprint, from_bytes, to_bytes
from proving_ground.scenarios.parts import Compiled
from proving_ground.scenarios.scenario import Scenario
from proving_ground.settings import SettingsError
from terrain.ruts import restore_ruts, save_ruts
from terrain.surroundings import Surroundings
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SNAPSHOT
from vehicle_dynamics.parameters import VehicleParameters

if TYPE_CHECKING:
    Self = TypeVar("Self", bound="Resumable")


class Resumable(Stateful):
    """A run that can be saved and goes on to the bit: the base of LockStep."""

    scenario: Scenario
    parameters: VehicleParameters
    parts: Mapping[str, Compiled]
    _there: Surroundings
    _given: dict[str, Any]
    _driver: Any
    _own_driver: Any
    _period: int
    _periods: int
    _history: NDArray[np.void]

    def save(self) -> bytes:
        """The whole run at this instant; raises SettingsError if a part has no state that can be saved."""
        return to_bytes(self._origin(self._period), self.saved_state())

    def restore(self, data: bytes, *, changed: bool = False) -> None:
        """Go on from a checkpoint of the same scenario.

        changed: settings may differ from those of its run and take effect from here on; with another seed the random
        streams restart, and errors drawn at the start stay. Raises SettingsError if it does not fit.
        """
        origin, state = from_bytes(data, self._origin(self._periods), changed=changed)
        before = decoded(encoded(self.saved_state())) if changed else None
        try:
            self.restore_state(state, keep_random=origin.seed != self.scenario.seed)
        except SettingsError:  # a state that the changed settings do not fit: stay as before
            if before is not None:
                self.restore_state(before)
            raise

    def fork(
        self: Self,
        listener: Callable[[str, Any], None] = lambda name, sample: None,
        take_over: Callable[[Any], Any] | None = None,
    ) -> Self:
        """Another run that goes on from here as this one does; listener: for its samples.

        take_over: makes its driver, if it cannot be made as this run's was.
        """
        given = self._given | ({} if take_over is None else {"take_over": take_over})
        twin = type(self)(self.scenario, world=self._there.world, listener=listener, **given)  # type: ignore[call-arg]
        twin.restore_state(decoded(encoded(self.saved_state())))
        return twin

    def saved_state(self) -> dict[str, Any]:
        """The state of all parts, the ruts in the ground and the history."""
        state = super().saved_state()
        other = None if self._driver is self._own_driver else self._driver
        if other is not None and not isinstance(other, Stateful):
            raise SettingsError(f"checkpoint: {type(other).__name__} drives, whose state cannot be saved; see Stateful")
        ruts = save_ruts(self._there.ground.kernel().ruts)
        return state | {"ruts": ruts, "history": self._history[: self._period], "other_driver": other}

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """See Stateful. A driver that took over keeps its own state if the checkpoint has none of it."""
        rest = copy.copy(state)
        ruts, history, other = rest.pop("ruts"), rest.pop("history"), rest.pop("other_driver")
        rest.pop("watch", None)  # of a run that was watched for its report
        super().restore_state(rest, keep_random=keep_random)
        restore_ruts(self._there.ground.kernel().ruts, ruts)
        self._history = np.zeros(self._periods + 1, SNAPSHOT)  # a new one: results of before have views of the old
        self._history[: len(history)] = history
        if other is not None and self._driver is not self._own_driver:
            restored(self._driver, other, keep_random)

    def _origin(self, period: int) -> Origin:
        hashes = fingerprint(self.parts, self.parameters, self._there.world)
        return Origin(period * PERIOD_S, self.scenario.seed, hashes)
