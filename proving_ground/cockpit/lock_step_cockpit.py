"""The cockpit over a run in lock-step, without ROS: stop, go back, change something, run on, see both branches.

`show_run` serves the page until it is interrupted; all behaviour of branches is in branches.py.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.cockpit.branch_panel import START, BranchPanel
from proving_ground.cockpit.branches import BranchedRun
from proving_ground.cockpit.driving import DrivePad
from proving_ground.cockpit.page import Page
from proving_ground.cockpit.server import open_in_browser
from proving_ground.cockpit.settings import CockpitSettings
from proving_ground.cockpit.view_model import ViewModel
from proving_ground.interfaces import topics
from proving_ground.interfaces.samples import LIDAR_POINT
from proving_ground.scenarios.scenario import Scenario
from proving_ground.scenarios.simulation import Command
from proving_ground.settings import SettingsError
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.motion import STANDS_MPS

Array = NDArray[np.float64]

LONGEST_TURN_S = 0.04  # wall time of simulation between two pictures
SETTLES_S = 0.5  # wall time after which a value that a user changes is used
NOT_OVER_ROS = "this page shows a run in lock-step: there is no bag to control"


class Screen:
    """Sink of a run's messages: those that the page shows go to its view model."""

    def __init__(self, model: ViewModel, settings: CockpitSettings) -> None:
        self._settings, self._cloud_at = settings, -math.inf
        self._model = model
        self._show: dict[str, Callable[[Any], None]] = {
            topics.CLOCK.absolute: lambda message: model.on_clock(message, time.monotonic()),
            topics.TRUTH_ODOM.absolute: model.on_truth,
            topics.JOINT_STATES.absolute: model.on_joints,
            topics.ESTIMATE.absolute: model.on_estimate,
            topics.FIXED_TRANSFORMS.absolute: model.on_mounts,
            topics.PLAN.absolute: model.on_plan,
            topics.ARCS.absolute: model.on_arcs,
            topics.LOCAL_MAP.absolute: model.on_grid,
            topics.POINTS.absolute: self._on_cloud,
        }

    def write(self, topic: str, message: Any, log_ns: int, qos: Any = None) -> None:
        """Show a message of a topic."""
        show = self._show.get(topic)
        if show is not None:
            show(message)

    def _on_cloud(self, message: Any) -> None:
        now = time.monotonic()
        if now - self._cloud_at >= 1.0 / self._settings.cloud_rate_hz:
            self._cloud_at = now
            self._model.on_cloud(message, _points, self._settings.cloud_points)


def _points(message: Any) -> NDArray[np.void]:
    found: NDArray[np.void] = np.asarray(message.data).view(LIDAR_POINT)
    return found


