"""Who is named when time stands still."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proving_ground.interfaces.synchrony import Report
from vehicle_dynamics import time_keeper
from vehicle_dynamics.participants import Participants, SyncSettings
from vehicle_dynamics.standing import EndSettings, RunEnd
from vehicle_dynamics.time_keeper import NAMED_AFTER_S, TimeKeeper, Waiting


class _Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    found = _Clock()
    monkeypatch.setattr(time_keeper, "time", found)
    return found


@pytest.fixture
def participants() -> Participants:
    return Participants(SyncSettings(nodes=("imu", "observer")))


@pytest.fixture
def keeper(participants: Participants, clock: _Clock) -> TimeKeeper:
    simulation: Any = SimpleNamespace(begins_period=True, time_ns=10, look=lambda: None)
    return TimeKeeper(simulation, participants, RunEnd(EndSettings()), lambda instant: None, lambda commands: None)


def test_longest_standstill_is_kept_with_those_who_caused_it(
    keeper: TimeKeeper, participants: Participants, clock: _Clock
) -> None:
    assert keeper.holds
    clock.now += 3.0 * NAMED_AFTER_S
    assert keeper.holds
    participants.on_report("imu", Report(10, 20, {}))
    clock.now += 1.0
    assert keeper.holds  # the observer comes after the IMU
    participants.on_report("observer", Report(10, 20, {}))
    assert not keeper.holds

    assert keeper.longest == Waiting(("imu", "observer"), 3.0 * NAMED_AFTER_S + 1.0)
    assert keeper.waiting == Waiting((), 0.0)


def test_short_waits_are_not_kept(keeper: TimeKeeper, participants: Participants, clock: _Clock) -> None:
    assert keeper.holds
    clock.now += 0.5 * NAMED_AFTER_S
    assert keeper.holds
    for name in ("imu", "observer"):
        participants.on_report(name, Report(10, 20, {}))
    assert not keeper.holds

    assert keeper.longest == Waiting((), 0.0)
    assert keeper.waited_s == 0.5 * NAMED_AFTER_S
