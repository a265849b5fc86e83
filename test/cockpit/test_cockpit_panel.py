"""The cockpit's widgets on a real server, without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import viser

from proving_ground.cockpit.camera import CHASE
from proving_ground.cockpit.panel import Panel
from proving_ground.cockpit.replay_state import ReplayState
from proving_ground.cockpit.server import start_server
from proving_ground.cockpit.view_model import ViewModel


class Commands:
    """Records requests of users; their calls wait, as they do for the node's own thread."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.rates: list[float] = []

    def post(self, call: Callable[[], None]) -> None:
        self.waiting.append(call)

    def set_replay_rate(self, rate: float) -> None:
        self.rates.append(rate)

    def seek(self, position_s: float) -> None:
        raise AssertionError("no seek was requested")


@pytest.fixture
def commands() -> Commands:
    return Commands()


@pytest.fixture
def panel(commands: Commands) -> Iterator[Panel]:
    server: Any = start_server("127.0.0.1", 0, "test")
    typed: Any = commands
    yield Panel(server, typed, CHASE, lambda mode: None, {}, lambda name, is_seen: None, lambda: None)
    server.stop()


def test_a_chosen_rate_is_not_reverted_before_the_replay_has_it(panel: Panel, commands: Commands) -> None:
    model = ViewModel()
    model.replay = ReplayState(30.0, 300.0, 10.0, False, 0.0)
    panel.show_replay(True, False)
    panel.draw(model, 10.0)
    field: Any = panel._rate
    assert field.value == 10.0

    field._impl.value = 1.0  # as the server does when a browser reports a change
    for callback in field._impl.update_cb:
        callback(viser.GuiEvent(client=object(), client_id=0, target=field))  # type: ignore[arg-type]
    panel.draw(model, 10.5)  # the replay does not have it yet

    for call in commands.waiting:
        call()
    assert commands.rates == [1.0]
    assert field.value == 1.0
    panel.draw(model, 20.0)
    assert field.value == 10.0  # what the replay has, not what was requested
