"""The side panel of the page: figures, plots, buttons. Input goes to Commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np
import viser
import viser.uplot

from proving_ground.cockpit.camera import MODES
from proving_ground.cockpit.driving import DIRECTIONS, KEY_HOLD_S, PAD_HOLD_S
from proving_ground.cockpit.replay_state import ReplayState
from proving_ground.cockpit.view_model import ViewModel
from proving_ground.cockpit.words import figures_html, legend_html, nodes_html

FIGURES_PERIOD_S, PLOTS_PERIOD_S, NODES_PERIOD_S, REPLAY_PERIOD_S = 0.2, 0.25, 1.0, 0.25
HANDS_OFF_S = 1.5  # how long a slider that a user has moved is left alone
PLOT_HEIGHT = 96
HOLD_RATE_HZ = 10.0
KEYS = {"ahead": "I", "back": "K", "left": "J", "right": "L"}
LABELS = {"ahead": "▲ Ahead (I)", "left": "◀ Left (J)", "right": "▶ Right (L)", "back": "▼ Back (K)"}
ACTIONS = ("Pause", "Resume", "Step", "Reset")
REPLAY_ACTIONS = ("Pause", "Resume", "Step", "Restart")
CHOSEN_COLOURS = ("#1f77ff", "#e8590c", "#2f9e44", "#ae3ec9")


class Commands(Protocol):
    """Requests of the page. `post` may be called by any thread; all others are called through it."""

    def post(self, call: Callable[[], None]) -> None:
        """Queue a call for the owner's thread."""

    def act(self, action: str) -> None:
        """Control the simulation; action: one of ACTIONS."""

    def set_factor(self, factor: float) -> None:
        """Set simulated time over real time; 0: as fast as possible."""

    def drive(self, is_on: bool) -> None:
        """Begin (is_on) or end driving from the page."""

    def hold(self, direction: str, seconds: float) -> None:
        """A user holds a button or key of one of DIRECTIONS, for this many seconds unless repeated."""

    def replay(self, action: str) -> None:
        """Control the replay of a bag; action: one of REPLAY_ACTIONS."""

    def set_replay_rate(self, rate: float) -> None:
        """Set the playback speed: bag time over real time."""

    def seek(self, position_s: float) -> None:
        """Go to a time since the bag's start [s]."""