class LockStepCockpit:
    """Owner of the page: runs the simulation in the thread that calls `turn`, and obeys the page's users."""

    def __init__(self, scenario: Scenario, settings: CockpitSettings) -> None:
        """Raises SettingsError for a bad address or scenario."""
        self._settings, self._model, self._pad = settings, ViewModel(), DrivePad()
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.run = BranchedRun(scenario, Screen(self._model, settings))
        self.is_paused, self._factor = False, 1.0
        self._wanted_friction: tuple[float, float] | None = None  # and when it was chosen
        self._debt_s, self._turned_at = 0.0, time.monotonic()  # simulated time that is due
        runner = self.run.runner
        self._settings = settings.fitted(runner.parameters.equipment)
        base = np.asarray(runner.vehicle.base_in_chassis, float)
        self.page = Page(settings, runner.world, runner.parameters, base, self)
        self.branches = BranchPanel(self.page.server, self.page.panel, self, self.run.fallible, self.run.friction)

    def turn(self) -> None:
        """Obey the page, simulate what is due, draw."""
        now = time.monotonic()
        passed, self._turned_at = now - self._turned_at, now
        for _ in range(self._posted.qsize()):
            self._obey(self._posted.get())
        self._set_wanted_friction(now)
        self._drive(now)
        if self.is_paused or self.run.runner.has_ended or not self.page.browsers:
            self._debt_s = 0.0
            if self._model.time_ns is not None:
                self._model.pace.record(now, self._model.time_ns)  # time stands
        else:
            self._simulate(now, passed)
        if self.page.browsers:
            self._draw(now)

    def close(self) -> None:
        """End the page."""
        self.page.close()

    def _simulate(self, now: float, passed_s: float) -> None:
        """Advance by the time that is due, or as far as there is time before the next picture."""
        self._debt_s = min(self._debt_s + self._factor * passed_s, 0.5) if self._factor > 0.0 else math.inf
        while self._debt_s >= PERIOD_S and time.monotonic() - now < LONGEST_TURN_S and not self.run.runner.has_ended:
            self.run.advance(1)
            self._debt_s -= PERIOD_S

    def _set_wanted_friction(self, now: float) -> None:
        if self._wanted_friction is None or now - self._wanted_friction[1] < SETTLES_S:
            return
        friction, self._wanted_friction = self._wanted_friction[0], None
        self._obey(partial(self.run.set_friction, friction))

    def _drive(self, now: float) -> None:
        command = self._pad.command(now, self._settings)
        if command is None:
            self.run.command(None)
            return
        is_moving = abs(command.speed) >= STANDS_MPS  # slower, a yaw rate has no curvature
        self.run.command(Command(command.speed, command.yaw_rate / command.speed if is_moving else 0.0))

    def _draw(self, now: float) -> None:
        run = self.run
        state = "ended" if run.runner.has_ended else "paused" if self.is_paused else "running"
        changes = "".join(f"\n- {words}" for words in run.changes)
        words = f"**Branch {run.branch}**, {run.runner.time:.2f} s, {state}{changes}"
        self.branches.show(words, [item.words for item in run.checkpoints])
        self.page.draw(self._model, now)

    def _obey(self, call: Callable[[], None]) -> None:
        try:
            call()
        except SettingsError as error:
            self._say(str(error), is_bad=True)

    def _say(self, words: str, *, is_bad: bool = False) -> None:
        self.page.panel.say(words, is_bad=is_bad)

    # Requests of users: BranchCommands

    def save(self) -> None:
        """Save the present instant."""
        self._say(f"saved {self.run.save().words}")

    def go_back(self, name: str) -> None:
        """Begin another branch at a checkpoint, paused."""
        found = {item.words: item for item in self.run.checkpoints}
        if name != START and name not in found:
            raise SettingsError(f"checkpoint {name}: unknown")
        self._model.begin_branch()
        self.run.go_back(found.get(name))
        self.is_paused = True
        self.run.show_instant()
        self._say(f"branch {self.run.branch} begins at {self.run.runner.time:.2f} s; change something, then resume")

    def set_friction(self, friction: float) -> None:
        """Change the ground's friction; deferred, because a slider or a keyboard sends many values on the way."""
        self._wanted_friction = (friction, time.monotonic())

    def add_fault(self, name: str, kind: str, value: float) -> None:
        """Let the sensor or actuator of a name fail; kind, value: as in a scenario's faults."""
        self.run.add_fault(name, kind, value)
        self._say(self.run.changes[-1])

    def clear_faults(self) -> None:
        """End all faults."""
        self.run.clear_faults()
        self._say(self.run.changes[-1])

    # Requests of users: PageCommands

    def post(self, call: Callable[[], None]) -> None:
        """Queue a call for the thread that turns."""
        self._posted.put(call)

    def attend(self) -> None:
        """A browser came or went: without one nobody drives."""
        if not self.page.browsers:
            self.page.panel.let_go()
            self._pad.switch(False, time.monotonic())

    def act(self, action: str) -> None:
        """Pause, resume, step by one period, or begin again at the start."""
        if action == "Reset":
            self.go_back(START)
        elif action == "Step":
            self.is_paused = True
            self.run.advance(1)
        else:
            self.is_paused = action == "Pause"

    def set_factor(self, factor: float) -> None:
        """Set simulated time over real time; 0: as fast as possible."""
        self._factor = factor

    def set_goal(self, position: Array) -> None:
        """Give the planner another goal."""
        autonomy = self.run.runner.autonomy
        if autonomy is None:
            raise SettingsError("goal: the scenario has no planner that could drive there")
        x, y, _ = position.tolist()
        autonomy.navigator.drive_to([(x, y)])
        self._model.goal = position
        self.run.changes.append(f"goal {x:.1f}, {y:.1f} m")

    def drive(self, is_on: bool) -> None:
        """Begin (is_on) or end driving from the page."""
        self._pad.switch(is_on, time.monotonic())

    def hold(self, direction: str, seconds: float) -> None:
        """A direction of the pad is held."""
        self._pad.hold(direction, time.monotonic(), seconds)

    def replay(self, action: str) -> None:
        """Do nothing: a lock-step run has no bag to replay."""
        raise SettingsError(NOT_OVER_ROS)

    def set_replay_rate(self, rate: float) -> None:
        """Do nothing: a lock-step run has no bag to replay."""
        raise SettingsError(NOT_OVER_ROS)

    def seek(self, position_s: float) -> None:
        """Do nothing: a lock-step run has no bag to replay."""
        raise SettingsError(NOT_OVER_ROS)


def show_run(scenario: Scenario, settings: CockpitSettings, end: threading.Event) -> list[str]:
    """Serve the page until `end` is set; returns a line about each branch."""
    cockpit = LockStepCockpit(scenario, settings)
    address = f"http://{settings.host}:{cockpit.page.port}"
    print(f"cockpit: open {address}; the run waits for a browser; Ctrl-C ends it", flush=True)
    if settings.open_browser:
        open_in_browser(address)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            while not end.is_set():
                began = time.monotonic()
                cockpit.turn()
                end.wait(max(1.0 / settings.update_rate_hz - (time.monotonic() - began), 0.0))
    finally:
        cockpit.close()
    return [item.words for item in (*cockpit.run.endings, cockpit.run.ending())]
