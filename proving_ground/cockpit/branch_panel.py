"""The page's tab for branches of a run in lock-step: checkpoints, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import viser

from proving_ground.cockpit.panel import Panel
from sensors.faults import FAULTS

START = "the start"


class BranchCommands(Protocol):
    """Requests of the tab, called through `post`."""

    def post(self, call: Callable[[], None]) -> None:
        """Queue a call for the owner's thread."""

    def save(self) -> None:
        """Save the present instant."""

    def go_back(self, name: str) -> None:
        """Begin another branch at a checkpoint of this name, or at START."""

    def set_friction(self, friction: float) -> None:
        """Change the ground's friction."""

    def add_fault(self, sensor: str, kind: str, value: float) -> None:
        """Let a sensor fail."""

    def clear_faults(self) -> None:
        """End all faults."""


class BranchPanel:
    """Widgets of the tab, shared by all browsers."""

    def __init__(
        self,
        server: viser.ViserServer,
        panel: Panel,
        commands: BranchCommands,
        sensors: Sequence[str],
        friction: float | None,
    ) -> None:
        """friction: of the ground; None: it has none that can be changed."""
        gui, self._commands, self._post = server.gui, commands, commands.post
        with panel.tabs.add_tab("Branches"):
            self._words = gui.add_markdown("")
            save = gui.add_button("Save checkpoint", hint="Keep this instant of the run, to go back to")
            save.on_click(lambda _: self._post(commands.save))
            self.checkpoint: Any = gui.add_dropdown("Checkpoint", (START,), initial_value=START)
            back = gui.add_button("Go back", hint="Begin another branch there; its trail is drawn beside the others")
            back.on_click(lambda _: self._post(partial(commands.go_back, str(self.checkpoint.value))))
            if friction is not None:
                self._add_friction(gui, friction)
            if sensors:
                self._add_faults(gui, tuple(sensors))

    def show(self, words: str, checkpoints: Sequence[str]) -> None:
        """Show the state of the run, and which checkpoints there are."""
        self._words.content = words
        names = (START, *checkpoints)
        if tuple(self.checkpoint.options) != names:
            self.checkpoint.options = names
            self.checkpoint.value = names[-1]

    def _add_friction(self, gui: Any, friction: float) -> None:
        slider = gui.add_slider(
            "Friction", min=0.05, max=1.5, step=0.05, initial_value=min(max(friction, 0.05), 1.5),
            hint="Coefficient of friction of the ground, from now on",
        )  # fmt: skip

        def on_update(event: Any) -> None:
            if event.client is not None:  # by people
                self._post(partial(self._commands.set_friction, float(event.target.value)))

        slider.on_update(on_update)

    def _add_faults(self, gui: Any, sensors: tuple[str, ...]) -> None:
        with gui.add_folder("Fault"):
            sensor = gui.add_dropdown("Sensor", sensors)
            kind = gui.add_dropdown("Kind", tuple(FAULTS), initial_value="outage")
            value = gui.add_number("Value", 0.0, hint="Size of the fault, as its kind defines it")
            add = gui.add_button("Begin fault")
            clear = gui.add_button("End faults")

        def begin(_: Any) -> None:
            self._post(partial(self._commands.add_fault, str(sensor.value), str(kind.value), float(value.value)))

        add.on_click(begin)
        clear.on_click(lambda _: self._post(self._commands.clear_faults))