class Panel:
    """Widgets beside the 3D scene, shared by all browsers."""

    def __init__(
        self,
        server: viser.ViserServer,
        commands: Commands,
        mode: str,
        on_mode: Callable[[str], None],
        layers: Mapping[str, bool],
        on_layer: Callable[[str, bool], None],
        on_aim: Callable[[], None],
    ) -> None:
        """mode, on_mode: the camera; layers, on_layer: their names, and whether each is visible; on_aim: next click
        is a goal."""
        self._gui, self._commands, self._post = server.gui, commands, commands.post
        self._drawn_at: dict[str, float] = {}
        self._now = self._touched_at = -np.inf
        gui = self._gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, brand_color=(78, 98, 62))
        self._figures = gui.add_html(figures_html({}))
        self._speed = self._add_plot("m/s", ("speed",), CHOSEN_COLOURS[:1])
        self._attitude = self._add_plot("°", ("roll", "pitch", "yaw"), CHOSEN_COLOURS[1:])
        tabs = self.tabs = gui.add_tab_group()
        with tabs.add_tab("Control"):
            self._add_replay(gui)
            self._add_time(gui)
            self._add_drive(gui, on_aim)
        with tabs.add_tab("View"):
            self._add_view(gui, mode, on_mode, layers, on_layer)
        with tabs.add_tab("Nodes"):
            self._nodes = gui.add_html(nodes_html([]))

    def draw(self, model: ViewModel, now: float) -> None:
        """Draw what has changed; now: seconds of a steady clock."""
        self._now = now
        if self._is_due("figures", FIGURES_PERIOD_S, now):
            self._figures.content = figures_html(model.figures(now))
        if self._is_due("plots", PLOTS_PERIOD_S, now):
            time, speed, *attitude = model.plot.columns()
            if len(time) > 1:
                self._speed.data = (time, speed)
                self._attitude.data = (time, *attitude)
        if self._is_due("nodes", NODES_PERIOD_S, now):
            self._nodes.content = nodes_html(model.nodes.all(now))
        if model.replay is not None and self._replay.visible and self._is_due("replay", REPLAY_PERIOD_S, now):
            self._draw_replay(model.replay, now)

    def _draw_replay(self, replay: ReplayState, now: float) -> None:
        self._position_words.content = replay.words(now)
        if now - self._touched_at < HANDS_OFF_S:
            return
        self._position.max = max(round(replay.length_s, 1), 0.1)
        self._position.value = min(round(replay.position_at(now), 1), self._position.max)
        self._rate.value = min(max(replay.rate, self._rate.min), self._rate.max)

    @property
    def is_driving(self) -> bool:
        """Whether the box for driving from the page is ticked."""
        return bool(self._drive.value)

    def let_go(self) -> None:
        """Untick the box for driving from the page."""
        self._drive.value = False
        self._show_pad(False)

    def show_factor(self, factor: float) -> None:
        """Show the real-time factor that the vehicle node has, which may differ from the commanded one."""
        self._factor.value = min(max(factor, self._factor.min), self._factor.max)

    def show_replay(self, is_there: bool, has_simulation: bool) -> None:
        """Show the replay's buttons while its node runs; those of a simulation unless there is only a replay."""
        self._replay.visible = is_there
        self._actions.visible = self._factor.visible = has_simulation or not is_there

    def say(self, words: str, *, is_bad: bool = False) -> None:
        """Show a line to the user."""
        self._message.content = f"{'⚠ ' if is_bad else ''}{words}"

    def _is_due(self, name: str, period: float, now: float) -> bool:
        is_due = now - self._drawn_at.get(name, -np.inf) >= period
        if is_due:
            self._drawn_at[name] = now
        return is_due

    def _add_plot(self, unit: str, names: tuple[str, ...], colours: tuple[str, ...]) -> Any:
        lines = [viser.uplot.Series(label=n, stroke=c, width=2) for n, c in zip(names, colours, strict=True)]
        self._gui.add_html(legend_html(zip(names, colours, strict=True), unit))
        return self._gui.add_uplot(
            data=tuple(np.array([-30.0, 0.0]) if k == 0 else np.zeros(2) for k in range(len(names) + 1)),
            series=(viser.uplot.Series(label="s"), *lines),
            scales={"x": viser.uplot.Scale(time=False, auto=False, range=(-30.0, 0.0))},
            legend=viser.uplot.Legend(show=False),
            axes=(viser.uplot.Axis(size=24), viser.uplot.Axis(size=38)),
            padding=(8, 8, 0, 0),
            height=PLOT_HEIGHT,
        )

    def _add_time(self, gui: Any) -> None:
        self._actions = gui.add_button_group("Simulation", ACTIONS)
        self._actions.on_click(lambda event: self._post(partial(self._commands.act, event.target.value)))
        self._factor = gui.add_slider(
            "Pace", min=0.0, max=5.0, step=0.1, initial_value=1.0,
            hint="Simulated over real time; 0 is as fast as possible",
        )  # fmt: skip

        self._factor.on_update(self._by_people(lambda value: self._commands.set_factor(float(value))))
        self._message = gui.add_markdown("")

    def _add_drive(self, gui: Any, on_aim: Callable[[], None]) -> None:
        aim = gui.add_button("Set goal by a click", hint="Then click on the ground; or click with Shift at any time")
        aim.on_click(lambda _: self._post(on_aim))
        self._drive = gui.add_checkbox("Drive from here", False, hint="Hold the buttons, or the keys I J K L")
        self._pad = []
        for direction in ("ahead", "left", "right", "back"):
            button = gui.add_button(LABELS[direction], visible=False)
            button.on_hold(self._holder(direction, PAD_HOLD_S), callback_hz=HOLD_RATE_HZ)
            self._pad.append(button)
        for direction in DIRECTIONS:
            command = gui.add_command(f"Drive: {direction}", hotkey=KEYS[direction])
            command.on_trigger(self._holder(direction, KEY_HOLD_S))
        self._drive.on_update(self._by_people(lambda value: self._switch(bool(value))))

    def _by_people(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        """Call the function with the value when a browser changes it, not when this program does.

        The value is read at once: by the time of the call, this program may have changed the field.
        """
        return lambda event: None if event.client is None else self._post(partial(call, event.target.value))

    def _switch(self, is_on: bool) -> None:
        self._show_pad(is_on)
        self._commands.drive(is_on)

    def _show_pad(self, is_visible: bool) -> None:
        for button in self._pad:
            button.visible = is_visible

    def _holder(self, direction: str, seconds: float) -> Callable[[Any], None]:
        return lambda _: self._post(partial(self._commands.hold, direction, seconds))

    def _add_replay(self, gui: Any) -> None:
        self._replay = gui.add_folder("Replay", visible=False)
        with self._replay:
            buttons = gui.add_button_group("Bag", REPLAY_ACTIONS)
            buttons.on_click(lambda event: self._post(partial(self._commands.replay, event.target.value)))
            self._position = gui.add_slider(
                "Seconds", min=0.0, max=1.0, step=0.1, initial_value=0.0, hint="Since the bag's start; drag to go there"
            )
            self._position.on_update(self._touched(self._commands.seek))
            self._rate = gui.add_slider(
                "Rate", min=0.1, max=10.0, step=0.1, initial_value=1.0, hint="Playback speed: bag time over real time"
            )
            self._rate.on_update(self._touched(self._commands.set_replay_rate))
            self._position_words = gui.add_markdown("")

    def _touched(self, call: Callable[[float], None]) -> Callable[[Any], None]:
        """Call the function with what users choose, and leave the field alone for a while."""
        on_value = self._by_people(lambda value: call(float(value)))

        def on_update(event: Any) -> None:
            if event.client is not None:
                self._touched_at = self._now
            on_value(event)

        return on_update

    def _add_view(
        self,
        gui: Any,
        mode: str,
        on_mode: Callable[[str], None],
        layers: Mapping[str, bool],
        on_layer: Callable[[str, bool], None],
    ) -> None:
        camera = gui.add_dropdown("Camera", MODES, initial_value=mode)
        camera.on_update(lambda _: self._post(partial(on_mode, camera.value)))
        for name, is_visible in layers.items():
            box = gui.add_checkbox(name, is_visible)
            box.on_update(self._layer_switch(box, name, on_layer))

    def _layer_switch(self, box: Any, name: str, on_layer: Callable[[str, bool], None]) -> Callable[[Any], None]:
        return lambda _: self._post(partial(on_layer, name, bool(box.value)))
