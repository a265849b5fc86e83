"""The page's tab for branches of a run in lock-step: checkpoints, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import viser

from proving_ground.cockpit.panel import Panel
from proving_ground.settings import declarations
from terrain.ground import FlatGround

START = "the start"
FIRST_FAULT = "outage"  # selected at the beginning, where there are sensors


class BranchCommands(Protocol):
    """Requests of the tab for checkpoints, faults and friction, called through `post`."""

    def post(self, call: Callable[[], None]) -> None:
        """Queue a call for the owner's thread."""

    def save(self) -> None:
        """Save the present instant."""

    def go_back(self, name: str) -> None:
        """Begin another branch at a checkpoint of this name, or at START."""

    def set_friction(self, friction: float) -> None:
        """Change the ground's friction."""

    def add_fault(self, name: str, kind: str, value: float) -> None:
        """Let the sensor or actuator of a name fail from now on; kind, value: as in a scenario's faults."""

    def clear_faults(self) -> None:
        """End all faults."""


class BranchPanel:
    """Widgets of the page's tab for checkpoints, faults and friction, shared by all browsers."""

    def __init__(
        self,
        server: viser.ViserServer,
        panel: Panel,
        commands: BranchCommands,
        fallible: Mapping[str, Sequence[str]],
        friction: float | None,
    ) -> None:
        """fallible: kinds of faults by sensor or actuator; friction: of the ground, None if it cannot be changed."""
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
            self._add_faults(gui, fallible)

    def show(self, words: str, checkpoints: Sequence[str]) -> None:
        """Show the state of the run, and which checkpoints there are."""
        self._words.content = words
        names = (START, *checkpoints)
        if tuple(self.checkpoint.options) != names:
            self.checkpoint.options = names
            self.checkpoint.value = names[-1]

    def _add_friction(self, gui: Any, friction: float) -> None:
        allowed = declarations(FlatGround)["friction"]
        slider = gui.add_slider(
            "Friction", min=allowed.minimum, max=allowed.maximum, step=0.05, initial_value=friction,
            hint="Coefficient of friction of hard ground, from now on",
        )  # fmt: skip

        def on_update(event: Any) -> None:
            if event.client is not None:  # by people
                self._post(partial(self._commands.set_friction, float(event.target.value)))

        slider.on_update(on_update)

    def _add_faults(self, gui: Any, fallible: Mapping[str, Sequence[str]]) -> None:
        first = next(iter(fallible.values()))
        with gui.add_folder("Fault"):
            part = gui.add_dropdown("Part", tuple(fallible), hint="Sensor or actuator that fails")
            kind = gui.add_dropdown(
                "Kind", tuple(first), initial_value=FIRST_FAULT if FIRST_FAULT in first else first[0]
            )
            value = gui.add_number("Value", 0.0, hint="Size of the fault, as its kind defines it")
            add = gui.add_button("Begin fault")
            clear = gui.add_button("End faults")

        def begin(_: Any) -> None:
            self._post(partial(self._commands.add_fault, str(part.value), str(kind.value), float(value.value)))

        def offer_kinds(_: Any) -> None:
            kind.options = tuple(fallible[str(part.value)])

        part.on_update(offer_kinds)
        add.on_click(begin)
        clear.on_click(lambda _: self._post(self._commands.clear_faults))
